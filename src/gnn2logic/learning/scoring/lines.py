"""The search for lines: each next one tells what the lines so far leave open.

The search looks at residuals, the part of the targets that the lines do not explain yet. Columns
and their words are kept from line to line; judging them anew costs little, and pairs are searched
again after 1, 3, 6, ... lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.losses import TARGET_STEPS, Loss, PatternTable
from gnn2logic.learning.search.conditions import Condition
from gnn2logic.learning.search.cuts import Form
from gnn2logic.learning.search.judging import Verdict
from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.rounds import RoundSettings, Search

__all__ = ["DraftLine", "LineSearch", "LineSettings", "ScoreTargets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LineSettings:
    """How lines are searched for.

    Parameters
    ----------
    max_lines : int
    max_line_size : int
        The most symbols of a line.
    price : float
        What a symbol must explain, in rows: a share of ``price / n_rows`` of the variance.
    ridge : float
        The price of large weights, in rows.
    most_steps : int
        How many conditions one line may have.
    step_size : int
        A further condition on a count is as dear as so many symbols.
    searched_again : frozenset of int
        After how many lines pairs are searched again.
    """

    max_lines: int = 20
    max_line_size: int = 10
    price: float = 1.5
    ridge: float = 4.0
    most_steps: int = 3
    step_size: int = 6
    searched_again: frozenset[int] = frozenset({1, 3, 6, 11, 18, 27, 40, 60})
    rounds: RoundSettings = field(default_factory=lambda: RoundSettings(pair_work=10_000_000))
    least_weight: int = 5

    def of_depth(self, depth: int) -> Self:
        """Return settings whose lines nest at most so many modal parameters."""
        return replace(self, rounds=replace(self.rounds, depth=depth))


@dataclass(frozen=True)
class ScoreTargets:
    """What scores explain.

    Parameters
    ----------
    whole : array of int, shape (n_rows, n_columns)
        Targets in `TARGET_STEPS`: probabilities of classes, or standardised numbers.
    classes : array of int, shape (n_rows, n_classes)
        1 for the class of a row, else 0; without columns for numbers.
    weights : array of int, shape (n_rows,)
    loss : Loss
    """

    whole: IntArray
    classes: IntArray
    weights: IntArray
    loss: Loss

    @property
    def values(self) -> FloatArray:
        """The targets as numbers."""
        return self.whole / TARGET_STEPS

    def table(self, truths: npt.NDArray[np.bool_], rows: IntArray) -> PatternTable:
        """Return the pattern table of some rows, given where conditions hold there."""
        return PatternTable.of_rows(
            truths, self.weights[rows], self.whole[rows], self.classes[rows]
        )

    def ridge(self, per_row: float, rows: IntArray) -> float:
        """Return the price of large weights; it is given in rows, whatever a row weighs."""
        return per_row * float(self.weights[rows].sum()) / len(rows)


@dataclass(frozen=True)
class DraftLine:
    """A line without points: conditions on one column from weak to strong.

    Parameters
    ----------
    column : int
    form : Form or None
        What is compared; None for conditions on nodes.
    cuts : tuple of int
    conditions : tuple of Condition
    """

    column: int
    form: Form | None
    cuts: tuple[int, ...]
    conditions: tuple[Condition, ...]


class LineSearch:
    """Finds lines for some rows, one after the other."""

    def __init__(
        self, level: Level, targets: ScoreTargets, rows: IntArray, settings: LineSettings
    ) -> None:
        self.level, self.targets, self.rows, self.settings = level, targets, rows, settings
        self._price = settings.price / len(rows)
        self._ridge = targets.ridge(settings.ridge, rows)
        self._known: dict[int, None] = {}

    def run(self, proposed: Sequence[int] = ()) -> Iterator[tuple[DraftLine, ...]]:
        """Give the lines so far, first none, after each new line and the steps that follow it."""
        lines: tuple[DraftLine, ...] = ()
        weights: FloatArray | None = None
        while True:
            weights = self._fitted(lines, weights)
            residuals = self._residuals(lines, weights)
            best = self._best_line(lines, residuals, proposed if not lines else ())
            step = self._best_step(lines, residuals)
            if step is not None and (best is None or step[0] > best[0]):
                lines = step[1]
                # Steps come between others, so earlier weights are no guess.
                weights = None
                continue
            yield lines
            if best is None or len(lines) >= self.settings.max_lines:
                return
            lines = (*lines, best[1])

    # The fit so far ----------------------------------------------------------------------------

    def _fitted(self, lines: Sequence[DraftLine], start: FloatArray | None) -> FloatArray:
        table = self.targets.table(truths_of(lines, self.rows), self.rows)
        return self.targets.loss.fit(table, self._ridge, start)

    def _residuals(self, lines: Sequence[DraftLine], weights: FloatArray) -> FloatArray:
        raw = weights[0] + truths_of(lines, self.rows) @ weights[1:]
        residuals = np.zeros_like(self.targets.values)
        residuals[self.rows] = self.targets.values[self.rows] - self.targets.loss.expected(raw)
        return residuals

    # Lines -------------------------------------------------------------------------------------

    def _best_line(
        self, lines: Sequence[DraftLine], residuals: FloatArray, proposed: Sequence[int]
    ) -> tuple[float, DraftLine] | None:
        """Return the best new line and what it is worth."""
        best: tuple[float, DraftLine] | None = None
        taken = {(line.column, line.form) for line in lines}
        varied = self._varied(residuals)
        for channel in varied:
            search = self._search(residuals[:, channel], len(lines), len(varied), proposed)
            scale = self._variance(residuals[:, channel])
            for number in search.best(len(search.verdicts)):
                verdict = search.verdicts[number]
                if best is not None and verdict.value * scale <= best[0]:
                    break
                if self._is_allowed(number, verdict, taken):
                    line = self._line(number, verdict.form, (verdict.cut,))
                    best = verdict.value * scale, line
                    break
        return best if best is not None and best[0] > 0 else None

    def _search(
        self, residual: FloatArray, n_lines: int, n_channels: int, proposed: Sequence[int]
    ) -> Search:
        judge = self.level.judge(
            self.rows,
            residual,
            self.targets.weights,
            price=self._price,
            least_weight=self.settings.least_weight,
        )
        search = Search(judge, self.settings.rounds.shared_by(n_channels))
        if n_lines == 0:
            for _ in search.rounds(proposed):
                pass
        search.judge_columns(self._known)
        if n_lines in self.settings.searched_again:
            search.pair_up()
        self._known.update(dict.fromkeys(search.verdicts))
        return search

    def _is_allowed(
        self, number: int, verdict: Verdict, taken: set[tuple[int, Form | None]]
    ) -> bool:
        space = self.level.space
        if verdict.form is None:
            size = min(space.sizes(number))
        elif verdict.cut < 0:
            return False
        else:
            size = space.sizes(number)[verdict.form.negated] + 1
        fits = size <= self.settings.max_line_size
        return fits and (number, verdict.form) not in taken and bool(verdict.gain > 0)

    def _line(self, column: int, form: Form | None, cuts: tuple[int, ...]) -> DraftLine:
        conditions = tuple(self.level.condition(column, form, cut) for cut in cuts)
        return DraftLine(column, form, cuts, conditions)

    def _varied(self, residuals: FloatArray) -> list[int]:
        inside = residuals[self.rows]
        return np.flatnonzero(inside.max(axis=0) - inside.min(axis=0) > 1e-9).tolist()

    def _variance(self, residual: FloatArray) -> float:
        weights = self.targets.weights[self.rows]
        inside = residual[self.rows]
        mean = weights @ inside / weights.sum()
        return float(weights @ (inside - mean) ** 2)

    # Steps -------------------------------------------------------------------------------------

    def _best_step(
        self, lines: Sequence[DraftLine], residuals: FloatArray
    ) -> tuple[float, tuple[DraftLine, ...]] | None:
        """Return the lines with the best further condition on a count, and what it is worth."""
        best: tuple[float, int, int] | None = None
        for place, line in enumerate(lines):
            if line.form is None or len(line.cuts) >= self.settings.most_steps:
                continue
            bins = self.level.bins_of(line.column, line.form)[self.rows]
            for channel in self._varied(residuals):
                price = self._price * self._variance(residuals[:, channel])
                for cut, gain in self._cut_gains(bins, residuals[self.rows, channel]):
                    # A cut just below a fraction is one of the complement, and reads differently.
                    is_odd = line.form in (Form.SHARE, Form.SHARE_NOT) and (
                        cut % 2 != line.cuts[0] % 2
                    )
                    value = gain - price * self.settings.step_size
                    if cut in line.cuts or is_odd or value <= 0:
                        continue
                    if best is None or value > best[0]:
                        best = value, place, cut
        if best is None:
            return None
        value, place, cut = best
        line = lines[place]
        cuts = sorted((*line.cuts, cut))
        if line.form is Form.SHARE_NOT:
            # The complement has more where the column has less.
            cuts.reverse()
        longer = self._line(line.column, line.form, tuple(cuts))
        return value, (*lines[:place], longer, *lines[place + 1 :])

    def _cut_gains(self, bins: IntArray, residual: FloatArray) -> list[tuple[int, float]]:
        """Return what a condition after each bin explains of a residual."""
        weights = self.targets.weights[self.rows].astype(np.float64)
        n_bins = int(bins.max()) + 1
        below = np.cumsum(np.bincount(bins, weights, n_bins))
        sums = np.cumsum(np.bincount(bins, weights * residual, n_bins))
        total, everything = below[-1], sums[-1]
        gains = []
        least = self.settings.least_weight
        for cut in range(n_bins - 1):
            inside, outside = below[cut], total - below[cut]
            if min(inside, outside) < least:
                continue
            rest = everything - sums[cut]
            gain = sums[cut] ** 2 / inside + rest**2 / outside - everything**2 / total
            gains.append((cut, float(gain)))
        return gains


def truths_of(lines: Sequence[DraftLine], rows: IntArray) -> npt.NDArray[np.bool_]:
    """Return where the conditions of all lines hold, of shape (n_rows, n_conditions)."""
    conditions = [condition.truth[rows] for line in lines for condition in line.conditions]
    if not conditions:
        return np.zeros((len(rows), 0), dtype=bool)
    return np.stack(conditions, axis=1)
