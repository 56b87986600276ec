"""Data and splits of the experiments: stratified, seeded, the same for all models."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import (
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)

from gnn2logic.datasets import Dataset, load
from gnn2logic.exceptions import ParameterError
from gnn2logic.experiments.plans import RunSettings, plan_for
from gnn2logic.graphs import GraphBatch

__all__ = [
    "Fold",
    "InnerPlan",
    "Labelled",
    "Seeded",
    "fold_of",
    "inner_splits",
    "stratified_folds",
    "stream",
]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """Graphs and their classes."""

    graphs: GraphBatch
    y: npt.NDArray[Any]

    def take(self, index: IntArray) -> Labelled:
        """Return some of the graphs."""
        return Labelled(self.graphs.take(index), self.y[index])


@dataclass(frozen=True)
class Fold:
    """One round of cross-validation: what is learned from, and what is tested on."""

    dataset: str
    number: int
    train: Labelled
    test: Labelled


def fold_of(dataset: str, number: int, run: RunSettings) -> Fold:
    """Return one fold of a data set, the same for everybody who asks.

    Examples
    --------
    >>> fold = fold_of("psi_0", 0, RunSettings(folds=10))
    >>> fold.train.graphs.n_graphs, fold.test.graphs.n_graphs
    (900, 100)
    """
    whole = _data(dataset, run)
    train, test = stratified_folds(whole.y, dataset, run.folds, run.seed)[number]
    return Fold(dataset, number, whole.take(train), whole.take(test))


def stratified_folds(
    y: IntArray, name: str, n_folds: int, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Return the numbers of training and test graphs of every fold of a data set."""
    sizes = np.bincount(y)
    least = int(sizes[sizes > 0].min())
    if not 2 <= n_folds <= least:
        raise ParameterError(
            f"folds must be a whole number from 2 to {least}, the size of the smallest class of "
            f"{name}. Got {n_folds} instead."
        )
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(y, y))


@lru_cache(maxsize=2)
def _data(dataset: str, run: RunSettings) -> Labelled:
    plan = plan_for(dataset, run)
    data: Dataset = load(dataset, **plan.data)
    whole = Labelled(data.graphs, data.y)
    if plan.max_graphs is None or plan.max_graphs >= len(data):
        return whole
    few, _ = train_test_split(
        np.arange(len(data)), train_size=plan.max_graphs, stratify=data.y, random_state=run.seed
    )
    return whole.take(np.sort(few))


class InnerPlan(Protocol):
    """How a training part is split again to tune."""

    @property
    def inner_splits(self) -> int:
        """How often."""
        ...

    @property
    def inner_share(self) -> float:
        """The share that is held out."""
        ...


def inner_splits(y: Sequence[Any] | npt.NDArray[Any], plan: InnerPlan, seed: int) -> list[Any]:
    """Return (learned from, held out) pairs of row numbers within a training fold.

    The share of every class is the same in both; numbers to predict (floats) have no classes.
    """
    splitter = ShuffleSplit if np.asarray(y).dtype.kind == "f" else StratifiedShuffleSplit
    splits = splitter(plan.inner_splits, test_size=plan.inner_share, random_state=seed)
    return list(splits.split(y, y))


class Seeded(Protocol):
    """What has a seed."""

    @property
    def seed(self) -> int:
        """The seed."""
        ...


def stream(run: Seeded, dataset: str, fold: int, purpose: str) -> int:
    """Return the seed of one random stream; other purposes have other streams."""
    key = [run.seed, zlib.crc32(dataset.encode()), fold, zlib.crc32(purpose.encode())]
    return int(np.random.SeedSequence(key).generate_state(1)[0])
