"""A fit by search: graphs and labels in, a front of models out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._progress import Progress
from gnn2logic.exceptions import LongRuleWarning
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.model import RuleFront
from gnn2logic.learning.data import RowLabels
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.judging import MOST_WEIGHT
from gnn2logic.learning.search.levels import GraphLevel, Level, NodeLevel
from gnn2logic.learning.search.models import rule_model
from gnn2logic.learning.search.outcome import Choice, search_rules
from gnn2logic.learning.search.rounds import RoundSettings
from gnn2logic.learning.search.rule_search import SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import SearchedRule

__all__ = ["SearchOptions", "fit_by_search"]

IntArray = npt.NDArray[np.int64]

# A condition must tell this many rows from the others, where there are enough.
_FEW_ROWS = 5
_ROWS_FOR_FEW = 250


@dataclass(frozen=True)
class SearchOptions:
    """What the caller of a fit by search may choose.

    Parameters
    ----------
    modalities : sequence of Modality
        The modal parameters that columns look along.
    absolute, relative : bool
        Whether columns compare counts, and shares.
    depth : int
        The largest number of nested modal parameters below the count on graphs.
    min_rows : int
        How many graphs or nodes a condition must tell from the others, at least.
    max_size : int or None
        The longest rule that is taken without a good reason; None for the default.
    max_time : float or None
        Seconds.
    """

    modalities: Sequence[Modality]
    absolute: bool
    relative: bool
    depth: int
    min_rows: int
    max_size: int | None
    max_time: float | None


def fit_by_search(
    graphs: GraphBatch,
    labels: RowLabels,
    level: Literal["graph", "node"],
    options: SearchOptions,
    *,
    seed: Sequence[int],
    progress: Progress,
) -> tuple[RuleFront, int]:
    """Return rules from short to long as models, and the number of the chosen one."""
    space = ColumnSpace(
        graphs, options.modalities, absolute=options.absolute, relative=options.relative
    )
    about: Level = GraphLevel(space) if level == "graph" else NodeLevel(space)
    rows = np.flatnonzero(labels.weights > 0)
    targets = _targets(labels)
    total, n_rows = int(targets.weights[rows].sum()), len(rows)
    least_rows = max(options.min_rows, min(_FEW_ROWS, n_rows * _FEW_ROWS // _ROWS_FOR_FEW))
    rounds = RoundSettings(depth=options.depth)
    settings = SearchSettings(
        rounds=rounds,
        below=replace(rounds, depth=min(1, options.depth)),
        least_weight=max(1, round(least_rows * total / n_rows)),
    )
    choice = Choice(max_seconds=options.max_time)
    if options.max_size is not None:
        choice = replace(choice, max_size=options.max_size)

    def report(part_of_data: str, rule: SearchedRule) -> None:
        progress.step(f"{part_of_data}, {rule.fit:.0%} explained by {rule.size} symbols, step")

    outcome = search_rules(
        about,
        targets,
        rows,
        settings,
        choice,
        groups=None if level == "graph" else graphs.graph_index,
        seed=seed,
        report=report,
    )
    chosen = outcome.rules[outcome.chosen]
    if chosen.size > choice.max_size:
        warnings.warn(
            f"The chosen rule has {chosen.size} symbols, more than max_size={choice.max_size}: "
            f"{outcome.reason}. pick() takes a shorter one of rules_.",
            LongRuleWarning,
            stacklevel=2,
        )
    models = tuple(rule_model(rule, targets, rows, level) for rule in outcome.rules)
    held_out = tuple(
        None if np.isnan(accuracy) else float(accuracy) for accuracy in outcome.held_out
    )
    return RuleFront(models, held_out, outcome.reason), outcome.chosen


def _targets(labels: RowLabels) -> SearchTargets:
    """Return indicators of the classes; of two classes one is enough."""
    weights = labels.weights
    total = int(weights.sum())
    if total > MOST_WEIGHT:
        scaled = np.rint(weights * (MOST_WEIGHT / 2 / total)).astype(np.int64)
        weights = np.where(weights > 0, np.maximum(scaled, 1), 0)
    values = np.eye(labels.n_classes)[np.maximum(labels.classes, 0)]
    if labels.n_classes == 2:
        values = values[:, 1:]
    return SearchTargets(values, labels.classes, weights, labels.n_classes)
