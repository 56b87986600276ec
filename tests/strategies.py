"""Hypothesis strategies for graphs and formulas, and the way from plain graphs to batches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from gnn2logic.graphs import Direction, Edges, GraphBatch, Modality
from gnn2logic.logic import FALSE, TRUE, Formula, conjunction, disjunction, predicate
from gnn2logic.logic.syntax import modal, negation
from oracle import PlainGraph

NAMES = ("U0", "U1")
RELATIONS = ("r", "s")
SETS = ("0", "1", "I", "A", "1-I", "1-A", "I+A", "1-I-A")

KINDS = ("simple", "directed", "looped", "multi", "typed")


@st.composite
def plain_graphs(
    draw: st.DrawFn, kind: str = "simple", max_nodes: int = 6, names: tuple[str, ...] = NAMES
) -> PlainGraph:
    """Draw a graph of one of `KINDS`."""
    n_nodes = draw(st.integers(1, max_nodes))
    columns = {
        name: draw(st.lists(st.booleans(), min_size=n_nodes, max_size=n_nodes)) for name in names
    }
    edges: list[tuple[int, int, str | None]] = []
    directed = kind in ("directed", "multi", "typed")
    for source in range(n_nodes):
        for target in range(n_nodes) if directed else range(source, n_nodes):
            if source == target and kind == "simple":
                continue
            most = 3 if kind == "multi" else 1
            for relation in RELATIONS if kind == "typed" else (None,):
                for _ in range(draw(st.integers(0, most))):
                    edges.append((source, target, relation))
                    if not directed and source != target:
                        edges.append((target, source, relation))
    return PlainGraph(n_nodes, columns, edges)


any_graphs = st.sampled_from(KINDS).flatmap(plain_graphs)


def to_batch(*graphs: PlainGraph) -> GraphBatch:
    """Return a batch, one dense matrix after the other."""
    return GraphBatch.concat([_single(graph) for graph in graphs])


def _single(graph: PlainGraph) -> GraphBatch:
    names = tuple(graph.predicates)
    columns = [[graph.predicates[name][node] for name in names] for node in range(graph.n_nodes)]
    predicates = np.array(columns, dtype=bool).reshape(graph.n_nodes, len(names))
    kinds = {kind for _, _, kind in graph.edges if kind is not None}
    relations = {name: graph.matrix(name) for name in RELATIONS} if kinds else None
    return GraphBatch(predicates, graph.matrix(), names=names, relations=relations)


def modalities(
    directed: bool = True, relations: tuple[str, ...] = ()
) -> st.SearchStrategy[Modality]:
    """Draw one of the eight parameters along some edges."""
    directions = st.sampled_from(list(Direction)) if directed else st.just(Direction.OUT)
    edges = st.builds(Edges, directions, st.sampled_from((None, *relations)))
    return st.builds(Modality.from_set, st.sampled_from(SETS), edges)


SHARES = tuple(sorted({Fraction(a, q) for q in range(2, 8) for a in range(1, q)}))
thresholds = st.one_of(st.integers(0, 4), st.sampled_from(SHARES))
counts_only = st.integers(0, 4)


@st.composite
def formulas(
    draw: st.DrawFn,
    *,
    names: tuple[str, ...] = NAMES,
    directed: bool = True,
    relations: tuple[str, ...] = (),
    shares: bool = True,
    max_steps: int = 8,
) -> Formula:
    """Draw a formula of EMLC%, built step by step so that parts are shared and depth is real."""
    leaves = [predicate(draw(st.sampled_from(names))) for _ in range(2)]
    parts = [draw(st.sampled_from([TRUE, FALSE])), *leaves]
    along = modalities(directed, relations)
    limits = thresholds if shares else counts_only

    def earlier() -> Formula:
        return parts[-1 - draw(st.integers(0, min(3, len(parts) - 1)))]

    for _ in range(draw(st.integers(0, max_steps))):
        match draw(st.sampled_from(("modal", "modal", "and", "or", "not"))):
            case "modal":
                new = modal(draw(along), earlier(), draw(limits))
            case "and":
                new = conjunction((parts[-1], earlier()))
            case "or":
                new = disjunction((parts[-1], earlier()))
            case _:
                new = negation(earlier())
        parts.append(new)
    return parts[-1]
