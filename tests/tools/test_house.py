"""`tools/house.py` measures what is there."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "house.py"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_it_measures_this_project() -> None:
    done = run("--modules", "--check")
    assert (done.returncode, done.stderr) == (0, "")
    files = list((ROOT / "src" / "gnn2logic").rglob("*.py"))
    lengths = [len(file.read_text(encoding="utf-8").splitlines()) for file in files]
    first, second, *_ = done.stdout.splitlines()
    assert first.split() == ["files", str(len(files))]
    assert second.split() == ["lines", str(sum(lengths))]
    assert f"longest                   {max(lengths)} (gnn2logic." in done.stdout
    _, _, table = done.stdout.partition("lines  importers  module\n")
    importers = {name: int(count) for _, count, name in map(str.split, table.splitlines())}
    assert len(importers) == len(files)
    assert importers["gnn2logic.exceptions"] > 50
    assert importers["gnn2logic.__main__"] == 0


def test_one_class_has_one_name() -> None:
    names = [
        node.name
        for path in sorted((ROOT / "src" / "gnn2logic").rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.fixture
def package(tmp_path: Path) -> Path:
    texts = {
        "__init__.py": "from house.a import x\n",
        "a.py": "x = 1\n",
        "b.py": "def f():\n    from house import a\n    import house.c\n",
        "c.py": "from typing import Any\n",
        "lonely.py": "import house.lonely\n",
        "rooms/__init__.py": "",
        "rooms/d.py": "from .e import y\nfrom ..a import x\nfrom . import e\n",
        "rooms/e.py": "import numpy\ny = 2\n",
    }
    for name, text in texts.items():
        path = tmp_path / "house" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "house"


def test_importers_are_counted_once_each(package: Path) -> None:
    _, _, table = run(package, "--modules").stdout.partition("lines  importers  module\n")
    assert [line.split() for line in table.splitlines()] == [
        ["1", "0", "house"],
        ["1", "3", "house.a"],
        ["3", "0", "house.b"],
        ["1", "1", "house.c"],
        ["1", "0", "house.lonely"],
        ["0", "0", "house.rooms"],
        ["3", "0", "house.rooms.d"],
        ["2", "1", "house.rooms.e"],
    ]


def test_the_summary(package: Path) -> None:
    (package / "a.py").write_text("x = 1\n" * 60, encoding="utf-8")
    lines = run(package).stdout.splitlines()
    assert lines[:7] == [
        "files                     8",
        "lines                     71",
        "median length             1.5",
        "longest                   60 (house.a)",
        "under 60 lines            5",
        "imported by one module    2",
        "imported by no module     3",
    ]
    assert lines[-2:] == ["  house.c by house.b", "  house.rooms.e by house.rooms.d"]


def test_long_files_are_refused(package: Path) -> None:
    (package / "a.py").write_text("x = 1\n" * 400, encoding="utf-8")
    assert run(package, "--check").returncode == 0
    (package / "a.py").write_text("x = 1\n" * 401, encoding="utf-8")
    assert run(package).returncode == 0
    done = run(package, "--check")
    assert done.returncode == 1
    assert "house.a must have at most 400 lines. It has 401" in done.stderr


def test_folders_without_files_are_refused(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "must hold Python files" in done.stderr


def test_modules_that_no_table_names_are_listed() -> None:
    house = load_script()
    names = ["house.door", "house.rooms", "house.rooms.d", "house.rooms.e", "house.rooms.in.f"]
    modules = [house.Module(name, 1, ()) for name in [*names, "house.rooms.in.g", "house.hall.h"]]
    page = "### rooms\n\n| module | job |\n| `d`, `in.f`, `g` | `e` is told here alone |\n"
    assert house.not_in_tables(modules, page) == ["house.rooms.e", "house.hall.h"]
    assert house.not_in_tables(modules, page + "### hall\n| `*` |\n") == ["house.rooms.e"]


def load_script() -> Any:
    spec = importlib.util.spec_from_file_location("house_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
