"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def run(code: str, folder: Path) -> str:
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=folder
    )
    return done.stdout


def test_the_ten_lines_print_what_the_readme_says(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="needs the extra 'chem'")
    (code, _), (expected,) = blocks("python"), blocks("text")
    assert run(code, tmp_path) == expected
    assert len(code.strip().splitlines()) <= 12


def test_the_network_is_distilled(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric", reason="needs the extra 'torch'")
    _, code = blocks("python")
    *_, last = run(code, tmp_path).splitlines()
    network, rule, fidelity = map(float, last.split())
    assert min(network, fidelity) > 0.75
    assert rule > 0.9
    page = (tmp_path / "psi_2.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")


def test_the_commands_run(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric", reason="needs the extra 'torch'")
    (commands,) = blocks("sh")
    programs = Path(sys.executable).parent
    if not (programs / "gnn2logic").is_file():
        pytest.skip("the command line is not installed")
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    assert "more than 5 nodes have more than 6 neighbours" in done.stdout
    for name in ("psi_2.idt.json", "psi_2.safetensors", "why.png", "psi_2.html"):
        assert (tmp_path / name).stat().st_size > 1000


def test_pictures_and_files_exist() -> None:
    # Formulas in blocks of code look like links.
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (ROOT / target).is_file(), target


def test_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("make demo", "make test"):
        assert command in README
        assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE)


def test_the_demo_runs(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric", reason="the demo trains a network (extra 'torch')")
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--out", str(out), "--epochs", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    # Which class has the shorter rule depends on rounding, and so on the number of threads.
    assert re.search(r"^(two|zero one or three) shapes, in words:$", done.stdout, re.MULTILINE)
    assert "rule and network agree about" in done.stdout
    for name in ("report.html", "rule.png", "two_shapes.png"):
        assert str(out / name) in done.stdout
        assert (out / name).stat().st_size > 10_000
