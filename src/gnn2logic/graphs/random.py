"""Random graphs for tests, demonstrations and checks: vectorised and seeded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_names
from gnn2logic.exceptions import GraphError
from gnn2logic.graphs.batch import GraphBatch

__all__ = ["random_graphs"]

_PAIRS_AT_ONCE = 2_000_000


def random_graphs(
    n_graphs: int,
    *,
    sizes: int | npt.ArrayLike = 13,
    density: float | npt.ArrayLike = 0.5,
    names: Sequence[str] = ("U0", "U1"),
    probability: float | npt.ArrayLike = 0.5,
    directed: bool = False,
    loops: bool = False,
    max_multiplicity: int = 1,
    relations: Sequence[str] = (),
    random_state: int | np.random.Generator | None = None,
) -> GraphBatch:
    """Return Erdos-Renyi graphs with independent random predicates.

    Parameters
    ----------
    n_graphs : int
    sizes : int or array of int
        The number of nodes, of all graphs or of each.
    density : float or array of float
        The probability of each edge, in all graphs or in each.
    names : sequence of str
        The predicates.
    probability : float or array of float
        The probability that a predicate holds at a node, of all predicates or of each.
    directed, loops : bool
        Whether to draw both directions independently, and whether to draw self loops.
    max_multiplicity : int
        An edge that is drawn counts 1 to this many times.
    relations : sequence of str
        Each drawn edge belongs to one of these relations.
    random_state : int, Generator or None

    Examples
    --------
    The paper's data: 13 nodes, half of all edges, U0 always true, U1 half of the time.

    >>> random_graphs(1000, probability=[1.0, 0.5], random_state=0)
    GraphBatch(n_graphs=1000, n_nodes=13000, n_edges=78076, names=('U0', 'U1'))
    """
    if not isinstance(n_graphs, int | np.integer) or n_graphs < 1:
        raise GraphError(f"n_graphs must be a whole number >= 1. Got {n_graphs!r} instead.")
    if not isinstance(max_multiplicity, int | np.integer) or max_multiplicity < 1:
        raise GraphError(
            f"max_multiplicity must be a whole number >= 1. Got {max_multiplicity!r} instead."
        )
    relations = check_names(relations, what="Relation")
    names = check_names(names, what="Predicate")
    rng = np.random.default_rng(random_state)
    given = _one_each("sizes", sizes, n_graphs, "graph")
    if not (given >= 1).all() or (given != np.rint(given)).any():
        raise GraphError(f"sizes must be whole numbers >= 1. Got {sizes!r} instead.")
    nodes = given.astype(np.int64)
    densities = _probabilities("density", density, n_graphs, "graph")
    ptr = np.concatenate([[0], np.cumsum(nodes)]).astype(np.int64)
    n_nodes = int(ptr[-1])
    sources, targets = [], []
    for start, stop in _chunks(nodes):
        source, target, graph = _pairs(nodes[start:stop], ptr[start:stop])
        wanted = source != target if directed else source < target
        if loops:
            wanted |= source == target
        chosen = wanted & (rng.random(len(source)) < densities[start:stop][graph])
        sources.append(source[chosen])
        targets.append(target[chosen])
    source, target = np.concatenate(sources), np.concatenate(targets)
    counts = rng.integers(1, max_multiplicity, size=len(source), endpoint=True)
    kinds = rng.integers(0, max(len(relations), 1), size=len(source))
    chances = _probabilities("probability", probability, len(names), "predicate")
    predicates = rng.random((n_nodes, len(names))) < chances

    def matrix(which: npt.NDArray[np.bool_]) -> sp.coo_array:
        rows, columns, data = source[which], target[which], counts[which]
        if not directed:
            other = rows != columns
            rows, columns = (
                np.concatenate([rows, columns[other]]),
                np.concatenate([columns, rows[other]]),
            )
            data = np.concatenate([data, data[other]])
        return sp.coo_array((data, (rows, columns)), shape=(n_nodes, n_nodes))

    if relations:
        typed = {name: matrix(kinds == number) for number, name in enumerate(relations)}
        return GraphBatch(predicates, typed, ptr=ptr, names=names)
    return GraphBatch(predicates, matrix(kinds == 0), ptr=ptr, names=names)


def _one_each(what: str, value: object, count: int, of: str) -> npt.NDArray[np.float64]:
    array = np.asarray(value, dtype=float)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != count):
        raise GraphError(
            f"{what} must be one number, or one for each of the {count} {of}s. "
            f"Got shape {array.shape} instead."
        )
    return np.broadcast_to(array, (count,))


def _probabilities(what: str, value: object, count: int, of: str) -> npt.NDArray[np.float64]:
    chances = _one_each(what, value, count, of)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise GraphError(f"{what} must be between 0 and 1. Got {value!r} instead.")
    return chances


def _chunks(sizes: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return runs of graphs with a bounded number of node pairs, so memory stays bounded."""
    number = np.cumsum(sizes**2) // _PAIRS_AT_ONCE
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    stops = np.append(starts[1:], len(sizes))
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _pairs(
    sizes: npt.NDArray[np.int64], first: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all ordered pairs of nodes of each graph and the number of the graph."""
    pairs = sizes**2
    graph = np.repeat(np.arange(len(sizes)), pairs)
    within = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    row, column = np.divmod(within, sizes[graph])
    return row + first[graph], column + first[graph], graph
