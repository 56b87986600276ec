"""One fold of one data set: every model that is asked for, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, f1_score
from threadpoolctl import threadpool_limits

from gnn2logic.engines.threads import one_blas_thread
from gnn2logic.experiments.baselines import learn_baseline
from gnn2logic.experiments.comparison.learners import (
    LearnedNetwork,
    learn_network,
    learn_readable,
)
from gnn2logic.experiments.comparison.measures import area_under_roc
from gnn2logic.experiments.comparison.names import ALL_MODELS, NETWORKS, ComparedModel
from gnn2logic.experiments.comparison.number_scores import NumberScorer
from gnn2logic.experiments.comparison.record import ComparisonPlan
from gnn2logic.experiments.fold_scores import package_versions
from gnn2logic.experiments.folds import Labelled, inner_splits
from gnn2logic.experiments.networks import evidence_of
from gnn2logic.experiments.rows import AnyRow, ComparedRow, Seconds
from gnn2logic.experiments.runner import Unit
from gnn2logic.graphs import PredicateEncoder

__all__ = ["score_unit"]


def score_unit(unit: Unit, comparison: ComparisonPlan) -> Iterator[AnyRow]:
    """Learn the models on one fold with one seed, and give a row for each as soon as it is there.

    Networks are trained once and shared by all that learn from them. Everything runs on one
    thread: rows are the same however many run side by side.
    """
    models = [ALL_MODELS[name] for name in unit.models]
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        of_numbers = comparison.predicts_numbers(unit.dataset)
        scorer: Any = (NumberScorer if of_numbers else _UnitScorer)(unit, comparison)
        # Models of one network follow each other, so that only one is held at a time.
        for guide in (*NETWORKS, None):
            guided = [model for model in models if model.guide == guide]
            network = scorer.network(guide) if guided and guide is not None else None
            for model in guided:
                yield scorer.row(model, network)


class _UnitScorer:
    """Makes the rows of one fold."""

    def __init__(self, unit: Unit, comparison: ComparisonPlan) -> None:
        self.unit = unit
        self.comparison = comparison
        self.fold = comparison.fold(unit.dataset, unit.fold)

    def _seed(self, purpose: str) -> int:
        unit = self.unit
        return self.comparison.stream(unit.dataset, unit.fold, unit.repeat, purpose)

    def network(self, name: str) -> LearnedNetwork:
        """Return a network trained on the fold."""
        run = self.comparison
        return learn_network(name, self.fold, run.settings, self._seed(name), run.teacher)

    def row(self, model: ComparedModel, network: LearnedNetwork | None) -> ComparedRow:
        """Return what a model does on the fold."""
        if model.form == "baseline":
            return self._baseline(model)
        if model.form == "network":
            assert network is not None
            return self._measured(
                model,
                network.tested.labels,
                network.tested.probabilities,
                network.tested.classes,
                tuned=network.tuned,
                evidence=evidence_of([network.tested.scores]),
                seconds=network.seconds,
            )
        learned = learn_readable(
            model, self.fold, network, self.comparison.settings, self._seed(model.name)
        )
        capture, evidence = 0.0, ""
        if network is not None:
            capture = network.seconds.capture
            known = network.known
            evidence = evidence_of([known.labels, known.scores, *known.activations])
        return self._measured(
            model,
            learned.predictions,
            learned.scores,
            learned.classes,
            evidence=evidence,
            seconds=Seconds(capture=capture, fit=learned.fit_seconds),
            size=learned.size,
            depth=learned.depth,
            leaves=learned.leaves,
            lines=learned.lines,
            held_out=learned.held_out,
            text=learned.text,
        )

    def _baseline(self, model: ComparedModel) -> ComparedRow:
        fold = self.fold
        # Numbers at nodes are cut at thresholds of the training part.
        encoder = PredicateEncoder().fit(fold.train.inputs)
        train = Labelled(encoder.transform(fold.train.inputs), fold.train.y)
        splits = inner_splits(train.y, self.comparison.settings, self._seed("inner splits"))
        learned = learn_baseline(
            model.name,
            train,
            encoder.transform(fold.test.inputs),
            splits,
            self._seed(model.name),
        )
        return self._measured(
            model,
            learned.predictions,
            learned.scores,
            np.unique(train.y),
            tuned=learned.tuned,
            seconds=Seconds(fit=learned.fit_seconds, tune=learned.tune_seconds),
        )

    def _measured(
        self,
        model: ComparedModel,
        predictions: npt.NDArray[Any],
        scores: npt.NDArray[Any],
        classes: npt.NDArray[Any],
        *,
        seconds: Seconds,
        **more: Any,
    ) -> ComparedRow:
        truth = self.fold.test.y
        usual: dict[str, Any] = {
            "size": None,
            "depth": None,
            "leaves": None,
            "tuned": {},
            "evidence": "",
        }
        return ComparedRow(
            dataset=self.unit.dataset,
            fold=self.unit.fold,
            repeat=self.unit.repeat,
            model=model.name,
            seed=self.comparison.seed,
            settings=self.comparison.digest(self.unit.dataset),
            predictions=predictions.tolist(),
            accuracy=float(accuracy_score(truth, predictions)),
            macro_f1=float(f1_score(truth, predictions, average="macro")),
            auroc=area_under_roc(truth, scores, classes),
            seconds=seconds.rounded(),
            versions=package_versions(),
            **{**usual, **more},
        )
