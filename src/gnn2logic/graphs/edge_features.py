"""Features of edges: one value per edge, which an encoder makes into relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_names
from gnn2logic.exceptions import FeatureError, GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import IntArray, RawColumn, RawEdges, check_finite
from gnn2logic.graphs.encoded_columns import EncodedColumn, encode_column, unseen_warnings
from gnn2logic.graphs.inputs import Where, as_array, locate

__all__ = [
    "EdgeFeatures",
    "edge_locator",
    "edge_relations",
    "edges_by_feature",
    "feature_attributes",
    "matrix_of_edges",
    "named_columns",
]

EdgeFeatures = str | Sequence[str] | Mapping[str, Sequence[str]] | None
"""Attributes of edges, or these with names for their columns."""


def feature_attributes(edge_features: EdgeFeatures) -> dict[str, Sequence[str] | None]:
    """Return the attributes that are read, with the names of their columns if there are any."""
    if edge_features is None:
        return {}
    if isinstance(edge_features, str):
        return {edge_features: None}
    if isinstance(edge_features, Mapping):
        check_names(tuple(edge_features), what="Edge feature")
        return dict(edge_features)
    return dict.fromkeys(check_names(edge_features, what="Edge feature"))


def named_columns(
    attribute: str, values: npt.NDArray[Any], names: Sequence[str] | None, where: Where
) -> list[RawColumn]:
    """Return the columns of one attribute: its name for one, ``name.0``, ``name.1``, ... for more.

    Parameters
    ----------
    attribute : str
    values : array, shape (n_edges,) or (n_edges, n_columns)
    names : sequence of str, optional
        Other names for the columns.
    where : function
        Names an edge in messages.
    """
    if values.ndim not in (1, 2) or values.dtype.kind not in "biufO":
        raise GraphError(
            f"The edge feature {attribute!r} must be numbers, one row for each edge. "
            f"Got shape {values.shape}, dtype {values.dtype}."
        )
    table = values.reshape(len(values), 1) if values.ndim == 1 else values
    width = table.shape[1]
    if names is None:
        names = [attribute] if width == 1 else [f"{attribute}.{at}" for at in range(width)]
    checked = check_names(names, what="Edge feature")
    if len(checked) != width:
        raise FeatureError(
            f"There must be one name for each column of the edge feature {attribute!r}. "
            f"Got {len(checked)} names for {width} columns."
        )
    columns = [RawColumn(name, table[:, at]) for at, name in enumerate(checked)]
    for column in columns:
        if not column.is_text:
            check_finite(column, where)
    return columns


def edge_locator(ptr: IntArray, sources: IntArray, targets: IntArray) -> Where:
    """Return a function that names the edge with a number: ``edge (0, 2) of graph 5``."""

    def where(at: int) -> str:
        graph, source = locate(ptr, int(sources[at]))
        return f"edge ({source}, {int(targets[at] - ptr[graph])}) of graph {graph}"

    return where


def matrix_of_edges(
    attribute: str, values: Sequence[object], counts: Sequence[int], wheres: Sequence[str]
) -> npt.NDArray[Any]:
    """Return the rows of one attribute of many graphs, one below the other."""
    tables: list[npt.NDArray[Any]] = []
    for value, count, where in zip(values, counts, wheres, strict=True):
        if value is None:
            if count:
                raise GraphError(
                    f"Every graph must have the edge feature {attribute!r}. It is missing in "
                    f"{where}."
                )
            continue
        array = as_array(value, what=f"{attribute} of {where}")
        if array.ndim not in (1, 2) or len(array) != count:
            raise GraphError(
                f"{attribute} of {where} must have one row for each of its {count} edges. "
                f"Got shape {array.shape}."
            )
        table = array.reshape(count, -1) if count else array
        if count and tables and table.shape[1] != tables[0].shape[1]:
            raise GraphError(
                f"{attribute} must have the same number of columns in all graphs. Got "
                f"{tables[0].shape[1]} before and {table.shape[1]} in {where}."
            )
        if count:
            tables.append(table)
    return np.concatenate(tables) if tables else np.zeros((0, 1))


def edge_relations(
    structure: GraphBatch, edges: RawEdges | None, learned: Sequence[EncodedColumn]
) -> tuple[dict[str, sp.csr_array], list[str]]:
    """Return the relations that learned columns give to the edges of graphs, and warnings."""
    names = tuple(name for column in learned for name in column.names)
    if not names:
        return {}, []
    if edges is None:
        missing = [name for name in names if name not in structure.relations]
        if missing and structure.n_edges:
            raise FeatureError(
                f"The edges must have the features {[column.name for column in learned]}, as those "
                f"of the training graphs had. Got graphs without them, and without a relation "
                f"{missing[0]!r}."
            )
        none: Any = sp.csr_array(structure.adjacency.shape, dtype=np.int32)
        return {name: structure.relations.get(name, none) for name in names}, []
    positions, unseen = edges_by_feature(structure, edges, learned)
    shape = structure.adjacency.shape
    relations = {}
    for name, held in positions.items():
        ones = np.ones(len(held), dtype=np.int32)
        relations[name] = sp.csr_array(
            (ones, (edges.sources[held], edges.targets[held])), shape=shape
        )
    return relations, unseen


def edges_by_feature(
    structure: GraphBatch, edges: RawEdges, learned: Sequence[EncodedColumn]
) -> tuple[dict[str, npt.NDArray[np.intp]], list[str]]:
    """Return the positions of the edges in each relation, parallel ones apart, and warnings."""
    by_name = {column.name: column for column in edges.columns}
    where = edge_locator(structure.ptr, edges.sources, edges.targets)
    positions: dict[str, npt.NDArray[np.intp]] = {}
    unseen: list[str] = []
    for column in learned:
        if column.name not in by_name:
            raise FeatureError(
                f"The edges must have the feature {column.name!r}, as those of the training "
                f"graphs had. Got {list(by_name)}."
            )
        raw = by_name[column.name]
        held = encode_column(column, raw, where)
        unseen += unseen_warnings(column, raw, held, where)
        for name, truth in zip(column.names, held.T, strict=True):
            positions[name] = np.flatnonzero(truth)
    return positions, unseen
