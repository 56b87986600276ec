"""The formula that is true exactly where a scorecard gives a class.

A score of small whole numbers is a formula: line by line the sum so far is one of few numbers, and
what is left to say depends on that sum alone. Equal parts are shared, so the formula has about as
many parts as there are lines times sums.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FormulaError
from gnn2logic.logic.syntax import FALSE, TRUE, Formula, conjunction, disjunction, negation
from gnn2logic.scorecards.card import Scorecard

__all__ = ["card_formula"]

# Of many classes the sums so far are many numbers at once, and may be too many.
_MOST_PARTS = 50_000


def card_formula(card: Scorecard, class_number: int) -> Formula:
    """Return the formula of one class of a scorecard.

    >>> from gnn2logic.logic import parse
    >>> from gnn2logic.scorecards.card import Line
    >>> lines = Line((parse("1 U0 > 2"),), ((2,),)), Line((parse("1 U1 > 0"),), ((-1,),))
    >>> card = Scorecard(lines, (0,), 1.0, -1.5, "class", 2, "graph")
    >>> card.threshold
    2
    >>> print(card_formula(card, 1))
    1 U0 > 2 & 1 U1 = 0
    """
    if card.n_classes == 1:
        return TRUE
    if card.n_classes == 2:
        # What the second class has to gain; the first class is the rest.
        tables = [line.table() for line in card.lines]
        start = np.array([card.base[0] - card.threshold])
        second = _SumFormulas(card, tables).at_least_zero(start)
        return second if class_number == 1 else negation(second)
    others = [other for other in range(card.n_classes) if other != class_number]
    # Of equal scores the first class wins.
    ties = np.array([int(class_number > other) for other in others])
    base = np.array(card.base)
    start = base[class_number] - base[others] - ties
    tables = []
    for line in card.lines:
        table = line.table()
        tables.append(table[:, [class_number]] - table[:, others])
    return _SumFormulas(card, tables).at_least_zero(start)


class _SumFormulas:
    """Formulas that say whether sums of points end at zero or above, all of them."""

    def __init__(self, card: Scorecard, tables: list[npt.NDArray[np.int64]]) -> None:
        self._conditions = [line.conditions for line in card.lines]
        self._tables = tables
        n_sums = tables[0].shape[1] if tables else 1
        # What the lines from each one on can still add, at least and at most.
        self._least = np.zeros((len(tables) + 1, n_sums), dtype=np.int64)
        self._most = np.zeros((len(tables) + 1, n_sums), dtype=np.int64)
        for number in range(len(tables) - 1, -1, -1):
            self._least[number] = self._least[number + 1] + tables[number].min(axis=0)
            self._most[number] = self._most[number + 1] + tables[number].max(axis=0)
        self._known: dict[tuple[int, bytes], Formula] = {}

    def at_least_zero(self, start: npt.NDArray[np.int64]) -> Formula:
        """Return the formula for sums that begin with these numbers."""
        # Sums are collected line by line, then formulas are made from the last line to the first.
        sums = [{start.tobytes(): start}]
        for number, table in enumerate(self._tables):
            after: dict[bytes, npt.NDArray[np.int64]] = {}
            for before in sums[-1].values():
                if self._settled(number, before) is None:
                    for row in table:
                        after.setdefault((before + row).tobytes(), before + row)
            sums.append(after)
            if sum(map(len, sums)) > _MOST_PARTS:
                raise FormulaError(
                    f"The formula of this scorecard has more than {_MOST_PARTS} parts. Take fewer "
                    "lines (pick(n_lines=...)), or use the scorecard itself."
                )
        for number in range(len(self._tables), -1, -1):
            for before in sums[number].values():
                self._known[number, before.tobytes()] = self._formula(number, before)
        return self._known[0, start.tobytes()]

    def _settled(self, number: int, before: npt.NDArray[np.int64]) -> Formula | None:
        if (before + self._least[number] >= 0).all():
            return TRUE
        if (before + self._most[number] < 0).any():
            return FALSE
        return None

    def _formula(self, number: int, before: npt.NDArray[np.int64]) -> Formula:
        settled = self._settled(number, before)
        if settled is not None:
            return settled
        table = self._tables[number]
        after = [self._known[number + 1, (before + row).tobytes()] for row in table]
        formula = after[-1]
        for k in range(len(table) - 2, -1, -1):
            if after[k] is after[k + 1]:
                # Where so many conditions hold, those above are false and say the same.
                continue
            condition = self._conditions[number][k]
            # More points never hurt, and fewer never help: one side then needs no condition.
            rest = table[k + 1 :] - table[k]
            if (rest >= 0).all():
                formula = disjunction((conjunction((condition, formula)), after[k]))
            elif (rest <= 0).all():
                formula = disjunction((conjunction((negation(condition), after[k])), formula))
            else:
                formula = disjunction(
                    (
                        conjunction((condition, formula)),
                        conjunction((negation(condition), after[k])),
                    )
                )
        return formula
