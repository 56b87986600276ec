"""What rules say about all the data, shard by shard: the class weights in their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn2logic.engines.protocol import Engine
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predict import final_leaves
from gnn2logic.learning.data import RowLabels, TrainingData
from gnn2logic.learning.search.models import with_leaf_values
from gnn2logic.learning.shard.sources import ShardRows, ShardSource

__all__ = ["counted_models"]

# While a shard answers: its graphs, and the truth of a few columns at each node.
_WORK_BYTES = 512
_ROW_BYTES = 80


@dataclass(frozen=True)
class _CountedShard:
    """One shard of graphs with its labels: a maker, and a state that nothing changes."""

    source: ShardSource
    rows: ShardRows

    @property
    def work_bytes(self) -> int:
        """About how much memory the shard needs while it answers."""
        return _WORK_BYTES * self.source.n_nodes

    @property
    def row_bytes(self) -> int:
        """About how much memory its labels take."""
        return _ROW_BYTES * len(self.rows.classes)

    def __call__(self, scratch: Path | None = None) -> _CountedShard:
        """Return itself; it keeps nothing."""
        return self

    def leaf_weights(self, models: Sequence[IDT]) -> list[npt.NDArray[np.int64]]:
        """Return the weight of each class in each leaf, for every model."""
        batch = self.source.load()
        one_hot = np.zeros((len(self.rows.classes), self.rows.n_classes), dtype=np.int64)
        one_hot[np.arange(len(one_hot)), self.rows.classes] = self.rows.weights
        answers = []
        for model in models:
            weights = np.zeros((model.final.n_leaves, self.rows.n_classes), dtype=np.int64)
            np.add.at(weights, final_leaves(model, batch), one_hot)
            answers.append(weights)
        return answers


def counted_models(
    models: Sequence[IDT], data: TrainingData, labels: RowLabels, engine: Engine
) -> tuple[IDT, ...]:
    """Return models whose leaves have the class weights of all the data."""
    rows = data.rows(labels, models[0].level, 0)
    crew = engine.place([_CountedShard(*shard) for shard in zip(data.sources, rows, strict=True)])
    try:
        weights = crew.ask(_CountedShard.leaf_weights, models)
    finally:
        crew.close()
    return tuple(
        with_leaf_values(model, sums.astype(np.float64))
        for model, sums in zip(models, weights, strict=True)
    )
