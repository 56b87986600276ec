"""Which edges lie on cycles, and how long the shortest cycle through each of them is.

Everything here follows from the graphs alone, never from the order of their nodes: an edge lies on
a cycle or is a bridge, and the length of a shortest cycle through it is a number. (A basis of the
cycles would depend on the order.) Edges are taken in both directions, parallel ones as one, and
self loops are left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph

from gnn2logic.graphs.blocks import both_ways, off_diagonal, support

__all__ = ["LONGEST_CYCLE", "edges_on_cycles", "shortest_cycles", "simple_edges"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

LONGEST_CYCLE = 8
"""Cycles that are longer are not measured."""

# Edges whose cycles are searched side by side (few enough for the cache), and the steps that
# they may take together.
_CHUNK = 1 << 13
_MOST_STEPS = 1 << 24


def simple_edges(adjacency: sp.csr_array) -> sp.csr_array:
    """Return the edges between different nodes, once each and in both directions."""
    matrix = support(both_ways(off_diagonal(adjacency)))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def edges_on_cycles(matrix: sp.csr_array) -> BoolArray:
    """Return for every entry of a matrix of `simple_edges` whether its edge lies on a cycle.

    An edge that does not is a bridge: without it, there is no way between its ends.
    """
    n_nodes = matrix.shape[0]
    sources = _sources(matrix)
    targets = matrix.indices.astype(np.int64)
    degrees = np.diff(matrix.indptr)
    # The edge of a node that has no other is a bridge. To leave these out first makes it quick
    # for stars, because scipy's search comes back to the list of a node for each neighbour.
    inner = (degrees[sources] > 1) & (degrees[targets] > 1)
    on_cycle = np.zeros(len(sources), dtype=bool)
    if not inner.any():
        return on_cycle
    starts, ends = sources[inner], targets[inner]
    forward = _depth_first_orientation(starts, ends, n_nodes)
    # Tree edges lead down and all others up, so nodes with a cycle through both of them, and
    # only these, can be reached from each other (Robbins, 1939).
    oriented = _matrix(starts[forward], ends[forward], n_nodes)
    _, component = csgraph.connected_components(oriented, directed=True, connection="strong")
    on_cycle[inner] = component[starts] == component[ends]
    return on_cycle


def _depth_first_orientation(starts: IntArray, ends: IntArray, n_nodes: int) -> BoolArray:
    """Return which of two opposite entries to keep: down the tree of a search, up elsewhere."""
    graph = _matrix(starts, ends, n_nodes)
    _, component = csgraph.connected_components(graph, directed=False)
    _, first = np.unique(component, return_index=True)
    # One search goes through all components, along a chain of bridges between them.
    chained = _matrix(
        np.concatenate([starts, first[:-1], first[1:]]),
        np.concatenate([ends, first[1:], first[:-1]]),
        n_nodes,
    )
    order, parent = csgraph.depth_first_order(chained, int(first[0]), directed=True)
    position = np.empty(n_nodes, dtype=np.int64)
    position[order] = np.arange(n_nodes)
    is_tree = (parent[ends] == starts) | (parent[starts] == ends)
    forward: BoolArray = (position[starts] < position[ends]) == is_tree
    return forward


def shortest_cycles(matrix: sp.csr_array, on_cycle: BoolArray) -> npt.NDArray[np.int8]:
    """Return for every entry the length of a shortest cycle through its edge.

    Parameters
    ----------
    matrix : matrix of `simple_edges`
    on_cycle : array of bool
        What `edges_on_cycles` says.

    Returns
    -------
    array of int
        0 for bridges, and where no cycle of at most `LONGEST_CYCLE` edges goes through the edge.
    """
    lengths = np.zeros(len(on_cycle), dtype=np.int8)
    sources = _sources(matrix)
    targets = matrix.indices.astype(np.int64)
    # Both directions of an edge have the same cycles, and these never use a bridge.
    asked = np.flatnonzero(on_cycle & (sources < targets))
    if not len(asked):
        return lengths
    cyclic = _matrix(sources[on_cycle], targets[on_cycle], matrix.shape[0])
    steps = _Steps(cyclic.indptr.astype(np.int64), cyclic.indices.astype(np.int64))
    shortest = np.concatenate(
        [
            steps.lengths(sources[chunk], targets[chunk])
            for chunk in np.split(asked, range(_CHUNK, len(asked), _CHUNK))
        ]
    )
    lengths[asked] = shortest
    # The entry of the other direction is found by its place in the order of rows.
    n_nodes = matrix.shape[0]
    codes = sources * n_nodes + targets
    back = np.searchsorted(codes, targets[asked] * n_nodes + sources[asked])
    lengths[back] = shortest
    return lengths


class _Steps:
    """Walks along the edges of a matrix, many side by side."""

    def __init__(self, indptr: IntArray, indices: IntArray) -> None:
        self._indptr = indptr
        self._indices = indices
        self._degrees = np.diff(indptr)

    def lengths(self, sources: IntArray, targets: IntArray) -> npt.NDArray[np.int8]:
        """Return one more than the distance of two ends without the edge between them."""
        n_nodes = len(self._degrees)
        lengths = np.zeros(len(sources), dtype=np.int8)
        walkers = np.arange(len(sources), dtype=np.int64)
        # A pair of a walker and a node is one number, so that pairs are told apart by sorting.
        before = np.zeros(0, dtype=np.int64)
        here = walkers * n_nodes + sources
        for length in range(2, LONGEST_CYCLE + 1):
            walker, node = np.divmod(here, n_nodes)
            counts = self._degrees[node]
            if counts.sum() > _MOST_STEPS and len(sources) > 1:
                return self._in_halves(sources, targets)
            walker, node = np.repeat(walker, counts), self._neighbours(node, counts)
            arrived = node == targets[walker]
            if length == 2:
                # This is the edge itself.
                walker, node = walker[~arrived], node[~arrived]
            else:
                lengths[walker[arrived]] = length
                going = lengths[walker] == 0
                walker, node = walker[going], node[going]
            ahead = np.unique(walker * n_nodes + node)
            # Neighbours of nodes at a distance are one step nearer, as far, or further.
            seen = _among(ahead, here) | _among(ahead, before)
            before, here = here, ahead[~seen]
            if not len(here):
                break
        return lengths

    def _neighbours(self, nodes: IntArray, counts: IntArray) -> IntArray:
        ends = np.cumsum(counts)
        first = np.repeat(self._indptr[nodes] - (ends - counts), counts)
        return self._indices[first + np.arange(len(first))]

    def _in_halves(self, sources: IntArray, targets: IntArray) -> npt.NDArray[np.int8]:
        half = len(sources) // 2
        return np.concatenate(
            [
                self.lengths(sources[:half], targets[:half]),
                self.lengths(sources[half:], targets[half:]),
            ]
        )


def _among(values: IntArray, known: IntArray) -> BoolArray:
    """Return which values are among others; both are sorted."""
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    same: BoolArray = known[at] == values
    return same


def _sources(matrix: sp.csr_array) -> IntArray:
    rows = np.arange(matrix.shape[0], dtype=np.int64)
    return np.repeat(rows, np.diff(matrix.indptr))


def _matrix(rows: IntArray, columns: IntArray, n_nodes: int) -> sp.csr_array:
    # scipy's searches work on doubles, and would make them of anything else.
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_nodes, n_nodes))
