"""Reading adjacency matrices and edge lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_name, is_whole, some_of
from gnn2logic.exceptions import GraphError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import FeatureBlock, RawGraphs, matrix_columns, to_batch
from gnn2logic.graphs.edges import check_node_count, clean_matrix
from gnn2logic.graphs.inputs import (
    as_array,
    boundaries,
    check_edge_index,
    edges_by_code,
    items_of,
    join_edges,
    structure,
)

__all__ = ["from_adjacency", "from_edges", "is_matrix", "is_pair", "read_matrices"]


def is_matrix(value: object) -> bool:
    """Whether `value` is one matrix: scipy sparse, or an array or tensor with two dimensions."""
    if sp.issparse(value):
        return True
    array_like = isinstance(value, np.ndarray) or hasattr(value, "detach")
    return array_like and getattr(value, "ndim", None) == 2


def is_pair(value: object) -> bool:
    """Whether `value` is a tuple (adjacency, features)."""
    return isinstance(value, tuple) and len(value) == 2 and is_matrix(value[0])


def from_adjacency(
    adjacency: Any,
    features: Any = None,
    *,
    names: Sequence[str] | None = None,
) -> GraphBatch:
    """Return graphs given by adjacency matrices as a batch.

    Parameters
    ----------
    adjacency : matrix, or list of matrices
        Dense or any scipy sparse format; entry (v, w) is the number of edges from v to w.
    features : matrix, or list of matrices, optional
        One row per node and one column per predicate, 0 or 1. For other features give a list of
        pairs ``(adjacency, features)`` to `PredicateEncoder`.
    names : sequence of str, optional
        Names of the columns of `features`, ``U0, U1, ...`` by default.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> from_adjacency([path, path[:2, :2]], [[[1], [0], [0]], [[1], [1]]], names=["red"])
    GraphBatch(n_graphs=2, n_nodes=5, n_edges=6, names=('red',))
    """
    single = _is_one(adjacency)
    matrices = items_of(adjacency, _is_one, expected="square matrices")
    if single or features is None:
        blocks = [features] * len(matrices)
    else:
        blocks = list(features) if isinstance(features, Iterable) else [features]
    if len(blocks) != len(matrices):
        raise GraphError(
            "There must be one feature matrix for each adjacency matrix. "
            f"Got {len(blocks)} for {len(matrices)}."
        )
    return to_batch(read_matrices(matrices, blocks, feature_names=names))


def _is_one(value: object) -> bool:
    """Whether `value` is one matrix, also when it is written as a list of rows of numbers."""
    if is_matrix(value):
        return True
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(row, list | tuple) and all(map(np.isscalar, row)) for row in value)


def read_matrices(
    matrices: Sequence[Any],
    features: Sequence[Any],
    *,
    feature_names: Sequence[str] | None,
) -> RawGraphs:
    """Return adjacency matrices, with features or None for each, as raw columns and edges."""
    entries = [_entries(matrix, graph) for graph, matrix in enumerate(matrices)]
    sizes = [size for *_, size in entries]
    ptr = boundaries(sizes)
    starts = ptr[:-1]
    rows, columns = (
        np.concatenate([e[k] + start for e, start in zip(entries, starts, strict=True)])
        for k in (0, 1)
    )
    counts = np.concatenate([data for _, _, data, _ in entries])
    joined = sp.coo_array((counts, (rows, columns)), shape=(int(ptr[-1]), int(ptr[-1])))
    try:
        graphs = GraphBatch(None, joined, ptr=ptr)
    except GraphError:
        # The same check graph by graph names the graph that is to blame.
        for graph, matrix in enumerate(matrices):
            clean_matrix(_plain(matrix, graph), what=_what(graph))
        raise
    blocks = [
        FeatureBlock(table, size, f"graph {graph}")
        for graph, (table, size) in enumerate(zip(features, sizes, strict=True))
    ]
    return RawGraphs(graphs, matrix_columns(blocks, ptr, feature_names))


def _what(graph: int) -> str:
    return f"The adjacency matrix of graph {graph}"


def _plain(matrix: Any, graph: int) -> Any:
    return matrix if sp.issparse(matrix) else as_array(matrix, what=_what(graph))


def _entries(
    matrix: Any, graph: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any], int]:
    """Return rows, columns and values of the entries of one matrix, and its number of nodes."""
    plain: Any = _plain(matrix, graph)
    if plain.ndim != 2 or plain.shape[0] != plain.shape[1]:
        raise GraphError(f"{_what(graph)} must be square. Got shape {plain.shape} instead.")
    if plain.dtype.kind not in "biuf":
        raise GraphError(f"{_what(graph)} must hold numbers. Got dtype {plain.dtype} instead.")
    if isinstance(plain, np.ndarray):
        rows, columns = np.nonzero(plain)
        values = plain[rows, columns]
    else:
        coo = plain.tocoo()
        rows, columns, values = coo.row, coo.col, coo.data
    return rows.astype(np.int64), columns.astype(np.int64), np.asarray(values), plain.shape[0]


def from_edges(
    edges: Any,
    n_nodes: int,
    features: Any = None,
    *,
    names: Sequence[str] | None = None,
    relations: Sequence[str | int] | None = None,
) -> GraphBatch:
    """Return one graph given by a list of its edges as a batch of one graph.

    Parameters
    ----------
    edges : array of int, shape (n_edges, 2), or list of pairs
        Directed as given; ``GraphBatch.symmetrize`` adds the other directions.
    n_nodes : int
        The number of nodes; they are numbered from 0.
    features : matrix, optional
        One row per node and one column per predicate, 0 or 1.
    names : sequence of str, optional
        Names of the columns of `features`, ``U0, U1, ...`` by default.
    relations : sequence of str or int, optional
        One label per edge; the edges with label r are read as ``A[r]``.

    Examples
    --------
    >>> from_edges([(0, 1), (1, 2)], 3, relations=["single", "double"])
    GraphBatch(n_graphs=1, n_nodes=3, n_edges=2, names=(), relations=('double', 'single'))
    """
    if not is_whole(n_nodes):
        raise GraphError(f"n_nodes must be a whole number. Got {n_nodes!r} instead.")
    check_node_count(n_nodes, what="A graph")
    pairs = as_array(edges, what="edges")
    if pairs.size == 0:
        pairs = np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        transposed = pairs.ndim == 2 and pairs.shape[0] == 2
        hint = " Transpose it: edges.T has the right shape." if transposed else ""
        raise GraphError(
            "edges must be pairs (source, target), an array of shape (n_edges, 2). "
            f"Got shape {pairs.shape} instead.{hint}"
        )
    ptr = boundaries([int(n_nodes)])
    edge_index = check_edge_index(pairs.T, what="edges")
    sources, targets = join_edges([edge_index], [int(n_nodes)], ["graph 0"])
    typed: dict[str, npt.NDArray[np.intp]] = {}
    if relations is not None:
        typed = _labelled(relations, len(pairs))
    block = FeatureBlock(features, int(n_nodes), "graph 0")
    raw = RawGraphs(structure(ptr, sources, targets, typed), matrix_columns([block], ptr, names))
    return to_batch(raw)


def _labelled(relations: Sequence[str | int], n_edges: int) -> dict[str, npt.NDArray[np.intp]]:
    proper = isinstance(relations, Sequence | np.ndarray) and not isinstance(relations, str)
    if not proper or len(relations) != n_edges:
        got = f"{len(relations)} labels" if proper else repr(relations)
        raise GraphError(
            f"relations must have one label for each of the {n_edges} edges. Got {got} instead."
        )
    labels = [_label(label) for label in relations]
    if len(
        {(label, type(given) is str) for label, given in zip(labels, relations, strict=True)}
    ) > len(set(labels)):
        raise GraphError(
            "relations must not use a whole number and a string of the same digits for one edge "
            f"relation. Got both among {some_of(sorted(set(labels)))}."
        )
    names = sorted(set(labels))
    position = {name: number for number, name in enumerate(names)}
    codes = np.array([position[label] for label in labels], dtype=np.int64)
    return edges_by_code(codes, names, what="relations")


def _label(label: object) -> str:
    if is_whole(label):
        return str(int(label))
    if not isinstance(label, str):
        raise UnsupportedInputError(
            f"A relation label must be a string or a whole number. Got {label!r} instead."
        )
    return check_name(label, what="Relation")
