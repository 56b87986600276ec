"""Commands with scorecards: learned from labels, saved, and read by all other commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gnn2logic as gl
from cli_runs import FEW, run, run_json


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cards") / "psi_0.card.json"
    settings = ["--card", "max_lines=2", "--card", "n_layers=0"]
    learned = run_json(
        *("distill", "psi_0", *FEW, "--variant", "true", "--into", "scorecard", *settings),
        *("--out", path, "--quiet"),
    )
    assert learned["lines"][0]["points"]
    assert learned["scores"][0]["rule_accuracy"] > 0.9
    assert isinstance(gl.load(path), gl.ScorecardPredictor)
    return path


def test_evaluate_formula_and_check(card: Path) -> None:
    measured = run_json("evaluate", card, "psi_0", *FEW)
    model = gl.load(card)
    assert measured["scores"][0]["accuracy"] > 0.8
    assert run("formula", card, "--class", "true").stdout.strip() == str(model.formula("true"))
    checked = run_json("check", str(model.formula("true")), "psi_0", *FEW, "--model", card)
    assert checked["n_graphs"] == 60


def test_explain(card: Path, tmp_path: Path) -> None:
    picture = tmp_path / "why.svg"
    told = run_json("explain", card, "psi_0", 3, *FEW, "--picture", picture, "--quiet")
    assert told["label"] in ("true", "false")
    assert sum(line["points"][0] for line in told["lines"]) + told["base"][0] == told["scores"][0]
    assert picture.stat().st_size > 1000
    assert "Score:" in run("explain", card, "psi_0", 3, *FEW).stdout


def test_plots(card: Path, tmp_path: Path) -> None:
    for number, what in enumerate([[], ["--what", "path"], ["--what", "scorecard"]]):
        out = tmp_path / f"{number}.svg"
        run("plot", card, *what, "--out", out)
        assert out.stat().st_size > 1000
    confusion = tmp_path / "confusion.svg"
    run("plot", card, "psi_0", *FEW, "--what", "confusion", "--out", confusion)
    assert confusion.exists()
    assert (
        "one of scorecard, path for a scorecard"
        in run("plot", card, "--what", "tree", "--out", tmp_path / "tree.svg", code=2).stderr
    )
    assert (
        "--what rules is for rules"
        in run(
            "plot", card, "psi_0", *FEW, "--what", "rules", "--out", tmp_path / "rules.svg", code=2
        ).stderr
    )


def test_report(card: Path, tmp_path: Path) -> None:
    out = tmp_path / "card.json"
    run("report", card, "psi_0", *FEW, "--out", out)
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["card"]["lines"]


def test_a_store(card: Path, tmp_path: Path) -> None:
    store = tmp_path / "psi_0.shards"
    run("shard", "psi_0", store, *FEW)
    out = tmp_path / "store.card.json"
    run(
        *("distill", store, "--variant", "true", "--into", "scorecard", "--card", "max_lines=1"),
        *("--out", out),
    )
    assert len(gl.load(out).lines_) <= 1
    assert run_json("evaluate", out, store)["scores"][0]["accuracy"] > 0.8


def test_what_is_refused(card: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    start = ("distill", "psi_0", *FEW, "--variant", "true", "--out", out)
    assert (
        "--idt is for rules"
        in run(*start, "--into", "scorecard", "--idt", "max_size=3", code=2).stderr
    )
    assert (
        "--checkpoint is for rules"
        in run(*start, "--into", "scorecard", "--checkpoint", tmp_path / "c", code=2).stderr
    )
    assert "--card is for --into scorecard" in run(*start, "--card", "max_lines=3", code=2).stderr
    assert (
        "--card must be KEY=VALUE with one of the keys"
        in run(*start, "--into", "scorecard", "--card", "max_size=3", code=2).stderr
    )
    graphs = gl.random_graphs(60, sizes=8, random_state=0)
    numbers = tmp_path / "numbers.json"
    gl.ScorecardRegressor(max_lines=1, n_layers=0).fit(graphs, np.arange(60.0)).save(numbers)
    assert (
        "a scorecard that predicts numbers"
        in run("evaluate", numbers, "psi_0", *FEW, code=2).stderr
    )


@pytest.mark.parametrize("option", [["--into", "scorecard", "--card"], ["--idt"]])
def test_settings_of_other_learners_are_told(option: list[str], tmp_path: Path) -> None:
    """How numbers are judged says nothing about classes."""
    out = ["--out", tmp_path / "model.json", "--variant", "true"]
    refused = run("distill", "psi_0", *FEW, *out, *option, "loss=absolute", code=2)
    assert "'loss' is not a parameter" in refused.stderr
