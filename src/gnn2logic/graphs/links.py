"""Pairs of nodes as graphs: the two ends are marked, and what is around them comes along.

So a question about a link is a question about a graph, and everything that classifies, explains and
measures graphs does it for links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._progress import Progress
from gnn2logic._validation import check_choice, check_whole, some_of, to_numpy
from gnn2logic.exceptions import FeatureError, GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import as_batch

__all__ = ["link_graphs"]

IntArray = npt.NDArray[np.int64]

_ENDS = ("source", "target")
# So many pairs are looked up at once; what is around hubs takes memory.
_AT_ONCE = 256
# More nodes than this in all graphs together would hardly fit into memory.
_MOST_NODES = 100_000_000


def link_graphs(
    graph: object,
    pairs: object,
    *,
    hops: int = 2,
    node_types: Sequence[str] | None = None,
    keep_links: bool = False,
    verbose: int | None = None,
) -> GraphBatch:
    """Return a graph for each pair of nodes: its two ends and all that is near to either of them.

    Predicates ``source`` and ``target`` mark the ends; the other predicates and the relations are
    those of the graph. Nodes keep their order.

    Parameters
    ----------
    graph : one graph of any kind that `as_batch` reads
        With features that are not Boolean, encode it first:
        ``PredicateEncoder().fit_transform(graph)``.
    pairs : array of int, shape (n_pairs, 2) or (2, n_pairs)
        Sources and targets. An array of shape (2, 2) has one pair in each row.
    hops : int
        How many steps, along edges in either direction, a node may be away from the nearer end.
    node_types : sequence of two str, optional
        The types of sources and of targets, for ``HeteroData``: ``("user", "item")``. Then both are
        numbered among the nodes of their type, as in its ``edge_index``. By default among all.
    keep_links : bool
        Whether edges between the two ends stay. By default they are left out: a rule that is to
        say whether there is a link must not see it.
    verbose : int, optional
        1 shows progress, 0 shows nothing.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> path = gl.from_edges([(0, 1), (1, 2), (2, 3)], 4).symmetrize()
    >>> links = link_graphs(path, [(0, 2), (0, 1)], hops=1)
    >>> links
    GraphBatch(n_graphs=2, n_nodes=7, n_edges=8, names=('source', 'target'))
    >>> gl.parse("1(A source > 0 & A target > 0) > 0").evaluate(links)
    array([ True, False])
    """
    batch = as_batch(graph)
    if batch.n_graphs != 1:
        raise GraphError(
            f"graph must be one graph, in which pairs are numbered. Got {batch.n_graphs} graphs."
        )
    for name in _ENDS:
        if name in batch.names:
            raise FeatureError(
                f"The graph must have no predicate {name!r}, which marks an end of a pair. Rename "
                "it: graph.with_predicates(graph.predicates, names)."
            )
    check_whole("hops", hops, least=0)
    check_choice("keep_links", keep_links, (False, True))
    ends = _checked_pairs(pairs, _numbered(batch, node_types))
    near = _neighbours(batch.adjacency)
    parts = []
    n_nodes = 0
    with Progress("links", -(-len(ends) // _AT_ONCE), verbose=verbose) as progress:
        for start in range(0, len(ends), _AT_ONCE):
            some = ends[start : start + _AT_ONCE]
            reached = _around(near, some, hops)
            n_nodes += int(reached.nnz)
            if n_nodes > _MOST_NODES:
                raise GraphError(
                    f"What is within {hops} hops of all pairs must have at most {_MOST_NODES:,} "
                    f"nodes together. Got {n_nodes:,} for the first {start + len(some)} of "
                    f"{len(ends)} pairs; take fewer hops, as around hubs, or fewer pairs."
                )
            parts.append(_cut_out(batch, some, reached, keep_links))
            progress.step("pairs cut out, part")
    return GraphBatch.concat(parts)


def _numbered(batch: GraphBatch, node_types: Sequence[str] | None) -> tuple[IntArray, IntArray]:
    """Return the nodes that sources and targets are numbered among."""
    if node_types is None:
        every = np.arange(batch.n_nodes)
        return every, every
    if isinstance(node_types, str) or len(node_types) != 2 or not set(node_types) <= {*batch.names}:
        raise FeatureError(
            "node_types must be the type of sources and that of targets, two of "
            f"{some_of(batch.names)}. Got {node_types!r}."
        )
    source, target = (np.flatnonzero(batch.column(name)) for name in node_types)
    return source, target


def _checked_pairs(pairs: object, nodes: tuple[IntArray, IntArray]) -> IntArray:
    given = np.asarray(to_numpy(pairs))
    if given.ndim == 2 and given.shape[1] != 2 and given.shape[0] == 2:
        given = given.T
    if given.ndim != 2 or given.shape[1] != 2 or not len(given) or given.dtype.kind not in "iu":
        raise GraphError(
            "pairs must be whole numbers of shape (n_pairs, 2) or (2, n_pairs), at least one pair. "
            f"Got shape {given.shape}, dtype {given.dtype} instead."
        )
    ends = given.astype(np.int64)
    for name, column, known in zip(_ENDS, ends.T, nodes, strict=True):
        if column.min() < 0 or column.max() >= len(known):
            raise GraphError(
                f"pairs must hold numbers of nodes, from 0 to {len(known) - 1} for the {name}. "
                f"Got numbers from {column.min()} to {column.max()}."
            )
    return np.stack([known[column] for known, column in zip(nodes, ends.T, strict=True)], axis=1)


def _neighbours(adjacency: sp.csr_array) -> sp.csr_array:
    """Return where an edge leads from one node to another, in either direction."""
    either = sp.csr_array(adjacency + adjacency.T)
    either.data = np.ones(len(either.data), dtype=np.int8)
    return either


def _around(near: sp.csr_array, ends: IntArray, hops: int) -> sp.csr_array:
    """Return the nodes near each pair, as rows of a matrix."""
    rows = np.repeat(np.arange(len(ends)), 2)
    shape = (len(ends), near.shape[0])
    reached = sp.csr_array((np.ones(2 * len(ends), dtype=np.int8), (rows, ends.ravel())), shape)
    for _ in range(hops):
        # Ones, so that nothing can overflow.
        reached.data = np.ones(len(reached.data), dtype=np.int8)
        step = sp.csr_array(reached.astype(np.int64) @ near.astype(np.int64))
        step.data = np.ones(len(step.data), dtype=np.int8)
        reached = sp.csr_array(reached + step)
    reached.sum_duplicates()
    reached.sort_indices()
    return reached


def _cut_out(
    batch: GraphBatch, ends: IntArray, reached: sp.csr_array, keep_links: bool
) -> GraphBatch:
    """Return the graphs of some pairs."""
    ptr = reached.indptr.astype(np.int64)
    pair_of = np.repeat(np.arange(len(ends)), np.diff(ptr))
    nodes = reached.indices.astype(np.int64)
    # Every node of every pair has a key, and they rise.
    keys = pair_of * batch.n_nodes + nodes
    is_end = np.stack([nodes == ends[pair_of, side] for side in (0, 1)], axis=1)

    def cut(matrix: sp.csr_array) -> sp.csr_array:
        taken: Any = sp.coo_array(matrix[nodes])
        wanted = pair_of[taken.row] * batch.n_nodes + taken.col
        position = np.searchsorted(keys, wanted)
        here = (position < len(keys)) & (keys[np.minimum(position, len(keys) - 1)] == wanted)
        if not keep_links:
            first, second = is_end[taken.row], is_end[np.minimum(position, len(keys) - 1)]
            here &= ~((first[:, 0] & second[:, 1]) | (first[:, 1] & second[:, 0]))
        entries = taken.data[here], (taken.row[here], position[here])
        return sp.csr_array(entries, shape=(len(nodes), len(nodes)))

    return GraphBatch(
        np.concatenate([is_end, batch.predicates[nodes]], axis=1),
        cut(batch.adjacency),
        ptr=ptr,
        names=[*_ENDS, *batch.names],
        relations={name: cut(matrix) for name, matrix in batch.relations.items()},
    )
