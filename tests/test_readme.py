"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    (code,) = blocks("python")
    (expected,) = blocks("text")
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == expected
    assert len(code.strip().splitlines()) <= 15


def test_pictures_and_files_exist() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("make demo", "make test"):
        assert command in README
        assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE)


def test_the_demo_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the demo draws a picture (extra 'plot')")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1(A(A U0 > 6) > 1/2) > 1/2" in done.stdout
    picture = tmp_path / "out" / "psi_2.png"
    assert str(picture) in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
