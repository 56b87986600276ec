"""What a model is learned from: shards of graphs, and labels with weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import ActivationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.checkpoints import digest_of
from gnn2logic.idt.inputs import check_activations
from gnn2logic.idt.shard.sources import MemorySource, ShardRows, ShardSource
from gnn2logic.storage import ShardStore

__all__ = ["Labels", "TrainingData", "training_data"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Labels:
    """The class number and the whole weight of every graph or node; weight 0 leaves it out."""

    classes: IntArray
    weights: IntArray
    n_classes: int

    def known_classes(self) -> IntArray:
        """Return the class numbers, -1 where there is nothing to learn from."""
        return np.where(self.weights > 0, self.classes, -1)


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
        parts = batch.split(n_shards)
        ends = np.cumsum([part.n_nodes for part in parts])
        sources = [
            MemorySource(part, [own[end - part.n_nodes : end] for own in layers or ()])
            for part, end in zip(parts, ends.tolist(), strict=True)
        ]
        edges = (batch.adjacency, *batch.relations.values())
        arrays = [part for matrix in edges for part in (matrix.indptr, matrix.indices, matrix.data)]
        own = (batch.predicates, batch.ptr, *arrays, *(layers or ()))
        return cls(sources, batch.names, len(layers or ()), lambda: digest_of([*own]))

    @classmethod
    def stored(cls, store: ShardStore, *, guided: bool) -> Self:
        """Learn from a store, shard by shard; `guided` by the activations in it."""
        seen = [shard.activation_header.source for shard in store.shards] if guided else []
        digest = digest_of([store.digest, *seen])
        n_layers = store.n_activation_layers if guided else 0
        return cls(store.shards, store.names, n_layers, lambda: digest)

    @property
    def guided(self) -> bool:
        """Whether there are activations to learn from."""
        return self.n_activation_layers > 0

    def rows(
        self, labels: Labels, level: Literal["graph", "node"], n_layers: int
    ) -> list[ShardRows]:
        """Return what each shard has to know about its rows."""
        found = []
        node = graph = 0
        for source in self.sources:
            start = graph if level == "graph" else node
            node, graph = node + source.n_nodes, graph + source.n_graphs
            stop = graph if level == "graph" else node
            found.append(
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
        return found


def training_data(
    graphs: GraphBatch | ShardStore, activations: object, n_shards: int
) -> TrainingData:
    """Return graphs and checked activations as shards."""
    if isinstance(graphs, GraphBatch):
        layers = None if activations is None else check_activations(activations, graphs)
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
    return TrainingData.stored(graphs, guided=activations is not None)
