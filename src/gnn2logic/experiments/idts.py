"""Learning the IDTs of a fold: settings are chosen on inner splits of the training part."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import SingleClassWarning
from gnn2logic.experiments.catalogue import Model
from gnn2logic.experiments.folds import Fold, inner_splits, stream
from gnn2logic.experiments.networks import TrainedNetwork
from gnn2logic.experiments.plans import ExperimentPlan, RunSettings, combinations
from gnn2logic.graphs import GraphBatch
from gnn2logic.learning import IDTClassifier

__all__ = ["LearnedIDT", "learn_idt"]


@dataclass(frozen=True)
class LearnedIDT:
    """A fitted IDT with the settings that were chosen and the seconds that it took."""

    model: IDTClassifier
    tuned: dict[str, Any]
    fit_seconds: float
    tune_seconds: float


def learn_idt(
    model: Model, fold: Fold, guide: TrainedNetwork | None, plan: ExperimentPlan, run: RunSettings
) -> LearnedIDT:
    """Choose the settings of an IDT and fit it to the training part of a fold.

    The settings chosen are those that predict best what is to be learned, labels or answers of the
    network, on graphs of the training fold that were held out. The network was trained on all of
    the training fold; the test fold has no part in any of this.
    """
    seed = stream(run, fold.dataset, fold.number, model.name)
    fixed = {**plan.idt, **model.changes, "n_jobs": 1, "random_state": seed}
    material = _material(model, fold, guide)
    started = time.process_time()
    tuned: dict[str, Any] = {}
    if not model.changes:
        grid = combinations(plan.true_grid if guide is None else plan.guided_grid)
        splits = inner_splits(
            fold.train.y, plan, stream(run, fold.dataset, fold.number, "inner splits")
        )
        tuned = _best(material, grid, fixed, splits)
    tune_seconds = time.process_time() - started
    started = time.process_time()
    fitted = material.fit({**fixed, **tuned})
    return LearnedIDT(fitted, tuned, time.process_time() - started, tune_seconds)


@dataclass(frozen=True)
class _Material:
    """What an IDT is learned from."""

    graphs: GraphBatch
    target: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    activations: list[npt.NDArray[np.float32]] | None

    def take(self, index: npt.NDArray[np.int64]) -> _Material:
        """Return the part that belongs to some of the graphs."""
        activations = self.activations
        if activations is not None:
            ptr = self.graphs.ptr
            nodes = np.concatenate([np.arange(ptr[g], ptr[g + 1]) for g in index])
            activations = [layer[nodes] for layer in activations]
        return _Material(self.graphs.take(index), self.target[index], self.classes, activations)

    def fit(self, settings: dict[str, Any]) -> IDTClassifier:
        """Fit a model with these settings."""
        with warnings.catch_warnings():
            # A network that always says the same is a result like any other.
            warnings.simplefilter("ignore", SingleClassWarning)
            return IDTClassifier(algorithm="layers", **settings).fit(
                self.graphs, self.target, activations=self.activations, classes=self.classes
            )


def _material(model: Model, fold: Fold, guide: TrainedNetwork | None) -> _Material:
    graphs, y = fold.train.graphs, fold.train.y
    if guide is None:
        return _Material(graphs, y, np.unique(y), None)
    target = y if model.true_labels else guide.labels
    return _Material(graphs, target, guide.classes, guide.activations)


def _best(
    material: _Material, grid: list[dict[str, Any]], fixed: dict[str, Any], splits: list[Any]
) -> dict[str, Any]:
    """Return the combination with the best mean accuracy on what is held out."""
    if len(grid) == 1:
        return grid[0]
    scores = np.zeros(len(grid))
    for learned, held_out in splits:
        material_of_fold = material.take(learned)
        graphs, target = material.graphs.take(held_out), material.target[held_out]
        for number, tuned in enumerate(grid):
            scores[number] += material_of_fold.fit({**fixed, **tuned}).score(graphs, target)
    # Of equals the first one: a grid begins with what is simplest.
    return grid[int(np.argmax(scores))]
