"""What the documentation shows is what happens."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))

pytest.importorskip("torch_geometric", reason="the documentation uses networks (extra 'torch')")
pytest.importorskip("matplotlib", reason="the documentation draws (extra 'plot')")

# A block of code, what is written before it, and what it prints if that is shown.
BLOCK = re.compile(
    r"(?P<data><!-- needs GNN2LOGIC_DATA -->\n)?"
    r"^```python\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<output>.*?)^```)?",
    re.DOTALL | re.MULTILINE,
)


# Commands at a prompt, each with the lines that it writes to stdout.
SESSION = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    code: str
    output: str | None
    needs_data: bool
    line: int


def blocks(text: str) -> list[Block]:
    return [
        Block(
            match["code"],
            match["output"],
            match["data"] is not None,
            text.count("\n", 0, match.start("code")),
        )
        for match in BLOCK.finditer(text)
    ]


def commands(text: str) -> list[tuple[str, str]]:
    """Return all commands of a page, and what they print; ... stands for anything."""
    return [found for session in SESSION.findall(text) for found in COMMAND.findall(session)]


def pages_with_code() -> list[str]:
    return [page for page in PAGES if blocks((DOCS / page).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", pages_with_code())
def test_code_runs_and_prints_what_is_shown(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "docs"}
    left_out = 0
    for block in blocks((DOCS / page).read_text(encoding="utf-8")):
        if block.needs_data and "GNN2LOGIC_DATA" not in os.environ:
            left_out += 1
            continue
        printed = io.StringIO()
        # The lines of the page in tracebacks.
        code = compile("\n" * block.line + block.code, page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)  # noqa: S102 - our own pages
        if block.output is not None:
            assert printed.getvalue() == block.output, f"{page}, line {block.line}"
    if left_out:
        pytest.skip(f"all but {left_out} blocks, which need GNN2LOGIC_DATA, ran")


def test_blocks_are_found_with_their_output() -> None:
    text = "a\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n```python\nx = 2\n```\nb\n"
    assert blocks(text) == [
        Block("print(1)\n", "1\n", needs_data=False, line=2),
        Block("x = 2\n", None, needs_data=False, line=10),
    ]
    assert blocks("<!-- needs GNN2LOGIC_DATA -->\n```python\npass\n```\n")[0].needs_data


def test_commands_print_what_is_shown(tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    if not (programs / "gnn2logic").is_file():
        pytest.skip("the command line is not installed")
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    same = doctest.OutputChecker().check_output
    for command, expected in commands((DOCS / "commands.md").read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert same(expected, done.stdout, doctest.ELLIPSIS), f"{command}\n{done.stdout}"


def test_commands_are_found_with_their_output() -> None:
    text = "a\n```console\n$ one\n1\n\n2\n$ two\n```\nb\n```console\n$ three\n3\n```\n"
    assert commands(text) == [("one", "1\n\n2\n"), ("two", ""), ("three", "3\n")]


def test_every_command_has_a_part_of_the_page() -> None:
    from gnn2logic.cli.app import COMMANDS

    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == list(COMMANDS)
    assert re.findall(r"^\| \[`(\w+)`\]", text, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_every_code_block_is_one_that_is_tested(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text.count("```python") == len(blocks(text))
    assert "```console" not in text or page == "commands.md"
    assert text.count("```text") == sum(block.output is not None for block in blocks(text))


def test_every_public_name_is_in_the_reference() -> None:
    import gnn2logic

    text = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    documented = set(re.findall(r"^::: gnn2logic\.(?:\w+\.)*(\w+)$", text, re.MULTILINE))
    constants = {"ALL", "A", "FALSE", "I", "NOTHING", "TRUE", "__version__"}
    assert set(gnn2logic.__all__) - constants <= documented
    # Types of arguments, and lists of names.
    constants |= {"Direction", "Edges", "GROUPS", "OGB_ATOM_FEATURES", "PYG_ATOM_FEATURES"}
    for room in (
        *("certification", "chem", "datasets", "distillation", "explanation", "graphs", "idt"),
        *("learning", "logic", "models", "multi_target", "plotting", "reporting", "scorecards"),
        *("storage", "testing"),
    ):
        # Read, not imported: some need extras.
        source = (ROOT / "src" / "gnn2logic" / room / "__init__.py").read_text(encoding="utf-8")
        names = re.search(r"__all__ = (\[.*?\])", source, re.DOTALL)
        if names:
            assert set(ast.literal_eval(names[1])) - constants <= documented, room


def test_pictures_are_those_that_the_script_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["make_images.py", str(tmp_path)])
    runpy.run_path(str(DOCS / "make_images.py"), run_name="__main__")
    drawn = {path.name for path in tmp_path.iterdir()}
    kept = {path.name for path in (DOCS / "images").iterdir()}
    needs_data = set() if "GNN2LOGIC_DATA" in os.environ else {"aids.png"}
    assert kept == drawn | needs_data | {"teachers.png", "scorecard_fidelity.png"}
    assert all((tmp_path / name).stat().st_size > 5000 for name in drawn)


def test_tables_of_the_results_page_are_there() -> None:
    """A table that is not there is left out of the page without a word, so look for all."""
    if not (ROOT / "results").is_dir():
        pytest.skip("needs the folder results, which `gnn2logic reproduce` writes")
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    included = re.findall(r'^--8<-- "(.*)"$', page, re.MULTILINE)
    assert len(included) == page.count("--8<--") > 0
    assert [path for path in included if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    ("script", "page"),
    [("molecule_numbers", "how-to/numbers.md"), ("molecule_targets", "how-to/several-targets.md")],
)
def test_tables_of_molecules_are_those_of_their_files(script: str, page: str) -> None:
    pytest.importorskip("rdkit", reason="the figures are about molecules (extra 'chem')")
    folder = ROOT / "benchmarks"
    rows = folder / "results" / f"{script}.jsonl"
    printed = subprocess.run(
        [sys.executable, folder / f"{script}.py", "--show", "--out", rows],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.split("\n\n")[0].strip() in (DOCS / page).read_text()
