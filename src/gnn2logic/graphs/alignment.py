"""Graphs as read, brought into the form of the graphs that an encoder was learned from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnn2logic._validation import some_of
from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawColumn, RawEdges, RawGraphs
from gnn2logic.graphs.inputs import locate

__all__ = ["aligned_columns", "aligned_types", "unseen_relations", "with_relations"]


def aligned_types(
    raw: RawGraphs, columns: Sequence[str], edge_columns: Sequence[str], relations: Collection[str]
) -> RawGraphs:
    """Return ``HeteroData`` with relations called as in training, and with all types of nodes.

    One graph may lack types that others have. Then it has no nodes, or edges, of this type, and a
    relation that shared its middle name with another may be the only one of this name. Other
    graphs are returned as they are.
    """
    types = raw.types
    if types is None:
        return raw
    called = {
        short: whole
        for short, whole in types.relations.items()
        if short not in relations and whole in relations
    }
    given = raw.structure.relations
    structure = raw.structure
    if called:
        renamed = {called.get(name, name): matrix for name, matrix in given.items()}
        structure = GraphBatch(None, structure.adjacency, ptr=structure.ptr, relations=renamed)
    nodes = raw.columns
    if {column.name for column in nodes} <= set(columns):
        nodes = (*nodes, *_of_absent_types(columns, types.nodes, nodes, structure.n_nodes))
    edges = raw.edges
    if edges is not None:
        there = [_renamed(column, called) for column in edges.columns]
        present = [called.get(name, name) for name in types.relations]
        absent = _of_absent_types(edge_columns, present, there, len(edges.sources))
        edges = RawEdges(edges.sources, edges.targets, (*there, *absent))
    return replace(raw, structure=structure, columns=nodes, edges=edges)


def _renamed(column: RawColumn, called: Mapping[str, str]) -> RawColumn:
    for short, whole in called.items():
        if column.name.startswith(f"{short}."):
            return replace(column, name=whole + column.name.removeprefix(short))
    return column


def _of_absent_types(
    names: Sequence[str], present: Collection[str], read: Sequence[RawColumn], count: int
) -> list[RawColumn]:
    """Return columns that are known nowhere, for the types that are not present."""
    nowhere = np.zeros(count, dtype=bool)
    known = {column.name for column in read}
    return [
        RawColumn(name, np.zeros(count), nowhere)
        for name in names
        if name not in known
        and not any(name == each or name.startswith(f"{each}.") for each in present)
    ]


def aligned_columns(columns: Sequence[RawColumn], expected: Sequence[str]) -> list[RawColumn]:
    """Return the columns in the order of the training graphs."""
    by_name = {column.name: column for column in columns}
    if set(by_name) != set(expected):
        raise FeatureError(
            f"The graphs must have the {len(expected)} columns that the model was made for "
            f"({some_of(tuple(expected))}). Got {len(by_name)} ({some_of(tuple(by_name))})."
        )
    return [by_name[name] for name in expected]


def unseen_relations(structure: GraphBatch, known: Collection[str]) -> list[str]:
    """Return a warning about relations that the training graphs did not have."""
    new = {
        name: matrix
        for name, matrix in structure.relations.items()
        if name not in known and matrix.nnz
    }
    if not new:
        return []
    first = min(int(np.argmax(np.diff(matrix.indptr) > 0)) for matrix in new.values())
    return [
        "The graphs have edge relations that were not in the training graphs: "
        f"{some_of(tuple(new))}, first in graph {locate(structure.ptr, first)[0]}. "
        "Their edges count as edges of no relation."
    ]


def with_relations(
    structure: GraphBatch, names: Sequence[str], by_edges: Mapping[str, sp.csr_array]
) -> GraphBatch:
    """Return the graphs with exactly the relations of the training graphs, and `by_edges`."""
    given = structure.relations
    shape: Any = structure.adjacency.shape
    relations = {
        name: given[name] if name in given else sp.csr_array(shape, dtype=np.int32)
        for name in names
    } | dict(by_edges)
    return GraphBatch(None, structure.adjacency, ptr=structure.ptr, relations=relations)
