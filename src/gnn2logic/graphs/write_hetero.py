"""Writing batches as PyTorch Geometric's ``HeteroData``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic._validation import some_of
from gnn2logic.exceptions import FeatureError, GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.inputs import check_batch
from gnn2logic.graphs.writing import edge_rows

__all__ = ["to_hetero_data"]

IntArray = npt.NDArray[np.int64]
EdgeType = tuple[str, str, str]
# What PyG calls edges that have no name.
_NO_RELATION = "to"


def to_hetero_data(batch: GraphBatch, *, node_types: Sequence[str] | None = None) -> list[Any]:
    """Return every graph of a batch as PyG's ``HeteroData``; `from_pyg` reads them back.

    Nodes of each type are numbered anew, in their order. ``x`` of a type has one float column for
    each predicate that is named after the type (``paper.open``), and ``predicate_names`` what they
    are called (``open``).

    Parameters
    ----------
    batch : GraphBatch
        Every node must be of one type, and every edge in one relation. Without relations all edges
        are called ``to``.
    node_types : sequence of str, optional
        The predicates that are types of nodes. By default all that are not named after another.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> names = ["author", "paper", "paper.open"]
    >>> rows = [[1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> batch = gl.from_edges([(0, 1), (0, 2)], 3, rows, names=names, relations=["writes"] * 2)
    >>> to_hetero_data(batch)[0].edge_types  # doctest: +SKIP
    [('author', 'writes', 'paper')]
    """
    torch = import_optional("torch", extra="torch", purpose="to_hetero_data")
    data_class = import_optional(
        "torch_geometric.data", extra="torch", purpose="to_hetero_data"
    ).HeteroData
    batch = check_batch(batch)
    types = _types(batch, node_types)
    type_of = _type_of(batch, types)
    columns = {name: _columns(batch, name, types, type_of == n) for n, name in enumerate(types)}
    sources, targets, edge_types, edge_type_of = _edges(batch, types, type_of)
    # The number of each node among those of its type and graph.
    number = np.zeros(batch.n_nodes, dtype=np.int64)
    for type_number in range(len(types)):
        nodes = np.flatnonzero(type_of == type_number)
        owners = batch.graph_index[nodes]
        number[nodes] = np.arange(len(nodes)) - np.searchsorted(owners, owners)
    result = []
    for graph in range(batch.n_graphs):
        data = data_class()
        here = np.arange(batch.ptr[graph], batch.ptr[graph + 1])
        for type_number, name in enumerate(types):
            nodes = here[type_of[here] == type_number]
            data[name].num_nodes = len(nodes)
            if columns[name]:
                values = batch.predicates[nodes][:, columns[name]]
                data[name].x = torch.from_numpy(values.astype(np.float32, order="C"))
                data[name].predicate_names = [
                    batch.names[column].removeprefix(f"{name}.") for column in columns[name]
                ]
        edges = np.flatnonzero(batch.graph_index[sources] == graph)
        for position, edge_type in enumerate(edge_types):
            of_type = edges[edge_type_of[edges] == position]
            ends = np.stack([number[sources[of_type]], number[targets[of_type]]])
            data[edge_type].edge_index = torch.from_numpy(ends)
        result.append(data)
    return result


def _types(batch: GraphBatch, given: Sequence[str] | None) -> list[str]:
    if given is None:
        return [
            name
            for name in batch.names
            if not any(name.startswith(f"{other}.") for other in batch.names)
        ]
    if isinstance(given, str) or len(set(given)) != len(given) or not set(given) <= {*batch.names}:
        raise FeatureError(
            f"node_types must list distinct predicates of the graphs: {some_of(batch.names)}. "
            f"Got {given!r}."
        )
    return list(given)


def _type_of(batch: GraphBatch, types: Sequence[str]) -> IntArray:
    table = np.stack(
        [batch.column(name) for name in types] or [np.zeros(batch.n_nodes, dtype=bool)], axis=1
    )
    wrong = np.flatnonzero(table.sum(axis=1) != 1)
    if len(wrong):
        held = [name for name in types if batch.column(name)[wrong[0]]]
        raise FeatureError(
            f"Every node must be of one of the types {some_of(types)}. Got {some_of(held)} at node "
            f"{wrong[0]}; say which predicates are types: node_types=[...]."
        )
    return np.asarray(table.argmax(axis=1), dtype=np.int64)


def _columns(
    batch: GraphBatch, name: str, types: Sequence[str], here: npt.NDArray[np.bool_]
) -> list[int]:
    """Return the predicates of one type; all of them must be of some type, and false elsewhere."""
    columns = []
    for column, predicate in enumerate(batch.names):
        if predicate in types:
            continue
        if not any(predicate.startswith(f"{each}.") for each in types):
            raise FeatureError(
                f"Every predicate must be a type of nodes or be named after one, such as "
                f"{types[0]}.{predicate}. Got {predicate!r}; rename it with graphs.with_predicates."
            )
        if predicate.startswith(f"{name}."):
            if (batch.predicates[:, column] & ~here).any():
                raise FeatureError(f"{predicate!r} must be false at nodes that are no {name}.")
            columns.append(column)
    return columns


def _edges(
    batch: GraphBatch, types: Sequence[str], type_of: IntArray
) -> tuple[IntArray, IntArray, list[EdgeType], IntArray]:
    """Return the ends of all edges, the types of edges, and which of these each edge has."""
    sources, targets, held = edge_rows(batch)
    names = list(batch.relations) or [_NO_RELATION]
    if batch.relations and (held.sum(axis=1) != 1).any():
        raise GraphError("Every edge must be in one relation. Got one in none, or in several.")
    relation = held.argmax(axis=1) if batch.relations else np.zeros(len(sources), dtype=np.int64)
    keys = (relation * len(types) + type_of[sources]) * len(types) + type_of[targets]
    distinct, edge_type_of = np.unique(keys, return_inverse=True)
    edge_types: list[EdgeType] = []
    for key in distinct.tolist():
        rest, second = divmod(key, len(types))
        number, first = divmod(rest, len(types))
        ends = types[first], types[second]
        # A relation that shares its middle with others was named by all three.
        middle = names[number].removeprefix(f"{ends[0]}.").removesuffix(f".{ends[1]}")
        whole = f"{ends[0]}.{middle}.{ends[1]}"
        edge_types.append((ends[0], middle if whole == names[number] else names[number], ends[1]))
    return sources, targets, edge_types, edge_type_of.astype(np.int64)
