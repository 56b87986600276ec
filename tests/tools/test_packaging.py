"""What is promised to those who install the package, and to those who work on it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gnn2logic"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Packages whose modules have another name.
MODULES = {"scikit-learn": "sklearn", "z3-solver": "z3"}


def declared() -> dict[str, str]:
    """Return each package that is promised to users, and its lowest version."""
    extras = PROJECT["project"]["optional-dependencies"]
    lines = [*PROJECT["project"]["dependencies"]]
    lines += [line for extra in extras if extra not in ("dev", "docs") for line in extras[extra]]
    pairs = [line.partition(">=") for line in lines if not line.startswith("gnn2logic[")]
    return {name.lower().replace("_", "-"): lowest for name, _, lowest in pairs}


def imported(path: Path) -> Iterator[str]:
    """Yield the first names of what a file imports, also inside of functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_optional":
            (name, *_) = node.args
            assert isinstance(name, ast.Constant)
            # What no extra brings is used where users have it, and promised to nobody.
            if "extra=None" in map(ast.unparse, node.keywords):
                continue
            yield str(name.value).partition(".")[0]


def test_all_that_is_imported_is_declared() -> None:
    used = {name for path in SOURCE.rglob("*.py") for name in imported(path)}
    ours = used - sys.stdlib_module_names - {"gnn2logic"}
    promised = {MODULES.get(name, name.replace("-", "_")) for name in declared()}
    assert sorted(ours - promised) == []
    assert sorted(promised - ours) == []


def lowest(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "tools" / "lowest.py"), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_lowest_versions_are_those_that_are_promised() -> None:
    pins = dict(line.split("==") for line in lowest().stdout.splitlines())
    assert {name: pins[name] for name in declared()} == declared()
    assert pins["pytest"].startswith("9.")
    kept = dict(line.split("==") for line in lowest("--keep", "torch").stdout.splitlines())
    assert kept["torch"] != pins["torch"]
    assert kept | {"torch": pins["torch"]} == pins
    refused = lowest("--keep", "nothing")
    assert refused.returncode == 1
    assert "names in constraints.txt. Got ['nothing']" in refused.stderr


# Names of files and folders in backticks, by the column of a table.
NAMED = re.compile(r"`([\w/.]+)`")


def test_every_room_and_every_test_is_in_the_table_of_contributing() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| room | tests |")
    rows = [line.split("|") for line in table.partition("\n\n")[0].splitlines()[2:]]
    rooms = {name for row in rows for name in NAMED.findall(row[1])}
    tests = {name for row in rows for name in NAMED.findall(row[2])}
    modules = {
        path.stem
        for path in SOURCE.iterdir()
        if (path.is_dir() and any(path.glob("*.py"))) or path.suffix == ".py"
    }
    assert sorted(modules - {"__init__", "__main__", "_version"} - rooms) == []
    here = {
        f"tests/{path.name}"
        for path in (ROOT / "tests").iterdir()
        if any(path.glob("test_*.py")) or path.name.startswith("test_")
    }
    assert sorted(here - tests) == []
    for name in tests:
        assert (ROOT / name).exists(), name
    for name in rooms:
        at = [SOURCE / name, SOURCE / f"{name}.py", ROOT / name]
        assert any(path.exists() for path in at), name


@pytest.mark.parametrize("room", ["idt", "learning"])
def test_every_module_of_the_model_and_its_learner_is_in_its_table(room: str) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition(f"\n### {room}\n")[2].partition("\n###")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w.]+)", row)}
    modules = {
        ".".join(path.relative_to(SOURCE / room).with_suffix("").parts)
        for path in (SOURCE / room).rglob("*.py")
        if path.stem != "__init__"
    }
    # A learner in a folder has a table for its modules.
    for folder in [name for name in named if name.endswith(".")]:
        table = text.partition(f"#### {room}.{folder}"[:-1] + "\n")[2].partition("\n###")[0]
        lines = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
        named |= {f"{folder}{name}" for line in lines for name in re.findall(r"`([\w.]+)", line)}
    assert sorted(modules ^ {name for name in named if not name.endswith(".")}) == []


def test_files_on_the_way_of_a_graph_are_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    way = text.partition("## The way of a graph")[2].partition("## Tests")[0]
    files = set(re.findall(r"\b([a-z]\w*/[\w/]+\.(?:py|lark))\b", way))
    assert len(files) > 30
    rooms = [SOURCE, SOURCE / "learning", ROOT, ROOT / "src"]
    assert [name for name in sorted(files) if not any((at / name).exists() for at in rooms)] == []


def workflow_commands() -> list[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github").rglob("*.yml")]
    return re.findall(r"^ +- run: (.+)$", "\n".join(texts), re.MULTILINE)


def test_workflows_call_make_and_nothing_else() -> None:
    targets = re.findall(
        r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    commands = workflow_commands()
    assert {"make lint", "make test", "make lowest", "make package", "make docs"} <= set(commands)
    for command in commands:
        assert re.fullmatch(r"make (\w+)( DATASETS=[\w,]+)?", command), command
        assert command.split()[1] in targets


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "RELEASING.md"])
def test_links_and_files_that_are_named_are_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`([A-Za-z_]+\.(?:md|toml|cff|txt)|tools/\w+\.py|src/[\w/]+\.py)`", text)
    for path in named:
        assert (ROOT / path).is_file(), path
