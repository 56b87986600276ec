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
        "str(f), f.to_unicode(), f.to_latex(), f.to_english(), f.to_json(), f.simplify()\n"
        "heavy = {'torch', 'sklearn', 'networkx', 'matplotlib', 'z3', 'pandas', 'numba', 'dask'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


_BARE = """
import sys
gone = {'torch', 'torch_geometric', 'safetensors', 'matplotlib', 'networkx', 'jinja2', 'z3'}

class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in gone:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)

sys.meta_path.insert(0, Bare())
import gnn2logic
from gnn2logic.exceptions import MissingDependencyError
for name in (*gnn2logic.__all__, *gnn2logic._PARTS):
    try:
        getattr(gnn2logic, name)
    except MissingDependencyError as error:
        print(name, error, sep='|')
"""


def test_a_bare_installation_says_what_to_install() -> None:
    """Whatever is reached from the front door loads, or names the extra that it needs."""
    done = subprocess.run([sys.executable, "-c", _BARE], capture_output=True, text=True, check=True)
    told = dict(line.split("|") for line in done.stdout.splitlines())
    for message in told.values():
        assert "needs the package 'torch', which is not installed" in message
        assert "pip install 'gnn2logic[torch]'" in message
    assert {"distill", "Teacher", "to_gnn", "IDTExplainer", "models", "distillation"} <= set(told)
    assert not {"parse", "IDTClassifier", "explain", "plot_tree", "report"} & set(told)


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
