"""Compiled loops over edges: what ``A phi > t`` explains for many phi, none of them made a column.

Sums are whole numbers, packed as in `kernels`, and each candidate is judged by one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from gnn2logic.learning.search.kernels import _cut_counts, _total
from gnn2logic.learning.threaded_loops import threaded

__all__ = ["near_graph_gains", "near_node_gains"]

_CHUNKS = 64
# Neighbours are counted up to so many: thresholds of nodes, and of nodes inside a count on graphs.
_MOST_OF_NODES = 15
_MOST_OF_GRAPHS = 8
# Four counts in one word.
_COUNT_BITS = 16
_COUNT = np.uint64((1 << _COUNT_BITS) - 1)


@njit(inline="always")
def _near_counts(
    one: npt.NDArray[np.bool_],
    other: npt.NDArray[np.bool_],
    first: npt.NDArray[np.int64],
    neighbours: npt.NDArray[np.integer[Any]],
    node: int,
    out: npt.NDArray[np.int64],
    most: int,
) -> None:
    """Write to `out` how many neighbours satisfy both, one, the other, none, then how many do not.

    Counts above `most` are `most`.
    """
    counts = np.uint64(0)
    for place in range(first[node], min(first[node + 1], first[node] + np.int64(_COUNT))):
        near = neighbours[place]
        which = np.uint64(3) - (np.uint64(one[near]) << np.uint64(1) | np.uint64(other[near]))
        counts += np.uint64(1) << (which * np.uint64(_COUNT_BITS))
    degree = first[node + 1] - first[node]
    for signs in range(4):
        count: Any = np.int64(counts >> np.uint64(signs * _COUNT_BITS) & _COUNT)
        out[signs] = min(count, most)
        out[4 + signs] = min(degree - count, most)


@threaded(
    lambda truths, first, neighbours, *others: len(others[-2]) * (8 * len(first) + len(neighbours))
)
def near_node_gains(
    truths: npt.NDArray[np.bool_],
    first: npt.NDArray[np.int64],
    neighbours: npt.NDArray[np.integer[Any]],
    nodes: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    least_weight: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return what the best ``A phi > t`` explains about nodes, for four conjunctions of columns.

    The second answer is for their complements.

    Parameters
    ----------
    truths : array, shape (n_columns, n_nodes)
    first, neighbours : array
        The neighbours of node v are ``neighbours[first[v]:first[v + 1]]``.
    nodes, targets : array
        The nodes that count, and their packed targets.
    """
    n_pairs = len(left)
    gains = np.empty((2, n_pairs, 4), dtype=np.float32)
    total, base = _total(targets)
    width = _MOST_OF_NODES + 1
    for chunk in prange(_CHUNKS):
        histogram = np.zeros(8 * width, dtype=np.int64)
        counts = np.zeros(8, dtype=np.int64)
        for pair in range(n_pairs * chunk // _CHUNKS, n_pairs * (chunk + 1) // _CHUNKS):
            histogram[:] = 0
            one, other = truths[left[pair]], truths[right[pair]]
            for row in range(len(nodes)):
                _near_counts(one, other, first, neighbours, nodes[row], counts, _MOST_OF_NODES)
                for form in range(8):
                    histogram[form * width + counts[form]] += targets[row]
            for form in range(8):
                start = np.uint64(form * width)
                best, _ = _cut_counts(histogram, start, width, total, least_weight)
                gains[form // 4, pair, form % 4] = best - base
    return gains[0], gains[1]


@threaded(
    lambda truths, first, neighbours, *others: len(others[-2]) * (8 * len(first) + len(neighbours))
)
def near_graph_gains(
    truths: npt.NDArray[np.bool_],
    first: npt.NDArray[np.int64],
    neighbours: npt.NDArray[np.integer[Any]],
    first_node: npt.NDArray[np.int64],
    graphs: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    bin_of_count: npt.NDArray[np.uint16],
    n_bins: int,
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    least_weight: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return what the best ``1(A phi > t) > k`` explains, for four conjunctions of columns.

    The second answer is for their complements.

    Parameters
    ----------
    first_node : array
        The nodes of graph g are ``first_node[g]`` to ``first_node[g + 1] - 1``.
    graphs, targets : array
        The graphs that count, and their packed targets.
    bin_of_count : array
        The bin of every count of nodes.
    """
    n_pairs = len(left)
    gains = np.empty((2, n_pairs, 4), dtype=np.float32)
    total, base = _total(targets)
    most, width = _MOST_OF_GRAPHS, _MOST_OF_GRAPHS + 1
    for chunk in prange(_CHUNKS):
        histogram = np.zeros(8 * most * n_bins, dtype=np.int64)
        with_count = np.zeros(8 * width, dtype=np.int64)
        counts = np.zeros(8, dtype=np.int64)
        for pair in range(n_pairs * chunk // _CHUNKS, n_pairs * (chunk + 1) // _CHUNKS):
            histogram[:] = 0
            one, other = truths[left[pair]], truths[right[pair]]
            for row in range(len(graphs)):
                with_count[:] = 0
                for node in range(first_node[graphs[row]], first_node[graphs[row] + 1]):
                    _near_counts(one, other, first, neighbours, node, counts, most)
                    for form in range(8):
                        with_count[form * width + counts[form]] += 1
                for form in range(8):
                    above = np.int64(0)
                    for limit in range(most - 1, -1, -1):
                        above += with_count[form * width + limit + 1]
                        place = (form * most + limit) * n_bins + np.int64(bin_of_count[above])
                        histogram[place] += targets[row]
            for form in range(8):
                gain = -1.0
                for limit in range(most):
                    start = np.uint64((form * most + limit) * n_bins)
                    best, _ = _cut_counts(histogram, start, n_bins, total, least_weight)
                    gain = max(gain, best)
                gains[form // 4, pair, form % 4] = gain - base
    return gains[0], gains[1]
