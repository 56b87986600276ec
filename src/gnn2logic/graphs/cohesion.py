"""How tightly nodes are tied to others: triangles, cores and cliques, on simple undirected edges.

All functions take a matrix of `gnn2logic.graphs.cycles.simple_edges`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["clique_members", "core_numbers", "triangles_per_node"]

IntArray = npt.NDArray[np.int64]


def triangles_per_node(matrix: sp.csr_array) -> IntArray:
    """Return on how many triangles every node lies.

    >>> square = sp.csr_array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0]])
    >>> triangles_per_node(square).tolist()
    [2, 1, 2, 1]
    """
    ones = matrix.astype(np.int64)
    # Ways of two steps between neighbours; every triangle of a node is found in two directions.
    closed = (ones @ ones).multiply(ones)
    total: IntArray = np.asarray(closed.sum(axis=1)).reshape(-1).astype(np.int64) // 2
    return total


def core_numbers(matrix: sp.csr_array) -> IntArray:
    """Return for every node the largest k such that it is in the k-core.

    The k-core is what remains after nodes with fewer than k neighbours are taken away, again and
    again.

    >>> path_and_triangle = sp.csr_array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    >>> core_numbers(path_and_triangle).tolist()
    [2, 2, 2, 1]
    """
    indptr = matrix.indptr.astype(np.int64)
    degrees = np.diff(indptr)
    cores = np.full(len(degrees), -1, dtype=np.int64)
    level = 0
    while (left := cores < 0).any():
        level = max(level, int(degrees[left].min()))
        going = np.flatnonzero(left & (degrees <= level))
        while len(going):
            cores[going] = level
            counts = indptr[going + 1] - indptr[going]
            ends = np.cumsum(counts)
            positions = np.repeat(indptr[going] - (ends - counts), counts) + np.arange(counts.sum())
            near, times = np.unique(matrix.indices[positions], return_counts=True)
            degrees[near] -= times
            going = near[(cores[near] < 0) & (degrees[near] <= level)]
    return cores


def clique_members(matrix: sp.csr_array, size: int, cores: IntArray) -> npt.NDArray[np.bool_]:
    """Return which nodes belong to a clique of a size of at least 3.

    Nodes in dense places are in many cliques, and one of them is enough: each node is asked alone,
    and what is found for it is found for all members.

    >>> complete = sp.csr_array(1 - np.eye(4, dtype=int))
    >>> clique_members(complete, 4, core_numbers(complete)).all()
    np.True_
    """
    members = np.zeros(matrix.shape[0], dtype=bool)
    # Every member has neighbours enough within the clique, so nothing else needs a look.
    candidates = np.flatnonzero(cores >= size - 1)
    if not len(candidates):
        return members
    inner = sp.csr_array(matrix[candidates][:, candidates])
    rows = np.split(inner.indices, inner.indptr[1:-1])
    neighbours = [frozenset(row.tolist()) for row in rows]
    known = np.zeros(len(candidates), dtype=bool)
    for node in range(len(candidates)):
        if not known[node]:
            clique = _clique_of([node], neighbours[node], size, neighbours)
            known[clique] = True
    members[candidates[known]] = True
    return members


def _clique_of(
    chosen: list[int], common: frozenset[int], size: int, neighbours: list[frozenset[int]]
) -> list[int]:
    """Return a clique with the chosen nodes, whose common neighbours are given; [] if none."""
    missing = size - len(chosen)
    if missing == 0:
        return chosen
    if len(common) < missing:
        return []
    rest = common
    for node in sorted(common):
        clique = _clique_of([*chosen, node], rest & neighbours[node], size, neighbours)
        if clique:
            return clique
        # A clique with this node would have been found.
        rest -= {node}
    return []
