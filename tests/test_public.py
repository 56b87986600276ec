"""The front door: what `import gnn2logic` gives, and how quickly."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


# One word for one thing; docs/names.md has the table.
_OTHER_WORDS = {
    "seed": "random_state",
    "label_names": "class_names",
    "target_names": "class_names",
    "jobs": "n_jobs",
    "num_nodes": "n_nodes",
}
# The labels themselves, in the order of numbers; what they are called is `class_names`.
_TAKE_CLASSES = {"Teacher", "fit", "add_activations"}


def _public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what can be called, by name: of the package, of its parts, and of their classes."""
    homes = [gnn2logic, *(getattr(gnn2logic, part) for part in gnn2logic._PARTS)]
    for home in homes:
        for name in getattr(home, "__all__", ()):
            value = getattr(home, name)
            if not callable(value):
                continue
            yield name, value
            if isinstance(value, type) and value.__module__.startswith("gnn2logic"):
                for method, function in inspect.getmembers(value, inspect.isfunction):
                    own = function.__module__.startswith("gnn2logic")
                    if own and not method.startswith("_"):
                        yield method, function


def test_one_thing_has_one_word() -> None:
    checked = 0
    for name, function in _public_functions():
        try:
            words = set(inspect.signature(function).parameters)
        except ValueError:
            # Classes of C, such as those of errors.
            continue
        checked += 1
        if name == "AttributedGraph":
            # It has the attributes of a graph of PyTorch Geometric.
            continue
        other = sorted(words & set(_OTHER_WORDS))
        assert not other, f"{name} says {other[0]}; say {_OTHER_WORDS[other[0]]}"
        if isinstance(function, type) and dataclasses.is_dataclass(function):
            continue
        if "classes" in words:
            assert name in _TAKE_CLASSES, f"{name}: names of classes are class_names"
    assert checked > 200


def test_formulas_and_models_are_written_by_the_same_words() -> None:
    formula = gnn2logic.Formula
    for form in ("c2", "english", "json", "latex", "unicode"):
        assert hasattr(formula, f"to_{form}")
        assert not hasattr(formula, form)
    assert {f"export_{form}" for form in ("text", "dot", "tikz")} <= set(gnn2logic.__all__)


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
