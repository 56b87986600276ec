"""`diff` and `recourse`: what changed between models, and what would have to change in a graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gnn2logic as gl
from cli_runs import FEW, run, run_json, save_model
from gnn2logic.datasets import load


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_model(tmp_path / "old.idt.json")


def test_what_changed_between_two_models(tmp_path: Path, model: Path) -> None:
    new = save_model(tmp_path / "new.idt.json", "1 U1 > 7")
    graphs = load("psi_0", n_graphs=60).graphs
    n_changed = int(gl.parse("1 U1 = 7").evaluate(graphs).sum())
    assert n_changed
    shown = run("diff", model, new, "psi_0", *FEW, "--split", "all", code=1).stdout
    assert f"They differ on {n_changed} of 60 graphs: true became false" in shown
    assert "moved: 1 U1 > 6 became 1 U1 > 7" in shown
    plain = run_json("diff", model, new, "psi_0", *FEW, "--split", "all", code=1)
    assert [(row["old"], row["new"]) for row in plain["rows"]] == [("true", "false")] * n_changed
    assert plain["moved"] == [{"old": "1 U1 > 6", "new": "1 U1 > 7"}]
    assert (plain["differs"], plain["n_rows"], plain["removed"]) == (True, 60, [])
    assert "No difference was seen" in run("diff", model, model).stdout


def test_models_that_differ_on_small_graphs(tmp_path: Path, model: Path) -> None:
    new = save_model(tmp_path / "new.idt.json", "1 U1 > 1")
    plain = run_json("diff", model, new, "--max-nodes", 2, code=1)
    by_class = {one["class"]: one for one in plain["classes"]}
    assert by_class["true"]["equal"] is False
    assert "node" in by_class["true"]["counterexample"]
    assert run_json("diff", model, new, "--max-nodes", 1)["differs"] is False


def test_what_diff_would_ignore_is_refused(model: Path) -> None:
    for options in (FEW, ["--split", "all"], ["--smiles", "column"]):
        assert "are about a data set" in run("diff", model, model, *options, code=2).stderr


def test_numbers_and_classes_are_not_compared(tmp_path: Path, model: Path) -> None:
    graphs = load("psi_0", n_graphs=60).graphs
    y = np.array(gl.parse("1 U1 > 6").evaluate(graphs), dtype=float)
    numbers = tmp_path / "numbers.idt.json"
    gl.IDTRegressor(n_layers=0, random_state=0, verbose=0).fit(graphs, y).save(numbers)
    assert "both numbers. Got one of each" in run("diff", model, numbers, code=3).stderr
    assert "must tell classes" in run("recourse", numbers, "psi_0", 0, *FEW, code=2).stderr


def test_the_smallest_change_of_a_graph(model: Path, tmp_path: Path) -> None:
    graphs = load("psi_0", n_graphs=60).graphs
    number = int(np.flatnonzero(gl.parse("1 U1 = 7").evaluate(graphs))[0])
    shown = run("recourse", model, "psi_0", number, *FEW, "--quiet").stdout
    assert shown.startswith(f"Graph {number} of psi_0, whose class is true\n1. ")
    assert "Then the rule says false and no longer true. No smaller change" in shown
    plain = run_json("recourse", model, "psi_0", number, *FEW, "--allow", "predicates", "--quiet")
    assert (plain["before"], plain["after"], plain["smallest"]) == ("true", "false", True)
    assert (plain["graph"], len(plain["edits"])) == (number, 1)
    assert "U1" in plain["edits"][0]
    # Edges are not counted by the rule.
    given = ("recourse", model, "psi_0", number, *FEW, "--allow", "edges", "--max-edits", 1)
    assert "No change was found" in run(*given, "--quiet", code=1).stdout
    assert "INDEX must be below 60" in run("recourse", model, "psi_0", 60, *FEW, code=2).stderr
