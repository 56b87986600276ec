"""The example scripts run, quickly and with small settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

pytest.importorskip("torch_geometric", reason="the examples use networks (extra 'torch')")
pytest.importorskip("matplotlib", reason="the examples draw (extra 'plot')")


def run(name: str, *arguments: str, folder: Path, data: str | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "GNN2LOGIC_DATA"}
    if data is not None:
        environment["GNN2LOGIC_DATA"] = data
    # The tests let networks be trained for a moment only.
    short = "ignore:The network is not better than saying the most frequent class:UserWarning"
    strict = ["-W", "error::UserWarning", "-W", short]
    done = subprocess.run(
        [sys.executable, *strict, str(EXAMPLES / name), *arguments],
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


def test_chemistry(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="the example reads SMILES (extra 'chem')")
    printed = run("chemistry.py", "--epochs", "15", folder=tmp_path)
    assert "600 graphs" in printed
    assert "A scorecard from the labels is right for" in printed
    assert (tmp_path / "chemistry" / "report.html").stat().st_size > 50_000
    assert (tmp_path / "chemistry" / "molecule.svg").read_text().startswith("<?xml")


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


# What the paper found ---------------------------------------------------------------------------


def learned_from_labels(printed: str) -> list[str]:
    """Return the rules that are the same on every machine, as they were printed."""
    parts = printed.split("\n\n")
    return [part.strip("\n") for part in parts if part.startswith("Learned from the labels")]


def check_page(rules: list[str]) -> None:
    """Check that the documentation shows these rules."""
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert [rule for rule in rules if rule not in page] == []


def test_the_rule_for_aids(tmp_path: Path) -> None:
    data = os.environ.get("GNN2LOGIC_DATA")
    if data is None:
        pytest.skip("needs GNN2LOGIC_DATA, a folder with the TU data set AIDS")
    printed = run("paper/aids.py", "--epochs", "2", "--out", "o", folder=tmp_path, data=data)
    (rule,) = learned_from_labels(printed)
    assert "a: 1 true > 12\n" in rule
    assert "right about 99.8%" in rule
    check_page([rule])
    assert (tmp_path / "o" / "aids.png").stat().st_size > 10_000


def test_the_recovered_formulas(tmp_path: Path) -> None:
    printed = run("paper/recovered_formulas.py", "--epochs", "2", "--out", "o", folder=tmp_path)
    rules = learned_from_labels(printed)
    assert [rule.splitlines()[1] for rule in rules] == [
        "  true: 1 U1 > 6",
        "  true: 1(4 <= A true <= 9) < 13",
    ]
    for name in ("psi_0", "psi_1"):
        # The first line of each is about the labels alone, the second one about the network.
        assert f"Rule and {name} differ on 0 of 20000 more graphs." in printed
        assert (tmp_path / "o" / f"{name}.png").stat().st_size > 10_000
    check_page(rules)


def test_the_rule_for_shapes_and_the_data_it_belongs_to(tmp_path: Path) -> None:
    printed = run("paper/multi_shapes.py", "--epochs", "2", "--out", "o", folder=tmp_path)
    one_tree, own_trees = printed.split("On a tree of its own")
    assert "The paper's rule is right about 100.0%" in one_tree
    assert "The paper's rule is right about 67.5%" in own_trees
    (rule,) = learned_from_labels(one_tree)
    assert "two shapes: 1(A true < 2) > 14 & 1(3 <= A true <= 12) > 12\n" in rule
    check_page([rule, *learned_from_labels(own_trees)])
    assert (tmp_path / "o" / "multi_shapes.png").stat().st_size > 10_000


# Proof and practice -----------------------------------------------------------------------------


def test_rules_in_a_database(tmp_path: Path) -> None:
    printed = run("queries.py", "--graphs", "150", folder=tmp_path)
    assert share(printed, "right about fresh molecules") > 0.85
    assert "SQLite says the same: True" in printed
    assert "the function says the same: True" in printed
    assert (tmp_path / "queries" / "rule.sql").read_text().startswith("WITH")


def test_certificates(tmp_path: Path) -> None:
    pytest.importorskip("z3", reason="needs the extra 'verify'")
    printed = run("certificates.py", "--graphs", "200", "--max-nodes", "3", folder=tmp_path)
    same, changed = printed.split("\n\n")[:2]
    assert "never differ" in same
    assert "proven by z3" in same
    assert changed.count("differ on a graph with") == 2
    assert "What changed:" in printed
