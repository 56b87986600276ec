"""Where the graphs of a shard come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.learning.targets import Targets, graph_label_targets, node_label_targets

__all__ = ["ChosenGraphs", "MemorySource", "ShardRows", "ShardSource"]

IntArray = npt.NDArray[np.int64]


class ShardSource(Protocol):
    """Whole graphs, and what a network says about their nodes."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""

    @property
    def activation_width(self) -> int:
        """How many numbers the widest node representation has, if there are any."""

    def load(self) -> GraphBatch:
        """Return the graphs; where they are on disk, they are mapped anew each time."""

    def activations(self, layer: int) -> Targets:
        """Return the node representations after a layer."""


@dataclass(frozen=True)
class MemorySource:
    """Graphs that are in memory."""

    batch: GraphBatch
    layers: Sequence[Targets] = ()

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.batch.n_nodes

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return self.batch.n_graphs

    @property
    def activation_width(self) -> int:
        """How many numbers the widest node representation has, if there are any."""
        return max((layer.shape[1] for layer in self.layers), default=0)

    def load(self) -> GraphBatch:
        """Return the graphs."""
        return self.batch

    def activations(self, layer: int) -> Targets:
        """Return the node representations after a layer."""
        return self.layers[layer]


@dataclass(frozen=True, eq=False)
class ChosenGraphs:
    """Some of the graphs of a shard.

    Parameters
    ----------
    source : ShardSource
    chosen : array of bool
        Which of its graphs.
    nodes : array of bool
        Which of its nodes.
    """

    source: ShardSource
    chosen: npt.NDArray[np.bool_]
    nodes: npt.NDArray[np.bool_]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(np.count_nonzero(self.nodes))

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return int(np.count_nonzero(self.chosen))

    @property
    def activation_width(self) -> int:
        """How many numbers the widest node representation has, if there are any."""
        return self.source.activation_width

    def load(self) -> GraphBatch:
        """Return the graphs."""
        return self.source.load().take(self.chosen)

    def activations(self, layer: int) -> Targets:
        """Return the node representations after a layer."""
        return self.source.activations(layer)[self.nodes]


@dataclass(frozen=True)
class ShardRows:
    """What is known about the rows of a shard, graphs or nodes, besides the graphs themselves.

    Parameters
    ----------
    first_node, first_graph : int
        Their numbers in all the data.
    level : {"graph", "node"}
        What has labels.
    classes, weights : array of int
        The class number and the weight of every row; rows of weight 0 are not learned from.
    n_classes, n_layers : int
    guided : bool
        Whether inner layers are fitted to activations, not to the labels.
    """

    first_node: int
    first_graph: int
    level: Literal["graph", "node"]
    classes: IntArray
    weights: IntArray
    n_classes: int
    n_layers: int
    guided: bool

    def node_weights(self, batch: GraphBatch) -> IntArray:
        """Return the weight of every node."""
        return self.weights[batch.graph_index] if self.level == "graph" else self.weights

    def label_targets(self, batch: GraphBatch, layer: int) -> Targets:
        """Return what an inner layer is fitted to where there is no network."""
        if self.level == "graph":
            return graph_label_targets(batch, self.classes, self.n_classes)
        known = self.weights > 0
        return node_label_targets(batch, self.classes, known, self.n_classes, self.n_layers - layer)
