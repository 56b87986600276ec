"""A fit of a scorecard: graphs and targets in, a path of cards out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._progress import Progress
from gnn2logic.engines.protocol import Engine
from gnn2logic.exceptions import InterruptedSearchWarning
from gnn2logic.idt.graph_model import r_squared
from gnn2logic.learning.data import RowLabels, TrainingData
from gnn2logic.learning.scoring.absolute import AbsoluteLoss, centre_and_spread
from gnn2logic.learning.scoring.drafts import DraftLine
from gnn2logic.learning.scoring.lines import LineSettings
from gnn2logic.learning.scoring.losses import (
    TARGET_STEPS,
    Loss,
    PatternTable,
    loss_for,
    scaled_sums,
)
from gnn2logic.learning.scoring.outcome import CardOutcome, card_points, search_cards
from gnn2logic.learning.scoring.points import RoundedPoints
from gnn2logic.learning.scoring.reading import ReadingSpace
from gnn2logic.learning.scoring.refits import ScoreTargets
from gnn2logic.learning.search.clock import Clock
from gnn2logic.learning.search.levels import GraphLevel, Level, NodeLevel
from gnn2logic.learning.search.sampling import judged_rows, searched_data
from gnn2logic.learning.search.selection import held_out_folds
from gnn2logic.learning.search.whole_numbers import MOST_WEIGHT
from gnn2logic.learning.settings import CardOptions
from gnn2logic.learning.shard.sources import ShardSource
from gnn2logic.logic.syntax import Formula
from gnn2logic.scorecards.card import Line, Scorecard, held_conditions
from gnn2logic.scorecards.path import CardPath, PathRow

__all__ = ["CardTargets", "fit_card"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Warnings are about the line that calls `fit`: fit_card, _search, _learn and fit are ours.
_CALLER = 5
# While a shard answers: its graphs, and the truth of a few columns at each node.
_WORK_BYTES = 512
_ROW_BYTES = 80
# Numbers farther out than so many spreads are drawn in before absolute errors are looked at.
_FARTHEST = 2.0**40
_FEW_ROWS = 5
_ROWS_FOR_FEW = 250


@dataclass(frozen=True)
class CardTargets:
    """What a scorecard is to say about every row.

    Parameters
    ----------
    labels : RowLabels
        Classes and weights; for numbers the classes are all 0.
    answer : {"class", "number"}
        What is predicted.
    values : array of float or None
        Numbers, of shape (n_rows, 1), or the probability of every class by a network; None for the
        classes themselves.
    loss : {"squared", "absolute"}
        How wrong numbers count.
    """

    labels: RowLabels
    answer: Literal["class", "number"]
    values: FloatArray | None
    loss: Literal["squared", "absolute"] = "squared"

    def centre_and_scale(self) -> tuple[float, float]:
        """Return the mean (or median) and the spread of numbers; 0 and 1 for classes."""
        if self.answer == "class" or self.values is None:
            return 0.0, 1.0
        weights = self.labels.weights
        numbers = self.values[:, 0]
        if self.loss == "absolute":
            return centre_and_spread(numbers, weights)
        mean = float(np.average(numbers, weights=weights))
        spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights)))
        return mean, spread if spread > 0 else 1.0

    def whole(self) -> ScoreTargets:
        """Return targets as whole numbers, for all rows."""
        labels = self.labels
        loss: Loss = loss_for(self.answer, labels.n_classes)
        unit = 1.0
        one_hot = np.eye(labels.n_classes, dtype=np.int64)[np.maximum(labels.classes, 0)]
        if self.answer == "number":
            assert self.values is not None
            mean, spread = self.centre_and_scale()
            columns, one_hot = (self.values - mean) / spread, one_hot[:, :0]
            if self.loss == "absolute":
                # Whoever is far out is far out; how far is no whole number at some point.
                columns = np.clip(columns, -_FARTHEST, _FARTHEST)
                loss, unit = AbsoluteLoss(), spread
        else:
            shares = one_hot.astype(np.float64) if self.values is None else self.values
            columns = shares[:, 1:] if loss.is_binary else shares
        whole = np.rint(columns * TARGET_STEPS).astype(np.int64)
        return ScoreTargets(whole, one_hot, labels.weights, loss, unit)


def fit_card(
    data: TrainingData,
    targets: CardTargets,
    level: Literal["graph", "node"],
    options: CardOptions,
    *,
    proposed: Sequence[Formula] = (),
    seed: Sequence[int],
    engine: Engine,
    progress: Progress,
) -> CardPath:
    """Return cards from no line to the most, and which one to use."""
    searched = searched_data(data, targets.labels, level, share=options.max_samples, seed=seed)
    space = ReadingSpace(
        searched.batch, options.modalities, absolute=options.absolute, relative=options.relative
    )
    about: Level = GraphLevel(space) if level == "graph" else NodeLevel(space)
    everything = targets.whole()
    sample = _of_rows(everything, searched.rows)
    rows = judged_rows(targets.labels.classes[searched.rows], sample.weights, seed=seed)
    settings = _settings(options, targets, sample, rows)
    clock = Clock(options.max_time)
    outcome = search_cards(
        about,
        sample,
        rows,
        settings,
        folds=held_out_folds(
            targets.labels.classes[searched.rows[rows]],
            targets.labels.n_classes,
            None if level == "graph" else searched.batch.graph_index[rows],
            seed,
        ),
        max_points=options.max_points,
        proposed=space.add_formulas(list(proposed)),
        report=lambda stage, lines: progress.step(f"{stage}, {lines} lines, step"),
        clock=clock,
    )
    if outcome.interrupted:
        warnings.warn(
            "The search was interrupted; the scorecard has the lines that were found so far. A "
            "second interrupt ends the fit.",
            InterruptedSearchWarning,
            stacklevel=_CALLER,
        )
    conditions = list(
        dict.fromkeys(
            condition.formula
            for lines in outcome.drafts
            for line in lines
            for condition in line.conditions
        )
    )
    table = _all_patterns(data, everything, level, conditions, engine)
    return _path(outcome, table, conditions, targets, everything, settings, options, level)


def _settings(
    options: CardOptions, targets: CardTargets, sample: ScoreTargets, rows: IntArray
) -> LineSettings:
    few = min(_FEW_ROWS, len(rows) * _FEW_ROWS // _ROWS_FOR_FEW)
    if targets.answer == "class":
        counts = sample.classes[rows].sum(axis=0)
        few = min(few, int(counts[counts > 0].min()) // 2)
    share = float(sample.weights[rows].sum()) / len(rows)
    settings = LineSettings(
        max_lines=options.max_lines,
        max_line_size=options.max_line_size,
        least_weight=max(1, round(max(1, few) * share)),
    )
    if targets.answer == "class" and targets.values is not None:
        settings = settings.for_scores()
    return settings.of_depth(options.depth)


def _of_rows(targets: ScoreTargets, rows: IntArray) -> ScoreTargets:
    """Return the targets of some rows; kernels need weights that are not too large together."""
    weights = targets.weights[rows]
    total = int(weights.sum())
    if total > MOST_WEIGHT:
        scaled = np.rint(weights * (MOST_WEIGHT / 2 / total)).astype(np.int64)
        weights = np.where(weights > 0, np.maximum(scaled, 1), 0)
    return replace(
        targets, whole=targets.whole[rows], classes=targets.classes[rows], weights=weights
    )


# All the data ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ScoredShard:
    """One shard of graphs with its targets: a maker, and a state that nothing changes."""

    source: ShardSource
    level: Literal["graph", "node"]
    weights: IntArray
    whole: IntArray
    classes: IntArray
    apart: bool

    @property
    def work_bytes(self) -> int:
        """About how much memory the shard needs while it answers."""
        return _WORK_BYTES * self.source.n_nodes

    @property
    def row_bytes(self) -> int:
        """About how much memory its targets take."""
        return _ROW_BYTES * len(self.weights)

    def __call__(self, scratch: Path | None = None) -> _ScoredShard:
        """Return itself; it keeps nothing."""
        return self

    def patterns(self, conditions: Sequence[Formula]) -> PatternTable:
        """Return where conditions hold, and the targets there."""
        truths = held_conditions([[each] for each in conditions], self.source.load(), self.level)
        return PatternTable.of_rows(
            truths > 0, self.weights, self.whole, self.classes, apart=self.apart
        )


def _all_patterns(
    data: TrainingData,
    targets: ScoreTargets,
    level: Literal["graph", "node"],
    conditions: Sequence[Formula],
    engine: Engine,
) -> PatternTable:
    shards, start = [], 0
    for source in data.sources:
        stop = start + (source.n_graphs if level == "graph" else source.n_nodes)
        here = slice(start, stop)
        shards.append(
            _ScoredShard(
                source,
                level,
                targets.weights[here],
                targets.whole[here],
                targets.classes[here],
                targets.loss.apart,
            )
        )
        start = stop
    crew = engine.place(shards)
    try:
        return crew.ask(_ScoredShard.patterns, conditions)
    finally:
        crew.close()


def _path(
    outcome: CardOutcome,
    table: PatternTable,
    conditions: Sequence[Formula],
    targets: CardTargets,
    everything: ScoreTargets,
    settings: LineSettings,
    options: CardOptions,
    level: Literal["graph", "node"],
) -> CardPath:
    """Return the cards of all drafts, with points that fit all the data."""
    position = {formula: number for number, formula in enumerate(conditions)}
    seen = np.flatnonzero(everything.weights > 0)
    ridge = everything.ridge(settings.ridge, seen)
    figures = outcome.held_out
    rows = []
    for number, lines in enumerate(outcome.drafts):
        numbers = [position[each.formula] for line in lines for each in line.conditions]
        of_lines = table.some_conditions(numbers)
        points = card_points(
            everything.loss,
            of_lines,
            lines,
            ridge=ridge,
            max_points=options.max_points,
            polish=True,
        )
        card = _card(lines, points, outcome.shrinkage[number], targets, level)
        rows.append(
            PathRow(
                card,
                _train_figure(card, lines, of_lines, targets),
                None if figures is None else float(figures.accuracy[number]),
                None if figures is None else float(figures.loss[number]),
            )
        )
    return CardPath(tuple(rows), outcome.chosen, outcome.reason, outcome.calibration)


def _card(
    lines: Sequence[DraftLine],
    points: RoundedPoints,
    shrinkage: float,
    targets: CardTargets,
    level: Literal["graph", "node"],
) -> Scorecard:
    mean, spread = targets.centre_and_scale()
    built = tuple(_line(line, of_line) for line, of_line in zip(lines, points.points, strict=True))
    return Scorecard(
        built,
        tuple(points.base.tolist()),
        points.slope * shrinkage * spread,
        mean + points.intercept * shrinkage * spread,
        targets.answer,
        targets.labels.n_classes if targets.answer == "class" else 0,
        level,
    )


def _line(draft: DraftLine, points: IntArray) -> Line:
    """Return a line with points; steps that change nothing are left out, but for one."""
    changes = (points[1:] != points[:-1]).any(axis=1)
    changes[0] |= not changes.any()
    numbers = np.flatnonzero(changes)
    return Line(
        tuple(draft.conditions[number].formula for number in numbers),
        tuple(tuple(row) for row in points[1:][numbers].tolist()),
    )


def _train_figure(
    card: Scorecard, lines: Sequence[DraftLine], table: PatternTable, targets: CardTargets
) -> float:
    """Return the accuracy of a card on all the data, or R2 for numbers."""
    held = np.zeros((len(table.weights), len(lines)), dtype=np.int64)
    column = 0
    for number, (line, built) in enumerate(zip(lines, card.lines, strict=True)):
        for condition in line.conditions:
            # A card leaves out steps that change nothing.
            if condition.formula in built.conditions:
                held[:, number] += table.truths[:, column]
            column += 1
    scores = card.scores(held)
    if targets.answer == "class":
        right = table.classes[np.arange(len(scores)), card.classes(scores)].sum()
        return float(right / table.weights.sum())
    assert targets.values is not None
    weights = targets.labels.weights.astype(np.float64)
    numbers = targets.values[:, 0]
    mean, spread = targets.centre_and_scale()
    # In units of the spread, as the sums of the table are.
    predicted = (card.numbers(scores)[:, 0] - mean) / spread
    of_patterns, sums = (each.reshape(len(predicted)) for each in scaled_sums(table))
    if table.apart:
        return r_squared(sums / of_patterns, predicted, of_patterns)
    total = float(weights @ (numbers - mean) ** 2)
    gained = 2 * float(predicted @ sums) - float(table.weights @ predicted**2)
    return gained * spread**2 / total if total > 0 else 0.0
