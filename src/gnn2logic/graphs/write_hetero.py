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
    are called (``open``). Relations within another one, whose name begins with its name
    (``writes.year > 2000``), are Boolean columns of ``edge_relations``, with ``relation_names``.

    Parameters
    ----------
    batch : GraphBatch
        Every node must be of one type, and every edge in one relation, but for relations within it.
        Without relations all edges are called ``to``.
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
    sources, targets, held = edge_rows(batch)
    outer, within = _nested(batch, held)
    edge_types, edge_type_of, outer_of = _edge_types(
        (type_of[sources], type_of[targets]), types, list(batch.relations), held, outer
    )
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
            if further := within.get(outer_of[position]):
                name = list(batch.relations)[outer_of[position]]
                data[edge_type].edge_relations = torch.from_numpy(held[of_type][:, further])
                data[edge_type].relation_names = [
                    list(batch.relations)[each].removeprefix(f"{name}.") for each in further
                ]
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


def _nested(
    batch: GraphBatch, held: npt.NDArray[np.bool_]
) -> tuple[list[int], dict[int, list[int]]]:
    """Return the relations that are types of edges, and those within each of them."""
    names = list(batch.relations)
    outer: list[int] = []
    within: dict[int, list[int]] = {}
    for number, name in enumerate(names):
        around = [
            other
            for other, whole in enumerate(names)
            if name.startswith(f"{whole}.") and not (held[:, number] & ~held[:, other]).any()
        ]
        if around:
            within.setdefault(min(around, key=lambda each: len(names[each])), []).append(number)
        else:
            outer.append(number)
    if names and (held[:, outer].sum(axis=1) != 1).any():
        raise GraphError(
            "Every edge must be in one relation, but for relations within it that are named after "
            "it (writes, writes.late). Got an edge in none, or in several."
        )
    return outer, within


def _edge_types(
    ends: tuple[IntArray, IntArray],
    types: Sequence[str],
    names: Sequence[str],
    held: npt.NDArray[np.bool_],
    outer: Sequence[int],
) -> tuple[list[EdgeType], IntArray, list[int]]:
    """Return the types of edges, which of these each edge has, and the relation of each type."""
    relation = np.zeros(len(ends[0]), dtype=np.int64)
    if names:
        relation = np.asarray(outer, dtype=np.int64)[held[:, outer].argmax(axis=1)]
    keys = (relation * len(types) + ends[0]) * len(types) + ends[1]
    distinct, edge_type_of = np.unique(keys, return_inverse=True)
    edge_types: list[EdgeType] = []
    outer_of: list[int] = []
    for key in distinct.tolist():
        rest, second = divmod(key, len(types))
        number, first = divmod(rest, len(types))
        name = names[number] if names else _NO_RELATION
        # A relation that shares its middle with others was named by all three.
        middle = name.removeprefix(f"{types[first]}.").removesuffix(f".{types[second]}")
        whole = f"{types[first]}.{middle}.{types[second]}"
        edge_types.append((types[first], middle if whole == name else name, types[second]))
        outer_of.append(number)
    return edge_types, edge_type_of.astype(np.int64), outer_of
