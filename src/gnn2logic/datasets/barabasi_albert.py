"""Barabasi-Albert graphs: many at once, seeded, on numpy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import RandomState, check_names, check_whole, generator_from
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.inputs import boundaries

__all__ = [
    "attachment_edges",
    "barabasi_albert_graphs",
    "check_attachment",
    "undirected",
]

IntArray = npt.NDArray[np.int64]


def barabasi_albert_graphs(
    n_graphs: int,
    *,
    sizes: int | npt.ArrayLike = 13,
    attachment: int = 1,
    names: Sequence[str] = ("U0", "U1"),
    probability: float | npt.ArrayLike = 0.5,
    random_state: RandomState = None,
) -> GraphBatch:
    """Return Barabasi-Albert graphs with independent random predicates.

    Parameters
    ----------
    n_graphs : int
    sizes : int or array of int
        The number of nodes, of all graphs or of each.
    attachment : int
        The number m of edges that a new node brings. A graph starts as a star of m + 1 nodes.
    names : sequence of str
        The predicates.
    probability : float or array of float
        The probability that a predicate holds at a node, of all predicates or of each.
    random_state : int, Generator or None

    Examples
    --------
    >>> barabasi_albert_graphs(10, sizes=20, attachment=2, random_state=0)
    GraphBatch(n_graphs=10, n_nodes=200, n_edges=720, names=('U0', 'U1'))
    """
    count = check_whole("n_graphs", n_graphs, least=1)
    given = np.asarray(sizes)
    if given.dtype.kind not in "iu" or given.ndim > 1 or given.shape not in ((), (count,)):
        raise ParameterError(
            f"sizes must be a whole number, or one for each of the {count} graphs. "
            f"Got {sizes!r} instead."
        )
    nodes = np.broadcast_to(given.astype(np.int64), (count,))
    m = check_attachment(attachment, int(nodes.min()))
    rng = generator_from(random_state)
    ptr = boundaries(nodes)
    drawn = attachment_edges(count, int(nodes.max()), m, rng)
    # What is past the end of a smaller graph is cut off: its first nodes are such a graph too.
    kept = np.arange(drawn.shape[1]) < (m * (nodes - m))[:, None]
    older, newer = (drawn + ptr[:-1, None, None])[kept].T
    predicates = _random_predicates(int(ptr[-1]), names, probability, rng)
    return GraphBatch(predicates, undirected(older, newer, int(ptr[-1])), ptr=ptr, names=names)


def check_attachment(attachment: object, n_nodes: int) -> int:
    """Return how many edges a new node brings; a graph needs more nodes than that."""
    number = check_whole("attachment", attachment, least=1)
    if number >= n_nodes:
        raise ParameterError(
            "attachment must be less than the number of nodes of the smallest Barabasi-Albert "
            f"graph, {n_nodes}. Got {number} instead."
        )
    return number


def attachment_edges(
    n_graphs: int, n_nodes: int, attachment: int, rng: np.random.Generator
) -> IntArray:
    """Return the edges of Barabasi-Albert graphs, each edge once, as they came to be.

    A graph starts as a star of ``attachment + 1`` nodes. Every further node is joined to
    `attachment` different nodes, each drawn with a chance in proportion to its degree. The edges
    are in the order of the new nodes, so the first m (k - m) of them, for m = `attachment`,
    are a Barabasi-Albert graph on the first k nodes.

    Returns
    -------
    array of int, shape (n_graphs, n_edges, 2)
        The older node of each edge, and the newer one.
    """
    total = attachment * (n_nodes - attachment)
    edges = np.empty((n_graphs, total, 2), dtype=np.int64)
    edges[:, :attachment, 0] = 0
    edges[:, :attachment, 1] = np.arange(1, attachment + 1)
    # A node stands once in this list for each of its edges, so a uniform draw from it is a draw
    # in proportion to degree.
    ends = edges.reshape(n_graphs, 2 * total)
    every = np.arange(n_graphs)
    done = attachment
    for node in range(attachment + 1, n_nodes):
        chosen = np.full((n_graphs, attachment), -1, dtype=np.int64)
        for slot in range(attachment):
            again = every
            while again.size:
                drawn = ends[again, rng.integers(0, 2 * done, size=again.size)]
                repeated = (chosen[again] == drawn[:, None]).any(axis=1)
                chosen[again[~repeated], slot] = drawn[~repeated]
                again = again[repeated]
        edges[:, done : done + attachment, 0] = chosen
        edges[:, done : done + attachment, 1] = node
        done += attachment
    return edges


def undirected(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], n_nodes: int
) -> sp.coo_array:
    """Return the adjacency matrix of edges that were given in one direction."""
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    return sp.coo_array(
        (np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(n_nodes, n_nodes)
    )


def _random_predicates(
    n_nodes: int,
    names: Sequence[str],
    probability: float | npt.ArrayLike,
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """Return one independent random column for each name."""
    width = len(check_names(names, what="Predicate"))
    chances = np.asarray(probability, dtype=float)
    if chances.shape not in ((), (width,)) or not ((chances >= 0) & (chances <= 1)).all():
        raise ParameterError(
            f"probability must be between 0 and 1, one number or one for each of the {width} "
            f"predicates. Got {probability!r} instead."
        )
    return rng.random((n_nodes, width)) < chances
