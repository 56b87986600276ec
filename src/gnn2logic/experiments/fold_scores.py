"""One fold of one data set: every model that is asked for, as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib.metadata import version
from typing import Any

import numpy.typing as npt
from sklearn.metrics import accuracy_score, f1_score
from threadpoolctl import threadpool_limits

from gnn2logic._version import __version__
from gnn2logic.engines.threads import one_blas_thread
from gnn2logic.experiments.baselines import learn_baseline
from gnn2logic.experiments.catalogue import NETWORKS, Model
from gnn2logic.experiments.folds import Fold, fold_of, inner_splits, stream
from gnn2logic.experiments.idts import learn_idt
from gnn2logic.experiments.networks import TrainedNetwork, evidence_of, train_network
from gnn2logic.experiments.plans import RunSettings, plan_for
from gnn2logic.experiments.rows import Row, Seconds

__all__ = ["package_versions", "score_fold"]


def score_fold(
    dataset: str, number: int, models: Collection[Model], run: RunSettings
) -> Iterator[Row]:
    """Learn the models on one fold and give a row for each as soon as it is there.

    Networks are trained once and shared by all the models that learn from them. Everything runs on
    one thread: networks come out the same however many folds run side by side.
    """
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        scorer = _FoldScorer(fold_of(dataset, number, run), run)
        # Models of one network follow each other, so that only one is held at a time.
        for guide in (*NETWORKS, None):
            guided = [model for model in models if model.guide == guide]
            network = None
            if guided and guide is not None:
                network = train_network(guide, scorer.fold, scorer.plan, run)
            for model in guided:
                yield scorer.row(model, network)


class _FoldScorer:
    """Makes the rows of one fold."""

    def __init__(self, fold: Fold, run: RunSettings) -> None:
        self.fold = fold
        self.run = run
        self.plan = plan_for(fold.dataset, run)

    def row(self, model: Model, network: TrainedNetwork | None) -> Row:
        """Return what a model does on the fold."""
        if model.model_type == "baseline":
            return self._baseline(model)
        if model.model_type == "network":
            assert network is not None
            seconds = Seconds(train=network.train_seconds, tune=network.tune_seconds)
            return self._measured(
                model,
                network.predictions,
                tuned=network.tuned,
                evidence=evidence_of([network.scores]),
                seconds=seconds,
            )
        learned = learn_idt(model, self.fold, network, self.plan, self.run)
        rule = learned.model.rules_.chosen
        seconds = Seconds(
            capture=0.0 if network is None else network.capture_seconds,
            fit=learned.fit_seconds,
            tune=learned.tune_seconds,
        )
        return self._measured(
            model,
            learned.model.predict(self.fold.test.graphs),
            tuned=learned.tuned,
            evidence="" if network is None else evidence_of([network.labels, *network.activations]),
            seconds=seconds,
            shape=(rule.size, rule.modal_depth, rule.n_leaves),
        )

    def _baseline(self, model: Model) -> Row:
        fold, run = self.fold, self.run
        seed = stream(run, fold.dataset, fold.number, model.name)
        inner = stream(run, fold.dataset, fold.number, "inner splits")
        splits = inner_splits(fold.train.y, self.plan, inner)
        learned = learn_baseline(model.name, fold.train, fold.test.graphs, splits, seed)
        seconds = Seconds(fit=learned.fit_seconds, tune=learned.tune_seconds)
        return self._measured(
            model, learned.predictions, tuned=learned.tuned, evidence="", seconds=seconds
        )

    def _measured(
        self,
        model: Model,
        predictions: npt.NDArray[Any],
        *,
        tuned: dict[str, Any],
        evidence: str,
        seconds: Seconds,
        shape: tuple[int | None, int | None, int | None] = (None, None, None),
    ) -> Row:
        truth = self.fold.test.y
        size, depth, leaves = shape
        return Row(
            dataset=self.fold.dataset,
            fold=self.fold.number,
            model=model.name,
            seed=self.run.seed,
            settings=self.run.digest(self.fold.dataset),
            predictions=predictions.tolist(),
            accuracy=float(accuracy_score(truth, predictions)),
            # A class that is neither there nor predicted has no part in the mean.
            macro_f1=float(f1_score(truth, predictions, average="macro")),
            size=size,
            depth=depth,
            leaves=leaves,
            tuned=tuned,
            evidence=evidence,
            seconds=seconds.rounded(),
            versions=package_versions(),
        )


def package_versions() -> dict[str, str]:
    """Return the versions that a row depends on most."""
    others = ("numpy", "scikit-learn", "torch", "torch_geometric")
    return {"gnn2logic": __version__, **{name: version(name) for name in others}}
