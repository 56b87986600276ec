"""One fit from beginning to end: place the shards, learn layer after layer, then the final tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._progress import Progress
from gnn2logic.engines.protocol import Engine
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.model import Column, Layer, Prunings
from gnn2logic.learning.checkpoints import Checkpoint, Progressed, leaf_sets_of
from gnn2logic.learning.coded_trees import Candidates
from gnn2logic.learning.data import RowLabels, TrainingData
from gnn2logic.learning.features import FeatureTable
from gnn2logic.learning.final import learn_final
from gnn2logic.learning.layers import GraphWeights, InnerLearner, UnknownFeatureError, preference
from gnn2logic.learning.settings import FinalSettings, LayerSettings
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.sources import ShardRows
from gnn2logic.learning.shard.state import ShardMaker, ShardState
from gnn2logic.learning.splitting import GrowthLimits
from gnn2logic.logic.syntax import Formula

__all__ = ["Fitted", "fit", "learn_columns"]

# Graph-level codes are few rows, so they can afford many values.
_FINAL_BINS = 4096


@dataclass(frozen=True)
class Fitted:
    """What was learned."""

    columns: tuple[Column, ...]
    layers: tuple[Layer, ...]
    prunings: Prunings
    alpha: float


def fit(
    data: TrainingData,
    labels: RowLabels,
    inner: Sequence[LayerSettings],
    final: FinalSettings,
    *,
    seed: Sequence[int],
    engine: Engine,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """Learn a model from shards of graphs.

    With a checkpoint it goes on after the layers that are in the file, and writes it after each.
    """
    done = None if checkpoint is None else checkpoint.read()
    rows = data.rows(labels, final.level, len(inner))
    makers = [ShardMaker(*shard) for shard in zip(data.sources, rows, strict=True)]
    crew = engine.place(makers)
    shards = Shards(crew)
    try:
        learner = InnerLearner(
            shards,
            data.names,
            _graph_weights(data, rows),
            two_classes=not data.guided and final.level == "graph" and labels.n_classes == 2,
        )
        if checkpoint is not None and done is not None:
            _repeat_layers(learner, inner, checkpoint, done)
        for number, settings in enumerate(inner):
            if number >= len(learner.layers):
                learner.learn_layer(settings, seed)
                if checkpoint is not None:
                    state = tuple(learner.columns), tuple(learner.layers)
                    checkpoint.write(Progressed(seed[0], *state))
            progress.step("layer")
        table, features = _final_table(shards, learner, final)
        ranks = preference(table.features, learner.formulas)
        prunings, alpha = learn_final(
            shards,
            table,
            Candidates(features, table.books, ranks),
            labels.known_classes(),
            limits=GrowthLimits(
                max_depth=final.max_depth,
                min_rows_leaf=final.min_rows_leaf,
                splits_without_gain=True,
            ),
            alpha=final.alpha,
            seed=seed,
        )
        progress.step("layer")
    finally:
        crew.close()
    if checkpoint is not None:
        checkpoint.remove()
    return Fitted(tuple(learner.columns), tuple(learner.layers), prunings, alpha)


def learn_columns(
    data: TrainingData,
    labels: RowLabels,
    level: Literal["graph", "node"],
    inner: Sequence[LayerSettings],
    *,
    seed: Sequence[int],
    engine: Engine,
    progress: Progress,
) -> list[Formula]:
    """Return what the inner layers have found out about activations: the formulas of columns."""
    rows = data.rows(labels, level, len(inner))
    makers = [ShardMaker(*shard) for shard in zip(data.sources, rows, strict=True)]
    crew = engine.place(makers)
    try:
        learner = InnerLearner(
            Shards(crew), data.names, _graph_weights(data, rows), two_classes=False
        )
        for settings in inner:
            learner.learn_layer(settings, seed)
            progress.step("layer")
    finally:
        crew.close()
    return list(learner.formulas)


def _repeat_layers(
    learner: InnerLearner, inner: Sequence[LayerSettings], checkpoint: Checkpoint, done: Progressed
) -> None:
    """Bring all shards where they were after the layers that were learned before."""
    if len(done.layers) > len(inner):
        raise checkpoint.unsound(f"it has {len(done.layers)} layers instead of {len(inner)}")
    for number, (layer, settings) in enumerate(zip(done.layers, inner, strict=False)):
        sets = leaf_sets_of(done.columns, number, len(layer.trees))
        try:
            learner.repeat_layer(layer.trees, sets, settings)
        except UnknownFeatureError as error:
            raise checkpoint.unsound(str(error)) from None
    if tuple(learner.columns) != done.columns:
        raise checkpoint.unsound("its columns are not those that its trees make of the data")


def _final_table(
    shards: Shards, learner: InnerLearner, final: FinalSettings
) -> tuple[FeatureTable, npt.NDArray[np.int64]]:
    """Return the table of the final tree, and which of its features may be used."""
    if final.level == "node":
        learner.prepare(final.modalities, final.measures)
        return learner.table, learner.usable(final.modalities)
    table = FeatureTable(shards, "graphs", max_bins=_FINAL_BINS)
    table.add(range(len(learner.columns)), [Modality.from_set("1")], final.measures)
    # The rows of the nodes take most of the memory, and are not needed any more.
    shards.tell(ShardState.release, "nodes")
    return table, np.arange(len(table.features))


def _graph_weights(data: TrainingData, rows: Sequence[ShardRows]) -> GraphWeights:
    """Return the total weight of all nodes and which graphs have any."""
    total = 0
    heavy = []
    for source, shard_rows in zip(data.sources, rows, strict=True):
        batch = source.load()
        weights = shard_rows.node_weights(batch)
        total += int(weights.sum())
        heavy.append(np.bincount(batch.graph_index, weights > 0, minlength=batch.n_graphs) > 0)
    return GraphWeights(total, np.concatenate(heavy))
