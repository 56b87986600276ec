"""How hard a formula is to read: nesting, shares and "itself and its neighbours" cost extra.

Symbols alone do not say it. ``A(A(A U0 > 1) > 1) > 1`` has as many of them as ``U0 & A U1 > 2``,
and nobody can say it in one breath.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.opposites import opposite
from gnn2logic.learning.search.words import Words
from gnn2logic.logic.syntax import Formula, Modal

__all__ = ["ReadingSpace", "reading_cost"]

IntArray = npt.NDArray[np.int64]

# What is dearer than its symbols, in symbols.
_NESTED = 2
_SHARE = 1
_ITSELF = 1


@lru_cache(maxsize=1 << 16)
def reading_cost(formula: Formula) -> int:
    """Return the size of a formula, and more for what is hard to read; counts in graphs are not.

    >>> from gnn2logic.logic import parse
    >>> reading_cost(parse("1(U0 & A U1 > 2) > 5")), reading_cost(parse("1(A(A U0 > 1) > 1/2) > 5"))
    (5, 7)
    """
    return formula.size + _extra(formula)


@lru_cache(maxsize=1 << 16)
def _extra(formula: Formula) -> int:
    extra = sum(_extra(child) for child in formula.children)
    if isinstance(formula, Modal) and not formula.modality.is_global:
        extra += _NESTED * formula.child.modal_depth
        extra += _SHARE * formula.is_ratio
        extra += _ITSELF * (formula.modality.itself and formula.modality.neighbours)
    return extra


class ReadingSpace(ColumnSpace):
    """Columns whose size is how hard they are to read."""

    _costs: IntArray = np.zeros((0, 2), dtype=np.int64)
    _n_read = 0

    def add(
        self, formulas: Sequence[Formula], words: Words, *, in_order: bool = False
    ) -> list[int]:
        """Return the numbers of columns, as for any space."""
        numbers = super().add(formulas, words, in_order=in_order)
        n_columns = len(self.formulas)
        if n_columns > len(self._costs):
            more = np.zeros((2 * n_columns - len(self._costs), 2), dtype=np.int64)
            self._costs = np.concatenate([self._costs, more])
        for number in range(self._n_read, n_columns):
            self._read(number)
        self._n_read = n_columns
        return numbers

    def sizes(self, numbers: Sequence[int] | IntArray) -> IntArray:
        """Return what columns and their negations cost to read, side by side."""
        return self._costs[np.asarray(numbers, dtype=np.int64)]

    def _rename(self, number: int, formula: Formula) -> None:
        super()._rename(number, formula)
        if number < self._n_read:
            self._read(number)

    def _read(self, number: int) -> None:
        formula = self.formulas[number]
        self._costs[number] = reading_cost(formula), reading_cost(opposite(formula))
