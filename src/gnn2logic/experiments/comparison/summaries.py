"""From rows to figures: every model on every data set, and the best that people can read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from gnn2logic.certification import agreement_bound
from gnn2logic.experiments.comparison.measures import agreement_of_pairs
from gnn2logic.experiments.comparison.names import ALL_MODELS, ComparedModel
from gnn2logic.experiments.rows import ComparedRow, NumberRow, Seconds

__all__ = [
    "Summary",
    "best_readable",
    "by_model",
    "mean_known",
    "median_known",
    "network_beside",
    "summaries",
    "total_seconds",
]

R = TypeVar("R", ComparedRow, NumberRow)


class AnySummary(Protocol):
    """What summaries of classes and of numbers have in common, as far as others read it."""

    @property
    def model(self) -> ComparedModel:
        """Which model it is."""
        ...

    @property
    def n_folds(self) -> int:
        """On how many folds it was learned."""
        ...

    @property
    def size(self) -> float | None:
        """How many symbols it has."""
        ...

    @property
    def text(self) -> str:
        """The model of the first fold, as people read it."""
        ...

    @property
    def held_out(self) -> float | None:
        """How good it was within the training parts."""
        ...


S = TypeVar("S", bound=AnySummary)


@dataclass(frozen=True)
class Summary:
    """One model on one data set; None where something is not known or makes no sense.

    Parameters
    ----------
    dataset : str
    model : ComparedModel
    n_folds, n_seeds : int
    accuracy, deviation : float
        Over folds; in every fold the mean over seeds.
    macro_f1, auroc : float
    fidelity, at_least : float
        How often it says what the network says that it learned from, on all test graphs together,
        and the lower end of a one-sided 95 % confidence interval (Clopper and Pearson). Of the
        first seed, so that every graph counts once.
    size, lines, depth : float
        Medians of symbols, lines and nested modal parameters.
    seconds : float
        The median of the seconds of one core for one fold, tuning included.
    stability : float
        How often two seeds say the same about a test graph.
    held_out : float
        The mean accuracy within the training parts about what was held out there.
    text : str
        The model of the first fold, as people read it.
    """

    dataset: str
    model: ComparedModel
    n_folds: int
    n_seeds: int
    accuracy: float
    deviation: float
    macro_f1: float
    auroc: float | None
    fidelity: float | None
    at_least: float | None
    size: float | None
    lines: float | None
    depth: float | None
    seconds: float
    stability: float | None
    held_out: float | None
    text: str


def summaries(rows: Collection[ComparedRow]) -> dict[str, list[Summary]]:
    """Return the figures of all models, by data set, in the order of the rows."""
    return {
        dataset: [_summary(name, of_model, models) for name, of_model in models.items()]
        for dataset, models in by_model(rows).items()
    }


def by_model(rows: Collection[R]) -> dict[str, dict[str, list[R]]]:
    """Return rows by their data set and model."""
    groups: dict[str, dict[str, list[R]]] = {}
    for row in rows:
        groups.setdefault(row.dataset, {}).setdefault(row.model, []).append(row)
    return groups


def _summary(name: str, rows: list[ComparedRow], beside: dict[str, list[ComparedRow]]) -> Summary:
    model = ALL_MODELS[name]
    by_fold: dict[int, list[ComparedRow]] = {}
    for row in rows:
        by_fold.setdefault(row.fold, []).append(row)
    accuracies = [np.mean([row.accuracy for row in fold]) for fold in by_fold.values()]
    pairs = [agreement_of_pairs([row.predictions for row in fold]) for fold in by_fold.values()]
    n_agree, n_graphs = _agreement(model, rows, beside)
    first = min(rows, key=lambda row: (row.fold, row.repeat))
    return Summary(
        dataset=first.dataset,
        model=model,
        n_folds=len(by_fold),
        n_seeds=max(map(len, by_fold.values())),
        accuracy=float(np.mean(accuracies)),
        deviation=float(np.std(accuracies)),
        macro_f1=float(np.mean([row.macro_f1 for row in rows])),
        auroc=mean_known([row.auroc for row in rows]),
        fidelity=n_agree / n_graphs if n_graphs else None,
        at_least=agreement_bound(n_agree, n_graphs) if n_graphs else None,
        size=median_known([row.size for row in rows]),
        lines=median_known([row.lines for row in rows]),
        depth=median_known([row.depth for row in rows]),
        seconds=float(np.median([total_seconds(row.seconds) for row in rows])),
        stability=mean_known(pairs),
        held_out=mean_known([row.held_out for row in rows]),
        text=first.text,
    )


def _agreement(
    model: ComparedModel, rows: list[ComparedRow], beside: dict[str, list[ComparedRow]]
) -> tuple[int, int]:
    """Return on how many test graphs a model agrees with its network, and how many there are."""
    if model.guide is None or not model.is_readable:
        return 0, 0
    said = {row.fold: row.predictions for row in beside.get(model.guide, []) if not row.repeat}
    both = [
        (row.predictions, said[row.fold]) for row in rows if not row.repeat and row.fold in said
    ]
    n_agree = sum(int(np.sum(np.array(mine) == np.array(its))) for mine, its in both)
    return n_agree, sum(len(mine) for mine, _ in both)


def total_seconds(seconds: Seconds) -> float:
    """Return the seconds of one core for one fold."""
    return seconds.train + seconds.capture + seconds.fit + seconds.tune


def mean_known(values: Collection[float | None]) -> float | None:
    """Return the mean of what is known, if anything is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def median_known(values: Collection[float | None]) -> float | None:
    """Return the median of what is known, if anything is."""
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def network_beside(models: Collection[S], distilled: S | None) -> S | None:
    """Return the network that a model was learned from, else the first one."""
    networks = [model for model in models if model.model.form == "network"]
    named = [model for model in networks if distilled and model.model.name == distilled.model.guide]
    return next(iter(named or networks), None)


def best_readable(models: Collection[S], *, from_network: bool) -> S | None:
    """Return the readable model that did best within the training parts; the shorter of equals.

    What it does on test graphs has no part in the choice. Of those that learn classes from a
    network, it is the one that follows it best. Only models of all folds take part, and only where
    something was held out: the paper's layers are not among them.
    """
    if not models:
        return None
    all_folds = max(model.n_folds for model in models)
    able = [
        (model.held_out, -(model.size or 0.0), model)
        for model in models
        if model.model.is_readable
        and model.model.true_labels != from_network
        and model.n_folds == all_folds
        and model.held_out is not None
    ]
    return max(able, key=lambda entry: entry[:2])[2] if able else None
