"""The example scripts run, quickly and with small settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytest.importorskip("torch_geometric", reason="the examples use networks (extra 'torch')")
pytest.importorskip("matplotlib", reason="the examples draw (extra 'plot')")


def run(name: str, *arguments: str, folder: Path, data: str | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "GNN2LOGIC_DATA"}
    if data is not None:
        environment["GNN2LOGIC_DATA"] = data
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def share(printed: str, line: str) -> float:
    """Return the percentage at the end of a line."""
    (found,) = [text for text in printed.splitlines() if line in text]
    return float(found.split()[-1].rstrip("%")) / 100


def test_molecules_that_are_made_up(tmp_path: Path) -> None:
    printed = run("molecules.py", "--epochs", "15", "--graphs", "450", folder=tmp_path)
    assert share(printed, "the rule is right about") > 0.85
    assert "The teacher" in printed
    assert (tmp_path / "molecules" / "molecule.png").stat().st_size > 10_000


def test_molecules_of_mutag(tmp_path: Path) -> None:
    data = os.environ.get("GNN2LOGIC_DATA")
    if data is None:
        pytest.skip("needs GNN2LOGIC_DATA, a folder with TU data sets")
    printed = run("molecules.py", "--epochs", "15", folder=tmp_path, data=data)
    assert printed.startswith("MUTAG ")
    assert share(printed, "the rule is right about") > 0.7


def test_shapes(tmp_path: Path) -> None:
    printed = run("shapes.py", "--graphs", "300", folder=tmp_path)
    (line,) = [text for text in printed.splitlines() if text.startswith("right about")]
    assert float(line.split()[2].rstrip("%")) > 95
    (line,) = [text for text in printed.splitlines() if "are planted" in text]
    assert float(line.split("%")[0]) > 50
    for name in ("house.png", "cycle.png"):
        assert (tmp_path / "shapes" / name).stat().st_size > 10_000


def test_a_network_of_ones_own(tmp_path: Path) -> None:
    printed = run("own_network.py", "--epochs", "5", "--graphs", "200", folder=tmp_path)
    assert share(printed, "rule and network agree about") > 0.7
    assert "The labels were made by    1(U1 & A U1 > 3) > 4" in printed
