"""The Weisfeiler-Leman subtree kernel: graphs are alike when they share coloured nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.graphs import GraphBatch

__all__ = ["wl_counts", "wl_kernel"]

IntArray = npt.NDArray[np.int64]


def wl_counts(graphs: GraphBatch, n_rounds: int) -> list[sp.csr_matrix]:
    """Return, for round 0 to `n_rounds`, how often each colour occurs in each graph.

    The colour of a node in round 0 is the set of its predicates; in the next rounds it is its
    colour together with the multiset of its neighbours' colours.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> path = gl.from_edges([(0, 1), (1, 2)], 3).symmetrize()
    >>> [counts.toarray().tolist() for counts in wl_counts(path, 1)]
    [[[3]], [[2, 1]]]
    """
    _, colours = np.unique(graphs.predicates, axis=0, return_inverse=True)
    colours = colours.reshape(-1).astype(np.int64)
    adjacency = sp.csr_matrix(graphs.adjacency)
    found = [_histogram(graphs, colours)]
    for _ in range(n_rounds):
        colours = _refined(colours, adjacency)
        found.append(_histogram(graphs, colours))
    return found


def _refined(colours: IntArray, adjacency: sp.csr_matrix) -> IntArray:
    ends = adjacency.indptr.tolist()
    around = colours[adjacency.indices]
    known: dict[tuple[int, bytes], int] = {}
    new = np.empty_like(colours)
    for node, own in enumerate(colours.tolist()):
        signature = own, np.sort(around[ends[node] : ends[node + 1]]).tobytes()
        new[node] = known.setdefault(signature, len(known))
    return new


def _histogram(graphs: GraphBatch, colours: IntArray) -> sp.csr_matrix:
    ones = np.ones(len(colours), dtype=np.int64)
    shape = graphs.n_graphs, int(colours.max()) + 1
    return sp.csr_matrix((ones, (graphs.graph_index, colours)), shape=shape)


def wl_kernel(counts: list[sp.csr_matrix]) -> npt.NDArray[np.float64]:
    """Return the cosine similarity of all graphs, given the counts of their colours."""
    together = sp.hstack(counts, format="csr").astype(np.float64)
    products = (together @ together.T).toarray()
    length = np.sqrt(np.diag(products))
    return np.asarray(products / np.outer(length, length))
