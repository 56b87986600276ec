"""What a `GraphBatch` is made of, checked: names, boundaries, predicates and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._text import did_you_mean
from gnn2logic._validation import check_names, some_of, to_numpy
from gnn2logic.exceptions import (
    FeatureError,
    GraphError,
    UnknownPredicateError,
    UnknownRelationError,
)
from gnn2logic.graphs.blocks import BatchArrays, total_of
from gnn2logic.graphs.edges import clean_matrix

if TYPE_CHECKING:
    from gnn2logic.graphs.batch import GraphBatch

__all__ = [
    "check_joinable",
    "check_relation_within",
    "check_within_graphs",
    "checked_arrays",
    "clean_predicates",
    "clean_ptr",
    "default_names",
    "graph_numbers",
    "unknown_predicate",
    "unknown_relation",
]

BoolArray = npt.NDArray[np.bool_]


def default_names(count: int) -> tuple[str, ...]:
    """Return the paper's names U0, U1, ... for columns that came without names."""
    return tuple(f"U{column}" for column in range(count))


def checked_arrays(
    predicates: npt.ArrayLike | None,
    adjacency: object,
    ptr: npt.ArrayLike | None,
    names: Sequence[str] | None,
    relations: Mapping[str, object] | None,
) -> BatchArrays:
    """Return what a user gives to `GraphBatch` in its canonical form, or say what is wrong."""
    if isinstance(adjacency, Mapping):
        if not adjacency:
            raise GraphError("adjacency must not be an empty mapping; give at least one matrix.")
        if relations is not None:
            raise GraphError("Give typed edges as adjacency or as relations, not as both.")
        typed = clean_relations(adjacency)
        check_same_shape(typed)
        matrix = total_of(typed)
    else:
        matrix = clean_matrix(adjacency, what="adjacency")
        typed = clean_relations(relations or {})
    n_nodes = matrix.shape[0]
    boundaries = clean_ptr(ptr, n_nodes)
    columns = clean_predicates(predicates, n_nodes)
    checked = default_names(columns.shape[1]) if names is None else names
    check_within_graphs(matrix, boundaries, "adjacency")
    for name, relation in typed.items():
        check_relation_within(relation, matrix, name)
    return BatchArrays(columns, check_names(checked, what="Predicate"), matrix, typed, boundaries)


def clean_ptr(ptr: npt.ArrayLike | None, n_nodes: int) -> npt.NDArray[np.int64]:
    """Return graph boundaries as int64, or say what is wrong with them."""
    if n_nodes == 0:
        raise GraphError("A graph must have at least one node. Got 0 nodes.")
    if ptr is None:
        return np.array([0, n_nodes], dtype=np.int64)
    boundaries = np.asarray(ptr)
    if boundaries.ndim != 1 or boundaries.size < 2 or boundaries.dtype.kind not in "iu":
        raise GraphError(
            "ptr must be a 1-D array of at least two whole numbers, [0, ..., n_nodes]. "
            f"Got shape {boundaries.shape}, dtype {boundaries.dtype} instead."
        )
    if boundaries[0] != 0 or boundaries[-1] != n_nodes:
        raise GraphError(
            f"ptr must start at 0 and end at the number of nodes, {n_nodes}. "
            f"Got {boundaries[0]} and {boundaries[-1]} instead."
        )
    boundaries = boundaries.astype(np.int64)
    steps = np.diff(boundaries)
    if (steps <= 0).any():
        graph = int(np.argmax(steps <= 0))
        raise GraphError(
            f"Graph {graph} must have at least one node. Got {steps[graph]} nodes "
            f"(ptr goes from {boundaries[graph]} to {boundaries[graph + 1]})."
        )
    return boundaries


def clean_predicates(predicates: npt.ArrayLike | None, n_nodes: int) -> BoolArray:
    """Return a Boolean copy of the predicate columns, column by column in memory."""
    if predicates is None:
        return np.zeros((n_nodes, 0), dtype=bool, order="F")
    columns = np.asarray(to_numpy(predicates))
    if columns.ndim != 2 or columns.shape[0] != n_nodes:
        raise FeatureError(
            f"predicates must have one row for each of the {n_nodes} nodes and one column per "
            f"predicate. Got shape {columns.shape} instead."
        )
    if columns.dtype != bool:
        if columns.dtype.kind not in "iuf":
            raise FeatureError(f"predicates must be Boolean. Got dtype {columns.dtype} instead.")
        bad = (columns != 0) & (columns != 1)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise FeatureError(
                f"predicates must be Boolean (0 or 1). Got {columns[row, column]} at node {row}, "
                f"column {column}. PredicateEncoder turns other features into predicates."
            )
    # Formulas read whole columns, so columns lie together in memory.
    return np.array(columns, dtype=bool, order="F", copy=True)


def clean_relations(relations: Mapping[str, object]) -> dict[str, sp.csr_array]:
    """Return canonical matrices by relation name."""
    names = check_names(tuple(relations), what="Relation")
    matrices = zip(names, relations.values(), strict=True)
    return {name: clean_matrix(matrix, what=f"relation {name!r}") for name, matrix in matrices}


def check_same_shape(relations: Mapping[str, sp.csr_array]) -> None:
    """Refuse relations over different numbers of nodes."""
    shapes = {name: matrix.shape for name, matrix in relations.items()}
    if len(set(shapes.values())) > 1:
        raise GraphError(f"All relations must be over the same nodes. Got shapes {shapes}.")


def check_within_graphs(matrix: sp.csr_array, ptr: npt.NDArray[np.int64], what: str) -> None:
    """Refuse an edge that joins two graphs. The targets in every row must be sorted."""
    if len(ptr) == 2:
        return
    # The first and the last target of a row speak for all of them: memory for nodes, not for edges.
    filled = np.flatnonzero(np.diff(matrix.indptr))
    graph = np.searchsorted(ptr, filled, side="right") - 1
    low, high = ptr[graph], ptr[graph + 1]
    first = matrix.indices[matrix.indptr[filled]]
    last = matrix.indices[matrix.indptr[filled + 1] - 1]
    crossing = (first < low) | (last >= high)
    if crossing.any():
        at = int(np.argmax(crossing))
        node, source = int(filled[at]), int(graph[at])
        targets = matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]]
        target = int(targets[(targets < low[at]) | (targets >= high[at])][0])
        other = int(np.searchsorted(ptr, target, side="right")) - 1
        raise GraphError(
            f"{what} must not join two graphs. Got an edge from node {node - ptr[source]} of graph "
            f"{source} to node {target - ptr[other]} of graph {other}."
        )


def check_relation_within(relation: sp.csr_array, whole: sp.csr_array, name: str) -> None:
    """Refuse a relation with an edge that the whole does not have."""
    if relation.shape != whole.shape:
        raise GraphError(
            f"Relation {name!r} must be over the same nodes as adjacency, shape {whole.shape}. "
            f"Got shape {relation.shape} instead."
        )
    # With one shape guaranteed, a part never has more edges between two nodes than the whole.
    excess = sp.coo_array((relation - whole) > 0)
    if excess.nnz:
        raise GraphError(
            f"Relation {name!r} must be a part of adjacency. It has more edges from node "
            f"{excess.row[0]} to node {excess.col[0]} than adjacency has."
        )


def graph_numbers(graphs: npt.ArrayLike, n_graphs: int) -> npt.NDArray[np.int64]:
    """Return which graphs are meant by numbers, negative numbers or a mask."""
    index = np.atleast_1d(np.asarray(graphs))
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iub"):
        raise GraphError(
            "Graphs are chosen by a 1-D array of whole numbers or a Boolean mask. "
            f"Got shape {index.shape}, dtype {index.dtype} instead."
        )
    if index.dtype.kind == "b":
        if len(index) != n_graphs:
            raise GraphError(
                f"A mask must have one entry per graph. Got {len(index)} entries for "
                f"{n_graphs} graphs."
            )
        index = np.flatnonzero(index)
    if not index.size:
        raise GraphError("At least one graph must be chosen; a batch cannot be empty.")
    outside = (index >= n_graphs) | (index < -n_graphs)
    if outside.any():
        raise GraphError(
            f"Graph numbers must be below {n_graphs}. Got {index[int(np.argmax(outside))]} instead."
        )
    return np.where(index < 0, index + n_graphs, index).astype(np.int64)


def check_joinable(first: GraphBatch, batch: GraphBatch, number: int) -> None:
    """Refuse to join batches with different predicates or relations."""
    if batch.names != first.names:
        raise FeatureError(
            f"All graphs must have the same predicates. Batch 0 has {len(first.names)} "
            f"({some_of(first.names)}), batch {number} has {len(batch.names)} "
            f"({some_of(batch.names)})."
        )
    if set(batch.relations) != set(first.relations):
        raise GraphError(
            "All graphs must have the same edge relations. Batch 0 has "
            f"{some_of(tuple(first.relations))}, batch {number} has "
            f"{some_of(tuple(batch.relations))}."
        )


# Names that are not there ---------------------------------------------------------------------


def unknown_predicate(name: str, names: tuple[str, ...]) -> UnknownPredicateError:
    """Return the error about a predicate that graphs with these `names` do not have."""
    close = did_you_mean(name, names)
    encoded = (
        " If the name comes from an encoded column (such as 'atom=7' or 'charge > 0.5'), "
        "transform the graphs with the PredicateEncoder that made it."
    )
    return UnknownPredicateError(
        f"The graphs have no predicate {name!r}.{close} They have: {some_of(names)}.{encoded}"
    )


def unknown_relation(name: str, names: tuple[str, ...]) -> UnknownRelationError:
    """Return the error about a relation that graphs with these relations do not have."""
    return UnknownRelationError(
        f"The graphs have no edge relation {name!r}.{did_you_mean(name, names)} "
        f"They have: {some_of(names)}."
    )
