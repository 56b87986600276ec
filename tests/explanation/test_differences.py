"""What changed between two models."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import networkx as nx
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


def test_classes_that_only_one_model_has() -> None:
    old = gl.from_formulas({"yes": "1 U0 > 1"}, otherwise="no", names=["U0", "U1"])
    new = gl.from_formulas({"red": "1 U0 > 1"}, otherwise="no", names=["U0", "U1"])
    difference = gl.diff(old, new)
    assert difference
    assert [one is not None and one.equal for one in difference.classes.values()] == [
        True,
        False,
        False,
    ]
    assert "red: a smallest graph that changes is the graph with nodes" in str(difference)
    # No graph of three nodes shows this one.
    third = gl.from_formulas(
        {"yes": "1 U0 > 1", "red": "1 U1 > 4"}, otherwise="no", names=["U0", "U1"]
    )
    unseen = gl.diff(old, third)
    assert not unseen
    assert str(unseen).startswith("No graph was seen on which they differ.\nnew: ")


def test_smallest_graphs_have_nodes_that_there_can_be() -> None:
    """No node is of two elements, or above a high threshold but not above a low one."""
    graphs = []
    for number in range(60):
        graph = nx.path_graph(4)
        for node in graph:
            element = "CNO"[(number * (node + 3) + node // 2) % 3]
            graph.add_node(node, element=element, charge=(number * 0.737 + node * 3.1) % 11)
        graphs.append(graph)
    nitrogens = [sum(v == "N" for _, v in g.nodes(data="element")) for g in graphs]
    high = [max(v for _, v in g.nodes(data="charge")) for g in graphs]
    models = [
        gl.IDTClassifier(n_layers=1, random_state=0).fit(graphs, np.array(labels))
        for labels in (
            [a > 1 and b > 6 for a, b in zip(nitrogens, high, strict=True)],
            [a > 0 and b > 9 for a, b in zip(nitrogens, high, strict=True)],
        )
    ]
    pairs = [(models[0], models[1]), (models[1], models[0])]
    for old, new in pairs:
        difference = gl.diff(old, new, graphs)
        assert difference
        for compared in difference.classes.values():
            assert compared is not None
            if compared.counterexample is None:
                continue
            graph = compared.counterexample
            held = dict(zip(graph.names, np.asarray(graph.predicates).T, strict=True))
            elements = [held[name] for name in held if name.startswith("element=")]
            assert np.sum(elements, axis=0).max(initial=0) <= 1
            charges = sorted(
                (float(name.rpartition(" ")[2]), name) for name in held if name.startswith("charge")
            )
            for (_, low), (_, more) in pairwise(charges):
                assert (held[low] >= held[more]).all()


def test_how_answers_follow_from_scores() -> None:
    graphs = gl.random_graphs(60, sizes=5, random_state=0)
    numbers = np.array([float(graph.column("U0").sum()) for graph in graphs])
    cards = [
        gl.ScorecardRegressor(max_lines=3, n_layers=0, random_state=0).fit(graphs, target)
        for target in (numbers, 10 * numbers + 1)
    ]
    difference = gl.diff(*cards)
    assert difference
    text = str(difference)
    before, after = (card.table().verdict for card in cards)
    assert "was seen" not in text
    assert f"answers: {before}" in text
    assert f"became {after}" in text
    assert gl.diff(cards[0], cards[0]).answers is None
    rules = [
        gl.IDTRegressor(n_layers=0, random_state=0).fit(graphs, target)
        for target in (numbers, numbers + 0.5)
    ]
    difference = gl.diff(*rules)
    assert difference
    assert difference.answers is not None
    assert difference.to_dict()["answers"] == list(difference.answers)
