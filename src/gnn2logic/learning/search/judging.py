"""How well columns, and pairs of them, tell graphs apart: explained variance less a price for size.

A judge sees some graphs, their targets and weights. What it says depends on nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import Form
from gnn2logic.learning.search.opposites import opposite
from gnn2logic.logic.syntax import TRUE, Formula, conjunction, disjunction

__all__ = ["PROMISING", "Judge", "Verdict", "VerdictTable"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Where pairs are screened, one in so many is judged by all rows.
PROMISING = 20

# The conjunctions that one AND gives: which of the two columns hold.
_SIGNS = ((True, True), (True, False), (False, True), (False, False))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best condition on one column: how good it is, and the form and cut of its count.

    A condition on nodes is the column itself; it has no form.
    """

    value: float
    gain: float
    form: Form | None
    cut: int


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """The best condition on each of some columns, as arrays; forms are -1 for nodes."""

    values: FloatArray
    gains: FloatArray
    forms: IntArray
    cuts: IntArray

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts one by one."""
        return [
            Verdict(value, gain, Form(form) if form >= 0 else None, cut)
            for value, gain, form, cut in zip(
                self.values.tolist(),
                self.gains.tolist(),
                self.forms.tolist(),
                self.cuts.tolist(),
                strict=True,
            )
        ]


class Judge(ABC):
    """Says how much columns explain about some rows: graphs, or nodes.

    Parameters
    ----------
    space : ColumnSpace
    rows : array of int
        The graphs or nodes that count.
    price : float
        The share of the variance that one more symbol must explain.
    least_weight : int
        What must be on each side of a condition.
    """

    variance: float
    extra_size: int
    """How many symbols a condition has besides its column."""

    def __init__(
        self, space: ColumnSpace, rows: IntArray, *, price: float, least_weight: int
    ) -> None:
        self.space, self.rows, self.price = space, rows, price
        self._least_weight = least_weight
        self._screen: Judge | None = None

    @property
    @abstractmethod
    def pair_cost(self) -> int:
        """How much work it is to judge one pair."""

    @property
    def column_cost(self) -> int:
        """How much work it is to judge one column by all rows."""
        return self.pair_cost

    @abstractmethod
    def table(self, numbers: Sequence[int]) -> VerdictTable:
        """Return the best condition on each of some columns."""

    def singles(self, numbers: Sequence[int]) -> list[Verdict]:
        """Return the best condition on each of some columns, one by one."""
        return self.table(numbers).verdicts()

    @abstractmethod
    def profile(self, number: int) -> FloatArray:
        """Return numbers that are alike for columns that say much the same about the rows."""

    @abstractmethod
    def through_neighbours(self) -> Judge | None:
        """Return who judges columns phi by what ``A phi > t`` explains; None if nothing can be.

        What neighbours satisfy may say all where the truth of a column itself says nothing.
        """

    @abstractmethod
    def _pair_gains(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return what conjunctions and what disjunctions explain, by pair and signs.

        The disjunction at a place is the complement of the conjunction there.
        """

    def pairs(self, numbers: Sequence[int], most: int) -> list[int]:
        """Return the best conjunctions and disjunctions of two of some columns, as new columns."""
        kept = [number for number in numbers if self.space.formulas[number] is not TRUE]
        if len(kept) < 2:
            return []
        left, right = np.triu_indices(len(kept), 1)
        if self._screen is not None:
            values, _ = self._screen._pair_values(kept, left, right)
            promising = _largest(values.max(axis=1), max(4 * most, len(left) // PROMISING))
            promising.sort()
            left, right = left[promising], right[promising]
        values, is_either = self._pair_values(kept, left, right)
        best = _largest(values.ravel(), most)
        return self._join(kept, left, right, best, is_either.ravel())

    def _pair_values(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Return how good pairs are, by signs, and whether that is as a disjunction."""
        values, either = self._pair_gains(numbers, left, right)
        values /= np.float32(self.variance)
        either /= np.float32(self.variance)
        sizes = self.space.sizes(numbers)
        price = np.float32(self.price)
        for signs, (one, other) in enumerate(_SIGNS):
            size = sizes[left, int(not one)] + sizes[right, int(not other)] + 1
            values[:, signs] -= price * (size + self.extra_size)
            size = sizes[left, int(one)] + sizes[right, int(other)] + 1
            either[:, signs] -= price * (size + self.extra_size)
        is_either = either > values
        return np.maximum(values, either), is_either

    def _join(
        self,
        kept: Sequence[int],
        left: IntArray,
        right: IntArray,
        best: IntArray,
        is_either: npt.NDArray[np.bool_],
    ) -> list[int]:
        space, ones = self.space, self.space.layout.all_ones
        formulas, packed = [], []
        for place in best.tolist():
            pair, signs = divmod(place, len(_SIGNS))
            one, other = _SIGNS[signs]
            a, b = kept[int(left[pair])], kept[int(right[pair])]
            words = (space.words([a])[0] ^ (ones * np.uint64(not one))) & (
                space.words([b])[0] ^ (ones * np.uint64(not other))
            )
            if is_either[place]:
                # A disjunction is the complement of a conjunction with both signs turned.
                children = _signed(space, a, not one), _signed(space, b, not other)
                formulas.append(disjunction(children))
                packed.append(words ^ ones)
            else:
                formulas.append(conjunction((_signed(space, a, one), _signed(space, b, other))))
                packed.append(words)
        return space.add(formulas, np.array(packed)) if formulas else []


def _signed(space: ColumnSpace, number: int, sign: bool) -> Formula:
    formula = space.formulas[number]
    return formula if sign else opposite(formula)


def _largest(values: npt.NDArray[np.float32], most: int) -> IntArray:
    """Return the places of the largest values, largest first, the first of equals."""
    if len(values) > most:
        limit = np.partition(values, len(values) - most)[len(values) - most]
        chosen = np.flatnonzero(values >= limit)
    else:
        chosen = np.arange(len(values))
    return chosen[np.argsort(-values[chosen], kind="stable")][:most]
