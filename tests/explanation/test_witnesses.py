"""Paths and witnesses against evaluated formulas, the oracle and graphs worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import oracle
from explanation_samples import cases, star
from gnn2logic.exceptions import GraphError, ParameterError, UnsupportedInputError
from gnn2logic.explanation import witnesses
from gnn2logic.graphs import GraphBatch, from_edges, random_graphs
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier
from gnn2logic.logic import parse
from gnn2logic.logic.documents import formula_to_document
from strategies import KINDS, NAMES


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", ["graph", "node"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_conditions_say_what_is_true(level: Any, kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind, level))
    plain, graph, row = case.plain, case.graph, case.row
    found = witnesses(case.model, graph, node=case.node)
    assert found.label == case.model.predict(graph)[row]
    assert found.rule.evaluate(graph, level="node")[row]
    for condition in found.conditions:
        assert condition.nodes.tolist() == oracle.truth(formula_to_document(condition.inner), plain)
        decision = formula_to_document(condition.formula)["nodes"]
        modal_row = next(part for part in reversed(decision) if part["op"] == "modal")
        members = oracle.seen_from(plain, row, modal_row)
        assert condition.size == len(members)
        assert condition.count == sum(bool(condition.nodes[member]) for member in members)
        share = condition.count > condition.threshold * (
            1 if isinstance(condition.threshold, int) else condition.size
        )
        assert condition.met == share
    edges = {(source, target) for source, target, _ in plain.edges}
    assert {tuple(edge) for edge in found.edges.tolist()} <= edges
    assert found.nodes[found.edges].any(axis=1).all()


def test_nodes_and_edges_of_a_star() -> None:
    model = from_formulas({1: "1(A U0 > 1) > 0"}, otherwise=0, names=["U0"])
    found = witnesses(model, star())
    assert found.label == 1
    assert found.conditions[0].nodes.nonzero()[0].tolist() == [0]
    # The centre, and the two marked rays that it counts; not 3, and nothing of the other part.
    assert found.nodes.nonzero()[0].tolist() == [0, 1, 2]
    assert found.edges.tolist() == [[0, 1], [0, 2], [1, 0], [2, 0]]


def test_a_condition_that_is_not_met_shows_what_was_counted() -> None:
    model = from_formulas({1: "1 U0 > 3"}, otherwise=0, names=["U0"])
    found = witnesses(model, star())
    condition = found.conditions[0]
    assert (found.label, condition.met, condition.count, condition.size) == (0, False, 3, 6)
    assert str(found.rule) == "1 U0 < 4"
    assert found.nodes.tolist() == star().column("U0").tolist()
    assert not len(found.edges)


def test_directed_and_typed_edges_are_marked_as_they_are() -> None:
    edges = [(0, 1), (2, 0), (0, 3), (3, 0)]
    everything = [[1]] * 4
    graph = from_edges(edges, 4, everything, names=["U0"])
    for text, expected in (
        ("A U0 > 1", [[0, 1], [0, 3]]),
        ("A^T U0 > 1", [[2, 0], [3, 0]]),
        ("A|A^T U0 > 2", [[0, 1], [0, 3], [2, 0], [3, 0]]),
        ("1-I-A U0 = 1", []),
    ):
        model = from_formulas({1: text}, otherwise=0, level="node", names=["U0"])
        found = witnesses(model, graph, node=0)
        assert found.label == 1
        assert found.edges.tolist() == expected
    typed = GraphBatch(
        everything,
        {
            "r": np.array([[0, 1, 0, 0]] + [[0] * 4] * 3),
            "s": np.array([[0, 0, 1, 0]] + [[0] * 4] * 3),
        },
        names=["U0"],
    )
    model = from_formulas(
        {1: "A[s] U0 > 0"}, otherwise=0, names=["U0"], level="node", relations=["r", "s"]
    )
    assert witnesses(model, typed, node=0).edges.tolist() == [[0, 2]]


@pytest.mark.parametrize(
    "text", ["1(A U0 > 1) > 1", "1(U1 & A(U0 & A U1 > 0) > 0) > 0", "1(I+A(A U0 > 1) > 2) > 0"]
)
def test_witnesses_alone_are_enough(text: str) -> None:
    """Where more nodes and edges never hurt, the rule still holds with the witnesses alone."""
    formula = parse(text)
    model = from_formulas({1: formula}, otherwise=0, names=NAMES)
    checked = 0
    for graph in random_graphs(40, sizes=9, density=0.3, random_state=0):
        found = witnesses(model, graph)
        if found.label == 1:
            edges = found.edges
            kept = np.zeros((9, 9), dtype=int)
            kept[edges[:, 0], edges[:, 1]] = 1
            seen = GraphBatch(graph.predicates & found.nodes[:, None], kept, names=NAMES)
            assert formula.evaluate(seen)[0]
            checked += 1
    assert checked > 5


def test_scores_are_means_over_conditions_and_halve_with_depth() -> None:
    """A path with a star at one end: 1 - 0 - 2, 0 - 3 - 4 - 5, and 6 alone."""
    rules = {"yes": "1(A(A true > 2) > 0) > 0 & 1(A true < 2) > 3"}
    model = from_formulas(rules, otherwise="no", names=[])
    graph = from_edges([(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)], 7).symmetrize()
    found = witnesses(model, graph)
    assert (found.label, len(found.conditions)) == ("yes", 2)
    # The first condition counts 1, 2, 3 because of 0; the second 1, 2, 5, 6 because of 0 and 4.
    first = [0.5, 1, 1, 1, 0, 0, 0]
    second = [0.5, 1, 1, 0, 0.5, 1, 1]
    assert found.node_scores.tolist() == [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    # Edges: (0, 1), (0, 2) of both, (0, 3) of the first, (4, 5) of the second.
    scores = dict(zip(map(tuple, found.edges.tolist()), found.edge_scores.tolist(), strict=True))
    assert scores == {
        edge: score
        for (one, other), score in {(0, 1): 1, (0, 2): 1, (0, 3): 0.5, (4, 5): 0.5}.items()
        for edge in ((one, other), (other, one))
    }
    assert found.edge_scores_by_relation[None].tolist() == found.edge_scores.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", ["graph", "node"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_witnesses_are_what_has_a_score(level: Any, kind: str, data: st.DataObject) -> None:
    case = data.draw(cases(kind, level))
    found = witnesses(case.model, case.graph, node=case.node)
    assert (found.nodes == (found.node_scores > 0)).all()
    assert ((found.node_scores >= 0) & (found.node_scores <= 1)).all()
    assert ((found.edge_scores > 0) & (found.edge_scores <= 1)).all()
    for number in range(len(found.nodes)):
        counts = [condition.counted[number] for condition in found.conditions]
        assert found.node_scores[number] >= (np.mean(counts) if counts else 0)


def test_a_constant_model_has_no_conditions() -> None:
    graphs = random_graphs(20, sizes=5, random_state=0)
    with pytest.warns(UserWarning, match="constant"):
        model = IDTClassifier(n_layers=0).fit(graphs, [1] * 20)
    found = witnesses(model, graphs[0])
    assert found.conditions == ()
    assert str(found.rule) == "true"
    assert not found.nodes.any()
    assert found.edges.shape == (0, 2)


def test_bad_inputs() -> None:
    model = from_formulas({1: "1 U0 > 1"}, otherwise=0, names=["U0"])
    local = from_formulas({1: "A U0 > 1"}, otherwise=0, names=["U0"], level="node")
    with pytest.raises(GraphError, match="One graph .* Got 2"):
        witnesses(model, GraphBatch.concat([star(), star()]))
    with pytest.raises(ParameterError, match="classifies graphs"):
        witnesses(model, star(), node=0)
    bad: Any
    for bad in (None, 6, -1, "a", True, 1.5):
        with pytest.raises(ParameterError, match="from 0 to 5"):
            witnesses(local, star(), node=bad)
    bad = "model"
    with pytest.raises(UnsupportedInputError, match="Got str"):
        witnesses(bad, star())
    with pytest.raises(NotFittedError):
        witnesses(IDTClassifier(), star())
