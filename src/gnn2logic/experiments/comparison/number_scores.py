"""One fold of a data set whose labels are numbers: networks, readable models, baselines, rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.exceptions import TeacherError
from gnn2logic.experiments.baselines import learn_baseline
from gnn2logic.experiments.comparison.learners import (
    card_look,
    encoder_for,
    fit_whole,
    network_graphs,
    train_by_user,
    with_degrees,
)
from gnn2logic.experiments.comparison.measures import share_explained
from gnn2logic.experiments.comparison.names import NETWORKS, ComparedModel
from gnn2logic.experiments.comparison.record import ComparisonPlan
from gnn2logic.experiments.fold_scores import package_versions
from gnn2logic.experiments.folds import Labelled, inner_splits
from gnn2logic.experiments.networks import choose_network, evidence_of
from gnn2logic.experiments.plans import combinations
from gnn2logic.experiments.rows import NumberRow, Seconds
from gnn2logic.experiments.runner import Unit
from gnn2logic.graphs import PredicateEncoder
from gnn2logic.learning import IDTRegressor, ScorecardRegressor
from gnn2logic.models.number_network import NumberNetwork

__all__ = ["NumberScorer"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _NetworkNumbers:
    """What a network that was trained on a fold says about its training and its test part."""

    known: FloatArray
    tested: FloatArray
    tuned: dict[str, Any]
    seconds: Seconds


class NumberScorer:
    """Makes the rows of one fold with one seed."""

    def __init__(self, unit: Unit, comparison: ComparisonPlan) -> None:
        self.unit = unit
        self.comparison = comparison
        self.fold = comparison.fold(unit.dataset, unit.fold)
        train, test = self.fold.train.numbers, self.fold.test.numbers
        assert train is not None
        assert test is not None
        self.y, self.truth = train, test

    def _seed(self, purpose: str) -> int:
        unit = self.unit
        return self.comparison.stream(unit.dataset, unit.fold, unit.repeat, purpose)

    def network(self, name: str) -> _NetworkNumbers:
        """Return what a network trained on the fold says; tuned as those of classes are."""
        fold, settings, conv = self.fold, self.comparison.settings, NETWORKS[name]
        train, test = (with_degrees(data, settings.degrees) for data in (fold.train, fold.test))
        tuned: dict[str, Any] = {}
        tune_seconds, started = 0.0, time.process_time()
        if conv is None:
            assert self.comparison.teacher is not None
            network = train_by_user(
                self.comparison.teacher, train, fold.validation, self._seed(name)
            )
        else:
            chosen = choose_network(
                conv,
                network_graphs(train),
                self.y,
                {**settings.gnn, **getattr(settings, conv)},
                combinations(settings.gnn_grid),
                self._seed(name),
                fold.validation if fold.validation.any() else None,
            )
            network, tuned, tune_seconds = chosen.network, chosen.tuned, chosen.tune_seconds
        train_seconds = time.process_time() - started - tune_seconds
        started = time.process_time()
        known = _numbers_said(network, network_graphs(train))
        seconds = Seconds(train_seconds, time.process_time() - started, tune=tune_seconds)
        tested = _numbers_said(network, network_graphs(test))
        return _NetworkNumbers(known, tested, tuned, seconds)

    def row(self, model: ComparedModel, network: _NetworkNumbers | None) -> NumberRow:
        """Return what a model does on the fold."""
        if model.form == "baseline":
            return self._baseline(model)
        if model.form == "network":
            assert network is not None
            return self._measured(
                model,
                network.tested,
                tuned=network.tuned,
                evidence=evidence_of([network.tested]),
                seconds=network.seconds,
            )
        estimator = self._estimator(model)
        target = self.y if network is None else network.known
        fit_seconds = fit_whole(estimator, self.fold.train.inputs, target)
        look = (card_look if model.form == "scorecard" else _rule_look)(estimator)
        capture = 0.0 if network is None else network.seconds.capture
        return self._measured(
            model,
            estimator.predict(self.fold.test.inputs),
            evidence="" if network is None else evidence_of([network.known]),
            seconds=Seconds(capture=capture, fit=fit_seconds),
            **{key: value for key, value in look.items() if key != "leaves"},
        )

    def _estimator(self, model: ComparedModel) -> Any:
        settings = self.comparison.settings
        (target,) = self.fold.train.class_names
        fixed: dict[str, Any] = {
            "target_name": target,
            "n_jobs": 1,
            "random_state": self._seed(model.name),
            "encoder": encoder_for(model, self.fold, settings),
            "verbose": 0,
        }
        if model.form == "scorecard":
            return ScorecardRegressor(**{**fixed, **settings.scorecard})
        return IDTRegressor(**{**fixed, **settings.search})

    def _baseline(self, model: ComparedModel) -> NumberRow:
        fold = self.fold
        encoder = PredicateEncoder().fit(fold.train.inputs)
        train = Labelled(encoder.transform(fold.train.inputs), self.y)
        splits = inner_splits(self.y, self.comparison.settings, self._seed("inner splits"))
        test = encoder.transform(fold.test.inputs)
        learned = learn_baseline(model.name, train, test, splits, self._seed(model.name))
        return self._measured(
            model,
            learned.predictions,
            tuned=learned.tuned,
            seconds=Seconds(fit=learned.fit_seconds, tune=learned.tune_seconds),
        )

    def _measured(
        self, model: ComparedModel, predictions: FloatArray, *, seconds: Seconds, **more: Any
    ) -> NumberRow:
        usual: dict[str, Any] = {"size": None, "depth": None, "tuned": {}, "evidence": ""}
        return NumberRow(
            dataset=self.unit.dataset,
            fold=self.unit.fold,
            repeat=self.unit.repeat,
            model=model.name,
            seed=self.comparison.seed,
            settings=self.comparison.digest(self.unit.dataset),
            predictions=predictions.tolist(),
            mae=float(np.abs(predictions - self.truth).mean()),
            r2=share_explained(self.truth, predictions),
            seconds=seconds.rounded(),
            versions=package_versions(),
            **{**usual, **more},
        )


def _numbers_said(network: Any, graphs: Any) -> FloatArray:
    """Return the number that a network gives every graph, one of ours or one of the user."""
    if isinstance(network, NumberNetwork):
        return network.predict(graphs)
    numbers, level, _ = as_teacher(network).numbers(graphs)
    if level != "graph":
        raise TeacherError(
            "The network of --teacher must give graphs a number. It gives nodes one."
        )
    return numbers


def _rule_look(rule: Any) -> dict[str, Any]:
    chosen = rule.rules_.chosen
    return {
        "size": chosen.size,
        "depth": chosen.modal_depth,
        "lines": None,
        "held_out": chosen.held_out,
        "text": "\n".join(f"{number}: {formula}" for number, formula in chosen.formulas.items()),
    }
