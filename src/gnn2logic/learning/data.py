"""What a model is learned from: shards of graphs, and labels with weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from gnn2logic._digests import digest_of_values
from gnn2logic._labels import check_labels, check_weights
from gnn2logic.exceptions import ActivationError, SingleClassWarning
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.learning.inputs import check_activations, check_classes, class_factors, row_weights
from gnn2logic.learning.shard.sources import ChosenGraphs, MemorySource, ShardRows, ShardSource
from gnn2logic.storage import ShardStore

__all__ = [
    "CheckedRows",
    "KeptGraphs",
    "RowLabels",
    "TrainingData",
    "checked_rows",
    "training_data",
]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CheckedRows:
    """What was given about the rows, graphs or nodes, of the training data.

    Parameters
    ----------
    classes : array
        All classes.
    codes : array of int
        The number of the class of every row.
    weights : array of float
        Rows of weight 0 are not learned from.
    absent : array of bool
        Rows that are as if they were not there, by their weight.
    """

    classes: npt.NDArray[Any]
    codes: IntArray
    weights: npt.NDArray[np.float64]
    absent: BoolArray


def checked_rows(
    y: object,
    count: int,
    sample_weight: object,
    *,
    level: str,
    classes: object,
    class_weight: object,
    among: BoolArray | None = None,
) -> CheckedRows:
    """Return labels and weights after all checks; `among` says which rows may be learned from."""
    weights = check_weights(sample_weight, count, of=level, among=among)
    seen = weights > 0 if among is None else among & (weights > 0)
    labels = check_labels(y, count, of=level, among=seen)
    present = np.unique(labels)
    every = present if classes is None else check_classes(classes, present)
    if len(present) == 1:
        warnings.warn(
            f"All labels are {present.tolist()[0]!r}; the model is constant.",
            SingleClassWarning,
            stacklevel=3,
        )
    codes = np.zeros(count, dtype=np.int64)
    codes[seen] = np.searchsorted(every, labels)
    factors = class_factors(class_weight, every, codes[seen], weights[seen])
    together = np.zeros(count)
    together[seen] = row_weights(weights[seen], factors, codes[seen])
    return CheckedRows(every, codes, together, (weights == 0) | (seen & (together == 0)))


@dataclass(frozen=True)
class RowLabels:
    """The class number and the whole weight of every graph or node; weight 0 leaves it out."""

    classes: IntArray
    weights: IntArray
    n_classes: int

    def known_classes(self) -> IntArray:
        """Return the class numbers, -1 where there is nothing to learn from."""
        return np.where(self.weights > 0, self.classes, -1)


@dataclass(frozen=True)
class KeptGraphs:
    """Which graphs are learned from: a graph of weight 0 is as if it were not there.

    Parameters
    ----------
    graphs, nodes : array of bool
    """

    graphs: BoolArray
    nodes: BoolArray

    @classmethod
    def with_weight(cls, graphs: GraphBatch | ShardStore, absent: BoolArray) -> Self:
        """Return the graphs whose rows, graphs or nodes, are not all `absent`."""
        if not absent.any():
            return cls(np.ones(graphs.n_graphs, dtype=bool), np.ones(graphs.n_nodes, dtype=bool))
        batches = [graphs] if isinstance(graphs, GraphBatch) else graphs
        sizes = np.concatenate([batch.sizes for batch in batches])
        if len(absent) == graphs.n_nodes != graphs.n_graphs:
            starts = np.cumsum(sizes) - sizes
            absent = np.logical_and.reduceat(absent, starts)
        return cls(~absent, np.repeat(~absent, sizes))

    def shards_of(self, store: ShardStore) -> list[ShardSource]:
        """Return the shards of a store with these graphs alone; those without any are left out."""
        sources: list[ShardSource] = []
        graph = node = 0
        for shard in store.shards:
            chosen = self.graphs[graph : graph + shard.n_graphs]
            nodes = self.nodes[node : node + shard.n_nodes]
            graph, node = graph + shard.n_graphs, node + shard.n_nodes
            if chosen.all():
                sources.append(shard)
            elif chosen.any():
                sources.append(ChosenGraphs(shard, chosen, nodes))
        return sources


@dataclass(frozen=True)
class TrainingData:
    """Graphs in shards.

    Parameters
    ----------
    sources : sequence of ShardSource
    names : tuple of str
        The input predicates.
    n_activation_layers : int
        0 without activations: inner layers are learned from the labels.
    digest : callable
        Returns a text that identifies the data.
    """

    sources: Sequence[ShardSource]
    names: tuple[str, ...]
    n_activation_layers: int
    digest: Callable[[], str]

    @classmethod
    def in_memory(
        cls, batch: GraphBatch, layers: Sequence[npt.NDArray[Any]] | None, n_shards: int
    ) -> Self:
        """Cut a batch, and the activations that belong to its nodes, into shards."""
        batches = batch.split(n_shards)
        ends = np.cumsum([shard.n_nodes for shard in batches])
        sources = [
            MemorySource(shard, [layer[end - shard.n_nodes : end] for layer in layers or ()])
            for shard, end in zip(batches, ends.tolist(), strict=True)
        ]
        edges = (batch.adjacency, *batch.relations.values())
        arrays = [
            array for matrix in edges for array in (matrix.indptr, matrix.indices, matrix.data)
        ]
        everything = (batch.predicates, batch.ptr, *arrays, *(layers or ()))
        return cls(sources, batch.names, len(layers or ()), lambda: digest_of_values([*everything]))

    @classmethod
    def stored(cls, store: ShardStore, kept: KeptGraphs, *, guided: bool) -> Self:
        """Learn from a store, shard by shard; `guided` by the activations in it."""
        seen = [shard.activation_header.source for shard in store.shards] if guided else []
        chosen = [] if kept.graphs.all() else [kept.graphs]
        digest = digest_of_values([store.digest, *seen, *chosen])
        n_layers = store.n_activation_layers if guided else 0
        return cls(kept.shards_of(store), store.names, n_layers, lambda: digest)

    @property
    def guided(self) -> bool:
        """Whether there are activations to learn from."""
        return self.n_activation_layers > 0

    def rows(
        self, labels: RowLabels, level: Literal["graph", "node"], n_layers: int
    ) -> list[ShardRows]:
        """Return what each shard has to know about its rows."""
        rows = []
        node = graph = 0
        for source in self.sources:
            start = graph if level == "graph" else node
            node, graph = node + source.n_nodes, graph + source.n_graphs
            stop = graph if level == "graph" else node
            rows.append(
                ShardRows(
                    first_node=node - source.n_nodes,
                    first_graph=graph - source.n_graphs,
                    level=level,
                    classes=labels.classes[start:stop],
                    weights=labels.weights[start:stop],
                    n_classes=labels.n_classes,
                    n_layers=n_layers,
                    guided=self.guided,
                )
            )
        return rows


def training_data(
    graphs: GraphBatch | ShardStore, activations: object, kept: KeptGraphs, n_shards: int
) -> TrainingData:
    """Return graphs and checked activations as shards.

    Parameters
    ----------
    graphs : GraphBatch or ShardStore
        A batch holds the kept graphs alone, a store all of them.
    activations : object
        Those of all nodes.
    """
    if isinstance(graphs, GraphBatch):
        layers = None if activations is None else check_activations(activations, kept.nodes)
        return TrainingData.in_memory(graphs, layers, n_shards)
    if activations is not None and not (isinstance(activations, str) and activations == "stored"):
        raise ActivationError(
            "activations must be 'stored' or None for a store. "
            f"Got {type(activations).__name__} instead; gnn2logic.capture puts them into the store."
        )
    if activations is not None and graphs.n_activation_layers == 0:
        raise ActivationError(
            "activations='stored' needs activations in the store. Got none; gnn2logic.capture "
            "puts them there."
        )
    return TrainingData.stored(graphs, kept, guided=activations is not None)
