"""Changing PyG graphs a little, with features and edge attributes that the data has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import Data

from gnn2logic.graphs.read_pyg import from_pyg

__all__ = ["Candidate", "Material"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A graph made of rows of the data.

    Parameters
    ----------
    origin : int
        The number of the data graph that it was made from.
    nodes : array of int, shape (n_nodes,)
        For each node, the node of the data whose features it has.
    ends : array of int, shape (2, n_edges)
        Sources and targets.
    edges : array of int, shape (n_edges,)
        For each edge, the edge of the data whose attributes it has.
    """

    origin: int
    nodes: IntArray
    ends: IntArray
    edges: IntArray

    @property
    def n_pairs(self) -> int:
        """The number of pairs of nodes with an edge, in either direction."""
        return len(_pairs(self.ends))

    def without_nodes(self, gone: IntArray) -> Candidate:
        """Return the graph without some nodes."""
        stays = np.ones(len(self.nodes), dtype=bool)
        stays[gone] = False
        number = np.cumsum(stays) - 1
        kept = stays[self.ends].all(axis=0)
        return replace(
            self, nodes=self.nodes[stays], ends=number[self.ends[:, kept]], edges=self.edges[kept]
        )

    def without_pairs(self, gone: IntArray) -> Candidate:
        """Return the graph without the edges, in both directions, between some pairs of nodes."""
        low, high = np.sort(self.ends, axis=0)
        lost = _pairs(self.ends)[gone]
        size = len(self.nodes)
        kept = ~np.isin(low * size + high, lost[:, 0] * size + lost[:, 1])
        return replace(self, ends=self.ends[:, kept], edges=self.edges[kept])


def _pairs(ends: IntArray) -> IntArray:
    return np.unique(np.sort(ends, axis=0).T, axis=0)


class Material:
    """The rows of some graphs, to make other graphs of.

    Parameters
    ----------
    graphs : list of Data
    symmetric, loops : bool
        Whether edges go both ways, and whether nodes may have edges to themselves.
    """

    def __init__(self, graphs: Sequence[Data], *, symmetric: bool, loops: bool) -> None:
        self._graphs = graphs
        self._symmetric = symmetric
        self._loops = loops
        ends = [_edge_index(data) for data in graphs]
        self._ends = np.concatenate(ends, axis=1)
        self._first_node = np.cumsum([0, *(data.num_nodes for data in graphs)])
        self._first_edge = np.cumsum([0, *(pairs.shape[1] for pairs in ends)])
        self._node_rows = _rows(graphs, Data.is_node_attr)
        self._edge_rows = _rows(graphs, Data.is_edge_attr)
        # Rows with equal content have one number; the first of them stands for all.
        self.node_content, self._node_choice = _equal_rows(
            self._node_rows, int(self._first_node[-1])
        )
        # Edges without attributes are all alike, even where the data has none to copy.
        n_rows = int(self._first_edge[-1]) or (0 if self._edge_rows else 1)
        self.edge_content, self._edge_choice = _equal_rows(self._edge_rows, n_rows)

    @property
    def node_types(self) -> IntArray:
        """A node of the data for every sort of features that its nodes have."""
        return self._node_choice

    @property
    def edge_types(self) -> IntArray:
        """An edge of the data for every sort of attributes that its edges have."""
        return self._edge_choice

    @classmethod
    def of(cls, graphs: Sequence[Data]) -> Material:
        """Return the rows of graphs; their edges say whether new ones go both ways."""
        bare = [Data(edge_index=data.edge_index, num_nodes=data.num_nodes) for data in graphs]
        structure = from_pyg(bare)
        return cls(graphs, symmetric=structure.is_symmetric, loops=structure.has_loops)

    def shuffled(self, number: int, rng: np.random.Generator) -> Candidate:
        """Return a random graph with as many nodes and edges as one of the data.

        Features are those of nodes drawn from all graphs, attributes those of edges drawn from
        all graphs.
        """
        like = self.candidate(number)
        size = len(like.nodes)
        nodes = rng.integers(self._first_node[-1], size=size)
        if not len(like.edges):
            return replace(like, nodes=nodes)
        pairs = np.array(
            [
                (v, w)
                for v in range(size)
                for w in range(v if self._symmetric else 0, size)
                if v != w or self._loops
            ],
            dtype=np.int64,
        )
        wanted = like.n_pairs if self._symmetric else len(np.unique(like.ends, axis=1).T)
        chosen = pairs[rng.permutation(len(pairs))[:wanted]]
        attributes = rng.integers(self._first_edge[-1], size=len(chosen))
        if self._symmetric:
            back = chosen[:, 0] != chosen[:, 1]
            chosen = np.concatenate([chosen, chosen[back][:, ::-1]])
            attributes = np.concatenate([attributes, attributes[back]])
        return Candidate(number, nodes, chosen.T.copy(), attributes)

    def candidate(self, number: int) -> Candidate:
        """Return one of the graphs as it is."""
        nodes = np.arange(self._first_node[number], self._first_node[number + 1])
        edges = np.arange(self._first_edge[number], self._first_edge[number + 1])
        return Candidate(number, nodes, self._ends[:, edges], edges)

    def data(self, candidate: Candidate) -> Data:
        """Return a candidate as PyG data, like the graph that it was made from."""
        made = Data(num_nodes=len(candidate.nodes))
        made.edge_index = torch.from_numpy(candidate.ends.copy())
        for key, rows in self._node_rows.items():
            made[key] = rows[candidate.nodes]
        for key, rows in self._edge_rows.items():
            made[key] = rows[candidate.edges]
        # What belongs to the graph as a whole stays; a label would no longer be true.
        origin = self._graphs[candidate.origin]
        for key in origin.keys():  # noqa: SIM118 - Data is no mapping
            if key not in made and key != "y":
                made[key] = origin[key]
        return made

    def cut(self, candidate: Candidate, max_nodes: int, rng: np.random.Generator) -> Candidate:
        """Return the graph on a random choice of nodes around one of them."""
        distance = np.full(len(candidate.nodes), np.inf)
        distance[rng.integers(len(candidate.nodes))] = 0
        for step in range(1, max_nodes):
            near = (distance[candidate.ends] < step).any(axis=0)
            reached = candidate.ends[:, near]
            distance[reached] = np.minimum(distance[reached], step)
        order = np.lexsort((rng.random(len(distance)), distance))
        return candidate.without_nodes(order[max_nodes:])

    def mutate(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Return the graph after one random change of an edge, of a node's features or of both."""
        if rng.random() < 0.5:
            nodes = candidate.nodes.copy()
            nodes[rng.integers(len(nodes))] = rng.choice(self._node_choice)
            return replace(candidate, nodes=nodes)
        return self._flip(candidate, rng)

    def _flip(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Return the graph with an edge more or less."""
        source, target = (int(end) for end in rng.integers(len(candidate.nodes), size=2))
        if not len(self._edge_choice) or (source == target and not self._loops):
            return candidate
        there = (candidate.ends == [[source], [target]]).all(axis=0)
        if self._symmetric:
            there |= (candidate.ends == [[target], [source]]).all(axis=0)
        if there.any():
            return replace(candidate, ends=candidate.ends[:, ~there], edges=candidate.edges[~there])
        new = [[source, target]]
        if self._symmetric and source != target:
            new.append([target, source])
        edge = rng.choice(self._edge_choice)
        return replace(
            candidate,
            ends=np.concatenate([candidate.ends, np.array(new).T], axis=1),
            edges=np.append(candidate.edges, [edge] * len(new)),
        )

    def fingerprint(self, candidate: Candidate) -> int:
        """Return a number that is the same for graphs that colour refinement cannot tell apart."""
        colours = [hash((int(content),)) for content in self.node_content[candidate.nodes]]
        arrows = [
            (int(s), int(t), int(content))
            for (s, t), content in zip(
                candidate.ends.T, self.edge_content[candidate.edges], strict=True
            )
        ]
        for _ in range(len(colours)):
            seen: list[list[Any]] = [[] for _ in colours]
            for source, target, content in arrows:
                seen[source].append((0, content, colours[target]))
                seen[target].append((1, content, colours[source]))
            colours = [
                hash((colour, *sorted(around)))
                for colour, around in zip(colours, seen, strict=True)
            ]
        return hash(tuple(sorted(colours)))


def _edge_index(data: Data) -> IntArray:
    if data.edge_index is None:
        return np.zeros((2, 0), dtype=np.int64)
    return np.asarray(data.edge_index.detach().cpu().numpy(), dtype=np.int64)


def _rows(graphs: Sequence[Data], belongs: Callable[[Data, str], bool]) -> dict[str, torch.Tensor]:
    """Return the attributes with a row for each node (or edge) in all graphs, put together."""
    attributes = {}
    for key, value in graphs[0].to_dict().items():
        is_rows = isinstance(value, torch.Tensor) and key not in ("edge_index", "y")
        if is_rows and all(key in data and belongs(data, key) for data in graphs):
            attributes[key] = torch.cat([data[key].detach().cpu() for data in graphs])
    return attributes


def _equal_rows(rows: dict[str, torch.Tensor], count: int) -> tuple[IntArray, IntArray]:
    """Return numbers of rows, equal where contents are, and the first row of each number."""
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    number_of_row = np.empty(count, dtype=np.int64)
    arrays = [value.numpy() for value in rows.values()]
    for row in range(count):
        content = b"".join(array[row].tobytes() for array in arrays)
        if content not in numbers:
            numbers[content] = len(first)
            first.append(row)
        number_of_row[row] = numbers[content]
    return number_of_row, np.array(first, dtype=np.int64)
