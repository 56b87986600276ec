"""Searching all small graphs, many at a time.

Graphs come by size, then by number of edges, so the first level with a hit has a smallest one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.equivalence.orbits import Representatives, bit_matrix, colourings
from gnn2logic.logic.equivalence.result import Deadline, GraphSearch, OutOfTimeError, Witness
from gnn2logic.logic.equivalence.space import GraphSpace, partitions
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.syntax import Formula

__all__ = ["ColouredGraphs", "coloured_graphs", "search_all", "to_batch"]

IntArray = npt.NDArray[np.int64]

# Nodes of one batch: large enough for numpy, small enough for the cache and the clock.
_BATCH_NODES = 1 << 17


@dataclass(frozen=True, eq=False)
class ColouredGraphs:
    """Graphs of one size and one number of edges.

    Parameters
    ----------
    edges : ndarray of int64, shape (n_graphs,)
        The places for edges that are taken, as bits.
    colours : ndarray of int64, shape (n_graphs, n_nodes)
        The predicates that are true, as bits.
    """

    edges: IntArray
    colours: IntArray


def search_all(
    formula: Formula, space: GraphSpace, max_nodes: int, deadline: Deadline
) -> GraphSearch:
    """Search all graphs with at most `max_nodes` nodes for a node that satisfies `formula`."""
    representatives = Representatives(space, deadline)
    n_graphs = n_nodes = 0
    try:
        for n_nodes in range(1, max_nodes + 1):
            for level in coloured_graphs(space, n_nodes, representatives):
                best: tuple[int, ColouredGraphs] | None = None
                for graphs in level:
                    deadline.check()
                    batch = to_batch(space, graphs)
                    hits = evaluate(formula, batch, level="node").reshape(-1, n_nodes)
                    n_graphs += len(hits)
                    best = _better(best, graphs, np.flatnonzero(hits.any(axis=1)))
                if best is not None:
                    witness = _witness(formula, space, best[1])
                    return GraphSearch(witness, n_nodes - 1, n_graphs, finished=True)
    except OutOfTimeError:
        return GraphSearch(None, n_nodes - 1, n_graphs, finished=False)
    return GraphSearch(None, max_nodes, n_graphs, finished=True)


def _better(
    best: tuple[int, ColouredGraphs] | None, graphs: ColouredGraphs, hits: IntArray
) -> tuple[int, ColouredGraphs] | None:
    """Return the first graph with the fewest true predicates."""
    if not len(hits):
        return best
    n_true = _count_bits(graphs.colours[hits]).sum(axis=1)
    at = int(np.argmin(n_true))
    if best is not None and best[0] <= n_true[at]:
        return best
    one = slice(hits[at], hits[at] + 1)
    return int(n_true[at]), ColouredGraphs(graphs.edges[one], graphs.colours[one])


def _witness(formula: Formula, space: GraphSpace, graph: ColouredGraphs) -> Witness:
    batch = to_batch(space, graph)
    node = int(np.argmax(evaluate(formula, batch, level="node")))
    return Witness(batch, node, smallest=True)


def coloured_graphs(
    space: GraphSpace, n_nodes: int, representatives: Representatives
) -> Iterator[Iterator[ColouredGraphs]]:
    """Yield all graphs with `n_nodes` nodes up to isomorphism, by the number of edges."""
    by_groups = []
    for groups in partitions(n_nodes, space.n_colours):
        graphs = representatives(groups)
        by_groups.append((graphs, _count_bits(graphs), colourings(groups, space.n_colours)))
    for n_edges in range(len(space.slots(n_nodes)) + 1):
        level = [(graphs[sizes == n_edges], colours) for graphs, sizes, colours in by_groups]
        yield _in_batches(level, max(1, _BATCH_NODES // n_nodes))


def _in_batches(level: list[tuple[IntArray, IntArray]], limit: int) -> Iterator[ColouredGraphs]:
    """Pair every graph of a part with every colouring of it, at most `limit` pairs at a time."""
    waiting: list[tuple[IntArray, IntArray]] = []
    n_waiting = 0
    for graphs, colours in level:
        n_pairs, start = len(graphs) * len(colours), 0
        while start < n_pairs:
            stop = min(n_pairs, start + limit - n_waiting)
            pairs = np.arange(start, stop, dtype=np.int64)
            waiting.append((graphs[pairs // len(colours)], colours[pairs % len(colours)]))
            n_waiting += stop - start
            start = stop
            if n_waiting == limit:
                yield _joined(waiting)
                waiting, n_waiting = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(pieces: list[tuple[IntArray, IntArray]]) -> ColouredGraphs:
    edges, colours = zip(*pieces, strict=True)
    return ColouredGraphs(np.concatenate(edges), np.concatenate(colours))


def _count_bits(values: IntArray) -> IntArray:
    count = np.zeros_like(values)
    for bit in range(int(values.max(initial=0)).bit_length()):
        count += (values >> bit) & 1
    return count


def to_batch(space: GraphSpace, graphs: ColouredGraphs) -> GraphBatch:
    """Return the graphs as a batch."""
    n_graphs, n_nodes = graphs.colours.shape
    flat = graphs.colours.ravel()
    predicates = np.empty((len(flat), len(space.names)), dtype=bool, order="F")
    for column in range(len(space.names)):
        predicates[:, column] = (flat >> column) & 1
    ptr = np.arange(n_graphs + 1, dtype=np.int64) * n_nodes
    adjacency, relations = _matrices(space, graphs.edges, n_nodes)
    return GraphBatch._trusted(predicates, space.names, adjacency, relations, ptr)


def _matrices(
    space: GraphSpace, graphs: IntArray, n_nodes: int
) -> tuple[sp.csr_array, Mapping[str, sp.csr_array]]:
    if not space.relations:
        size = len(graphs) * n_nodes
        return sp.csr_array(sp.coo_array((size, size), dtype=np.int32)), {}
    slots = space.slots(n_nodes)
    # Places that do not exist (the diagonal without loops) read the last column, always empty.
    slot_numbers = np.full((len(space.relations), n_nodes, n_nodes), len(slots))
    for number, (relation, source, target) in enumerate(slots):
        slot_numbers[relation, source, target] = number
        if space.symmetric:
            slot_numbers[relation, target, source] = number
    taken = np.zeros((len(graphs), len(slots) + 1), dtype=np.int8)
    taken[:, :-1] = bit_matrix(graphs, len(slots))
    dense = taken[:, slot_numbers]  # graph, relation, source, target
    named = {
        name: _block_diagonal(dense[:, number])
        for number, name in enumerate(space.relations)
        if name is not None
    }
    return _block_diagonal(dense.sum(axis=1, dtype=np.int8)), named


def _block_diagonal(dense: npt.NDArray[np.int8]) -> sp.csr_array:
    """Return square matrices, shape (n_graphs, n_nodes, n_nodes), as one CSR matrix."""
    n_graphs, n_nodes, _ = dense.shape
    size = n_graphs * n_nodes
    entries = np.flatnonzero(dense)
    graph, column = entries // (n_nodes * n_nodes), entries % n_nodes
    per_row = np.count_nonzero(dense.reshape(size, n_nodes), axis=1)
    indptr = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(per_row, out=indptr[1:])
    indices = (graph * n_nodes + column).astype(np.int32)
    data = dense.ravel()[entries].astype(np.int32)
    return sp.csr_array((data, indices, indptr), shape=(size, size))
