"""Training the networks of a fold, once, and asking them what the IDTs learn from."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._digests import sha256_of
from gnn2logic.distillation import as_teacher
from gnn2logic.exceptions import UndertrainedWarning
from gnn2logic.experiments.catalogue import NETWORKS
from gnn2logic.experiments.folds import Fold, stream
from gnn2logic.experiments.plans import ExperimentPlan, RunSettings, combinations
from gnn2logic.models import GNNClassifier
from gnn2logic.models.number_network import train_on_numbers

__all__ = ["ChosenNetwork", "TrainedNetwork", "choose_network", "evidence_of", "train_network"]


@dataclass(frozen=True)
class TrainedNetwork:
    """A network that was trained on a fold, and what it says about the fold.

    Parameters
    ----------
    predictions : array
        The predicted classes of the test graphs.
    scores : array
        The logits of the test graphs.
    labels : array
        The predicted classes of the training graphs.
    activations : list of array
        The node representations of the training graphs, one array for each layer.
    classes : array
    tuned : dict
    train_seconds, capture_seconds, tune_seconds : float
    """

    predictions: npt.NDArray[Any]
    scores: npt.NDArray[np.float32]
    labels: npt.NDArray[Any]
    activations: list[npt.NDArray[np.float32]]
    classes: npt.NDArray[Any]
    tuned: dict[str, Any]
    train_seconds: float
    capture_seconds: float
    tune_seconds: float


def train_network(name: str, fold: Fold, plan: ExperimentPlan, run: RunSettings) -> TrainedNetwork:
    """Train a network on a fold; of several settings, keep the one with the best validation loss.

    The validation part is the one that training watches anyway, a share of the training fold. So
    nothing is trained again after the choice.
    """
    conv = NETWORKS[name]
    settings: dict[str, Any] = {**plan.gnn, **getattr(plan, conv)}
    seed = stream(run, fold.dataset, fold.number, name)
    chosen = choose_network(
        conv, fold.train.graphs, fold.train.y, settings, combinations(plan.gnn_grid), seed
    )
    network = chosen.network
    started = time.process_time()
    answers = as_teacher(network).run(fold.train.graphs)
    capture_seconds = time.process_time() - started
    return TrainedNetwork(
        predictions=network.predict(fold.test.graphs),
        scores=network.decision_function(fold.test.graphs),
        labels=answers.labels,
        activations=answers.activations,
        classes=answers.classes,
        tuned=chosen.tuned,
        train_seconds=chosen.train_seconds,
        capture_seconds=capture_seconds,
        tune_seconds=chosen.tune_seconds,
    )


@dataclass(frozen=True)
class ChosenNetwork:
    """The best of several trained networks, its settings, and the seconds of it and the others.

    A `GNNClassifier`, or a `NumberNetwork` where numbers were learned.
    """

    network: Any
    tuned: dict[str, Any]
    train_seconds: float
    tune_seconds: float


def choose_network(
    conv: str,
    graphs: Any,
    y: npt.NDArray[Any],
    settings: dict[str, Any],
    grid: list[dict[str, Any]],
    seed: int,
    validation: npt.NDArray[np.bool_] | None = None,
) -> ChosenNetwork:
    """Train a network with every combination; return the one with the best validation loss.

    `y` holds classes, or numbers to predict (floats). `validation` says which graphs are held out
    for that; by default training draws them.
    """
    best: Any = None
    started = time.process_time()
    for tuned in grid:
        before = time.process_time()
        untrained = GNNClassifier(conv, device="cpu", random_state=seed, **{**settings, **tuned})
        loss, network = _trained(untrained, graphs, y, validation)
        entry = loss, network, tuned, time.process_time() - before
        if best is None or entry[0] < best[0]:
            best = entry
    _, network, tuned, train_seconds = best
    tune_seconds = time.process_time() - started - train_seconds
    return ChosenNetwork(network, tuned, train_seconds, tune_seconds)


def _trained(
    network: GNNClassifier,
    graphs: Any,
    y: npt.NDArray[Any],
    validation: npt.NDArray[np.bool_] | None,
) -> tuple[float, Any]:
    """Return the validation loss of a network, and the trained network."""
    if y.dtype.kind == "f":
        of_numbers = train_on_numbers(network, graphs, y, validation)
        return of_numbers.loss, of_numbers
    with warnings.catch_warnings():
        # The tables say how good a network is, and one of several settings may be bad.
        warnings.simplefilter("ignore", UndertrainedWarning)
        network.fit(graphs, y, validation=validation)
    return _best_loss(network), network


def _best_loss(network: GNNClassifier) -> float:
    losses = [epoch.validation for epoch in network.history_ if epoch.validation is not None]
    return min(losses, default=float("inf"))


def evidence_of(arrays: list[npt.NDArray[Any]]) -> str:
    """Return a short text that differs when any bit of the arrays does."""
    pieces: list[bytes | memoryview] = []
    for array in arrays:
        pieces.append(repr((array.shape, array.dtype.str)).encode())
        pieces.append(np.ascontiguousarray(array).tobytes())
    return sha256_of(pieces)[:16]
