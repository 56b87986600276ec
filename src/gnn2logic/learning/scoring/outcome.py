"""One search for a scorecard from beginning to end: how many lines, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.drafts import DraftLine, reading_cost_of, truths_of
from gnn2logic.learning.scoring.lines import LineSearch, LineSettings
from gnn2logic.learning.scoring.losses import Loss, PatternTable
from gnn2logic.learning.scoring.points import RoundedPoints, rounded_points
from gnn2logic.learning.scoring.refits import ScoreTargets
from gnn2logic.learning.search.clock import Clock, is_interrupt
from gnn2logic.learning.search.levels import Level
from gnn2logic.scorecards.path import CalibrationBin

__all__ = ["CardOutcome", "HeldOutFigures", "card_points", "search_cards"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Nobody sees a smaller difference in log loss: a chance of 0.999 instead of 1.
_NO_DIFFERENCE = 0.001
# But of a network that is never sure, all lines together may explain little more than that.
_SMALL_SHARE = 0.02
# Log-odds are made larger where that leaves at most this share of the held-out loss.
_NEARLY_CERTAIN = 0.5
_MOST_BINS = 10
_ROWS_IN_BIN = 20


@dataclass(frozen=True)
class HeldOutFigures:
    """What cards of every number of lines do on rows that they were not learned from.

    Parameters
    ----------
    accuracy, loss : array of float, by number of lines
        Accuracy is R2 for numbers. Absolute errors are in the unit of the numbers.
    """

    accuracy: FloatArray
    loss: FloatArray


@dataclass(frozen=True)
class CardOutcome:
    """Drafts of cards from no line to the most, and the chosen one.

    Parameters
    ----------
    drafts : tuple of tuple of DraftLine
    chosen : int
    reason : str
    held_out : HeldOutFigures or None
    shrinkage : tuple of float, by number of lines
        By what log-odds are multiplied so that probabilities are right on held-out rows.
    calibration : tuple of CalibrationBin
    interrupted : bool
    """

    drafts: tuple[tuple[DraftLine, ...], ...]
    chosen: int
    reason: str
    held_out: HeldOutFigures | None
    shrinkage: tuple[float, ...]
    calibration: tuple[CalibrationBin, ...]
    interrupted: bool


def card_points(
    loss: Loss,
    table: PatternTable,
    lines: Sequence[DraftLine],
    *,
    ridge: float,
    max_points: int,
    polish: bool,
) -> RoundedPoints:
    """Return the points of lines, fitted to the rows of a table together."""
    weights = loss.fit(table, ridge)
    n_cases = [len(line.conditions) for line in lines]
    return rounded_points(loss, table, weights, n_cases, max_points, ridge=ridge, polish=polish)


def search_cards(
    level: Level,
    targets: ScoreTargets,
    rows: IntArray,
    settings: LineSettings,
    *,
    folds: IntArray | None,
    max_points: int,
    proposed: Sequence[int] = (),
    report: Callable[[str, int], None] = lambda _, __: None,
    clock: Clock | None = None,
) -> CardOutcome:
    """Search lines for all rows, then for all but a fold of them, and choose how many to take.

    Parameters
    ----------
    folds : array of int or None
        The fold of every row; -1 for rows that are always learned from.
    report : callable
        Told the stage and the number of lines so far.
    """
    clock = Clock() if clock is None else clock
    paths = _search_at_paces(level, targets, rows, settings, proposed, "all data", report, clock)
    if not clock.goes_on():
        del paths[1:]
    n_folds = 0 if folds is None else int(folds.max()) + 1
    judged = np.zeros(len(rows), dtype=bool)
    raws = [np.zeros((len(drafts), len(rows), targets.loss.n_columns)) for drafts in paths]
    for number in range(n_folds):
        if not clock.goes_on():
            break
        held = folds == number
        inside = rows[~held]
        share = len(inside) / len(rows)
        of_fold = replace(settings, least_weight=max(1, int(settings.least_weight * share)))
        name = f"fold {number + 1} of {n_folds}"
        of_paces = _search_at_paces(level, targets, inside, of_fold, proposed, name, report, clock)
        # Half a search would make cards look worse than they are.
        if not clock.goes_on():
            break
        for raw, others in zip(raws, of_paces, strict=True):
            for stage in range(len(raw)):
                lines = others[min(stage, len(others) - 1)]
                raw[stage, held] = _predicted(
                    level, targets, inside, rows[held], lines, settings, max_points
                )
        judged |= held
    if not judged.any():
        reason = "the search was stopped before data were held out"
        if n_folds == 0:
            reason = "too few rows to hold some out"
        drafts = paths[0]
        return CardOutcome(
            drafts, len(drafts) - 1, reason, None, (1.0,) * len(drafts), (), clock.interrupted
        )
    held_rows = rows[judged]
    # Cards of all paces side by side: of those that are as good as the best, the easiest to read.
    everything = [
        (pace, stage) for pace, drafts in enumerate(paths) for stage in range(len(drafts))
    ]
    everything.sort(key=lambda place: (reading_cost_of(paths[place[0]][place[1]]), place))
    shrinkage = [_shrinkage(targets, held_rows, raws[p][stage][judged]) for p, stage in everything]
    raw_of_all = np.stack(
        [raws[p][stage][judged] * by for (p, stage), by in zip(everything, shrinkage, strict=True)]
    )
    figures, errors = _figures(targets, held_rows, raw_of_all)
    no_difference = 0.0
    if not targets.loss.is_number:
        no_difference = min(_NO_DIFFERENCE, _SMALL_SHARE * float(np.ptp(figures.loss)))
    chosen = _choose(figures.loss, settings.nearly_best * errors, no_difference)
    best = int(figures.loss.argmin())
    pace, n_chosen = everything[chosen]
    said, what = (f"{figures.loss[place]:.3f}" for place in (chosen, best)), "loss"
    if targets.loss.apart:
        said, what = (f"{figures.loss[place]:.4g}" for place in (chosen, best)), "absolute error"
    of_chosen, of_best = said
    reason = f"the smallest {what} on held-out data ({of_chosen})"
    if chosen != best:
        reason = (
            "as good on held-out data as the best that was tried, of "
            f"{everything[best][1]} lines: {what} {of_chosen} against {of_best}"
        )
    if folds is not None and not judged[folds >= 0].all():
        reason += "; not all folds were searched before the end"
    calibration = _calibration(targets, held_rows, raw_of_all[chosen])
    of_pace = [number for number, place in enumerate(everything) if place[0] == pace]
    return CardOutcome(
        paths[pace],
        n_chosen,
        reason,
        HeldOutFigures(figures.accuracy[of_pace], figures.loss[of_pace]),
        tuple(shrinkage[number] for number in of_pace),
        calibration,
        clock.interrupted,
    )


def _search_at_paces(
    level: Level,
    targets: ScoreTargets,
    rows: IntArray,
    settings: LineSettings,
    proposed: Sequence[int],
    name: str,
    report: Callable[[str, int], None],
    clock: Clock,
) -> list[tuple[tuple[DraftLine, ...], ...]]:
    """Return, for every pace that there is time for, lines from none to the most."""
    search = LineSearch(level, targets, rows, settings)
    paths: list[tuple[tuple[DraftLine, ...], ...]] = []
    for pace in settings.paces:
        if paths and not clock.goes_on():
            break
        drafts: list[tuple[DraftLine, ...]] = [()]
        try:
            for lines in search.run(proposed, pace):
                if lines:
                    drafts[len(lines) :] = [lines]
                    report(name, len(lines))
                if not clock.goes_on():
                    break
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            clock.stop()
            if name == "all data" and not paths and len(drafts) == 1:
                raise KeyboardInterrupt from error
        paths.append(tuple(drafts))
    return paths


def _predicted(
    level: Level,
    targets: ScoreTargets,
    inside: IntArray,
    outside: IntArray,
    lines: Sequence[DraftLine],
    settings: LineSettings,
    max_points: int,
) -> FloatArray:
    """Return what a card that is learned from some rows says about others."""
    card = card_points(
        targets.loss,
        targets.table(truths_of(lines, inside), inside),
        lines,
        ridge=targets.ridge(settings.ridge, inside),
        max_points=max_points,
        polish=False,
    )
    scores = np.tile(card.base, (len(outside), 1))
    for line, points in zip(lines, card.points, strict=True):
        held = truths_of([line], outside).sum(axis=1)
        scores = scores + points[held]
    return np.asarray(card.intercept + card.slope * scores)


def _figures(
    targets: ScoreTargets, rows: IntArray, raw: FloatArray
) -> tuple[HeldOutFigures, FloatArray]:
    """Return accuracy and loss by number of lines, and how sure differences to the best are."""
    weights = targets.weights[rows].astype(np.float64)
    values = targets.values[rows]
    losses = np.stack([targets.loss.of_rows(each, values) for each in raw]) * targets.unit
    if targets.loss.is_number and not targets.loss.apart:
        # The squared error itself, so that people can read it: 1 is as good as no line.
        losses = losses + values[:, 0] ** 2
    mean = losses @ weights / weights.sum()
    best = int(mean.argmin())
    apart = losses - losses[best]
    spread = ((apart - (mean - mean[best])[:, None]) ** 2) @ weights / weights.sum()
    errors = np.sqrt(spread / len(rows))
    classes = targets.classes[rows]
    accuracy = np.array([_accuracy(targets.loss, each, values, classes, weights) for each in raw])
    return HeldOutFigures(accuracy, mean), errors


def _accuracy(
    loss: Loss, raw: FloatArray, values: FloatArray, classes: IntArray, weights: FloatArray
) -> float:
    if loss.is_number:
        mean = np.average(values[:, 0], weights=weights)
        total = float(weights @ (values[:, 0] - mean) ** 2)
        rest = float(weights @ (values[:, 0] - raw[:, 0]) ** 2)
        return 1 - rest / total if total > 0 else 0.0
    predicted = raw[:, 0] > 0 if loss.is_binary else raw.argmax(axis=1)
    return float(np.average(predicted == classes.argmax(axis=1), weights=weights))


def _choose(loss: FloatArray, allowed: FloatArray, no_difference: float) -> int:
    """Return the first card whose loss is nearly that of the best."""
    near = loss <= loss.min() + np.maximum(allowed, no_difference)
    return int(np.flatnonzero(near)[0])


def _shrinkage(targets: ScoreTargets, rows: IntArray, raw: FloatArray) -> float:
    """Return the factor of log-odds at which the held-out loss is smallest."""
    if targets.loss.is_number:
        return 1.0
    weights = targets.weights[rows].astype(np.float64)
    sums = targets.values[rows] * weights[:, None]
    smaller, larger = np.linspace(0.05, 1.0, 96), np.geomspace(1.05, 10.0, 48)

    def best_of(factors: FloatArray) -> tuple[float, float]:
        losses = [targets.loss.mean(factor * raw, weights, sums) for factor in factors]
        place = int(np.argmin(losses))
        return losses[place], float(factors[place])

    loss, factor = best_of(smaller)
    # Few lines that are the truth are held back by the ridge. Where classes are drawn by chance,
    # larger log-odds gain little, and would make cards of few lines look better than they are.
    if (bolder := best_of(larger))[0] < _NEARLY_CERTAIN * loss:
        factor = bolder[1]
    return factor


def _calibration(
    targets: ScoreTargets, rows: IntArray, raw: FloatArray
) -> tuple[CalibrationBin, ...]:
    """Compare predicted probabilities with what came out, on held-out rows."""
    loss = targets.loss
    if loss.is_number:
        return ()
    weights = targets.weights[rows].astype(np.float64)
    chance = loss.expected(raw)
    values = targets.values[rows]
    if loss.is_binary:
        predicted, observed = chance[:, 0], values[:, 0]
    else:
        best = chance.argmax(axis=1)
        predicted = chance[np.arange(len(best)), best]
        observed = values[np.arange(len(best)), best]
    n_bins = int(np.clip(len(rows) // _ROWS_IN_BIN, 1, _MOST_BINS))
    order = np.argsort(predicted, kind="stable")
    bins = []
    for members in np.array_split(order, n_bins):
        total = weights[members].sum()
        if total > 0:
            bins.append(
                CalibrationBin(
                    float(weights[members] @ predicted[members] / total),
                    float(weights[members] @ observed[members] / total),
                    float(total / weights.sum()),
                )
            )
    return tuple(bins)
