from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from gnn2logic.exceptions import UnknownPredicateError, UnknownRelationError
from gnn2logic.graphs import GraphBatch
from gnn2logic.graphs.random import random_graphs
from gnn2logic.logic import Formula, evaluate, parse, simplify, to_json
from gnn2logic.logic.documents import formula_to_document
from strategies import KINDS, RELATIONS, formulas, plain_graphs, to_batch


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_agrees_with_the_oracle_at_every_node(kind: str, data: st.DataObject) -> None:
    """Several graphs in one batch: global parameters must stay inside of each graph."""
    graphs = data.draw(st.lists(plain_graphs(kind), min_size=1, max_size=3))
    if kind == "typed":
        # An edge-free graph has no relations of its own, so batches of typed graphs need an edge.
        graphs = [graph for graph in graphs if graph.edges]
        if not graphs:
            return
    formula = data.draw(formulas(relations=RELATIONS if kind == "typed" else ()))
    document = formula_to_document(formula)
    expected = [oracle.truth(document, graph) for graph in graphs]
    batch = to_batch(*graphs)
    nodes = [value for values in expected for value in values]
    assert evaluate(formula, batch, level="node").tolist() == nodes
    assert evaluate(formula, batch).tolist() == [all(values) for values in expected]


@settings(max_examples=200, deadline=None)
@given(formula=formulas(max_steps=12))
def test_wl_indistinguishable_graphs_agree(formula: Formula) -> None:
    """A 6-cycle and two triangles look alike to every formula of two-variable counting logic."""
    six = np.roll(np.eye(6, dtype=int), 1, axis=1)
    three = np.roll(np.eye(3, dtype=int), 1, axis=1)
    cycle, triangles = six + six.T, np.kron(np.eye(2, dtype=int), three + three.T)
    same = np.ones((6, 2), dtype=bool)
    truths = [
        evaluate(formula, GraphBatch(same, graph), level="node") for graph in (cycle, triangles)
    ]
    assert truths[0].tolist() == truths[1].tolist()


def test_ratios_are_integer_exact() -> None:
    """63 of 90 is not more than 0.7; doubles say it is."""
    assert 0.7 * 90 < 63
    star = np.zeros((91, 91), dtype=int)
    star[0, 1:] = star[1:, 0] = 1
    marked = np.zeros((91, 1), dtype=bool)
    marked[1:64] = True
    batch = GraphBatch(marked, star)
    assert not evaluate(parse("A U0 > 0.7"), batch, level="node")[0]
    assert evaluate(parse("A U0 >= 0.7"), batch, level="node")[0]
    assert evaluate(
        parse("A U0 > 69999999999999999999/100000000000000000000"), batch, level="node"
    )[0]
    assert not evaluate(
        parse("A U0 > 70000000000000000001/100000000000000000000"), batch, level="node"
    )[0]


def test_thresholds_beyond_every_count_are_false() -> None:
    batch = random_graphs(3, sizes=4, random_state=0)
    assert not evaluate(parse(f"1 true > {10**30}"), batch).any()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A true > 1/2", False),
        ("A true <= 1/2", True),
        ("A true >= 1/2", True),
        ("A true < 1/2", False),
        ("A true = 1/2", True),
        ("A true != 1/2", False),
        ("A true >= 100%", True),
        ("A true > 100%", False),
        ("A true < 100%", False),
        ("A true <= 100%", True),
        ("A true = 100%", True),
        ("A true > 0%", False),
        ("A true >= 0%", True),
        ("A true < 0%", False),
        ("A true <= 0%", True),
        ("A true = 0", True),
        ("A true >= 0", True),
        ("A true < 0", False),
        ("A true < 1", True),
        ("A true != 0", False),
    ],
)
def test_sugar_on_an_empty_set(text: str, value: bool) -> None:
    isolated = GraphBatch(None, [[0]])
    assert evaluate(parse(text), isolated).tolist() == [value]


@settings(max_examples=100, deadline=None)
@given(
    graph=plain_graphs("multi"),
    relation=st.sampled_from([">", ">=", "<", "<=", "=", "!="]),
    share=st.sampled_from(["0%", "1/3", "1/2", "2/3", "100%"]),
    count=st.integers(0, 5),
    modality=st.sampled_from(["A", "I+A", "1-I", "1-A^T", "1", "0"]),
)
def test_sugar_means_what_it_says(
    graph: oracle.PlainGraph, relation: str, share: str, count: int, modality: str
) -> None:
    """Every comparison of counts and shares against Python's own operators."""
    import operator
    from fractions import Fraction

    compare = {
        ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
        "=": operator.eq, "!=": operator.ne,
    }[relation]  # fmt: skip
    row = formula_to_document(parse(f"{modality} U0 > 0"))["nodes"][-1]
    ratio = Fraction(share[:-1]) / 100 if share.endswith("%") else Fraction(share)
    batch = to_batch(graph)
    by_count = evaluate(parse(f"{modality} U0 {relation} {count}"), batch, level="node")
    by_share = evaluate(parse(f"{modality} U0 {relation} {share}"), batch, level="node")
    for node in range(graph.n_nodes):
        members = oracle.seen_from(graph, node, row)
        found = sum(graph.predicates["U0"][member] for member in members)
        assert by_count[node] == compare(found, count)
        assert by_share[node] == compare(found, ratio * len(members))


def test_unknown_names_are_errors_that_list_what_there_is() -> None:
    batch = random_graphs(1, sizes=3, random_state=0)
    with pytest.raises(
        UnknownPredicateError, match=r"no predicate 'U7'.*'U0', 'U1'.*PredicateEncoder"
    ):
        evaluate(parse("U7"), batch)
    with pytest.raises(UnknownRelationError, match=r"no edge relation 'r'.*none"):
        evaluate(parse("A[r] U0 > 1"), batch)
    with pytest.raises(ValueError, match="level must be one of 'graph', 'node'. Got 'edge'"):
        evaluate(parse("U0"), batch, level="edge")  # type: ignore[arg-type]


def test_only_formulas_are_evaluated_and_simplified() -> None:
    batch = random_graphs(1, sizes=3, random_state=0)
    text: Any = "U0"
    for call in (lambda given: evaluate(given, batch), simplify, to_json):
        with pytest.raises(TypeError, match="A formula was expected. Got str"):
            call(text)


def test_shares_of_empty_sets_with_huge_denominators() -> None:
    isolated = GraphBatch(None, [[0]])
    assert not evaluate(parse(f"A true > 1/{10**30}"), isolated).any()


def test_the_result_is_a_fresh_array() -> None:
    batch = random_graphs(2, sizes=3, random_state=0)
    values = evaluate(parse("U0"), batch, level="node")
    values[:] = True
    assert batch.column("U0").tolist() != values.tolist()
