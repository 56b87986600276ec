"""What rules say about all the data, shard by shard: classes or numbers in their leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnn2logic.engines.protocol import Engine
from gnn2logic.idt.graph_model import r_squared
from gnn2logic.idt.model import IDT, RuleNumbers
from gnn2logic.idt.predict import final_leaves
from gnn2logic.learning.data import RowLabels, TrainingData
from gnn2logic.learning.search.models import with_leaf_values
from gnn2logic.learning.search.numbers import NumberTargets
from gnn2logic.learning.shard.sources import ShardRows, ShardSource

__all__ = ["counted_models", "numbered_models"]

Answer = TypeVar("Answer")

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

    def leaves(self, models: Sequence[IDT], n_rows: int) -> list[npt.NDArray[np.uint8]]:
        """Return the leaf of each row of all shards for every model; 0 for rows of others."""
        batch = self.source.load()
        is_graph = self.rows.level == "graph"
        first = self.rows.first_graph if is_graph else self.rows.first_node
        answers = []
        for model in models:
            leaves = np.zeros(n_rows, dtype=np.uint8)
            leaves[first : first + len(self.rows.classes)] = final_leaves(model, batch)
            answers.append(leaves)
        return answers


def counted_models(
    models: Sequence[IDT], data: TrainingData, labels: RowLabels, engine: Engine
) -> tuple[IDT, ...]:
    """Return models whose leaves have the class weights of all the data."""
    weights = _asked(models, data, labels, engine, _CountedShard.leaf_weights)
    return tuple(
        with_leaf_values(model, sums.astype(np.float64))
        for model, sums in zip(models, weights, strict=True)
    )


def numbered_models(
    models: Sequence[IDT],
    data: TrainingData,
    labels: RowLabels,
    numbers: NumberTargets,
    engine: Engine,
) -> tuple[tuple[IDT, ...], tuple[RuleNumbers, ...]]:
    """Return models whose leaves say the numbers of all the data, and these numbers."""
    n_rows = len(labels.weights)
    reached = _asked(models, data, labels, engine, _CountedShard.leaves, n_rows)
    seen = np.flatnonzero(labels.weights > 0)
    weights = labels.weights[seen].astype(np.float64)
    numbered, figures = [], []
    for model, leaves in zip(models, reached, strict=True):
        members = [seen[leaves[seen] == leaf] for leaf in range(model.final.n_leaves)]
        # A leaf of the sample that no row of all the data reaches cannot be: the sample is of it.
        said = [numbers.label(rows) for rows in members]
        values = sorted(set(said))
        one_hot = np.eye(len(values))[[values.index(label) for label in said]]
        sums = np.array([[float(labels.weights[rows].sum())] for rows in members])
        numbered.append(with_leaf_values(model, one_hot * sums))
        truth = numbers.numbers[seen]
        predicted = np.array([numbers.value(label) for label in said])[leaves[seen]]
        figures.append(
            RuleNumbers(
                tuple(numbers.value(label) for label in values),
                r_squared(truth, predicted, weights),
                float(np.average(np.abs(truth - predicted), weights=weights)),
            )
        )
    return tuple(numbered), tuple(figures)


def _asked(
    models: Sequence[IDT],
    data: TrainingData,
    labels: RowLabels,
    engine: Engine,
    request: Callable[..., Answer],
    *arguments: Any,
) -> Answer:
    """Return what all shards say together about some models."""
    rows = data.rows(labels, models[0].level, 0)
    crew = engine.place([_CountedShard(*shard) for shard in zip(data.sources, rows, strict=True)])
    try:
        return crew.ask(request, models, *arguments)
    finally:
        crew.close()
