"""Reading PyTorch Geometric's ``HeteroData``: types of nodes are predicates, of edges relations.

Nodes are numbered type by type, in the order of the types. A feature belongs to the nodes of one
type: at all others its predicates are false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs.columns import (
    FeatureBlock,
    RawColumn,
    RawEdges,
    RawGraphs,
    RawTypes,
    matrix_columns,
)
from gnn2logic.graphs.edge_features import (
    EdgeFeatures,
    edge_locator,
    feature_attributes,
    matrix_of_edges,
    named_columns,
)
from gnn2logic.graphs.inputs import Where, as_array, boundaries, check_edge_index, structure

__all__ = ["FeatureNames", "is_hetero", "names_of_one_type", "read_hetero"]

IntArray = npt.NDArray[np.int64]
EdgeType = tuple[str, str, str]
FeatureNames = Sequence[str] | Mapping[str, Sequence[str]] | None


def is_hetero(value: object) -> bool:
    """Whether `value` is a ``HeteroData``, or behaves like one."""
    return hasattr(type(value), "to_homogeneous")


def names_of_one_type(feature_names: FeatureNames) -> Sequence[str] | None:
    """Return names of features for graphs with one type of nodes; others are refused."""
    if isinstance(feature_names, Mapping):
        raise FeatureError(
            "feature_names is a mapping from node type to names for HeteroData alone. These graphs "
            "have one type of nodes; give one list of names."
        )
    return feature_names


def read_hetero(
    items: Sequence[Any],
    *,
    feature_names: FeatureNames,
    edge_types: str | bool | None,
    edge_features: EdgeFeatures = None,
) -> RawGraphs:
    """Return ``HeteroData`` objects, or batches of them, as raw columns and edges."""
    if isinstance(edge_types, str):
        raise UnsupportedInputError(
            "edge_types is for graphs with one type of nodes; the edge types of HeteroData are its "
            f"relations. Got edge_types={edge_types!r}; leave it out, or say False for none."
        )
    graphs = [one for item in items for one in _graphs_in(item)]
    for number, graph in enumerate(graphs):
        if not is_hetero(graph):
            raise UnsupportedInputError(
                f"All graphs must be HeteroData, or none. Got {type(graph).__name__} at position "
                f"{number}."
            )
    node_types = list(dict.fromkeys(str(name) for graph in graphs for name in graph.node_types))
    counts = np.array(
        [
            [_node_count(graph, name, number) for name in node_types]
            for number, graph in enumerate(graphs)
        ],
        dtype=np.int64,
    ).reshape(len(graphs), len(node_types))
    ptr = boundaries(counts.sum(axis=1))
    # Where the nodes of each type begin, in every graph.
    first = ptr[:-1, None] + np.cumsum(counts, axis=1) - counts
    type_of = np.repeat(np.tile(np.arange(len(node_types)), len(graphs)), counts.ravel())
    every = list(
        dict.fromkeys(tuple(edge_type) for graph in graphs for edge_type in graph.edge_types)
    )
    sources, targets, relations = _edges(graphs, every, node_types, counts, first)
    within = _relations_within(graphs, every, relations)
    columns = [RawColumn(name, type_of == number) for number, name in enumerate(node_types)]
    names = {**_stored_names(graphs, node_types), **_feature_names(feature_names)}
    for number, name in enumerate(node_types):
        columns += _columns(graphs, name, counts[:, number], type_of == number, names.get(name))
    attributes = feature_attributes(edge_features)
    edges = None
    if attributes:
        where = edge_locator(ptr, sources, targets)
        told = _edge_columns(graphs, every, relations, attributes, where)
        edges = RawEdges(sources, targets, told)
    types = RawTypes(
        tuple(name for name, count in zip(node_types, counts.sum(axis=0), strict=True) if count),
        {name: whole for name, whole in _whole_names(every).items() if len(relations[name])},
        tuple(name for name in attributes if any(_has(graphs, each, name) for each in every)),
        tuple(sorted(set(feature_names or ()) - set(node_types))),
    )
    if edge_types is False:
        relations, within = {}, {}
    graph_edges = structure(ptr, sources, targets, relations | within)
    return RawGraphs(graph_edges, tuple(columns), edges, types)


def _graphs_in(item: Any) -> list[Any]:
    # A batch of HeteroData knows its graphs; a single one has no such number.
    if getattr(item, "num_graphs", None) is not None and hasattr(item, "to_data_list"):
        try:
            return list(item.to_data_list())
        except KeyError as error:
            # PyG does not remember how many nodes a type without features has in each graph.
            raise UnsupportedInputError(
                f"A batch of HeteroData must have features for every type of nodes. Got none for "
                f"{error}; give the list of graphs instead of the batch."
            ) from None
    return [item]


def _node_count(graph: Any, node_type: str, number: int) -> int:
    if node_type not in graph.node_types:
        return 0
    count = graph[node_type].num_nodes
    if count is None:
        raise GraphError(
            f"The number of nodes of type {node_type!r} of graph {number} must be known. Got "
            f"neither features nor num_nodes; set data[{node_type!r}].num_nodes."
        )
    return int(count)


def _edges(
    graphs: Sequence[Any],
    every: Sequence[EdgeType],
    node_types: Sequence[str],
    counts: IntArray,
    first: IntArray,
) -> tuple[IntArray, IntArray, dict[str, npt.NDArray[np.intp]]]:
    """Return all edges, and which of them are in each relation."""
    number_of = {name: number for number, name in enumerate(node_types)}
    parts: list[npt.NDArray[Any]] = [np.zeros((2, 0), dtype=np.int64)]
    relations: dict[str, npt.NDArray[np.intp]] = {}
    n_edges = 0
    for edge_type in every:
        begin = n_edges
        for number, graph in enumerate(graphs):
            if edge_type not in graph.edge_types or "edge_index" not in graph[edge_type]:
                continue
            what = f"edge_index of {edge_type} of graph {number}"
            edges = check_edge_index(as_array(graph[edge_type].edge_index, what=what), what=what)
            edges = edges.astype(np.int64)
            for end, name in ((0, edge_type[0]), (1, edge_type[2])):
                most = int(counts[number, number_of[name]]) if name in number_of else 0
                if edges.shape[1] and not 0 <= edges[end].min() <= edges[end].max() < most:
                    raise GraphError(
                        f"{what} must hold numbers of the {most} nodes of type {name!r}. Got "
                        f"numbers from {edges[end].min()} to {edges[end].max()}."
                    )
            starts = [first[number, number_of[name]] for name in (edge_type[0], edge_type[2])]
            parts.append(edges + np.array(starts)[:, None])
            n_edges += edges.shape[1]
        relations[_relation(edge_type, every)] = np.arange(begin, n_edges)
    joined = np.concatenate(parts, axis=1)
    return joined[0], joined[1], relations


def _relations_within(
    graphs: Sequence[Any], every: Sequence[EdgeType], relations: Mapping[str, npt.NDArray[np.intp]]
) -> dict[str, npt.NDArray[np.intp]]:
    """Return relations that graphs bring along within a type of edges, see `to_hetero_data`."""
    within: dict[str, npt.NDArray[np.intp]] = {}
    for edge_type in every:
        stores = [store for graph in graphs if (store := _store(graph, edge_type))]
        lists = [store.get("relation_names") for store in stores]
        if not lists or lists[0] is None or any(names != lists[0] for names in lists):
            continue
        n_edges = len(relations[_relation(edge_type, every)])
        tables = [
            as_array(store["edge_relations"], what=f"edge_relations of {edge_type}")
            for store in stores
            if "edge_relations" in store
        ]
        table = np.concatenate(tables) if tables else np.zeros((0, 0), dtype=bool)
        if table.shape != (n_edges, len(lists[0])) or table.dtype != bool:
            raise GraphError(
                f"edge_relations of {edge_type} must be Boolean, with a row for each of the "
                f"{n_edges} edges and a column for each of the {len(lists[0])} relation_names. Got "
                f"shape {table.shape}, dtype {table.dtype}."
            )
        outer = _relation(edge_type, every)
        for name, held in zip(lists[0], table.T, strict=True):
            within[f"{outer}.{name}"] = relations[outer][held]
    return within


def _relation(edge_type: EdgeType, every: Sequence[EdgeType]) -> str:
    """Return the middle of an edge type; all of it where others have the same middle."""
    alone = sum(other[1] == edge_type[1] for other in every) == 1
    return edge_type[1] if alone else ".".join(edge_type)


def _whole_names(every: Sequence[EdgeType]) -> dict[str, str]:
    """Return for what each relation is called all three names of its type."""
    return {_relation(each, every): ".".join(each) for each in every}


def _has(graphs: Sequence[Any], edge_type: EdgeType, attribute: str) -> bool:
    """Whether edges of a type have an attribute in some graph."""
    return any(attribute in _store(graph, edge_type) for graph in graphs)


def _store(graph: Any, edge_type: EdgeType) -> Mapping[str, Any]:
    """Return what a graph holds about the edges of a type."""
    return dict(graph[edge_type].items()) if edge_type in graph.edge_types else {}


def _edge_columns(
    graphs: Sequence[Any],
    every: Sequence[EdgeType],
    relations: Mapping[str, npt.NDArray[np.intp]],
    attributes: Mapping[str, Sequence[str] | None],
    where: Where,
) -> tuple[RawColumn, ...]:
    """Return the attributes of edges; each belongs to the edges of one type alone."""
    n_edges = sum(map(len, relations.values()))
    columns: list[RawColumn] = []
    for edge_type in every:
        relation = _relation(edge_type, every)
        held = relations[relation]
        known = np.zeros(n_edges, dtype=bool)
        known[held] = True
        for attribute, names in attributes.items():
            if not len(held) or not _has(graphs, edge_type, attribute):
                continue
            stores = [_store(graph, edge_type) for graph in graphs]
            table = matrix_of_edges(
                attribute,
                [store.get(attribute) for store in stores],
                [np.shape(store.get("edge_index", [[]]))[1] for store in stores],
                [f"{edge_type} of graph {number}" for number in range(len(graphs))],
            )

            def of_type(at: int, held: npt.NDArray[np.intp] = held) -> str:
                return where(int(held[at]))

            for column in named_columns(attribute, table, names, of_type):
                values = np.zeros(n_edges, dtype=column.values.dtype)
                values[held] = column.values
                columns.append(RawColumn(f"{relation}.{column.name}", values, known))
    return tuple(columns)


def _feature_names(given: object) -> Mapping[str, Sequence[str]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise FeatureError(
            "feature_names of HeteroData must be a mapping from node type to names. "
            f"Got {type(given).__name__} instead."
        )
    return given


def _stored_names(graphs: Sequence[Any], node_types: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the names of features that graphs bring along, see `to_hetero_data`."""
    stored: dict[str, Sequence[str]] = {}
    for name in node_types:
        stores = [graph[name] for graph in graphs if name in graph.node_types]
        lists = [store["predicate_names"] for store in stores if "predicate_names" in store]
        if lists and all(names == lists[0] for names in lists):
            stored[name] = lists[0]
    return stored


def _columns(
    graphs: Sequence[Any],
    node_type: str,
    counts: IntArray,
    known: npt.NDArray[np.bool_],
    names: Sequence[str] | None,
) -> list[RawColumn]:
    """Return the features of one type; other nodes have none."""
    blocks = [
        FeatureBlock(
            graph[node_type].x if "x" in graph[node_type] else None,
            int(count),
            f"the nodes of type {node_type!r} of graph {number}",
        )
        for number, (graph, count) in enumerate(zip(graphs, counts, strict=True))
        # Without nodes a matrix still says how many features there are.
        if node_type in graph.node_types and (count or "x" in graph[node_type])
    ]
    if not blocks:
        return []
    sizes = np.array([block.n_nodes for block in blocks], dtype=np.int64)
    columns = []
    # A graph may have no nodes of a type.
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    for column in matrix_columns(blocks, ptr, names):
        values = np.zeros(len(known), dtype=column.values.dtype)
        values[known] = column.values
        columns.append(RawColumn(f"{node_type}.{column.name}", values, known))
    return columns
