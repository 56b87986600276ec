"""Targets that are numbers: what a leaf says, and how right it is.

What leaves say is rounded to steps of about a hundredth of the spread of the targets: people read
`-2.31`, and next to nothing is lost. So a leaf is a whole number of steps, as it is the number of a
class where there are classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Loss", "NumberTargets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Loss = Literal["squared", "absolute"]

# Steps are powers of ten of at most this share of the spread.
_FINE = 100
# A number that all rows have in common is given with so many digits.
_DIGITS = 15
# Below that a power of ten is not a normal number any more.
_LEAST_EXPONENT = -290
# The median distance from the median is so much smaller than the standard deviation of a bell.
_BELL = 1.4826


@dataclass(frozen=True)
class NumberTargets:
    """One number for every row, and how a rule about them is measured.

    Parameters
    ----------
    numbers : array of float, shape (n_rows,)
    weights : array of int, shape (n_rows,)
    loss : {"squared", "absolute"}
        Whether leaves are means, or medians that outliers do not move.
    exponent : int
        Leaves are whole multiples of ``10 ** exponent``.
    """

    numbers: FloatArray
    weights: IntArray
    loss: Loss
    exponent: int

    @classmethod
    def of(cls, numbers: FloatArray, weights: IntArray, loss: Loss) -> Self:
        """Return targets whose leaves are rounded as finely as their spread asks for."""
        return cls(numbers, weights, loss, _exponent(numbers[weights > 0]))

    def at(self, rows: IntArray, weights: IntArray) -> NumberTargets:
        """Return the targets of some rows, with other weights."""
        return NumberTargets(self.numbers[rows], weights, self.loss, self.exponent)

    def to_explain(self) -> FloatArray:
        """Return what conditions should tell apart: the numbers, or their ranks.

        Ranks do not know how far out an outlier is. Equal numbers have one rank, so that few
        different numbers stay few.
        """
        if self.loss == "squared":
            return self.numbers
        seen = self.weights > 0
        values, place = np.unique(self.numbers[seen], return_inverse=True)
        counts = np.bincount(place, self.weights[seen], len(values))
        ranks = np.cumsum(counts) - counts / 2
        # Rows without weight are never looked at.
        return np.where(seen, ranks[np.searchsorted(values, self.numbers) % len(values)], ranks[0])

    def label(self, rows: IntArray) -> int:
        """Return what a leaf with some rows says, in steps."""
        rows = rows[self.weights[rows] > 0]
        numbers, weights = self.numbers[rows], self.weights[rows]
        middle = _mean if self.loss == "squared" else _median
        value = middle(numbers, weights)
        return round(value / 10.0**self.exponent)

    def value(self, label: int) -> float:
        """Return the number that so many steps are, as it is written."""
        return float(f"{label}e{self.exponent}")

    def rightness(self, labels: IntArray, rows: IntArray) -> FloatArray:
        """Return how right labels are about some rows.

        The weighted mean is the share of the loss that they take away: R2 for the squared loss. So
        1 is right, 0 as good as one number for all rows, and less is worse than that.
        """
        everywhere = np.flatnonzero(self.weights > 0)
        constant = self._losses(np.array([self.value(self.label(everywhere))]), everywhere)
        worst = float(np.average(constant, weights=self.weights[everywhere]))
        known = {label: self.value(label) for label in np.unique(labels).tolist()}
        values = np.array([known[label] for label in labels.tolist()])
        return 1 - self._losses(values, rows) / (worst if worst > 0 else 1.0)

    def _losses(self, values: FloatArray, rows: IntArray) -> FloatArray:
        distance = np.abs(self.numbers[rows] - values)
        return distance**2 if self.loss == "squared" else distance


def _exponent(numbers: FloatArray) -> int:
    spread = float(numbers.std())
    robust = _BELL * float(np.median(np.abs(numbers - np.median(numbers))))
    if 0 < robust < spread:
        # A few numbers far out must not make the steps of all others large.
        spread = robust
    if spread == 0:
        largest = float(np.abs(numbers).max())
        exponent = math.floor(math.log10(largest)) - _DIGITS + 1 if largest > 0 else 0
    else:
        exponent = math.floor(math.log10(spread) - math.log10(_FINE))
    return max(exponent, _LEAST_EXPONENT)


def _mean(numbers: FloatArray, weights: IntArray) -> float:
    # The sum of exact products, rounded once: no order of rows changes it.
    return math.fsum((numbers * weights).tolist()) / int(weights.sum())


def _median(numbers: FloatArray, weights: IntArray) -> float:
    """Return the weighted median, the middle of two where the weight below and above is equal."""
    order = np.argsort(numbers, kind="stable")
    sums = np.cumsum(weights[order])
    total = int(sums[-1])
    low, high = (int(np.searchsorted(2 * sums, total, side=side)) for side in ("left", "right"))
    return (float(numbers[order[low]]) + float(numbers[order[min(high, len(order) - 1)]])) / 2
