"""Figures and tables of data sets whose labels are numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from gnn2logic.experiments.comparison.measures import share_explained
from gnn2logic.experiments.comparison.names import ALL_MODELS, ComparedModel
from gnn2logic.experiments.comparison.summaries import (
    best_readable,
    by_model,
    mean_known,
    median_known,
    network_beside,
    total_seconds,
)
from gnn2logic.experiments.comparison.texts import (
    length,
    markdown_table,
    number,
    over_folds,
    with_folds,
)
from gnn2logic.experiments.rows import NumberRow

__all__ = [
    "NOTE",
    "READABLE_NOTE",
    "NumberSummary",
    "number_summaries",
    "number_table",
    "readable_number_table",
]

_HEADS = ("MAE", "R2", "fidelity", "symbols", "lines", "depth", "seconds")
_READABLE_HEADS = (
    *("data set", "network", "R2, MAE", "from labels", "R2, MAE", "symbols"),
    *("the network, distilled", "R2, MAE", "fidelity", "symbols"),
)
NOTE = (
    "MAE: mean absolute error. R2: the share of the variance of the test graphs that is explained; "
    "0 is as good as their mean. Both: mean and standard deviation over the folds. Fidelity: R2 "
    "with the numbers of the network as the truth that a model learned from, on all test graphs "
    "together. Symbols, lines and depth are medians, and so are the seconds of one core for one "
    "fold, tuning included."
)
READABLE_NOTE = (
    "Which readable model is shown was decided within the training parts, never on test graphs. "
    "↓: R2 is below that of the network beside it."
)


@dataclass(frozen=True)
class NumberSummary:
    """One model on one data set; None where something is not known or makes no sense.

    Parameters
    ----------
    dataset : str
    model : ComparedModel
    n_folds, n_seeds : int
    mae, mae_deviation, r2, r2_deviation : float
        Over folds; in every fold the mean over seeds.
    fidelity : float
        R2 with what the network says as the truth, on all test graphs together, of the first seed.
    size, lines, depth, seconds : float
        As of `Summary`.
    held_out : float
        The mean R2 within the training parts on what was held out there.
    text : str
        The model of the first fold, as people read it.
    """

    dataset: str
    model: ComparedModel
    n_folds: int
    n_seeds: int
    mae: float
    mae_deviation: float
    r2: float
    r2_deviation: float
    fidelity: float | None
    size: float | None
    lines: float | None
    depth: float | None
    seconds: float
    held_out: float | None
    text: str


def number_summaries(rows: Collection[NumberRow]) -> dict[str, list[NumberSummary]]:
    """Return the figures of all models, by data set, in the order of the rows."""
    return {
        dataset: [_summary(name, of_model, models) for name, of_model in models.items()]
        for dataset, models in by_model(rows).items()
    }


def _summary(name: str, rows: list[NumberRow], beside: dict[str, list[NumberRow]]) -> NumberSummary:
    by_fold: dict[int, list[NumberRow]] = {}
    for row in rows:
        by_fold.setdefault(row.fold, []).append(row)
    errors = [np.mean([row.mae for row in fold]) for fold in by_fold.values()]
    shares = [np.mean([row.r2 for row in fold]) for fold in by_fold.values()]
    first = min(rows, key=lambda row: (row.fold, row.repeat))
    return NumberSummary(
        dataset=first.dataset,
        model=ALL_MODELS[name],
        n_folds=len(by_fold),
        n_seeds=max(map(len, by_fold.values())),
        mae=float(np.mean(errors)),
        mae_deviation=float(np.std(errors)),
        r2=float(np.mean(shares)),
        r2_deviation=float(np.std(shares)),
        fidelity=_fidelity(ALL_MODELS[name], rows, beside),
        size=median_known([row.size for row in rows]),
        lines=median_known([row.lines for row in rows]),
        depth=median_known([row.depth for row in rows]),
        seconds=float(np.median([total_seconds(row.seconds) for row in rows])),
        held_out=mean_known([row.held_out for row in rows]),
        text=first.text,
    )


def _fidelity(
    model: ComparedModel, rows: list[NumberRow], beside: dict[str, list[NumberRow]]
) -> float | None:
    if model.guide is None or not model.is_readable:
        return None
    said = {row.fold: row.predictions for row in beside.get(model.guide, []) if not row.repeat}
    both = [
        (row.predictions, said[row.fold]) for row in rows if not row.repeat and row.fold in said
    ]
    if not both:
        return None
    mine, its = (np.concatenate([np.array(pair[side]) for pair in both]) for side in (0, 1))
    return share_explained(its, mine)


# Tables ---------------------------------------------------------------------------------------


def number_table(dataset: str, models: Sequence[NumberSummary]) -> str:
    """Return all models on one data set as a Markdown table."""
    most = max(model.n_folds for model in models)
    lines = []
    for model in models:
        few = "" if model.n_folds == most else f" ({model.n_folds} folds)"
        lines.append(
            [
                f"{model.model.name}{few}",
                _error(model),
                _share(model),
                number(model.fidelity, 3),
                *(number(each, 0) for each in (model.size, model.lines, model.depth)),
                f"{model.seconds:.1f}",
            ]
        )
    return markdown_table([dataset, *_HEADS], lines)


def readable_number_table(figures: dict[str, list[NumberSummary]], folds: dict[str, str]) -> str:
    """Return the best readable models against the network, in Markdown; `folds` says whose."""
    lines = []
    for dataset, models in figures.items():
        labels = best_readable(models, from_network=False)
        distilled = best_readable(models, from_network=True)
        network = network_beside(models, distilled)
        to_beat = None if network is None else network.r2
        lines.append(
            [
                with_folds(dataset, models, folds),
                *_told(network, None),
                *_told(labels, to_beat),
                length(labels),
                *_told(distilled, to_beat),
                "" if distilled is None else number(distilled.fidelity, 3),
                length(distilled),
            ]
        )
    return markdown_table(_READABLE_HEADS, lines)


def _told(model: NumberSummary | None, network: float | None) -> list[str]:
    """Return name, and R2 with its mark, decided by the digits that are shown, and MAE."""
    if model is None:
        return ["", ""]
    mark = " ↓" * (network is not None and round(model.r2, 3) < round(network, 3))
    return [model.model.name, f"{_share(model)}{mark}, {_error(model)}"]


def _share(model: NumberSummary) -> str:
    return over_folds(f"{model.r2:.3f}", f"{model.r2_deviation:.3f}", model.n_folds)


def _error(model: NumberSummary) -> str:
    # What numbers are measured in is not known, so digits that matter are.
    mean, deviation = f"{model.mae:#.3g}", f"{model.mae_deviation:#.2g}"
    return over_folds(mean.rstrip("."), deviation.rstrip("."), model.n_folds)
