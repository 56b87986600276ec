"""The search for lines: each next one tells what the lines so far leave open.

The search looks at residuals, the part of the targets that the lines do not explain yet. Columns
and their words are kept from line to line; judging them anew costs little, and pairs are searched
again after 1, 2, 3, 5, ... lines. What a line costs is how hard it is to read (`reading`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.drafts import DraftLine, truths_of
from gnn2logic.learning.scoring.losses import TARGET_STEPS
from gnn2logic.learning.scoring.reading import reading_cost
from gnn2logic.learning.scoring.refits import Pace, Refit, ScoreTargets
from gnn2logic.learning.search.cuts import Form
from gnn2logic.learning.search.judging import Judge
from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.rounds import RoundSettings, Search

__all__ = ["LineSearch", "LineSettings"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Of the lines that explain most of the residuals, so many are weighed by how sure the others are
# of each row, and the best of these are fitted together with the others.
_MOST_REWEIGHED = 100
_MOST_REFITTED = 2
# Of many classes, those that the lines so far leave most open are looked at for the next line.
_MOST_CLASSES = 4
# Residuals that differ by less are the same.
_SAME = 1e-9
# Weights may follow a network closely: their price, and what is left of that of careful paces.
_RIDGE_OF_SCORES = 0.4
_CARE_FOR_SCORES = 0.3
_NEARLY_BEST_FOR_SCORES = 0.25
# Lines that are right about all rows are the truth where there are so many rows for each symbol.
_ROWS_FOR_SYMBOL = 20


@dataclass(frozen=True)
class LineSettings:
    """How lines are searched for.

    Parameters
    ----------
    max_lines : int
    max_line_size : int
        What a line may cost to read at most, in symbols.
    ridge : float
        The price of large weights, in rows, when lines are given points.
    paces : tuple of Pace
        How lines may be found; what is held out chooses among them. The last is the most generous.
    most_steps : int
        How many conditions one line may have.
    step_size : int
        A further condition on a count is as dear as so many symbols.
    searched_again : frozenset of int
        After how many lines pairs are searched again.
    swapped_after : frozenset of int
        After how many lines each of them is replaced if another is better beside the others,
        where the pace has swaps.
    column_work : int
        Lines are chosen among so many columns, times rows, times classes that are looked at.
    least_weight : int
        What the rows weigh at least that a condition tells apart.
    nearly_best : float
        A card that is easier to read is taken if its held-out loss is within so many standard
        errors of the best one.
    """

    max_lines: int = 20
    max_line_size: int = 10
    ridge: float = 2.0
    paces: tuple[Pace, ...] = (
        Pace(price=4.5, ridge=4.0, ridge_share=0.0, swaps=True),
        Pace(price=1.5, ridge=10.0, ridge_share=1 / 40, swaps=False),
        Pace(1.0, 10.0, 1 / 40, swaps=False, dearest=7, searches=False),
    )
    most_steps: int = 3
    step_size: int = 6
    searched_again: frozenset[int] = frozenset({1, 2, 3, 5, 8, 12, 18, 27, 40, 60})
    swapped_after: frozenset[int] = frozenset({2, 3, 4, 5, 6, 8, 10})
    rounds: RoundSettings = field(default_factory=lambda: RoundSettings(pair_work=4_000_000))
    column_work: int = 16_000_000
    least_weight: int = 5
    nearly_best: float = 1.0

    def for_scores(self) -> Self:
        """Return settings for what a network says, which is not drawn by chance as labels are."""
        paces = tuple(
            replace(pace, ridge=_RIDGE_OF_SCORES)
            if pace.swaps
            else replace(
                pace,
                ridge=pace.ridge * _CARE_FOR_SCORES,
                ridge_share=pace.ridge_share * _CARE_FOR_SCORES,
            )
            for pace in self.paces
        )
        return replace(
            self, ridge=_RIDGE_OF_SCORES, paces=paces, nearly_best=_NEARLY_BEST_FOR_SCORES
        )

    def of_depth(self, depth: int) -> Self:
        """Return settings whose lines nest at most so many modal parameters."""
        return replace(self, rounds=replace(self.rounds, depth=depth))


class LineSearch:
    """Finds lines for some rows, one after the other."""

    def __init__(
        self, level: Level, targets: ScoreTargets, rows: IntArray, settings: LineSettings
    ) -> None:
        self.level, self.targets, self.rows, self.settings = level, targets, rows, settings
        self._pace = settings.paces[0]
        seen = targets.whole[rows]
        certain = bool(((seen == 0) | (seen == TARGET_STEPS)).all())
        self._says_classes = certain and not targets.loss.is_number
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
        What is found does not depend on earlier runs, which only save it work, unless a pace takes
        the columns of the one before.
        """
        lines: tuple[DraftLine, ...] = ()
        if not self._first:
            # Whatever the pace: prices of the last one, which is the most generous.
            self._pace = self.settings.paces[-1]
            self._explore(self._residuals(lines), proposed)
            self._first = tuple(self._known)
        self._pace = self.settings.paces[0] if pace is None else pace
        self._shortened = set()
        if self._pace.searches or not self._known:
            self._known = dict.fromkeys(self._first)
        while True:
            residuals = self._residuals(lines)
            best = self._best_line(lines, residuals)
            step = self._best_step(lines, residuals)
            if step is not None and (best is None or step[0] > best[0]):
                lines = step[1]
                continue
            yield lines
            enough = len(lines) >= self.settings.max_lines or self._is_settled(lines, residuals)
            if best is None or enough:
                return
            lines = self._swapped((*lines, best[1]))
            if self._pace.searches and len(lines) in self.settings.searched_again:
                self._pair_up(self._residuals(lines))

    # The fit so far ----------------------------------------------------------------------------

    def _refit(self, lines: Sequence[DraftLine]) -> Refit:
        return Refit.of_rows(self.targets, self.rows, truths_of(lines, self.rows), self._pace)

    def _residuals(self, lines: Sequence[DraftLine]) -> FloatArray:
        return self._refit(lines).residuals

    def _is_settled(self, lines: Sequence[DraftLine], residuals: FloatArray) -> bool:
        """Whether lines are right about the class of all rows, and too short for that to be chance.

        More of them would only say the same again, more loudly.
        """
        n_rows = len(self.rows)
        is_short = sum(self._cost(line) for line in lines) * _ROWS_FOR_SYMBOL <= n_rows
        return is_short and self._says_classes and bool((np.abs(residuals[self.rows]) < 0.5).all())

    # Lines -------------------------------------------------------------------------------------

    def _explore(self, residuals: FloatArray, proposed: Sequence[int]) -> None:
        """Look for columns, one modal depth after the other."""
        inside = residuals[self.rows]
        varied = np.flatnonzero(np.ptp(inside, axis=0) > _SAME).tolist()
        rounds = self.settings.rounds.shared_by(len(varied))
        searches = [Search(self._judge(residuals[:, channel]), rounds) for channel in varied]
        for search in searches:
            for _ in search.rounds(proposed):
                pass
        n_columns = len({number for search in searches for number in search.verdicts})
        most = self._most_columns(searches)
        for search in searches:
            chosen: Iterable[int] = search.verdicts
            if n_columns > most:
                of_search = most // (2 * len(searches))
                chosen = [*search.smallest(of_search), *search.best(of_search)]
            self._known.update(dict.fromkeys([*chosen, *proposed]))

    def _pair_up(self, residuals: FloatArray) -> None:
        """Look for pairs of the columns that are known."""
        varied = self._varied(residuals)
        rounds = self.settings.rounds.shared_by(len(varied))
        for channel in varied:
            search = Search(self._judge(residuals[:, channel]), rounds)
            search.judge_columns(self._known)
            search.pair_up()
            self._known.update(dict.fromkeys(search.verdicts))

    def _most_columns(self, searches: Sequence[Search]) -> int:
        """Return among how many columns there is time to choose each line."""
        of_column = max((search.judge.column_cost for search in searches), default=1)
        return self.settings.column_work // (of_column * max(1, min(len(searches), _MOST_CLASSES)))

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
        best = self._best_lines(lines, residuals, 1)
        return best[0] if best else None

    def _best_lines(
        self, lines: Sequence[DraftLine], residuals: FloatArray, most: int
    ) -> list[tuple[float, DraftLine]]:
        """Return new lines and what they are worth, best first."""
        ranked: list[tuple[float, int, int, int]] = []
        most_of_line = min(self.settings.max_line_size, self._pace.dearest)
        counted = int(self.level.row_type == "graph")
        known = np.array(sorted(self._known), dtype=np.int64)
        costs = self.level.space.sizes(known) + counted
        short = costs.min(axis=1) <= most_of_line
        known, costs = known[short], costs[short]
        if not len(known):
            return []
        place_of = {number: place for place, number in enumerate(known.tolist())}
        for channel in self._varied(residuals):
            judged = self._judge(residuals[:, channel]).table(known)
            negated = np.isin(judged.forms, [form for form in Form if form.negated])
            cost = np.where(negated, costs[:, 1], costs[:, 0])
            if self.level.row_type == "node":
                cost = costs.min(axis=1)
            allowed = (judged.gains > 0) & (judged.cuts >= 0) & (cost <= most_of_line)
            for line in lines:
                place = place_of.get(line.column, 0)
                is_taken = judged.forms[place] == (-1 if line.form is None else line.form)
                allowed[place] &= not (known[place] == line.column and is_taken)
            values = np.where(allowed, judged.values, 0.0)
            scale = self._variance(residuals[:, channel])
            for place in np.argsort(-values, kind="stable")[:most].tolist():
                if values[place] > 0:
                    form, cut = int(judged.forms[place]), int(judged.cuts[place])
                    ranked.append((float(values[place]) * scale, int(known[place]), form, cut))
        ranked.sort(key=lambda each: -each[0])
        return [
            (value, self._line(column, Form(form) if form >= 0 else None, (cut,)))
            for value, column, form, cut in ranked[:most]
        ]

    def _swapped(self, lines: tuple[DraftLine, ...]) -> tuple[DraftLine, ...]:
        """Replace lines, in turn, by better ones given all the others; leave out a useless one.

        What a line explains of residuals misleads: beside `a` a line that says `a and not b`
        explains more of them than `b` does, which makes the two exact. So all are fitted again.
        """
        if not self._pace.swaps or len(lines) not in self.settings.swapped_after:
            return lines
        worths = []
        for place, line in enumerate(lines):
            others = (*lines[:place], *lines[place + 1 :])
            refit = self._refit(others)
            candidates = [
                each for _, each in self._best_lines(others, refit.residuals, _MOST_REWEIGHED)
            ]
            gains = refit.gains([truths_of([each], self.rows)[:, 0] for each in candidates])
            gains -= self._pace.price / 2 * np.array([self._cost(each) for each in candidates])
            # Rounded, so that of equal ones the first is taken whatever threads add up.
            promising = np.argsort(-gains.round(6), kind="stable")[:_MOST_REFITTED]
            best, kept = self._value((*others, line)), line
            for number in promising.tolist():
                value = self._value((*others, candidates[number]))
                if value > best + 1e-6:
                    best, kept = value, candidates[number]
            worths.append(best - self._value(others))
            lines = (*lines[:place], kept, *lines[place + 1 :])
        # Once for every number of lines, or lines could come and go for ever.
        if min(worths) <= 0 and len(lines) not in self._shortened:
            self._shortened.add(len(lines))
            worst = int(np.argmin(worths))
            lines = (*lines[:worst], *lines[worst + 1 :])
        return lines

    def _cost(self, line: DraftLine) -> int:
        further = self.settings.step_size * (len(line.conditions) - 1)
        return reading_cost(line.conditions[0].formula) + further

    def _value(self, lines: Sequence[DraftLine]) -> float:
        """Return how likely lines make the rows, all fitted together, less their price."""
        size = sum(self._cost(line) for line in lines)
        return self._refit(lines).log_likelihood - self._pace.price / 2 * size

    def _line(self, column: int, form: Form | None, cuts: tuple[int, ...]) -> DraftLine:
        conditions = tuple(self.level.condition(column, form, cut) for cut in cuts)
        return DraftLine(column, form, cuts, conditions)

    def _varied(self, residuals: FloatArray) -> list[int]:
        """Return the classes of which most is open."""
        inside = residuals[self.rows]
        varied = np.flatnonzero(np.ptp(inside, axis=0) > _SAME)
        if len(varied) > _MOST_CLASSES:
            # Rounded, so that of equal ones the first are taken whatever threads add up.
            left = np.array([self._variance(residuals[:, channel]) for channel in varied]).round(6)
            varied = np.sort(varied[np.argsort(-left, kind="stable")[:_MOST_CLASSES]])
        return [int(channel) for channel in varied]

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
