"""What the readers share: one object or many, arrays, places named in messages, edge lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_names, to_numpy
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.edges import check_node_count

__all__ = [
    "MAX_RELATIONS",
    "Where",
    "as_array",
    "boundaries",
    "check_batch",
    "check_edge_index",
    "edges_by_code",
    "graphs_inside",
    "items_of",
    "join_edges",
    "locate",
    "node_locator",
    "structure",
]

# Says in words where the entry with a number is, for messages.
Where = Callable[[int], str]


def as_array(
    value: object, *, what: str, error: type[GraphError] | type[FeatureError] = GraphError
) -> npt.NDArray[Any]:
    """Return an array-like or a torch tensor (read by duck typing) as a numpy array.

    The result may share memory with `value`; it is never written to.
    """
    source: Any = value
    if hasattr(source, "detach") and hasattr(source, "numpy"):
        if "strided" not in str(getattr(source, "layout", "strided")):
            raise UnsupportedInputError(
                f"{what} must be dense. Got a sparse tensor instead; convert it with .to_dense()."
            )
        return np.asarray(to_numpy(source))
    try:
        return np.asarray(source)
    except ValueError as cause:
        raise error(f"{what} must be an array. Got rows of unequal length.") from cause


def graphs_inside(graphs: Any) -> Any:
    """Return the batch of what holds one and says so, such as molecules; all else as it is."""
    held = getattr(type(graphs), "__graph_batch__", None)
    return graphs if held is None else held(graphs)


def check_batch(graphs: Any) -> GraphBatch:
    """Return what must be a batch, or holds one."""
    batch = graphs_inside(graphs)
    if not isinstance(batch, GraphBatch):
        raise UnsupportedInputError(
            f"Expected a GraphBatch. Got {type(graphs).__name__} instead; read other graphs with "
            "as_batch(graphs)."
        )
    return batch


def items_of(graphs: Any, is_one: Callable[[object], bool], *, expected: str) -> list[Any]:
    """Return one graph, or an iterable of graphs, as a list whose items all pass `is_one`."""
    if is_one(graphs):
        return [graphs]
    if isinstance(graphs, str | bytes | dict):
        raise UnsupportedInputError(f"Expected {expected}. Got {type(graphs).__name__} instead.")
    try:
        # Not only Iterable: torch datasets can be walked through by number alone.
        walk: Iterable[Any] = iter(graphs)
    except TypeError:
        raise UnsupportedInputError(
            f"Expected {expected}. Got {type(graphs).__name__} instead."
        ) from None
    items = list(walk)
    if not items:
        raise GraphError(f"At least one graph is needed. Got an empty {type(graphs).__name__}.")
    for number, item in enumerate(items):
        if not is_one(item):
            raise UnsupportedInputError(
                f"Expected {expected}. Got {type(item).__name__} at position {number} instead."
            )
    return items


def locate(ptr: npt.NDArray[np.int64], node: int) -> tuple[int, int]:
    """Return the graph that owns `node` and the number of the node inside it."""
    graph = int(np.searchsorted(ptr, node, side="right")) - 1
    return graph, int(node - ptr[graph])


def node_locator(ptr: npt.NDArray[np.int64]) -> Where:
    """Return a function that names the node with a number: ``node 2 of graph 5``."""

    def where(at: int) -> str:
        graph, node = locate(ptr, at)
        return f"node {node} of graph {graph}"

    return where


IntArray = npt.NDArray[np.int64]

# Every relation is a matrix of its own; more of them than this are identifiers, not types.
MAX_RELATIONS = 1000


def boundaries(sizes: npt.ArrayLike) -> IntArray:
    """Return the graph boundaries ``[0, ..., n_nodes]`` of graphs with the given node counts."""
    counts = np.asarray(sizes, dtype=np.int64)
    # In doubles, where no sum can overflow.
    check_node_count(counts.sum(dtype=np.float64), what="A batch of graphs")
    if (counts < 1).any():
        graph = int(np.argmax(counts < 1))
        raise GraphError(
            f"Graph {graph} must have at least one node. Got {counts[graph]} nodes; "
            "leave such graphs out."
        )
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def check_edge_index(edge_index: npt.NDArray[Any], *, what: str) -> npt.NDArray[Any]:
    """Return a (2, n_edges) array of whole numbers: the sources above the targets."""
    if edge_index.ndim != 2 or edge_index.shape[0] != 2:
        transposed = edge_index.ndim == 2 and edge_index.shape[1] == 2
        hint = " Transpose it: edge_index.T has the right shape." if transposed else ""
        raise GraphError(
            f"{what} must have shape (2, n_edges): sources in row 0, targets in row 1. "
            f"Got shape {edge_index.shape} instead.{hint}"
        )
    # Libraries make float arrays of nothing at all, and nothing is lost in reading those.
    if edge_index.size and edge_index.dtype.kind not in "iu":
        raise GraphError(
            f"{what} must hold node numbers as whole numbers. Got dtype {edge_index.dtype} "
            "instead; convert it to int64."
        )
    return edge_index


def join_edges(
    edge_indices: Sequence[npt.NDArray[Any]], sizes: Sequence[int], wheres: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Return sources and targets of all edges, numbered through, after checking their range.

    Parameters
    ----------
    edge_indices : sequence of arrays, shape (2, n_edges)
        One array per part, with nodes numbered from 0 in each.
    sizes : sequence of int
        The number of nodes of each part.
    wheres : sequence of str
        What each part is called in messages.
    """
    n_edges = np.array([edges.shape[1] for edges in edge_indices], dtype=np.int64)
    edges = np.concatenate(edge_indices, axis=1).astype(np.int64)
    nodes = np.asarray(sizes, dtype=np.int64)
    limits = np.repeat(nodes, n_edges)
    outside = (edges < 0) | (edges >= limits)
    if outside.any():
        at = int(np.argmax(outside.any(axis=0)))
        end = 0 if outside[0, at] else 1
        graph = int(np.searchsorted(np.cumsum(n_edges), at, side="right"))
        number = at - int(n_edges[:graph].sum())
        raise GraphError(
            f"Node numbers must be between 0 and {nodes[graph] - 1} in {wheres[graph]}, which has "
            f"{nodes[graph]} nodes. Got {edges[end, at]} as the {('source', 'target')[end]} of "
            f"edge {number}. Nodes are numbered from 0 in each graph; isolated nodes at the end "
            "need the number of nodes to be given."
        )
    edges += np.repeat(np.cumsum(nodes) - nodes, n_edges)
    return edges[0], edges[1]


def edges_by_code(
    codes: npt.NDArray[Any], names: Sequence[str], *, what: str
) -> dict[str, npt.NDArray[np.intp]]:
    """Return, for relation ``names[c]``, the positions of the edges whose code is c."""
    if len(names) > MAX_RELATIONS:
        raise GraphError(
            f"{what} must have at most {MAX_RELATIONS} different values to be read as edge "
            f"relations. Got {len(names)}."
        )
    if not names:
        return {}
    order = np.argsort(codes, kind="stable")
    cuts = np.searchsorted(codes[order], np.arange(1, len(names)))
    return dict(zip(names, np.split(order, cuts), strict=True))


def structure(
    ptr: IntArray,
    sources: IntArray,
    targets: IntArray,
    relations: Mapping[str, npt.NDArray[np.intp]],
) -> GraphBatch:
    """Return the graphs without predicates; a relation is given by the positions of its edges."""
    check_names(tuple(relations), what="Relation")
    n_nodes = int(ptr[-1])

    def matrix(chosen: npt.NDArray[np.intp] | slice) -> sp.coo_array:
        rows, columns = sources[chosen], targets[chosen]
        ones = np.ones(len(rows), dtype=np.int32)
        return sp.coo_array((ones, (rows, columns)), shape=(n_nodes, n_nodes))

    typed = {name: matrix(positions) for name, positions in relations.items()}
    return GraphBatch(None, matrix(slice(None)), ptr=ptr, relations=typed)
