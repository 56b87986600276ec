"""`implies` and `disjoint`, against the truth on all small graphs."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, settings

import oracle
from gnn2logic import Formula, disjoint, equivalent, implies, parse
from gnn2logic.exceptions import EquivalenceError, UnsupportedInputError
from oracle import PlainGraph
from strategies import NAMES, formulas


def small_graphs() -> list[PlainGraph]:
    """Return all simple graphs with one or two nodes, named nodes told apart."""
    graphs = []
    for n_nodes in (1, 2):
        for values in product((False, True), repeat=2 * n_nodes):
            columns = {name: list(values[k::2]) for k, name in enumerate(NAMES)}
            for edges in ([], [(0, 1, None), (1, 0, None)])[:n_nodes]:
                graphs.append(PlainGraph(n_nodes, columns, list(edges)))  # noqa: PERF401
    return graphs


GRAPHS = small_graphs()


def truths(formula: Formula) -> list[bool]:
    document = json.loads(formula.to_json())
    return [value for graph in GRAPHS for value in oracle.truth(document, graph)]


@given(formulas(directed=False), formulas(directed=False))
@settings(deadline=None, max_examples=60)
def test_they_are_what_all_graphs_say(f: Formula, g: Formula) -> None:
    first, second = truths(f), truths(g)
    follows = all(b or not a for a, b in zip(first, second, strict=True))
    apart = not any(a and b for a, b in zip(first, second, strict=True))
    options = {"max_nodes": 2, "graph_class": "simple"}
    said = implies(f, g, **options)  # type: ignore[arg-type]
    assert said.holds is follows
    assert bool(disjoint(f, g, **options)) is apart  # type: ignore[arg-type]
    assert bool(said) is bool(equivalent(f & g, f, **options))  # type: ignore[arg-type]
    if not follows:
        assert said.counterexample is not None
        assert said.node is not None
        node = said.node
        # The counterexample has only the predicates that the formulas use.
        wanted = (f & ~g).evaluate(said.counterexample, level="node")
        assert wanted[node]
        assert "the second is false" in str(said)
    else:
        assert str(said).startswith("Yes")


def test_what_is_no_answer_is_said() -> None:
    f, g = parse("A(A U0 > 1) > 0"), parse("A U1 > 0")
    late = implies(f, g, max_nodes=5, time_limit=1e-9)
    assert late.holds is None
    assert not late
    assert "time limit" in str(late)
    assert "both are true" in str(disjoint(f, g))
    with pytest.raises(UnsupportedInputError, match="parse"):
        implies("U0", g)  # type: ignore[arg-type]
    with pytest.raises(EquivalenceError):
        disjoint(f, g, max_nodes=0)


def test_comparisons_that_no_graph_within_the_bound_reaches_are_told() -> None:
    far, farther = parse("1 U0 > 10"), parse("1 U0 > 20")
    for said in (implies(far, farther), disjoint(far, farther)):
        assert said
        assert "1 U0 > 10 needs 11 nodes, so this bound proves nothing about it." in str(said)
    near = str(implies(parse("1 U0 > 3"), parse("1 U0 > 1")))
    assert near.endswith("with at most 4 nodes.")
