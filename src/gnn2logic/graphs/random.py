"""Random graphs for tests, demonstrations and checks: vectorised and seeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_names, check_whole
from gnn2logic.exceptions import GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.edges import check_node_count

__all__ = ["random_graphs"]

_PAIRS_AT_ONCE = 2_000_000
# Up to so many pairs of nodes each of them is drawn, which has been so from the beginning: a seed
# means the same graph for ever. In larger graphs only the edges are drawn.
_MOST_PAIRS = 10**8
# What a person would hardly want, and no memory would hold.
_MOST_EDGES = 10**8


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
        The probability of each edge, in all graphs or in each. Time and memory for graphs of more
        than 10,000 nodes depend on the number of nodes and edges alone.
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
    check_whole("n_graphs", n_graphs, least=1, error=GraphError)
    check_whole("max_multiplicity", max_multiplicity, least=1, error=GraphError)
    relations = check_names(relations, what="Relation")
    names = check_names(names, what="Predicate")
    check_node_count(n_graphs, what="A batch of graphs")
    rng = np.random.default_rng(random_state)
    given = _one_each("sizes", sizes, n_graphs, "graph")
    if not (given >= 1).all() or (given != np.rint(given)).any():
        raise GraphError(f"sizes must be whole numbers >= 1. Got {sizes!r} instead.")
    check_node_count(given.sum(), what="A batch of graphs")
    nodes = given.astype(np.int64)
    densities = _probabilities("density", density, n_graphs, "graph")
    _check_edge_count(given, densities, directed=directed)
    ptr = np.concatenate([[0], np.cumsum(nodes)]).astype(np.int64)
    n_nodes = int(ptr[-1])
    sources, targets = [], []
    for start, stop in _chunks(nodes):
        if nodes[start] ** 2 > _MOST_PAIRS:
            source, target = _sparse_pairs(
                int(nodes[start]), densities[start], rng, directed=directed, loops=loops
            )
            sources.append(source + ptr[start])
            targets.append(target + ptr[start])
            continue
        for source, target, graph in _pairs(nodes[start:stop], ptr[start:stop]):
            wanted = source != target if directed else source < target
            if loops:
                wanted |= source == target
            chosen = wanted & (rng.random(len(source)) < densities[start:stop][graph])
            sources.append(source[chosen])
            targets.append(target[chosen])
    source, target = np.concatenate(sources), np.concatenate(targets)
    counts = rng.integers(1, max_multiplicity, size=len(source), endpoint=True)
    edge_types = rng.integers(0, max(len(relations), 1), size=len(source))
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
        typed = {name: matrix(edge_types == number) for number, name in enumerate(relations)}
        return GraphBatch(predicates, typed, ptr=ptr, names=names)
    return GraphBatch(predicates, matrix(edge_types == 0), ptr=ptr, names=names)


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


def _check_edge_count(
    sizes: npt.NDArray[np.float64], densities: npt.NDArray[np.float64], *, directed: bool
) -> None:
    """Refuse more edges than fit into memory, before the first is drawn."""
    expected = float((sizes**2 * densities).sum()) / (1 if directed else 2)
    if expected > _MOST_EDGES:
        raise GraphError(
            f"sizes and density must give at most {_MOST_EDGES} edges. Got about {expected:.3g}; "
            "make smaller graphs, fewer, or less dense ones."
        )


def _chunks(sizes: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return runs of graphs with a bounded number of node pairs, or single graphs with more."""
    pairs = sizes**2
    number = np.cumsum(np.minimum(pairs, _MOST_PAIRS)) // _PAIRS_AT_ONCE
    large = pairs > _PAIRS_AT_ONCE
    begins = np.diff(number, prepend=-1).astype(bool) | large
    begins[1:] |= large[:-1]
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], len(sizes))
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _pairs(
    sizes: npt.NDArray[np.int64], first: npt.NDArray[np.int64]
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Give all ordered pairs of nodes of each graph and the number of the graph, in parts."""
    pairs = sizes**2
    ends = np.cumsum(pairs)
    for start in range(0, int(ends[-1]), _PAIRS_AT_ONCE):
        number = np.arange(start, min(start + _PAIRS_AT_ONCE, int(ends[-1])))
        graph = np.searchsorted(ends, number, side="right")
        row, column = np.divmod(number - (ends - pairs)[graph], sizes[graph])
        yield row + first[graph], column + first[graph], graph


def _sparse_pairs(
    n_nodes: int, density: float, rng: np.random.Generator, *, directed: bool, loops: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw the edges of one graph, each pair of nodes with the same chance, edge by edge.

    Pairs are numbered row by row; from one edge to the next it is a geometric number of pairs.
    """
    node = np.arange(n_nodes)
    begin = np.zeros_like(node) if directed else node + (not loops)
    width = n_nodes - begin - (directed and not loops)
    ends = np.cumsum(width)
    number = _successes(int(ends[-1]), density, rng)
    row = np.searchsorted(ends, number, side="right")
    column = number - (ends - width)[row] + begin[row]
    if directed and not loops:
        # The node itself is passed over.
        column += column >= row
    return row, column


def _successes(n_trials: int, chance: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return which of many independent trials succeed, in order."""
    if chance == 0:
        return np.zeros(0, dtype=np.int64)
    successes = []
    last = -1
    while last < n_trials:
        expected = (n_trials - last) * chance
        gaps = rng.geometric(chance, size=int(expected + 4 * expected**0.5) + 8)
        # A gap beyond the end is as good as one to the end, and sums do not overflow.
        steps = last + np.cumsum(np.minimum(gaps, n_trials + 1))
        successes.append(steps[steps < n_trials])
        last = int(steps[-1])
    return np.concatenate(successes)
