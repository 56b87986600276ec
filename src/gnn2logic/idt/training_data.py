"""What a model is learned from: shards of graphs, and labels with weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.shard.sources import MemorySource, ShardRows, ShardSource

__all__ = ["Labels", "TrainingData"]

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
    guided : bool
        Whether there are activations to learn from.
    """

    sources: Sequence[ShardSource]
    names: tuple[str, ...]
    guided: bool

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
        return cls(sources, batch.names, layers is not None)

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
