"""Raw columns: what the readers find at the nodes, before it is made into predicates.

Every reader gives a `RawGraphs`. `to_batch` turns it into predicates when that needs no choice;
`PredicateEncoder` learns the choices where there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_names
from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.batch_checks import default_names
from gnn2logic.graphs.inputs import Where, as_array, node_locator

__all__ = [
    "FeatureBlock",
    "IntArray",
    "RawColumn",
    "RawEdges",
    "RawGraphs",
    "RawTypes",
    "check_finite",
    "distinct",
    "is_binary",
    "join_predicates",
    "matrix_columns",
    "predicate_names",
    "raw_from_batch",
    "to_batch",
]

IntArray = npt.NDArray[np.int64]

# A text column with more values than this is an identifier or free text, not a category.
MAX_TEXT_VALUES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """One value per node: an array of bool, of numbers, or of objects that are all str.

    `known` says which nodes have one, all by default; others have the value 0 and no predicate.
    """

    name: str
    values: npt.NDArray[Any]
    known: npt.NDArray[np.bool_] | None = None

    def take(self, nodes: npt.NDArray[np.bool_]) -> RawColumn:
        """Return the column at some nodes."""
        known = None if self.known is None else self.known[nodes]
        return RawColumn(self.name, self.values[nodes], known)

    @property
    def is_text(self) -> bool:
        """Whether the values are strings."""
        return self.values.dtype == object


@dataclass(frozen=True, slots=True, eq=False)
class RawEdges:
    """Edges one by one, parallel ones apart, and their columns."""

    sources: IntArray
    targets: IntArray
    columns: tuple[RawColumn, ...]

    def take(self, nodes: npt.NDArray[np.bool_]) -> RawEdges:
        """Return the edges of the graphs whose nodes are chosen, numbered anew."""
        number = np.cumsum(nodes) - 1
        kept = nodes[self.sources]
        return RawEdges(
            number[self.sources[kept]],
            number[self.targets[kept]],
            tuple(column.take(kept) for column in self.columns),
        )


@dataclass(frozen=True, slots=True, eq=False)
class RawTypes:
    """Which types of nodes and edges some ``HeteroData`` have any of.

    Parameters
    ----------
    nodes : tuple of str
    relations : mapping of str to str
        For what each relation is called, the three names of its type: ``user.buys.item``.
    edge_attributes : tuple of str
        The attributes of edges that were asked for and that some type of edges has.
    unknown : tuple of str
        Types that features were named for, and that no graph has.
    """

    nodes: tuple[str, ...]
    relations: Mapping[str, str]
    edge_attributes: tuple[str, ...]
    unknown: tuple[str, ...]

    def check_names(self) -> None:
        """Refuse names for the features of types that no graph has."""
        if self.unknown:
            raise FeatureError(
                f"feature_names must be about the node types {list(self.nodes)}. "
                f"Got {self.unknown[0]!r}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class RawGraphs:
    """Graphs as read: the edges and graph boundaries, and the columns apart from them.

    Parameters
    ----------
    structure : GraphBatch
        Edges, relations and graph boundaries, checked; it has no predicates.
    columns : tuple of RawColumn
        What is known of the nodes.
    edges : RawEdges or None
        What is known of the edges, if that was asked for.
    types : RawTypes or None
        Of graphs with several types of nodes.
    """

    structure: GraphBatch
    columns: tuple[RawColumn, ...]
    edges: RawEdges | None = None
    types: RawTypes | None = None

    def take(self, graphs: npt.NDArray[np.bool_]) -> RawGraphs:
        """Return some of the graphs; edges and columns go together."""
        nodes = graphs[self.structure.graph_index]
        columns = tuple(column.take(nodes) for column in self.columns)
        edges = None if self.edges is None else self.edges.take(nodes)
        return RawGraphs(self.structure.take(graphs), columns, edges, self.types)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBlock:
    """The features of the nodes of one object that was given, as it came.

    Parameters
    ----------
    features : object or None
        A matrix with one row per node; None for no features.
    n_nodes : int
        How many nodes the object has.
    where : str
        What the object is called in messages, such as ``graph 3``.
    """

    features: object
    n_nodes: int
    where: str


def distinct(values: npt.NDArray[Any]) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Return the sorted distinct values as Python objects, and for each entry its position."""
    if values.dtype == object:
        in_order = sorted(set(values.tolist()))
        position = {value: number for number, value in enumerate(in_order)}
        codes = np.fromiter((position[value] for value in values), np.intp, len(values))
        return in_order, codes
    unique, inverse = np.unique(values, return_inverse=True)
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        # A float32 0.1 is the value 0.1, not the double next to it.
        return [float(str(value)) for value in unique], inverse.reshape(-1)
    return unique.tolist(), inverse.reshape(-1)


def is_binary(values: npt.NDArray[Any]) -> bool:
    """Whether a column has no other values than 0 and 1."""
    if values.dtype == bool:
        return True
    return values.dtype != object and bool(((values == 0) | (values == 1)).all())


# Matrices of features -------------------------------------------------------------------------


def matrix_columns(
    blocks: Sequence[FeatureBlock],
    ptr: npt.NDArray[np.int64],
    names: Sequence[str] | None,
) -> tuple[RawColumn, ...]:
    """Return the columns of the feature matrices of many graphs, one below the other."""
    matrices = [_feature_matrix(block) for block in blocks]
    width = matrices[0].shape[1]
    for block, matrix in zip(blocks, matrices, strict=True):
        if matrix.shape[1] != width:
            raise FeatureError(
                "All graphs must have the same number of feature columns. "
                f"Got {width} in {blocks[0].where} and {matrix.shape[1]} in {block.where}."
            )
    checked = default_names(width) if names is None else check_names(names, what="Feature")
    if len(checked) != width:
        raise FeatureError(
            f"There must be one name for each feature column. Got {len(checked)} names for "
            f"{width} columns."
        )
    # Encoders and formulas read whole columns, so columns lie together in memory.
    table = np.asfortranarray(np.concatenate(matrices))
    columns = tuple(RawColumn(name, table[:, number]) for number, name in enumerate(checked))
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        for column in columns:
            check_finite(column, node_locator(ptr))
    return columns


def _feature_matrix(block: FeatureBlock) -> npt.NDArray[Any]:
    if block.features is None:
        return np.zeros((block.n_nodes, 0), dtype=bool)
    what = f"The features of {block.where}"
    matrix = as_array(block.features, what=what, error=FeatureError)
    if matrix.ndim != 2:
        hint = " For one feature per node use x.reshape(-1, 1)." if matrix.ndim == 1 else ""
        raise FeatureError(
            f"{what} must be a matrix with one row per node and one column per feature. "
            f"Got shape {matrix.shape} instead.{hint}"
        )
    if matrix.shape[0] != block.n_nodes:
        raise FeatureError(
            f"{what} must have one row for each of its {block.n_nodes} nodes. "
            f"Got {matrix.shape[0]} rows instead."
        )
    if matrix.dtype.kind not in "biuf":
        raise FeatureError(f"{what} must be numbers. Got dtype {matrix.dtype} instead.")
    return matrix


def check_finite(column: RawColumn, where: Where) -> None:
    """Raise when a column of numbers has a NaN or an infinity, naming where."""
    bad = ~np.isfinite(column.values)
    if bad.any():
        at = int(np.argmax(bad))
        raise FeatureError(
            f"Features must be finite numbers. Got {column.values[at]} at {where(at)}, "
            f"column {column.name!r}. Fill in or remove such values first."
        )


# From columns to predicates -------------------------------------------------------------------


def raw_from_batch(batch: GraphBatch) -> RawGraphs:
    """Return a batch as raw columns, all of them Boolean."""
    structure = batch.with_predicates(np.zeros((batch.n_nodes, 0), dtype=bool), ())
    columns = tuple(RawColumn(name, batch.column(name)) for name in batch.names)
    return RawGraphs(structure, columns)


def to_batch(raw: RawGraphs) -> GraphBatch:
    """Return the graphs with predicates where no choice is needed.

    Columns of 0 and 1 are predicates as they are and strings give one predicate per value. Any
    other column is an error: thresholds and categories are learned by `PredicateEncoder`.
    """
    if raw.types is not None:
        raw.types.check_names()
    where = node_locator(raw.structure.ptr)
    predicates: list[tuple[str, str]] = []
    blocks: list[npt.NDArray[np.bool_]] = []
    for column in raw.columns:
        if column.is_text:
            texts, codes = distinct(column.values)
            _check_text(column.name, texts)
            predicates.extend((f"{column.name}={value}", column.name) for value in texts)
            blocks.append(codes[:, None] == np.arange(len(texts)))
            continue
        if not is_binary(column.values):
            raise _not_boolean(column, where)
        predicates.append((column.name, column.name))
        blocks.append((column.values != 0)[:, None])
    return join_predicates(raw.structure, blocks, predicate_names(predicates))


def predicate_names(predicates: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names in pairs (name, column that it comes from); they must be distinct."""
    origins: dict[str, str] = {}
    for name, origin in predicates:
        if name in origins:
            raise FeatureError(
                f"The columns {origins[name]!r} and {origin!r} both give a predicate {name!r}. "
                "Rename one of the columns."
            )
        origins[name] = origin
    return check_names(tuple(origins), what="Predicate")


def join_predicates(
    structure: GraphBatch, blocks: Sequence[npt.NDArray[np.bool_]], names: Sequence[str]
) -> GraphBatch:
    """Return `structure` with the columns of all `blocks` as its predicates."""
    table = np.empty((structure.n_nodes, len(names)), dtype=bool, order="F")
    start = 0
    for block in blocks:
        table[:, start : start + block.shape[1]] = block
        start += block.shape[1]
    return structure.with_predicates(table, names)


def _check_text(name: str, texts: Sequence[str]) -> None:
    if len(texts) > MAX_TEXT_VALUES:
        raise FeatureError(
            f"Column {name!r} must have at most {MAX_TEXT_VALUES} different strings to give one "
            f"predicate each. Got {len(texts)}. Leave it out with node_attributes=[...]."
        )


def _not_boolean(column: RawColumn, where: Where) -> FeatureError:
    values = column.values
    at = int(np.argmax((values != 0) & (values != 1)))
    return FeatureError(
        f"Column {column.name!r} must be Boolean (0 or 1) to be a predicate. Got {values[at]} at "
        f"{where(at)}. Make predicates of it with "
        "PredicateEncoder().fit(train).transform(graphs)."
    )
