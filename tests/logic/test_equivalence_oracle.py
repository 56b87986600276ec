"""Enumeration and z3 against brute force over all labelled graphs, with an evaluator of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import ALL_SETS, Direction, Edges, Modality
from gnn2logic.logic.equivalence import equivalent
from gnn2logic.logic.equivalence.enumeration import coloured_graphs, to_batch
from gnn2logic.logic.equivalence.orbits import Representatives
from gnn2logic.logic.equivalence.result import Deadline
from gnn2logic.logic.equivalence.space import GraphSpace, count_graphs, space_of
from gnn2logic.logic.syntax import (
    And,
    Constant,
    Formula,
    Modal,
    Not,
    Predicate,
    conjunction,
    disjunction,
    modal,
    negation,
    predicate,
)

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Graph:
    """A labelled graph: one matrix for each relation, one row of truths for each predicate."""

    relations: tuple[Matrix, ...]
    truths: tuple[tuple[bool, ...], ...]
    n_nodes: int


def all_graphs(space: GraphSpace, n_nodes: int) -> Iterator[Graph]:
    """Yield every labelled graph, written without the slots of the code under test."""
    nodes = range(n_nodes)
    matrices = []
    pairs = [(v, w) for v, w in product(nodes, nodes) if space.loops or v != w]
    free = [(v, w) for v, w in pairs if v <= w or "directed" in space.graph_class]
    for chosen in product((0, 1), repeat=len(free)):
        edges = {pair for pair, there in zip(free, chosen, strict=True) if there}
        if "directed" not in space.graph_class:
            edges |= {(w, v) for v, w in edges}
        matrices.append(tuple(tuple(int((v, w) in edges) for w in nodes) for v in nodes))
    columns = list(product((False, True), repeat=n_nodes))
    for relations in product(matrices, repeat=len(space.relations)):
        for truths in product(columns, repeat=len(space.names)):
            yield Graph(relations, truths, n_nodes)


@cache
def small_graphs(space: GraphSpace, max_nodes: int) -> list[Graph]:
    return [graph for n in range(1, max_nodes + 1) for graph in all_graphs(space, n)]


def truth(formula: Formula, graph: Graph, space: GraphSpace) -> list[bool]:
    nodes = range(graph.n_nodes)
    if isinstance(formula, Constant):
        return [formula.value for _ in nodes]
    if isinstance(formula, Predicate):
        return list(graph.truths[space.names.index(formula.name)])
    inner = [truth(child, graph, space) for child in formula.children]
    if isinstance(formula, Not):
        return [not value for value in inner[0]]
    if isinstance(formula, Modal):
        return [more(formula, inner[0], graph, space, v) for v in nodes]
    combine = all if isinstance(formula, And) else any
    return [combine(values) for values in zip(*inner, strict=True)]


def more(formula: Modal, inner: list[bool], graph: Graph, space: GraphSpace, v: int) -> bool:
    weights = [weight(formula.modality, graph, space, v, w) for w in range(graph.n_nodes)]
    count = sum(weight for weight, value in zip(weights, inner, strict=True) if value)
    if isinstance(formula.threshold, Fraction):
        return count > formula.threshold * sum(weights)
    return count > formula.threshold


def weight(modality: Modality, graph: Graph, space: GraphSpace, v: int, w: int) -> int:
    """How often w is in eps_S(v)."""
    edges = modality.edges
    if edges.relation is None:
        matrices = graph.relations
    else:
        matrices = (graph.relations[space.relations.index(edges.relation)],)
    there = sum(matrix[v][w] for matrix in matrices)
    back = sum(matrix[w][v] for matrix in matrices)
    number = {
        Direction.OUT: there,
        Direction.IN: back,
        Direction.EITHER: max(there, back),
    }[edges.direction]
    return {
        "0": 0,
        "1": 1,
        "I": int(v == w),
        "1-I": int(v != w),
        "A": number,
        "I+A": 1 if v == w else number,
        "1-A": int(number == 0),
        "1-I-A": int(number == 0 and v != w),
    }[modality.set_name]


def smallest_difference(
    f: Formula, g: Formula, space: GraphSpace, max_nodes: int
) -> tuple[int, int, int] | None:
    """Return nodes, edges and true predicates of a smallest counterexample."""
    found = [
        measure(graph, space)
        for graph in small_graphs(space, max_nodes)
        if truth(f, graph, space) != truth(g, graph, space)
    ]
    return min(found, default=None)


def measure(graph: Graph, space: GraphSpace) -> tuple[int, int, int]:
    edges = sum(
        matrix[v][w]
        for matrix in graph.relations
        for v, w in product(range(graph.n_nodes), repeat=2)
        if v <= w or "directed" in space.graph_class
    )
    return graph.n_nodes, edges, sum(sum(column) for column in graph.truths)


def read(batch: GraphBatch, space: GraphSpace) -> Graph:
    """Return one graph of a batch; the edges without a name are what the named ones leave."""
    rest = batch.adjacency.toarray() - sum(matrix.toarray() for matrix in batch.relations.values())
    matrices = [
        rest if name is None else batch.relations[name].toarray() for name in space.relations
    ]
    return Graph(
        tuple(tuple(tuple(int(x) for x in row) for row in matrix) for matrix in matrices),
        tuple(tuple(bool(x) for x in column) for column in batch.predicates.T),
        batch.n_nodes,
    )


def canonical(graph: Graph) -> tuple[object, ...]:
    """Return the same for isomorphic graphs, and only for them."""

    def moved(order: tuple[int, ...]) -> tuple[object, ...]:
        return (
            tuple(tuple(tuple(m[v][w] for w in order) for v in order) for m in graph.relations),
            tuple(tuple(column[v] for v in order) for column in graph.truths),
        )

    return min(moved(order) for order in permutations(range(graph.n_nodes)))


SPACES = [
    (GraphSpace("simple", (None,), ()), 4),
    (GraphSpace("simple", (None,), ("U0",)), 4),
    (GraphSpace("simple", (None,), ("U0", "U1")), 3),
    (GraphSpace("simple", (), ("U0", "U1")), 4),
    (GraphSpace("directed", (None,), ("U0",)), 3),
    (GraphSpace("looped", (None,), ("U0",)), 3),
    (GraphSpace("directed-looped", (None,), ()), 3),
    (GraphSpace("simple", ("r", "s"), ("U0",)), 3),
    (GraphSpace("directed", ("r", None), ()), 3),
    (GraphSpace("looped", ("r", None), ("U0",)), 2),
]


@pytest.mark.parametrize(("space", "n_nodes"), SPACES)
def test_every_isomorphism_class_is_enumerated_exactly_once(
    space: GraphSpace, n_nodes: int
) -> None:
    levels = coloured_graphs(space, n_nodes, Representatives(space, Deadline(None)))
    batches = [(n, to_batch(space, part)) for n, level in enumerate(levels) for part in level]
    enumerated = []
    for n_edges, batch in batches:
        for graph in (read(one, space) for one in batch):
            assert measure(graph, space)[:2] == (n_nodes, n_edges)
            enumerated.append(canonical(graph))
    assert len(enumerated) == len(set(enumerated)) == count_graphs(space, n_nodes)
    assert set(enumerated) == {canonical(graph) for graph in all_graphs(space, n_nodes)}


@pytest.mark.parametrize(("space", "n_nodes"), SPACES)
def test_batches_are_valid(space: GraphSpace, n_nodes: int) -> None:
    """What is built without checks passes the checks of `GraphBatch`, unchanged."""
    for level in coloured_graphs(space, n_nodes, Representatives(space, Deadline(None))):
        for part in level:
            batch = to_batch(space, part)
            checked = GraphBatch(
                batch.predicates,
                batch.adjacency,
                ptr=batch.ptr,
                names=batch.names,
                relations=batch.relations,
            )
            assert checked == batch
            assert batch.adjacency.dtype == checked.adjacency.dtype
            assert batch.adjacency.has_canonical_format
            assert np.array_equal(batch.adjacency.indices, checked.adjacency.indices)


@pytest.mark.parametrize(
    ("graph_class", "expected"),
    [
        # Numbers of unlabelled graphs, digraphs, graphs with loops, binary relations.
        ("simple", [1, 2, 4, 11, 34, 156, 1044, 12346]),
        ("directed", [1, 3, 16, 218, 9608, 1540944]),
        ("looped", [2, 6, 20, 90, 544, 5096, 79264]),
        ("directed-looped", [2, 10, 104, 3044, 291968]),
    ],
)
def test_known_numbers_of_graphs(graph_class: str, expected: list[int]) -> None:
    space = GraphSpace(graph_class, (None,), ())
    assert [count_graphs(space, n + 1) for n in range(len(expected))] == expected


def test_known_numbers_of_graphs_are_reached_by_enumeration() -> None:
    space = GraphSpace("simple", (None,), ())
    levels = coloured_graphs(space, 7, Representatives(space, Deadline(None)))
    assert sum(len(part.edges) for level in levels for part in level) == 1044


THRESHOLDS = st.one_of(
    st.integers(0, 2),
    st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(7, 10)]),
)


def formulas(names: list[str], edges: list[Edges]) -> st.SearchStrategy[Formula]:
    modalities = st.builds(Modality.from_set, st.sampled_from(ALL_SETS), st.sampled_from(edges))

    def larger(smaller: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        pairs = st.tuples(smaller, smaller)
        return st.one_of(
            st.builds(modal, modalities, smaller, THRESHOLDS),
            smaller.map(negation),
            pairs.map(conjunction),
            pairs.map(disjunction),
        )

    return st.recursive(st.sampled_from(names).map(predicate), larger, max_leaves=4)


OUT, IN, EITHER = (Edges(direction) for direction in Direction)
R_OUT, R_IN, R_EITHER = (Edges(direction, "r") for direction in Direction)

# A class, predicates, the edges to look along, and a bound that brute force can afford.
CASES = [
    ("simple", ["U0"], [OUT], 3),
    ("simple", ["U0", "U1"], [OUT], 2),
    ("directed", ["U0"], [OUT, IN, EITHER], 3),
    ("looped", ["U0"], [OUT, IN], 3),
    ("directed-looped", ["U0"], [OUT, IN, EITHER], 2),
    ("simple", ["U0"], [OUT, R_OUT], 3),
    ("directed", ["U0"], [OUT, IN, EITHER, R_OUT, R_IN, R_EITHER], 2),
    ("directed-looped", ["U0"], [OUT, EITHER, R_OUT, R_EITHER], 2),
]


@pytest.mark.parametrize(("graphs", "names", "edges", "max_nodes"), CASES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_both_methods_agree_with_brute_force(
    graphs: str, names: list[str], edges: list[Edges], max_nodes: int, data: st.DataObject
) -> None:
    f, g = (data.draw(formulas(names, edges)) for _ in range(2))
    space = space_of((f, g), graphs)
    expected = smallest_difference(f, g, space, max_nodes)
    for method in ("enumerate", "z3"):
        result = equivalent(f, g, max_nodes=max_nodes, graph_class=graphs, method=method)
        assert result.equal is (expected is None)
        if result.counterexample is not None:
            graph = read(result.counterexample, space)
            assert result.node is not None
            values = (truth(f, graph, space)[result.node], truth(g, graph, space)[result.node])
            assert result.values == values
            assert values[0] != values[1]
            assert measure(graph, space) == expected


@settings(max_examples=40, deadline=None)
@given(
    f=formulas(["U0", "U1"], [OUT]),
    g=formulas(["U0", "U1"], [OUT]),
)
def test_the_methods_agree_on_larger_graphs(f: Formula, g: Formula) -> None:
    by_enumeration = equivalent(f, g, method="enumerate")
    by_z3 = equivalent(f, g, method="z3")
    assert by_enumeration.equal is by_z3.equal
    if by_enumeration.counterexample is not None:
        assert by_z3.counterexample is not None
        space = space_of((f, g), "auto")
        graphs = (by_enumeration.counterexample, by_z3.counterexample)
        first, second = (measure(read(graph, space), space) for graph in graphs)
        assert first == second
