"""Reading networkx graphs by duck typing: networkx is never imported here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_names
from gnn2logic.exceptions import FeatureError, GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import (
    RawColumn,
    RawEdges,
    RawGraphs,
    check_finite,
    distinct,
    to_batch,
)
from gnn2logic.graphs.edge_features import EdgeFeatures, feature_attributes, named_columns
from gnn2logic.graphs.inputs import Where, boundaries, edges_by_code, items_of, locate, structure

__all__ = ["from_networkx", "is_networkx", "read_networkx"]


def is_networkx(value: object) -> bool:
    """Whether `value` is a networkx graph of any class, or behaves like one."""
    graph_type = type(value)
    return all(
        hasattr(graph_type, attribute)
        for attribute in ("is_multigraph", "is_directed", "nodes", "edges")
    )


def from_networkx(
    graphs: Any,
    *,
    node_attributes: Sequence[str] | None = None,
    edge_attributes: Sequence[str] | None = None,
) -> GraphBatch:
    """Return networkx graphs as a batch; nodes are in the order of ``G.nodes``.

    An undirected edge is there in both directions (a self loop once) and parallel edges count.

    Parameters
    ----------
    graphs : Graph, DiGraph, MultiGraph, MultiDiGraph, or iterable of these
        The graphs.
    node_attributes : sequence of str, optional
        Node attributes to read; by default all. Boolean and 0/1 attributes are predicates with
        the name of the attribute, strings give one predicate ``attr=value`` for each value.
        For other numbers use `PredicateEncoder`.
    edge_attributes : sequence of str, optional
        Edge attributes to read as relations; by default all, ``()`` for none. A Boolean attribute
        is the relation of the edges where it is true; strings and whole numbers give one relation
        ``attr=value`` for each value.

    Examples
    --------
    >>> import networkx as nx
    >>> water = nx.Graph()
    >>> water.add_nodes_from(["h1", "h2"], atom="H")
    >>> water.add_node("o", atom="O")
    >>> water.add_edges_from([("h1", "o"), ("h2", "o")], bond=1)
    >>> from_networkx(water)  # doctest: +NORMALIZE_WHITESPACE
    GraphBatch(n_graphs=1, n_nodes=3, n_edges=4, names=('atom=H', 'atom=O'),
               relations=('bond=1',))
    """
    items = items_of(graphs, is_networkx, expected="networkx graphs")
    return to_batch(
        read_networkx(items, node_attributes=node_attributes, edge_attributes=edge_attributes)
    )


def read_networkx(
    graphs: Sequence[Any],
    *,
    node_attributes: Sequence[str] | None,
    edge_attributes: Sequence[str] | None,
    edge_features: EdgeFeatures = None,
) -> RawGraphs:
    """Return networkx graphs as raw columns and edges."""
    ptr = boundaries([graph.number_of_nodes() for graph in graphs])
    columns = _node_columns(graphs, node_attributes, ptr)

    ends: list[tuple[int, int]] = []
    data: list[dict[Any, Any]] = []
    labels: list[tuple[Any, Any, int]] = []
    mirrored: list[bool] = []
    for number, graph in enumerate(graphs):
        position = {node: at for at, node in enumerate(graph.nodes, start=int(ptr[number]))}
        undirected = not graph.is_directed()
        for source, target, attributes in graph.edges(data=True):
            ends.append((position[source], position[target]))
            data.append(attributes)
            labels.append((source, target, number))
            mirrored.append(undirected)
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)

    def where(at: int) -> str:
        source, target, number = labels[at]
        return f"edge ({source!r}, {target!r}) of graph {number}"

    features = feature_attributes(edge_features)
    edge_columns = [
        column
        for name, names in (features.items() if data else ())
        for column in named_columns(
            name,
            _attribute(name, data, where, error=GraphError, option="edge_features"),
            names,
            where,
        )
    ]
    if edge_attributes is None:
        # What becomes a relation by thresholds is none by its values.
        data = [
            {name: value for name, value in row.items() if name not in features} for row in data
        ]
    relations = _edge_relations(data, edge_attributes, where)
    if edge_attributes is None:
        relations = {name: np.zeros(0, dtype=np.intp) for name in _declared(graphs)} | relations
    # Each undirected edge once more from its other end; a loop has only one.
    back = np.flatnonzero(np.array(mirrored, dtype=bool) & (edges[:, 0] != edges[:, 1]))
    copy = np.full(len(edges), -1, dtype=np.intp)
    copy[back] = len(edges) + np.arange(len(back))
    sources = np.concatenate([edges[:, 0], edges[back, 1]])
    targets = np.concatenate([edges[:, 1], edges[back, 0]])
    both = {
        name: np.concatenate([held, copy[held][copy[held] >= 0]])
        for name, held in relations.items()
    }
    every = np.concatenate([np.arange(len(edges)), back])
    columns_of_edges = tuple(RawColumn(each.name, each.values[every]) for each in edge_columns)
    read_edges = RawEdges(sources, targets, columns_of_edges) if columns_of_edges else None
    return RawGraphs(structure(ptr, sources, targets, both), columns, read_edges)


def _declared(graphs: Sequence[Any]) -> list[str]:
    """Return the relations that `to_networkx` noted, so that graphs without edges keep them."""
    noted = [graph.graph.get("relation_names") for graph in graphs]
    return [name for names in noted if isinstance(names, list) for name in names]


def _node_columns(
    graphs: Sequence[Any], names: Sequence[str] | None, ptr: npt.NDArray[np.int64]
) -> tuple[RawColumn, ...]:
    data = [attributes for graph in graphs for _, attributes in graph.nodes(data=True)]

    def where(at: int) -> str:
        number, position = locate(ptr, at)
        return f"node {list(graphs[number].nodes)[position]!r} of graph {number}"

    columns = []
    for name in _attribute_names(data, names, what="Node attribute"):
        values = _attribute(name, data, where, error=FeatureError, option="node_attributes")
        column = RawColumn(name, values)
        if not column.is_text:
            check_finite(column, where)
        columns.append(column)
    return tuple(columns)


def _attribute_names(
    data: Sequence[dict[Any, Any]], names: Sequence[str] | None, *, what: str
) -> tuple[str, ...]:
    if names is None:
        # In the order in which they are met: sorted names would put U10 before U2.
        names = tuple({name: None for attributes in data for name in attributes})
    return check_names(names, what=what)


def _edge_relations(
    data: Sequence[dict[Any, Any]], names: Sequence[str] | None, where: Where
) -> dict[str, npt.NDArray[np.intp]]:
    """Return, for each relation that the edge attributes give, the positions of its edges."""
    relations: dict[str, npt.NDArray[np.intp]] = {}
    if not data:
        return relations
    origins: dict[str, str] = {}
    for name in _attribute_names(data, names, what="Edge attribute"):
        values = _attribute(name, data, where, error=GraphError, option="edge_attributes")
        for relation, positions in _one_attribute(name, values, where).items():
            if relation in origins:
                raise GraphError(
                    f"The edge attributes {origins[relation]!r} and {name!r} both give a relation "
                    f"{relation!r}. Rename one, or choose with edge_attributes=[...]."
                )
            origins[relation] = name
            relations[relation] = positions
    return relations


def _one_attribute(
    name: str, values: npt.NDArray[Any], where: Where
) -> dict[str, npt.NDArray[np.intp]]:
    if values.dtype == bool:
        return {name: np.flatnonzero(values)}
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            fractional = values != np.floor(values)
        fractional |= ~np.isfinite(values)
        if fractional.any():
            at = int(np.argmax(fractional))
            raise GraphError(
                f"Edge attribute {name!r} must be Boolean, strings or whole numbers to give edge "
                f"relations. Got {values[at]} at {where(at)}. Choose the attributes to read with "
                "edge_attributes=[...], ignore all with edge_attributes=(), or make relations of "
                f"it by thresholds with PredicateEncoder(edge_features=[{name!r}])."
            )
    distinct_values, codes = distinct(values)
    texts = [value if isinstance(value, str) else str(int(value)) for value in distinct_values]
    return edges_by_code(codes, [f"{name}={text}" for text in texts], what=f"Attribute {name!r}")


def _attribute(
    name: str,
    data: Sequence[dict[Any, Any]],
    where: Where,
    *,
    error: type[GraphError] | type[FeatureError],
    option: str,
) -> npt.NDArray[Any]:
    """Return one attribute of all nodes or edges as an array of bool, numbers or str objects."""
    try:
        values = [attributes[name] for attributes in data]
    except KeyError:
        at = next(at for at, attributes in enumerate(data) if name not in attributes)
        raise error(
            f"The attribute {name!r} must be everywhere or nowhere. It is missing at {where(at)}. "
            f"Set it there, or choose the attributes to read with {option}=[...]."
        ) from None
    types = set(map(type, values))
    value_types = {_value_type(python_type) for python_type in types}
    if value_types <= {"bool"}:
        return np.array(values, dtype=bool)
    if value_types == {"text"}:
        return np.array([str(value) for value in values], dtype=object)
    if value_types <= {"bool", "whole", "float"}:
        dtype = np.float64 if "float" in value_types else np.int64
        try:
            return np.array(values, dtype=np.float32 if types == {np.float32} else dtype)
        except OverflowError:
            at = next(at for at, value in enumerate(values) if abs(value) >= 2**63)
    else:
        fitting = {"text"} if _value_type(type(values[0])) == "text" else {"bool", "whole", "float"}
        at = next(at for at, value in enumerate(values) if _value_type(type(value)) not in fitting)
    beside = f" and {values[0]!r} at {where(0)}" if at else ""
    raise error(
        f"The attribute {name!r} must be all Boolean, all numbers (below 2**63) or all strings. "
        f"Got {values[at]!r} of type {type(values[at]).__name__} at {where(at)}{beside}. "
        f"Choose the attributes to read with {option}=[...]."
    )


def _value_type(python_type: type) -> str:
    if issubclass(python_type, bool | np.bool_):
        return "bool"
    if issubclass(python_type, str):
        return "text"
    if issubclass(python_type, int | np.integer):
        return "whole"
    return "float" if issubclass(python_type, float | np.floating) else "other"
