"""Reading PyTorch Geometric graphs by duck typing: torch is never imported here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_names, some_of
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import (
    FeatureBlock,
    RawColumn,
    RawEdges,
    RawGraphs,
    matrix_columns,
    to_batch,
)
from gnn2logic.graphs.edge_features import (
    EdgeFeatures,
    edge_locator,
    feature_attributes,
    matrix_of_edges,
    named_columns,
)
from gnn2logic.graphs.edges import check_node_count
from gnn2logic.graphs.inputs import (
    Where,
    as_array,
    boundaries,
    check_edge_index,
    edges_by_code,
    items_of,
    join_edges,
    structure,
)
from gnn2logic.graphs.read_hetero import FeatureNames, is_hetero, names_of_one_type, read_hetero

__all__ = ["edges_by_relation", "from_pyg", "graph_sizes", "is_dataset", "is_pyg", "read_pyg"]


def is_dataset(value: object) -> bool:
    """Whether `value` is a PyG dataset, which has attributes of graphs without being one."""
    value_type = type(value)
    return callable(getattr(value_type, "indices", None)) and callable(
        getattr(value_type, "get", None)
    )


def is_pyg(value: object) -> bool:
    """Whether `value` is one PyG ``Data``, ``Batch`` or ``HeteroData``, or behaves like one."""
    return not is_dataset(value) and (hasattr(value, "edge_index") or is_hetero(value))


def from_pyg(
    graphs: Any,
    *,
    feature_names: FeatureNames = None,
    edge_types: str | bool | None = None,
) -> GraphBatch:
    """Return PyTorch Geometric graphs as a batch.

    Every column of ``edge_index`` is an edge from row 0 to row 1: repeated columns are
    multi-edges, self loops stay, and no edge is mirrored.

    Parameters
    ----------
    graphs : Data, Batch, Dataset, or iterable of Data or Batch
        ``x`` must be Boolean (0 or 1) or None; for other features use `PredicateEncoder`.
        Of ``HeteroData``, types of nodes become predicates (``paper``), types of edges relations
        (``A[writes]``), and features belong to one type (``paper.U0``). Nodes are numbered type by
        type.
    feature_names : sequence of str, optional
        Names of the columns of ``x``. By default the ``predicate_names`` that `to_pyg` stores,
        else ``U0, U1, ...``.
    edge_types : str, optional
        The edge attribute with the relation of every edge: whole numbers, or one-hot rows.
        By default ``edge_type`` where the graphs have it; False reads no relations.

    Examples
    --------
    Any object with these attributes will do:

    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(x=[[1, 0], [0, 1]], edge_index=[[0, 1], [1, 0]], num_nodes=2)
    >>> from_pyg(data, feature_names=["atom=C", "atom=N"])
    GraphBatch(n_graphs=1, n_nodes=2, n_edges=2, names=('atom=C', 'atom=N'))
    """
    items = items_of(graphs, is_pyg, expected="PyTorch Geometric graphs")
    return to_batch(read_pyg(items, feature_names=feature_names, edge_types=edge_types))


@dataclass(frozen=True, slots=True, eq=False)
class _ReadData:
    """One ``Data`` or ``Batch``; `sizes` are the node counts of the graphs in it."""

    data: Any
    sizes: npt.NDArray[np.int64]
    n_nodes: int
    edges: npt.NDArray[Any]
    where: str


def read_pyg(
    items: Sequence[Any],
    *,
    feature_names: FeatureNames,
    edge_types: str | bool | None,
    edge_features: EdgeFeatures = None,
) -> RawGraphs:
    """Return ``Data``, ``Batch`` and ``HeteroData`` objects as raw columns and edges."""
    if any(map(is_hetero, items)):
        return read_hetero(
            items, feature_names=feature_names, edge_types=edge_types, edge_features=edge_features
        )
    all_read: list[_ReadData] = []
    n_graphs = 0
    for item in items:
        read = _read_data(item, n_graphs)
        all_read.append(read)
        n_graphs += len(read.sizes)
    ptr = boundaries(np.concatenate([read.sizes for read in all_read]))
    sources, targets = join_edges(
        [read.edges for read in all_read],
        [read.n_nodes for read in all_read],
        [read.where for read in all_read],
    )
    relations = {} if edge_types is False else _read_relations(all_read, edge_types)
    blocks = [
        FeatureBlock(getattr(read.data, "x", None), read.n_nodes, read.where) for read in all_read
    ]
    if feature_names is None:
        feature_names = _stored_names(all_read, "predicate_names")
    columns = matrix_columns(blocks, ptr, names_of_one_type(feature_names))
    edges = _edge_columns(all_read, edge_features, edge_locator(ptr, sources, targets))
    read_edges = RawEdges(sources, targets, edges) if edges else None
    return RawGraphs(structure(ptr, sources, targets, relations), columns, read_edges)


def _edge_columns(
    items: Sequence[_ReadData], edge_features: EdgeFeatures, where: Where
) -> tuple[RawColumn, ...]:
    columns: list[RawColumn] = []
    for attribute, names in feature_attributes(edge_features).items():
        values = [getattr(item.data, attribute, None) for item in items]
        counts = [item.edges.shape[1] for item in items]
        table = matrix_of_edges(attribute, values, counts, [item.where for item in items])
        columns += named_columns(attribute, table, names, where)
    check_names([column.name for column in columns], what="Edge feature")
    return tuple(columns)


def graph_sizes(data: Any) -> npt.NDArray[np.int64]:
    """Return the node counts of the graphs in one ``Data`` or ``Batch``."""
    return _graph_sizes(data, _node_count(data, "graph 0"), 0)


def _read_data(data: Any, first_graph: int) -> _ReadData:
    graph = f"graph {first_graph}"
    if is_hetero(data):
        raise UnsupportedInputError(
            f"Graphs must have one type of nodes. Got {type(data).__name__} as {graph}; "
            "convert it with data.to_homogeneous()."
        )
    n_nodes = _node_count(data, graph)
    sizes = _graph_sizes(data, n_nodes, first_graph)
    where = graph
    if len(sizes) > 1:
        where = f"the batch of graphs {first_graph} to {first_graph + len(sizes) - 1}"
    return _ReadData(data, sizes, n_nodes, _read_edges(data, where), where)


def _node_count(data: Any, where: str) -> int:
    count = getattr(data, "num_nodes", None)
    if count is None:
        x = getattr(data, "x", None)
        if x is None:
            raise GraphError(
                f"The number of nodes of {where} must be known. Got neither num_nodes nor x; "
                "set data.num_nodes."
            )
        count = len(x)
    number = as_array(count, what=f"num_nodes of {where}")
    if number.ndim or number.dtype.kind not in "iu":
        raise GraphError(f"num_nodes of {where} must be a whole number. Got {count!r} instead.")
    check_node_count(int(number), what=where.capitalize())
    return int(number)


def _graph_sizes(data: Any, n_nodes: int, first_graph: int) -> npt.NDArray[np.int64]:
    """Return the node counts of the graphs in a ``Data`` (one graph) or a ``Batch``."""
    ptr, vector = getattr(data, "ptr", None), getattr(data, "batch", None)
    sizes = np.array([n_nodes], dtype=np.int64)
    if ptr is not None:
        bounds = as_array(ptr, what="ptr")
        proper = bounds.ndim == 1 and bounds.size >= 2 and bounds.dtype.kind in "iu"
        if proper:
            sizes = bounds[1:].astype(np.int64) - bounds[:-1].astype(np.int64)
            proper = bounds[0] == 0 and bounds[-1] == n_nodes and sizes.min() >= 0
        if not proper:
            raise GraphError(
                f"ptr of the batch from graph {first_graph} on must rise from 0 to its number of "
                f"nodes, {n_nodes}. Got {some_of(bounds.ravel().tolist())} instead."
            )
    if vector is not None:
        owners = as_array(vector, what="batch")
        if owners.shape != (n_nodes,) or (n_nodes and owners.dtype.kind not in "iu"):
            raise GraphError(
                f"batch must have one graph number for each of the {n_nodes} nodes. "
                f"Got shape {owners.shape}, dtype {owners.dtype} instead."
            )
        owners = owners.astype(np.int64)
        falls = np.flatnonzero(np.diff(owners) < 0)
        if falls.size:
            node = int(falls[0]) + 1
            raise GraphError(
                "batch must be sorted, so that the nodes of a graph are together. "
                f"Got graph {owners[node]} after graph {owners[node - 1]} at node {node}."
            )
        if ptr is None:
            if n_nodes and owners[0] < 0:
                raise GraphError(f"batch must hold numbers from 0 on. Got {owners[0]} instead.")
            _check_no_gap(owners, first_graph)
            sizes = np.bincount(owners, minlength=1).astype(np.int64)
        elif not np.array_equal(np.repeat(np.arange(len(sizes)), sizes), owners):
            raise GraphError("ptr and batch must describe the same graphs. Got two different ones.")
    return sizes


def _check_no_gap(owners: npt.NDArray[np.int64], first_graph: int) -> None:
    """Refuse graphs without nodes, before anything is made for each graph number."""
    gaps = np.flatnonzero(np.diff(owners, prepend=-1) > 1)
    if gaps.size:
        node = int(gaps[0])
        graph = first_graph + (int(owners[node - 1]) + 1 if node else 0)
        raise GraphError(
            f"Graph {graph} must have at least one node. Got 0 nodes: batch goes on with number "
            f"{owners[node]} at node {node}. Number the graphs without gaps."
        )


def _read_edges(data: Any, where: str) -> npt.NDArray[Any]:
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        for other in ("adj_t", "adj"):
            if getattr(data, other, None) is not None:
                raise UnsupportedInputError(
                    f"The edges of {where} must be in edge_index. Got {other} instead; make "
                    "edge_index from it, or leave out the transform that replaced edge_index."
                )
        return np.zeros((2, 0), dtype=np.int64)
    what = f"edge_index of {where}"
    array = as_array(edge_index, what=what)
    if array.dtype == object:
        raise UnsupportedInputError(
            f"{what} must be a tensor or array. Got {type(edge_index).__name__} instead."
        )
    return check_edge_index(array, what=what)


# Relations ------------------------------------------------------------------------------------


def edges_by_relation(data: Any, edge_types: str | bool | None) -> dict[str, npt.NDArray[np.intp]]:
    """Return the columns of ``edge_index`` that are in each relation, as `from_pyg` reads them."""
    return {} if edge_types is False else _read_relations([_read_data(data, 0)], edge_types)


def _read_relations(
    items: Sequence[_ReadData], attribute: str | bool | None
) -> dict[str, npt.NDArray[np.intp]]:
    if attribute is True or (attribute is not None and not isinstance(attribute, str)):
        raise UnsupportedInputError(
            "edge_types must be the name of an edge attribute, None or False. "
            f"Got {attribute!r} instead."
        )
    names = _stored_names(items, "relation_names")
    # A graph without edges says nothing about types, whatever its attribute looks like.
    typed = [item for item in items if item.edges.shape[1]]
    if not typed:
        return {name: np.zeros(0, dtype=np.intp) for name in names or ()}
    if attribute is None:
        if _any_has(typed, "edge_type"):
            attribute = "edge_type"
        elif names is not None and _any_has(typed, "edge_relations"):
            return _read_memberships(typed, names)
        else:
            return {}
    values = [_edge_values(item, attribute) for item in typed]
    for item, array in zip(typed, values, strict=True):
        if array.shape[1:] != values[0].shape[1:]:
            raise GraphError(
                f"{attribute} must have the same number of columns in all graphs. Got shape "
                f"{values[0].shape} in {typed[0].where} and {array.shape} in {item.where}."
            )
    codes = _codes(np.concatenate(values), attribute)
    if names is not None:
        if codes.min() < 0 or codes.max() >= len(names):
            raise GraphError(
                f"{attribute} must be below the number of relation_names, {len(names)}. "
                f"Got values from {codes.min()} to {codes.max()}."
            )
        return edges_by_code(codes, names, what=attribute)
    if values[0].ndim == 2:
        numbers = np.arange(values[0].shape[1])
    else:
        numbers, codes = np.unique(codes, return_inverse=True)
    return edges_by_code(codes, [str(number) for number in numbers.tolist()], what=attribute)


def _any_has(items: Sequence[_ReadData], attribute: str) -> bool:
    return any(getattr(item.data, attribute, None) is not None for item in items)


def _edge_values(item: _ReadData, attribute: str) -> npt.NDArray[Any]:
    value = getattr(item.data, attribute, None)
    n_edges = item.edges.shape[1]
    if value is None:
        raise GraphError(
            f"Every graph must have the edge attribute {attribute!r}. It is missing in "
            f"{item.where}."
        )
    array = as_array(value, what=f"{attribute} of {item.where}")
    if array.ndim == 0 or len(array) != n_edges:
        raise GraphError(
            f"{attribute} of {item.where} must have one entry for each of its {n_edges} edges. "
            f"Got shape {array.shape} instead."
        )
    return array


def _codes(values: npt.NDArray[Any], attribute: str) -> npt.NDArray[Any]:
    """Return the number of the relation of every edge: the value, or the column of the one."""
    if values.ndim == 2 and values.shape[1] == 1:
        # One column is one number per edge; as a one-hot row it would say nothing.
        values = values[:, 0]
    if values.ndim == 1 and values.dtype.kind == "f" and (values == np.floor(values)).all():
        values = values.astype(np.int64)
    if values.ndim == 1 and values.dtype.kind in "iub":
        return values.astype(np.int64)
    if values.ndim == 2 and values.dtype.kind in "biuf":
        one_hot = ((values != 0).sum(axis=1) == 1) & ((values == 1).sum(axis=1) == 1)
        if one_hot.all():
            return np.asarray(np.argmax(values, axis=1))
        row = values[int(np.argmin(one_hot))].tolist()
        raise GraphError(
            f"{attribute} must be one-hot rows, or one whole number per edge, to be read as edge "
            f"relations. Got a row {row}."
        )
    raise GraphError(
        f"{attribute} must be one whole number per edge, or one-hot rows, to be read as edge "
        f"relations. Got shape {values.shape}, dtype {values.dtype} instead."
    )


def _read_memberships(
    items: Sequence[_ReadData], names: Sequence[str]
) -> dict[str, npt.NDArray[np.intp]]:
    """Return relations that overlap or leave edges out, as `to_pyg` writes them."""
    tables = [_edge_values(item, "edge_relations") for item in items]
    for item, table in zip(items, tables, strict=True):
        if table.dtype != bool or table.shape[1:] != (len(names),):
            raise GraphError(
                f"edge_relations of {item.where} must be a Boolean matrix with one column for each "
                f"of the {len(names)} relation_names. Got shape {table.shape}, dtype {table.dtype}."
            )
    held = np.concatenate(tables)
    return {name: np.flatnonzero(held[:, column]) for column, name in enumerate(names)}


def _stored_names(items: Sequence[_ReadData], key: str) -> tuple[str, ...] | None:
    """Return the names that `to_pyg` stored with every graph, or None."""
    stored = [names for item in items for names in _names_in(item.data, key)]
    for graph, names in enumerate(stored):
        if names != stored[0]:
            raise FeatureError(
                f"All graphs must have the same {key}. Got {stored[0]} at position 0 and {names} "
                f"at position {graph}."
            )
    return stored[0]


def _names_in(data: Any, key: str) -> list[tuple[str, ...] | None]:
    stored = getattr(data, key, None)
    if not isinstance(stored, list | tuple):
        return [None]
    if stored and isinstance(stored[0], list | tuple):
        # A Batch keeps a list with the names of each of its graphs.
        return [tuple(names) for names in stored]
    return [tuple(stored)]
