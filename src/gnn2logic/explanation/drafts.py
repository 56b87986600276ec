"""A graph of the user's own type that can be changed: read into plain values, and written back.

A draft says for each node which values it has and which node of the given graph it was, and for
each edge of which sort it is. What else the given graph holds (positions, attributes of edges) goes
with the nodes and edges.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from gnn2logic.exceptions import FeatureError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawGraphs
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.graphs.reading import as_batch, format_of
from gnn2logic.graphs.writing import edge_rows

__all__ = ["Draft", "DraftEdge", "GraphForm", "form_of_graph"]

# Source, target (in undirected graphs the smaller number first), and the number of the sort.
DraftEdge = tuple[int, int, int]


@dataclass(frozen=True)
class Draft:
    """A changed graph.

    Parameters
    ----------
    rows : tuple of tuple
        For each node, its value in every column.
    origins : tuple of int
        For each node, the node of the given graph that it is, or that it was copied from.
    names : tuple of str
        What the nodes are called in words.
    edges : tuple of DraftEdge
        In rising order; parallel edges are there more than once.
    """

    rows: tuple[tuple[Any, ...], ...]
    origins: tuple[int, ...]
    names: tuple[str, ...]
    edges: tuple[DraftEdge, ...]


class GraphForm(Protocol):
    """One graph as it was given, and how changes of it are written in the same type."""

    undirected: bool
    names: tuple[str, ...]
    edges: tuple[DraftEdge, ...]

    @property
    def sorts(self) -> tuple[str, ...]:
        """The words for every sort of edges that can be added; empty for edges without type."""

    def write(self, draft: Draft) -> Any:
        """Return the changed graph."""


def form_of_graph(graph: Any, encoder: FittedEncoder) -> tuple[GraphForm, RawGraphs]:
    """Return the form of a graph, and what the encoder reads in it."""
    if isinstance(graph, list | tuple) and len(graph) == 1:
        graph = graph[0]
    input_format = format_of(graph)
    if input_format in ("matrix", "pair"):
        try:
            graph = as_batch([graph], feature_names=_flat_names(encoder))
        except FeatureError as error:
            raise UnsupportedInputError(
                "Matrices with features other than 0 and 1 cannot be changed here; give the graph "
                f"as a networkx graph or as PyTorch Geometric data. {error}"
            ) from None
        input_format = "batch"
    raw = encoder._read(graph)
    if input_format == "batch":
        return _BatchForm(graph), raw
    if input_format == "networkx":
        return _NetworkxForm(graph, raw), raw
    if input_format == "pyg" and hasattr(graph, "edge_index") and "batch" not in graph:
        return _PygForm(graph, raw), raw
    raise UnsupportedInputError(
        "recourse changes a GraphBatch, PyTorch Geometric Data, a networkx graph or a matrix. "
        f"Got {type(graph).__name__} instead."
    )


def _flat_names(encoder: FittedEncoder) -> list[str] | None:
    names = encoder.feature_names
    return list(names) if names is not None and not isinstance(names, dict) else None


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(count))


def _links(
    sources: list[int], targets: list[int], contents: list[Any], *, undirected: bool
) -> tuple[tuple[DraftEdge, ...], list[tuple[int, int]]]:
    """Return the edges with the numbers of their sorts, and two examples of each sort.

    Of an undirected edge there are two arrows, whose contents may differ; the examples are the
    positions of both.
    """
    waiting: dict[tuple[int, int], list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for at, ends in enumerate(zip(sources, targets, strict=True)):
        back = waiting.get(ends[::-1], [])
        if undirected and ends[0] != ends[1] and back:
            first = back.pop(0)
            pairs.append((first, at) if sources[first] < targets[first] else (at, first))
        elif undirected and ends[0] != ends[1]:
            waiting.setdefault(ends, []).append(at)
        else:
            pairs.append((at, at))
    sorts: dict[Any, int] = {}
    examples: list[tuple[int, int]] = []
    edges: list[DraftEdge] = []
    for there, back_again in pairs:
        content = (contents[there], contents[back_again])
        if content not in sorts:
            sorts[content] = len(examples)
            examples.append((there, back_again))
        edges.append((sources[there], targets[there], sorts[content]))
    return tuple(sorted(edges)), examples


def _arrows(draft: Draft, *, undirected: bool) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return sources, targets, sorts and direction (0 there, 1 back) of all arrows of a draft."""
    rows = [(source, target, sort, 0) for source, target, sort in draft.edges]
    if undirected:
        rows += [
            (target, source, sort, 1) for source, target, sort in draft.edges if source != target
        ]
    rows.sort()
    return (
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
        [row[3] for row in rows],
    )


class _BatchForm:
    def __init__(self, graph: GraphBatch) -> None:
        self._graph = graph
        self.undirected = graph.is_symmetric
        self.names = _numbers(graph.n_nodes)
        sources, targets, held = edge_rows(graph)
        contents = [tuple(row) for row in held.tolist()]
        self.edges, examples = _links(
            sources.tolist(), targets.tolist(), contents, undirected=self.undirected
        )
        self._contents = [contents[there] for there, _ in examples]
        width = len(graph.relation_names)
        single = [tuple(at == column for at in range(width)) for column in range(width)]
        # Sorts that the graph lacks, but that its relations allow.
        self._contents += [row for row in single or [()] if row not in self._contents]

    @property
    def sorts(self) -> tuple[str, ...]:
        relations = self._graph.relation_names
        return tuple(
            " and ".join(name for name, has in zip(relations, row, strict=True) if has)
            for row in self._contents
        )

    def write(self, draft: Draft) -> GraphBatch:
        sources, targets, sorts, _ = _arrows(draft, undirected=self.undirected)
        size = len(draft.rows)
        contents = [self._contents[sort] for sort in sorts]

        def matrix(chosen: list[bool]) -> sp.coo_array:
            kept = np.array(chosen, dtype=bool)
            ends = (np.array(sources, dtype=int)[kept], np.array(targets, dtype=int)[kept])
            return sp.coo_array((np.ones(int(kept.sum()), dtype=np.int32), ends), (size, size))

        return GraphBatch(
            np.array(draft.rows, dtype=bool).reshape(size, len(self._graph.names)),
            matrix([True] * len(sources)),
            names=self._graph.names,
            relations={
                name: matrix([content[number] for content in contents])
                for number, name in enumerate(self._graph.relation_names)
            },
        )


class _PygForm:
    def __init__(self, data: Any, raw: RawGraphs) -> None:
        self._data = data
        self._rows = list(zip(*(column.values.tolist() for column in raw.columns), strict=True))
        self.undirected = raw.structure.is_symmetric
        self.names = _numbers(raw.structure.n_nodes)
        self._edge_keys = [
            key
            for key in data.keys()  # noqa: SIM118 - Data is no mapping
            if key != "edge_index" and data.is_edge_attr(key)
        ]
        self._node_keys = [
            key
            for key in data.keys()  # noqa: SIM118 - Data is no mapping
            if key != "y" and key not in self._edge_keys and data.is_node_attr(key)
        ]
        ends = data.edge_index.detach().cpu().tolist() if data.edge_index is not None else [[], []]
        tables = [data[key].detach().cpu().tolist() for key in self._edge_keys]
        contents = (
            [str(row) for row in zip(*tables, strict=True)] if tables else [""] * len(ends[0])
        )
        self.edges, self._examples = _links(ends[0], ends[1], contents, undirected=self.undirected)
        if not self._examples and not tables:
            self._examples = [(0, 0)]

    @property
    def sorts(self) -> tuple[str, ...]:
        if not self._edge_keys:
            return ("",) * len(self._examples)
        shown = {key: self._data[key] for key in self._edge_keys}
        return tuple(
            ", ".join(f"{key}={rows[there].tolist()}" for key, rows in shown.items())
            for there, _ in self._examples
        )

    def write(self, draft: Draft) -> Any:
        given = self._data
        made = copy.copy(given)
        nodes = list(draft.origins)
        for key in self._node_keys:
            made[key] = given[key][nodes].clone()
        for node, (row, origin) in enumerate(zip(draft.rows, nodes, strict=True)):
            for column, (value, before) in enumerate(zip(row, self._rows[origin], strict=True)):
                if value != before:
                    made.x[node, column] = value
        sources, targets, sorts, back = _arrows(draft, undirected=self.undirected)
        if given.edge_index is not None:
            made.edge_index = given.edge_index.new_tensor([sources, targets]).reshape(2, -1)
        rows = [self._examples[sort][way] for sort, way in zip(sorts, back, strict=True)]
        for key in self._edge_keys:
            made[key] = given[key][rows].clone()
        if "y" in made:
            # A label would no longer be true.
            del made.y
        made.num_nodes = len(nodes)
        return made


class _NetworkxForm:
    def __init__(self, graph: Any, raw: RawGraphs) -> None:
        self._graph = graph
        self._columns = [column.name for column in raw.columns]
        self._labels = list(graph.nodes)
        self.undirected = not graph.is_directed()
        self.names = tuple(repr(label) for label in self._labels)
        position = {label: number for number, label in enumerate(self._labels)}
        given = [
            (*sorted((position[source], position[target])), attributes)
            if self.undirected
            else (position[source], position[target], attributes)
            for source, target, attributes in graph.edges(data=True)
        ]
        # Each undirected edge is there once, so nothing is paired.
        self.edges, examples = _links(
            [row[0] for row in given],
            [row[1] for row in given],
            [repr(sorted(row[2].items(), key=repr)) for row in given],
            undirected=False,
        )
        self._attributes = [given[there][2] for there, _ in examples] or [{}]

    @property
    def sorts(self) -> tuple[str, ...]:
        return tuple(
            ", ".join(f"{key}={value}" for key, value in row.items()) for row in self._attributes
        )

    def write(self, draft: Draft) -> Any:
        made = self._graph.__class__()
        made.graph.update(self._graph.graph)
        labels: list[Any] = []
        for name, origin in zip(draft.names, draft.origins, strict=True):
            label = self._labels[origin]
            if name != repr(label):
                label = name
                while label in self._graph:
                    label += "'"
            labels.append(label)
        for label, origin, row in zip(labels, draft.origins, draft.rows, strict=True):
            attributes = dict(self._graph.nodes[self._labels[origin]])
            for key, value in zip(self._columns, row, strict=True):
                if attributes[key] != value:
                    attributes[key] = value
            made.add_nodes_from([(label, attributes)])
        for source, target, sort in draft.edges:
            made.add_edges_from([(labels[source], labels[target], self._attributes[sort])])
        return made
