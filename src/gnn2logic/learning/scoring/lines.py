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
from gnn2logic.learning.search.judging import Judge
from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.rounds import RoundSettings, Search

__all__ = ["DraftLine", "LineSearch", "LineSettings", "Pace", "ScoreTargets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pace:
    """How much a new line is trusted while others are searched.

    A planted card is found line by line, each with all its weight, and a line that others make
    better is replaced. Where no few lines are the truth, small weights make fewer mistakes: a line
    leaves much of what it says to the next ones, which say it in other words.

    Parameters
    ----------
    price : float
        What a symbol must explain, in rows: a share of ``price / n_rows`` of the variance.
    ridge : float
        The least price of large weights, in rows.
    ridge_share : float
        The same as a share of the rows; the larger one holds.
    swaps : bool
        Whether lines are replaced by better ones, given the others.
    """

    price: float
    ridge: float
    ridge_share: float
    swaps: bool


@dataclass(frozen=True)
class LineSettings:
    """How lines are searched for.

    Parameters
    ----------
    max_lines : int
    max_line_size : int
        The most symbols of a line.
    ridge : float
        The price of large weights, in rows.
    paces : tuple of Pace
        How lines may be found; what is held out chooses among them.
    most_steps : int
        How many conditions one line may have.
    step_size : int
        A further condition on a count is as dear as so many symbols.
    searched_again : frozenset of int
        After how many lines pairs are searched again.
    swapped_after : frozenset of int
        After how many lines each of them is replaced if another is better beside the others,
        where the pace has swaps.
    """

    max_lines: int = 20
    max_line_size: int = 10
    ridge: float = 4.0
    paces: tuple[Pace, ...] = (
        Pace(price=4.5, ridge=4.0, ridge_share=0.0, swaps=True),
        Pace(price=3.0, ridge=10.0, ridge_share=1 / 40, swaps=False),
    )
    most_steps: int = 3
    step_size: int = 6
    searched_again: frozenset[int] = frozenset({1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 40, 60})
    swapped_after: frozenset[int] = frozenset({2, 3, 4, 5, 6, 8, 10, 13, 16, 20})
    rounds: RoundSettings = field(default_factory=lambda: RoundSettings(pair_work=10_000_000))
    least_weight: int = 5

    def with_ridge(self, ridge: float) -> Self:
        """Return settings with another price of large weights; careful paces keep theirs."""
        paces = tuple(
            replace(pace, ridge=ridge) if pace.ridge == self.ridge else pace for pace in self.paces
        )
        return replace(self, ridge=ridge, paces=paces)

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
        self._pace = settings.paces[0]
        # Columns that were found before the first line, and those that lines may have now.
        self._first: tuple[int, ...] = ()
        self._known: dict[int, None] = {}
        self._shortened: set[int] = set()

    @property
    def _price(self) -> float:
        return self._pace.price / len(self.rows)

    def run(
        self, proposed: Sequence[int] = (), pace: Pace | None = None
    ) -> Iterator[tuple[DraftLine, ...]]:
        """Give the lines so far, first none, after each new line and the steps that follow it.

        Where a line is left out, the next ones replace what was given for as many lines.
        What is found does not depend on earlier runs; they only save it work.
        """
        lines: tuple[DraftLine, ...] = ()
        if not self._first:
            # Whatever the pace: prices of the last one, which is the most generous.
            self._pace = self.settings.paces[-1]
            self._explore(self._residuals(lines), 0, proposed)
            self._first = tuple(self._known)
        self._known, self._shortened = dict.fromkeys(self._first), set()
        self._pace = self.settings.paces[0] if pace is None else pace
        while True:
            residuals = self._residuals(lines)
            best = self._best_line(lines, residuals)
            step = self._best_step(lines, residuals)
            if step is not None and (best is None or step[0] > best[0]):
                lines = step[1]
                continue
            yield lines
            if best is None or len(lines) >= self.settings.max_lines:
                return
            lines = self._swapped((*lines, best[1]))
            if len(lines) in self.settings.searched_again:
                self._explore(self._residuals(lines), len(lines))

    # The fit so far ----------------------------------------------------------------------------

    def _residuals(self, lines: Sequence[DraftLine]) -> FloatArray:
        truths = truths_of(lines, self.rows)
        table = self.targets.table(truths, self.rows)
        ridge = max(self._pace.ridge, self._pace.ridge_share * len(self.rows))
        weights = self.targets.loss.fit(table, self.targets.ridge(ridge, self.rows))
        raw = weights[0] + truths @ weights[1:]
        residuals = np.zeros_like(self.targets.values)
        residuals[self.rows] = self.targets.values[self.rows] - self.targets.loss.expected(raw)
        return residuals

    # Lines -------------------------------------------------------------------------------------

    def _explore(self, residuals: FloatArray, n_lines: int, proposed: Sequence[int] = ()) -> None:
        """Look for columns: one modal depth after the other at first, pairs of known ones later."""
        varied = self._varied(residuals)
        for channel in varied:
            search = Search(
                self._judge(residuals[:, channel]), self.settings.rounds.shared_by(len(varied))
            )
            if n_lines == 0:
                for _ in search.rounds(proposed):
                    pass
            else:
                search.judge_columns(self._known)
                search.pair_up()
            self._known.update(dict.fromkeys(search.verdicts))

    def _judge(self, residual: FloatArray) -> Judge:
        return self.level.judge(
            self.rows,
            residual,
            self.targets.weights,
            price=self._price,
            least_weight=self.settings.least_weight,
        )

    def _best_line(
        self, lines: Sequence[DraftLine], residuals: FloatArray
    ) -> tuple[float, DraftLine] | None:
        """Return the best new line and what it is worth."""
        best: tuple[float, int, int, int] | None = None
        known = sorted(self._known)
        sizes = np.array([self.level.space.sizes(number) for number in known])
        place_of = {number: place for place, number in enumerate(known)}
        for channel in self._varied(residuals):
            judged = self._judge(residuals[:, channel]).table(known)
            negated = np.isin(judged.forms, [form for form in Form if form.negated])
            size = np.where(negated, sizes[:, 1], sizes[:, 0]) + 1
            if self.level.row_type == "node":
                size = sizes.min(axis=1)
            allowed = (judged.gains > 0) & (judged.cuts >= 0)
            allowed &= size <= self.settings.max_line_size
            for line in lines:
                place = place_of.get(line.column, 0)
                is_taken = judged.forms[place] == (-1 if line.form is None else line.form)
                allowed[place] &= not (known[place] == line.column and is_taken)
            values = np.where(allowed, judged.values, 0.0)
            place = int(values.argmax())
            value = float(values[place]) * self._variance(residuals[:, channel])
            if value > (0.0 if best is None else best[0]):
                best = value, known[place], int(judged.forms[place]), int(judged.cuts[place])
        if best is None:
            return None
        value, column, form, cut = best
        return value, self._line(column, Form(form) if form >= 0 else None, (cut,))

    def _swapped(self, lines: tuple[DraftLine, ...]) -> tuple[DraftLine, ...]:
        """Replace lines, in turn, by better ones given all the others; leave out a useless one."""
        if not self._pace.swaps or len(lines) not in self.settings.swapped_after:
            return lines
        worths = []
        for place, line in enumerate(lines):
            others = (*lines[:place], *lines[place + 1 :])
            residuals = self._residuals(others)
            other = self._best_line(others, residuals)
            worths.append(self._worth(line, residuals))
            if other is not None and other[0] > worths[-1] * (1 + 1e-9):
                worths[-1] = other[0]
                lines = (*lines[:place], other[1], *lines[place + 1 :])
        # Once for every number of lines, or lines could come and go for ever.
        if min(worths) <= 0 and len(lines) not in self._shortened:
            self._shortened.add(len(lines))
            worst = int(np.argmin(worths))
            lines = (*lines[:worst], *lines[worst + 1 :])
        return lines

    def _worth(self, line: DraftLine, residuals: FloatArray) -> float:
        """Return what a line explains of residuals, less its price, as for new lines."""
        held = truths_of([line], self.rows).sum(axis=1)
        weights = self.targets.weights[self.rows].astype(np.float64)
        by_case = np.bincount(held, weights)
        size = line.conditions[0].formula.size
        size += self.settings.step_size * (len(line.conditions) - 1)
        worth = -np.inf
        for channel in self._varied(residuals):
            sums = np.bincount(held, weights * residuals[self.rows, channel])
            explained = (
                sums**2 / np.maximum(by_case, 1e-9)
            ).sum() - sums.sum() ** 2 / by_case.sum()
            scale = self._variance(residuals[:, channel])
            worth = max(worth, float(explained - self._price * size * scale))
        return worth if np.isfinite(worth) else 0.0

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
