"""The front door: what `import gnn2logic` gives, and how quickly."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gnn2logic

SOURCE = Path(gnn2logic.__file__).parent


def test_every_public_name_is_there() -> None:
    for name in gnn2logic.__all__:
        assert getattr(gnn2logic, name) is not None
    assert set(gnn2logic.__all__) <= set(dir(gnn2logic))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = gnn2logic.nonsense


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    imported = {
        (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {
        (gnn2logic._HOME_OF.get(name, "gnn2logic.logic"), name)
        for name in gnn2logic.__all__
        if name != "__version__"
    }
    assert imported == homes


def test_logic_needs_no_heavy_package() -> None:
    """Reading, printing and evaluating formulas must start in a moment."""
    code = (
        "import sys, gnn2logic\n"
        "f = gnn2logic.parse('1(A U0 > 1/2) > 3')\n"
        "f.evaluate(gnn2logic.random_graphs(3, random_state=0))\n"
        "str(f), f.unicode(), f.latex(), f.english(), f.json(), f.simplify()\n"
        "heavy = {'torch', 'sklearn', 'networkx', 'matplotlib', 'z3', 'pandas', 'numba', 'dask'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_is_typed_and_ships_its_grammars() -> None:
    assert (SOURCE / "py.typed").is_file()
    assert (SOURCE / "logic" / "grammar.lark").is_file()
    assert (SOURCE / "logic" / "c2" / "grammar.lark").is_file()


def test_files_are_rooms_not_halls() -> None:
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in SOURCE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 450
    }
    assert not long
