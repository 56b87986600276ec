"""scikit-learn estimators on graphs."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np

from gnn2logic.exceptions import FeatureError, ModelFileError
from gnn2logic.graphs.encoder import PredicateEncoder
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.base import IDTEstimator
from gnn2logic.idt.documents import from_bytes
from gnn2logic.idt.inputs import check_labels, check_mask, check_weights, class_factors

__all__ = ["IDTClassifier", "IDTNodeClassifier", "load"]

# Graph-level codes are few rows, so they can afford many values.
_FINAL_BINS = 4096


class IDTClassifier(IDTEstimator):
    """Classify graphs with an Iterated Decision Tree."""

    _level = "graph"

    def fit(
        self,
        graphs: object,
        y: object,
        *,
        activations: object = None,
        sample_weight: object = None,
    ) -> Self:
        """Learn from graphs with labels, guided by a network's node representations if given."""
        batch = self._encode(graphs)
        labels = check_labels(y, batch.n_graphs, of="graph")
        weights = check_weights(sample_weight, batch.n_graphs, of="graph")
        codes = self._set_classes(labels)
        factors = class_factors(self.class_weight, self.classes_, codes, weights)
        self._learn(batch, activations, codes, weights * factors[codes])
        return self

    def _final_table(self, learner: Any, layer_modalities: Any, kinds: Any) -> Any:
        from gnn2logic.idt.features import FeatureShard, FeatureTable

        first = np.cumsum([0, *(shard.n_graphs for shard in learner.shards)])
        shards = [
            FeatureShard(shard, int(start), np.uint16, per_graph=True)
            for shard, start in zip(learner.shards, first, strict=False)
        ]
        table = FeatureTable(shards, max_bins=_FINAL_BINS)
        numbers = range(len(learner.columns))
        table.add(numbers, learner.block(numbers), [Modality.from_set("1")], kinds)
        return table, None


class IDTNodeClassifier(IDTEstimator):
    """Classify nodes with an Iterated Decision Tree."""

    _level = "node"

    def fit(
        self,
        graphs: object,
        y: object,
        *,
        mask: object = None,
        activations: object = None,
        sample_weight: object = None,
    ) -> Self:
        """Learn from the labels of nodes, in batch order; `mask` chooses the training nodes."""
        batch = self._encode(graphs)
        chosen = check_mask(mask, batch.n_nodes)
        labels = check_labels(y, batch.n_nodes, of="node")
        weights = check_weights(sample_weight, batch.n_nodes, of="node")
        codes = np.zeros(batch.n_nodes, dtype=np.int64)
        codes[chosen] = self._set_classes(labels[chosen])
        factors = class_factors(self.class_weight, self.classes_, codes[chosen], weights[chosen])
        self._learn(batch, activations, codes, np.where(chosen, weights * factors[codes], 0.0))
        return self

    def _final_table(self, learner: Any, layer_modalities: Any, kinds: Any) -> Any:
        learner.prepare(layer_modalities[-1], kinds)
        return learner.table, learner.usable(layer_modalities[-1])


def load(path: str | os.PathLike[str]) -> IDTClassifier | IDTNodeClassifier:
    """Read a model that was saved by ``save``; nothing in the file is executed or trusted.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, or from a newer version.
    """
    with open(path, "rb") as file:
        contents = from_bytes(file.read())
    kind = IDTClassifier if contents.model.level == "graph" else IDTNodeClassifier
    known = set(kind().get_params(deep=False))
    unknown = set(contents.parameters) - known
    if unknown:
        raise ModelFileError(f"The model has an unknown parameter {sorted(unknown)[0]!r}.")
    estimator: Any = kind(**contents.parameters)
    try:
        estimator.encoder_ = PredicateEncoder.from_document(contents.encoder)
    except FeatureError as error:
        raise ModelFileError(f"The encoder of the model is not valid: {error}") from None
    missing = set(contents.model.predicate_names) - set(estimator.encoder_.names_)
    if missing:
        raise ModelFileError(f"The encoder does not make the predicate {sorted(missing)[0]!r}.")
    estimator.classes_ = np.array(contents.classes)
    estimator.model_ = contents.model
    estimator.prunings_ = contents.prunings
    estimator.chosen_ = contents.chosen
    estimator.ccp_alpha_ = contents.prunings.alphas[contents.chosen]
    estimator.n_layers_ = len(contents.model.layers)
    result: IDTClassifier | IDTNodeClassifier = estimator
    return result
