"""What changed between two models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.exceptions import LabelError, UnsupportedInputError


def model(text: str) -> gl.IDTPredictor:
    return gl.from_formulas({"yes": text}, otherwise="no", names=["U0", "U1"])


def test_data_small_graphs_and_conditions() -> None:
    graphs = gl.random_graphs(80, sizes=5, random_state=0)
    old = model("1 U0 > 1 & 1(A U1 > 0) > 2")
    new = model("1 U0 > 2 & 1 U1 > 0")
    difference = gl.diff(old, new, graphs)
    assert difference
    differs = old.predict(graphs) != new.predict(graphs)
    assert np.array_equal(difference.rows, np.flatnonzero(differs))
    assert [str(one) for one in difference.removed] == ["1(A U1 > 0) > 2"]
    assert [str(one) for one in difference.added] == ["1 U1 > 0"]
    assert [tuple(map(str, pair)) for pair in difference.moved] == [("1 U0 > 1", "1 U0 > 2")]
    told = difference.classes["yes"]
    assert told is not None
    assert told.counterexample is not None
    graph = told.counterexample
    assert old.formula("yes").evaluate(graph)[0] != new.formula("yes").evaluate(graph)[0]
    text = str(difference)
    assert f"They differ on {differs.sum()} of 80 graphs" in text
    assert "moved: 1 U0 > 1 became 1 U0 > 2" in text
    assert "gone: " in text


def test_the_same_rule_learned_again() -> None:
    difference = gl.diff(model("1 U0 > 1"), model("1 U0 > 1"), gl.random_graphs(9, random_state=0))
    assert not difference
    assert str(difference).startswith("No difference was seen.")
    assert difference.kept == (gl.parse("1 U0 > 1"),)


def test_equal_rules_in_other_words() -> None:
    difference = gl.diff(model("1 U0 > 0"), model("!(1 !U0 >= 100%)"))
    assert not difference


def test_scorecards_and_rules() -> None:
    graphs = gl.random_graphs(60, sizes=5, random_state=0)
    y = np.where(gl.parse("1 U0 > 2").evaluate(graphs), "yes", "no")
    card = gl.ScorecardClassifier(max_lines=1, n_layers=0, random_state=0).fit(graphs, y)
    difference = gl.diff(card, model("1 U0 > 2"), graphs)
    assert len(difference.rows) == (card.predict(graphs) != y).sum()
    assert difference.old_labels.tolist() == card.predict(graphs).tolist()


def test_what_cannot_be_compared() -> None:
    with pytest.raises(UnsupportedInputError, match="model must be a fitted rule"):
        gl.diff(gl.parse("U0"), model("1 U0 > 1"))
    nodes = gl.from_formulas({"yes": "U0"}, otherwise="no", names=["U0", "U1"], level="node")
    with pytest.raises(LabelError, match="same things"):
        gl.diff(nodes, model("1 U0 > 1"))


def test_points_that_changed() -> None:
    first = gl.random_graphs(40, sizes=5, random_state=0)
    numbers = np.array([float(graph.column("U0").sum()) for graph in first])
    old, new = (
        gl.ScorecardRegressor(max_lines=4, n_layers=0, random_state=0).fit(first, target)
        for target in (numbers, numbers + 3.0 * gl.parse("1 U1 > 2").evaluate(first))
    )
    difference = gl.diff(old, new, first)
    far = np.abs(old.predict(first) - new.predict(first))
    assert f"by {far.mean():.4g} in the mean and {far.max():.4g} at most" in str(difference)
    for formula, before, after in difference.repointed:
        assert formula in difference.kept
        assert before != after
        assert f"{formula.to_english()} ({formula})" in str(difference)
    again = replace(difference, repointed=((gl.parse("1 U0 > 1"), (2,), (-1,)),))
    assert "other points: +2 became -1 where more than 1 node is U0 (1 U0 > 1)" in str(again)
    assert not gl.diff(old, old, first).repointed
    rule = gl.from_formulas({1: "1 U0 > 1"}, otherwise=0, names=["U0", "U1"])
    with pytest.raises(LabelError, match="Got one of each"):
        gl.diff(old, rule, first)
