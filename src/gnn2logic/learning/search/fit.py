"""A fit by search: graphs and labels in, a front of models out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._progress import Progress
from gnn2logic.engines.protocol import Engine
from gnn2logic.exceptions import InterruptedSearchWarning, LongRuleWarning
from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.model import RuleFront, RuleNumbers
from gnn2logic.learning.data import RowLabels, TrainingData
from gnn2logic.learning.search.checkpoints import SearchCheckpoint
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.levels import GraphLevel, Level, NodeLevel
from gnn2logic.learning.search.models import read_size, rule_model
from gnn2logic.learning.search.numbers import NumberTargets
from gnn2logic.learning.search.outcome import Choice, search_rules
from gnn2logic.learning.search.rounds import RoundSettings
from gnn2logic.learning.search.rule_search import SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import SearchedRule, best_for_size
from gnn2logic.learning.search.sampling import judged_rows, searched_data
from gnn2logic.learning.search.shards import counted_models, numbered_models
from gnn2logic.learning.search.whole_numbers import MOST_WEIGHT
from gnn2logic.learning.settings import SearchOptions
from gnn2logic.logic.syntax import Formula

__all__ = ["fit_by_search"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Warnings are about the line that calls `fit`: fit_by_search, _by_search, _learn and fit are ours.
_CALLER = 5
# A condition must tell this many rows from the others, where there are enough of them and of the
# rarest class.
_FEW_ROWS = 5
_ROWS_FOR_FEW = 250


def fit_by_search(
    data: TrainingData,
    labels: RowLabels,
    level: Literal["graph", "node"],
    options: SearchOptions,
    *,
    scores: FloatArray | None = None,
    numbers: NumberTargets | None = None,
    proposed: Sequence[Formula] = (),
    seed: Sequence[int],
    engine: Engine,
    progress: Progress,
    checkpoint: SearchCheckpoint | None = None,
) -> tuple[RuleFront, int]:
    """Return rules from short to long as models, and the number of the chosen one.

    Parameters
    ----------
    scores : array of shape (n_rows, n_targets), optional
        What a network says about every row: rules explain these instead of the classes.
    numbers : NumberTargets, optional
        What rules predict, where that is a number; then `labels` have one class, and its weights.
    proposed : sequence of Formula
        Columns that take part from the start.
    """
    searched = searched_data(data, labels, level, share=options.max_samples, seed=seed)
    space = ColumnSpace(
        searched.batch, options.modalities, absolute=options.absolute, relative=options.relative
    )
    about: Level = GraphLevel(space) if level == "graph" else NodeLevel(space)
    targets = _targets(labels, scores, numbers, searched.rows)
    rows = judged_rows(targets.classes, targets.weights, seed=seed)
    total, n_rows = int(targets.weights[rows].sum()), len(rows)
    counts = np.bincount(targets.classes[rows])
    few = min(_FEW_ROWS, n_rows * _FEW_ROWS // _ROWS_FOR_FEW, int(counts[counts > 0].min()) // 2)
    least_rows = max(options.min_rows, few)
    least_weight = max(1, round(least_rows * total / n_rows))
    settings = SearchSettings(
        rounds=RoundSettings(depth=options.depth), least_weight=least_weight, least_rows=least_rows
    )
    choice = Choice(max_seconds=options.max_time)
    if options.max_size is not None:
        choice = replace(choice, max_size=options.max_size)

    def report(stage: str, rule: SearchedRule) -> None:
        text = str(rule.formulas[-1])
        shown = text if len(text) <= 60 else f"{rule.size} symbols"
        progress.step(f"{stage}, {rule.fit:.0%} explained by {shown}, step")

    outcome = search_rules(
        about,
        targets,
        rows,
        settings,
        choice,
        groups=None if level == "graph" else searched.batch.graph_index,
        proposed=proposed,
        seed=seed,
        report=report,
        checkpoint=checkpoint,
    )
    size = outcome.sizes[outcome.chosen]
    if outcome.interrupted:
        warnings.warn(
            "The search was interrupted; the model is the best so far. A second interrupt ends "
            "the fit.",
            InterruptedSearchWarning,
            stacklevel=_CALLER,
        )
    if size > choice.max_size and outcome.chosen > 0:
        warnings.warn(
            f"The chosen rule has {size} symbols, more than max_size={choice.max_size}: "
            f"{outcome.reason}. pick() takes a shorter one of rules_.",
            LongRuleWarning,
            stacklevel=_CALLER,
        )
    plain = [rule_model(rule, level) for rule in outcome.rules]
    figures: tuple[RuleNumbers, ...] = ()
    if numbers is None:
        models = counted_models(plain, data, labels, engine)
        right = [
            float(model.final.values[list(model.final.leaves)].max(axis=1).sum())
            for model in models
        ]
    else:
        models, figures = numbered_models(plain, data, labels, numbers, engine)
        right = [-each.mae if numbers.loss == "absolute" else each.r2 for each in figures]
    held_out = tuple(
        None if np.isnan(accuracy) else float(accuracy) for accuracy in outcome.held_out
    )
    # Stages that are done may be of use once more to a fit that was stopped.
    if checkpoint is not None and outcome.finished:
        checkpoint.remove()
    front = RuleFront(models, held_out, outcome.reason, figures)
    answer: Literal["class", "number"] = "class" if numbers is None else "number"
    # Where rules were found on a sample, leaves may have another class on all the data.
    sizes = [
        size_in_sample
        if leaf_classes(before.final) == leaf_classes(after.final)
        else read_size(after, answer)
        for size_in_sample, before, after in zip(outcome.sizes, plain, models, strict=True)
    ]
    return _front_on_all_data(front, outcome.chosen, sizes, right)


def _front_on_all_data(
    front: RuleFront, chosen: int, sizes: Sequence[int], right: Sequence[float]
) -> tuple[RuleFront, int]:
    """Return the rules that no shorter one equals on all the data, and the chosen one."""
    kept = best_for_size(sizes, right)
    left = RuleFront(
        tuple(front.models[index] for index in kept),
        tuple(front.held_out[index] for index in kept),
        front.reason,
        tuple(front.numbers[index] for index in kept) if front.numbers else (),
    )
    # What took the place of the chosen one is not longer, and as right.
    return left, max(n for n, index in enumerate(kept) if sizes[index] <= sizes[chosen])


def _targets(
    labels: RowLabels, scores: FloatArray | None, numbers: NumberTargets | None, rows: IntArray
) -> SearchTargets:
    """Return what is explained at some rows: numbers, scores, or indicators of the classes.

    Of two classes one indicator is enough.
    """
    weights = labels.weights[rows]
    total = int(weights.sum())
    if total > MOST_WEIGHT:
        scaled = np.rint(weights * (MOST_WEIGHT / 2 / total)).astype(np.int64)
        weights = np.where(weights > 0, np.maximum(scaled, 1), 0)
    classes = labels.classes[rows]
    if numbers is not None:
        here = numbers.at(rows, weights)
        return SearchTargets(here.to_explain()[:, None], classes, weights, labels.n_classes, here)
    if scores is not None:
        values = scores[rows]
    else:
        values = np.eye(labels.n_classes)[np.maximum(classes, 0)]
        if labels.n_classes == 2:
            values = values[:, 1:]
    return SearchTargets(values, classes, weights, labels.n_classes)
