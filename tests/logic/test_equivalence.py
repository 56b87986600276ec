"""What callers of `equivalent` and `find_model` see."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from gnn2logic.exceptions import (
    EquivalenceError,
    MissingDependencyError,
    UnsupportedInputError,
)
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic import parse
from gnn2logic.logic.equivalence import Equivalence, enumeration, equivalent, find_model
from gnn2logic.logic.equivalence.result import Deadline
from gnn2logic.logic.evaluation import evaluate


def compare(f: str, g: str, **options: Any) -> Equivalence:
    return equivalent(parse(f), parse(g), **options)


def edges_of(graph: GraphBatch) -> int:
    """The number of edges, undirected ones counted once."""
    return graph.n_edges // 2 if graph.is_symmetric else graph.n_edges


EQUAL = [
    ("!(U0 & U1)", "!U0 | !U1"),
    ("!(U0 | A U1 > 0)", "!U0 & A U1 <= 0"),
    ("A U0 > 1", "A U0 >= 2"),
    ("A U0 < 2", "!(A U0 > 1)"),
    ("A U0 = 2", "A U0 > 1 & !(A U0 > 2)"),
    ("A U0 != 1", "A U0 > 1 | A U0 < 1"),
    # The sugar of ratios, on sets that may be empty.
    ("A U0 <= 1/2", "!(A U0 > 1/2)"),
    ("A U0 >= 1/2", "!(A !U0 > 1/2)"),
    ("A U0 < 1/3", "A !U0 > 2/3"),
    ("A U0 >= 100%", "A !U0 = 0"),
    ("A U0 < 100%", "A !U0 > 0"),
    ("A U0 > 100%", "false"),
    ("A U0 >= 0%", "true"),
    ("A U0 > 0%", "A U0 > 0"),
    ("A true > 3/4", "A true > 0"),
    ("A true >= 3/4", "true"),
    ("I U0 > 1/2", "U0"),
    ("I U0 > 0", "U0"),
    ("I U0 > 1", "false"),
    ("0 U0 > 0", "false"),
    # Parameters against each other, on simple graphs.
    ("I+A U0 > 0", "U0 | A U0 > 0"),
    ("1 U0 > 0", "I+A U0 > 0 | 1-I-A U0 > 0"),
    ("1-A U0 > 1", "U0 & 1-I-A U0 > 0 | 1-I-A U0 > 1"),
    ("1-I U0 = 0", "A U0 = 0 & 1-I-A U0 = 0"),
    ("1(1 U0 > 0) > 1/2", "1 U0 > 0"),
]


@pytest.mark.parametrize(("f", "g"), EQUAL)
@pytest.mark.parametrize("method", ["enumerate", "z3"])
def test_equal_formulas_are_found_equal(f: str, g: str, method: str) -> None:
    result = compare(f, g, method=method)
    assert result
    assert result.equal is True
    assert (result.method, result.proven_nodes, result.counterexample) == (method, 4, None)
    assert (result.n_graphs_checked > 0) == (method == "enumerate")


# The formulas, then nodes, edges and true predicates of a smallest counterexample.
DIFFERENT = [
    ("U0", "true", 1, 0, 0),
    ("U0", "false", 1, 0, 1),
    ("U0", "U1", 1, 0, 1),
    ("A U0 > 0", "A true > 0", 2, 1, 0),
    ("A U0 > 1", "A U0 > 0", 2, 1, 1),
    ("A U0 > 1/2", "A U0 > 0", 3, 2, 1),
    ("A U0 > 1/2", "A U0 > 0 & A !U0 = 0", 4, 3, 2),
    ("A U0 > 1/3", "A U0 >= 1/3", 1, 0, 0),
    ("I+A U0 > 0", "1 U0 > 0", 2, 0, 1),
    ("I+A true > 2", "A true > 2", 3, 2, 0),
    ("A(A U0 > 0) > 0", "false", 2, 1, 1),
    ("A(A true > 1) > 0", "A true > 0", 2, 1, 0),
    ("1-I-A U0 > 0", "1-I U0 > 0", 2, 1, 1),
    ("A U0 > 2", "false", 4, 3, 3),
    ("A(A true > 1 & 1-I-A true = 0) > 2", "false", 4, 6, 0),
]


@pytest.mark.parametrize(("f", "g", "nodes", "edges", "true"), DIFFERENT)
@pytest.mark.parametrize("method", ["enumerate", "z3"])
def test_the_counterexample_is_a_smallest_one(
    f: str, g: str, nodes: int, edges: int, true: int, method: str
) -> None:
    result = compare(f, g, method=method)
    assert not result
    assert result.equal is False
    graph = result.counterexample
    assert graph is not None
    assert result.node is not None
    assert (graph.n_nodes, edges_of(graph), int(graph.predicates.sum())) == (nodes, edges, true)
    values = tuple(bool(evaluate(parse(h), graph, level="node")[result.node]) for h in (f, g))
    assert result.values == values
    assert values[0] != values[1]
    assert graph.is_simple
    assert result.proven_nodes == nodes - 1


@pytest.mark.parametrize(("f", "g"), [(f, g) for f, g, *_ in DIFFERENT] + EQUAL[:4])
def test_the_answer_does_not_depend_on_the_size_of_batches(
    f: str, g: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = compare(f, g, method="enumerate")
    monkeypatch.setattr(enumeration, "_BATCH_NODES", 9)
    assert compare(f, g, method="enumerate") == expected


def test_fewest_true_predicates_are_found_in_a_later_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of the graphs with two nodes, those of one colour come first.
    monkeypatch.setattr(enumeration, "_BATCH_NODES", 2)
    found = find_model(parse("1 U0 > 1 & U1 | 1 U0 = 1 & 1 true = 2 & U2"), method="enumerate")
    assert found.graph is not None
    assert found.graph.n_nodes == 2
    assert found.graph.predicates.sum() == 2


def test_identical_formulas_need_no_bound() -> None:
    result = compare("A U0 > 6", "A U0 >= 7")
    assert result
    assert (result.method, result.n_graphs_checked, result.unreachable) == ("identical", 0, ())
    assert str(result) == "Equal on all graphs: the two formulas are the same."


def test_the_graph_class_follows_the_formulas() -> None:
    assert compare("A U0 > 0", "U0").graph_class == "simple"
    assert compare("A U0 > 0", "A^T U0 > 0").graph_class == "directed"
    assert compare("A U0 > 0", "A|A^T U0 > 0").graph_class == "directed"


def test_direction_makes_a_difference_only_on_directed_graphs() -> None:
    directed = compare("A U0 > 0", "A^T U0 > 0")
    assert directed.counterexample is not None
    assert (directed.counterexample.n_nodes, directed.counterexample.n_edges) == (2, 1)
    assert compare("A U0 > 0", "A^T U0 > 0", graph_class="simple")
    assert compare("A|A^T U0 > 0", "A U0 > 0 | A^T U0 > 0")
    assert not compare("A|A^T U0 > 1", "A U0 > 1 | A^T U0 > 1")


@pytest.mark.parametrize("method", ["enumerate", "z3"])
@pytest.mark.parametrize("graph_class", ["looped", "directed-looped"])
def test_self_loops(graph_class: str, method: str) -> None:
    options: dict[str, Any] = {"graph_class": graph_class, "method": method, "max_nodes": 3}
    loop = compare("I+A U0 > 1", "U0 & A U0 > 0 | A U0 > 1", **options)
    assert loop.counterexample is not None
    assert loop.counterexample.has_loops
    assert loop.counterexample.n_nodes == 1
    assert compare("I+A U0 > 0", "U0 | A U0 > 0", **options)
    assert not compare("1-A U0 = 0", "1-I-A U0 = 0", **options)


@pytest.mark.parametrize("method", ["enumerate", "z3"])
def test_typed_edges_add_up_in_plain_edges(method: str) -> None:
    options: dict[str, Any] = {"method": method, "max_nodes": 3}
    # One neighbour along two relations is counted twice by A, once by complements of sets.
    double = compare("A U0 > 1 & 1-I-A true = 0", "false", **options)
    assert double.counterexample is not None
    assert double.counterexample.n_nodes == 3
    typed = compare("(A[r] U0 > 0 & A[s] U0 > 0) & A U0 > 1", "false", **options)
    assert typed.counterexample is not None
    assert typed.counterexample.n_nodes == 2
    assert typed.counterexample.has_multi_edges
    assert compare("A[r] U0 > 0", "A[r] U0 > 0 & A U0 > 0", **options)
    # Without A only r and s are there; with A there are other edges besides r.
    assert not compare("A[r] U0 > 0", "A U0 > 0", **options)
    assert not compare("A[r] U0 > 0", "A[s] U0 > 0", **options)


def test_the_text_of_equality_names_bound_class_and_unreachable_thresholds() -> None:
    result = compare("A U0 > 6", "false")
    assert result
    assert result.unreachable == ((parse("A U0 > 6"), 8),)
    assert str(result).splitlines() == [
        "Equal on all simple graphs with at most 4 nodes (by enumeration of 118 graphs).",
        "A U0 > 6 needs 8 nodes, so this bound proves nothing about it.",
    ]


def test_a_larger_bound_reaches_the_threshold() -> None:
    result = compare("A U0 > 6", "false", max_nodes=8)
    assert result.unreachable == ()
    assert result.equal is False
    assert result.method == "enumerate+z3"
    assert result.n_graphs_checked == 85_022
    assert result.counterexample is not None
    assert edges_of(result.counterexample) == result.counterexample.predicates.sum() == 7


def test_many_unreachable_thresholds_are_not_all_listed() -> None:
    many = " | ".join(f"A U0 = {n}" for n in range(10, 40, 2))
    lines = str(compare(many, "false", max_nodes=2)).splitlines()
    assert len(lines) == 10
    assert lines[-1] == "The same holds for 22 more comparisons."


def test_the_text_of_a_counterexample_shows_the_graph() -> None:
    shown = str(compare('A[r] "x > 1" > 0', "A[s] true > 0"))
    assert shown == (
        "Not equal: at node 0 of the graph with nodes 0 {}, 1 {} and edges 0-1 A[s] the first "
        "formula is false and the second is true."
    )
    assert '{"x > 1"}' in str(compare('"x > 1"', "false"))
    assert "1->0" in str(compare("A true > 0", "A|A^T true > 0"))


def test_the_text_names_typed_edges() -> None:
    shown = str(compare("A[r] U0 > 0", "A[r] U0 > 0 & A U0 > 0", max_nodes=2))
    assert shown.startswith(
        "Equal on all simple graphs with at most 2 nodes and edges A[r], others"
    )


def test_edges_that_no_formula_looks_at_are_not_enumerated() -> None:
    result = compare("1 U0 > 30", "!(1 U0 <= 30) & 1 true > 30", max_nodes=40)
    assert result
    assert (result.method, result.n_graphs_checked) == ("enumerate", sum(range(2, 42)))


@pytest.mark.parametrize("method", ["enumerate", "z3"])
def test_find_model(method: str) -> None:
    found = find_model(parse("A U0 > 1 & A !U0 > 0"), method=method)
    assert found
    assert found.graph is not None
    assert found.node is not None
    assert (found.graph.n_nodes, edges_of(found.graph)) == (4, 3)
    assert evaluate(parse("A U0 > 1 & A !U0 > 0"), found.graph, level="node")[found.node]
    nothing = find_model(parse("U0 & I+A U0 = 0"), method=method, max_nodes=3)
    assert not nothing
    assert nothing.satisfiable is False
    assert nothing.graph is None
    assert str(nothing).startswith(
        "Not satisfied on any of the simple graphs with at most 3 nodes (by"
    )


def test_find_model_names_unreachable_thresholds() -> None:
    assert "A U0 > 6 needs 8 nodes" in str(find_model(parse("A U0 > 6")))


@pytest.mark.parametrize("method", ["auto", "enumerate", "z3"])
def test_a_tiny_time_limit_leaves_it_undecided(method: str) -> None:
    options: dict[str, Any] = {"max_nodes": 7, "method": method, "time_limit": 1e-9}
    result = compare("I+A U0 > 0", "U0 | A U0 > 0", **options)
    assert result.equal is None
    assert not result
    assert (result.proven_nodes, result.n_graphs_checked) == (0, 0)
    assert str(result).startswith("Undecided: the time limit ran out")
    assert find_model(parse("I+A U0 > 0 & !U0 & A U0 = 0"), **options).satisfiable is None


def test_the_time_limit_stops_z3_inside_of_a_hard_query(monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock stands still, so that small sizes never use up the time, however slow the machine.
    monkeypatch.setattr(Deadline, "remaining", 0.5)
    # No graph with an odd number of nodes has odd degrees only; counting is hard to see for SAT.
    parity = parse("1(A true = 3) >= 100% & 1 true = 13")
    # z3 would work on it for minutes and then say that there is none.
    result = find_model(parity, max_nodes=13, method="z3", time_limit=0.5)
    assert result.satisfiable is None
    assert result.proven_nodes == 12
    assert str(result).endswith("There is no model with at most 12 nodes.")


def test_enumeration_refuses_more_graphs_than_the_budget() -> None:
    with pytest.raises(EquivalenceError) as caught:
        compare("I+A U0 > 0", "U0 | A U0 > 0", max_nodes=9, method="enumerate", max_graphs=100)
    message = str(caught.value)
    assert "118 simple graphs with at most 4 nodes" in message
    assert "max_graphs allows 100" in message
    assert "max_nodes to at most 3" in message
    assert "gnn2logic[verify]" in message


def test_enumeration_with_edges_ends_at_eight_nodes() -> None:
    with pytest.raises(EquivalenceError, match="enumerated up to 8 nodes"):
        compare("A true > 0", "false", max_nodes=20, method="enumerate", max_graphs=10**9)


def test_z3_takes_over_beyond_the_budget() -> None:
    result = compare("I+A U0 > 0", "U0 | A U0 > 0", max_nodes=5, max_graphs=100)
    assert result
    assert (result.method, result.n_graphs_checked, result.proven_nodes) == ("enumerate+z3", 28, 5)
    # The counterexample is below the budget, so z3 was not asked.
    assert compare("U0", "true", max_nodes=5, max_graphs=100).method == "enumerate"
    assert compare("U0", "true", max_nodes=5, max_graphs=1).method == "z3"


def test_without_z3_the_budget_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(EquivalenceError, match=r"pip install 'gnn2logic\[verify\]'"):
        compare("I+A U0 > 0", "U0 | A U0 > 0", max_nodes=5, max_graphs=100)
    with pytest.raises(EquivalenceError, match="No bound on the nodes is small enough"):
        compare("U0", "true", max_nodes=5, max_graphs=1)
    with pytest.raises(MissingDependencyError, match=r"gnn2logic\[verify\]"):
        compare("U0", "true", method="z3")
    assert compare("I+A U0 > 0", "U0 | A U0 > 0")


@pytest.mark.parametrize("method", ["enumerate", "z3"])
@pytest.mark.parametrize(
    ("f", "g"), [("A U0 > 1", "A(A U1 > 0) > 1/2"), ("A^T U0 > 0", "A U1 > 0")]
)
def test_the_same_question_has_the_same_answer(f: str, g: str, method: str) -> None:
    assert compare(f, g, method=method) == compare(f, g, method=method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_nodes": 0}, "max_nodes must be a whole number >= 1. Got 0"),
        ({"max_nodes": 2.5}, "max_nodes must be a whole number >= 1. Got 2.5"),
        ({"max_nodes": True}, "max_nodes must be a whole number >= 1. Got True"),
        ({"max_graphs": 0}, "max_graphs must be a whole number >= 1. Got 0"),
        ({"graph_class": "planar"}, "graph_class must be one of 'auto', 'simple', .* Got 'planar'"),
        ({"method": "guess"}, "method must be one of .* Got 'guess'"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds.* Got 0"),
        ({"time_limit": float("nan")}, "time_limit must be a positive number .* Got nan"),
        ({"time_limit": "1"}, "time_limit must be a positive number .* Got '1'"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EquivalenceError, match=message):
        compare("U0", "U1", **options)
    with pytest.raises(EquivalenceError, match=message):
        find_model(parse("U0"), **options)


def test_texts_are_not_formulas() -> None:
    with pytest.raises(UnsupportedInputError, match=r"Got str instead; use parse"):
        equivalent(parse("U0"), "U1")  # type: ignore[arg-type]


def test_no_time_limit() -> None:
    for method in ("enumerate", "z3"):
        assert compare("A U0 > 0", "A U0 > 0 & A true > 0", method=method, time_limit=None)
