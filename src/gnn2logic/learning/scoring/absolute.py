"""The absolute error of numbers, for points that a few targets far out do not move.

A line that makes absolute errors small is a weighted mean whose weights fall with the distance:
means are taken again and again, each with the weights of the one before. Distances below a width
count as equal, or a row that is met exactly would have all the weight there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.losses import Loss, PatternTable, scaled_sums

__all__ = ["AbsoluteLoss", "centre_and_spread"]

FloatArray = npt.NDArray[np.float64]

# Widths, in medians of the distance. A tenth is next to the absolute error itself. Lines are looked
# for with two: where errors are mostly small, how large they are tells more than their signs.
_OF_POINTS, _OF_SEARCH = 0.1, 2.0
# They are at least so much of the spread of the targets.
_LEAST_OF_POINTS, _LEAST_OF_SEARCH = 1e-6, 1e-3
_MOST_ROUNDS = 100
# Each width is so much of the one before, until it is as small as it should be.
_NARROWER = 0.5
_SMALL_STEP = 1e-3
# What no line can mend: rows count at most so many medians when lines are compared.
_FAR_OUT = 10.0
# The median distance from the median is so much smaller than the standard deviation of a bell.
_BELL = 1.4826
# Numbers that differ by less, as a share of them, are equal but for rounding.
_ROUNDING = 1e-12


class AbsoluteLoss(Loss):
    """Numbers, with errors that count as they are, not squared.

    Parameters
    ----------
    width : float
        Distances of less than so many median distances are squared: they pull less.
    least_width : float
        In the unit of the targets.
    """

    is_number = True
    apart = True

    def __init__(self, width: float = _OF_POINTS, least_width: float = _LEAST_OF_POINTS) -> None:
        super().__init__(1)
        self._width, self._least_width = width, least_width

    def of_rows(self, raw: FloatArray, targets: FloatArray) -> FloatArray:
        """Return distances."""
        return np.asarray(np.abs(raw - targets)[:, 0])

    def expected(self, raw: FloatArray) -> FloatArray:
        """Return the predictions: they are the targets that they stand for."""
        return raw

    def for_search(self) -> Loss:
        """Return the loss by which lines are looked for."""
        return AbsoluteLoss(_OF_SEARCH, _LEAST_OF_SEARCH)

    def residuals(self, raw: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
        """Return distances with their signs, those far out drawn in."""
        rest = targets - raw
        width = self._width_at(rest[:, 0], weights)
        return np.clip(rest, -width, width)

    def curves(self, raw: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
        """Return how much rows pull: 1, and less where they are far out."""
        rest = targets - raw
        width = self._width_at(rest[:, 0], weights)
        return np.asarray(width / np.maximum(np.abs(rest), width))

    def likelihood(
        self, raw: FloatArray, targets: FloatArray, weights: FloatArray, price: float
    ) -> tuple[float, float]:
        """Return how likely rows are if chances fall evenly with the distance, up to far out."""
        distances = self.of_rows(raw, targets)
        width = self._width_at(distances, weights)
        far = width * _FAR_OUT / self._width
        total = float(weights @ np.minimum(distances, far)) + 2 * price
        mean = max(total / len(raw), 1e-12)
        return -len(raw) * float(np.log(mean)), width * mean

    def size_of(self, weights: npt.NDArray[Any]) -> float:
        """Return how large weights are, not squared either: their unit does not matter then."""
        return float(np.abs(weights).sum())

    def fit(self, table: PatternTable, ridge: float, start: FloatArray | None = None) -> FloatArray:
        """Return the constant (first row) and the weight of every condition.

        The price of large weights is that of so many rows where a condition changes nothing.
        """
        weights, sums = scaled_sums(table)
        design = np.column_stack([np.ones(len(weights)), table.truths]).astype(np.float64)
        prices = np.full(design.shape[1], ridge)
        prices[0] = 0.0
        return self._nearest(design, weights, sums[:, 0] / weights, prices)[:, None]

    def fit_line(
        self,
        scores: FloatArray,
        weights: FloatArray,
        targets: FloatArray,
        price: float,
        start: tuple[float, float],
    ) -> tuple[float, float]:
        """Return what one point is worth, and the constant."""
        design = np.column_stack([np.ones(len(scores)), scores])
        # Without any price the slope would be open where all scores are the same.
        prices = np.array([0.0, max(price, 1e-9 * float(weights.sum()))])
        intercept, slope = self._nearest(design, weights, targets[:, 0] / weights, prices)
        return float(slope), float(intercept)

    def _width_at(self, rest: FloatArray, weights: FloatArray) -> float:
        return max(self._width * _median(np.abs(rest), weights), self._least_width)

    def _nearest(
        self, design: FloatArray, weights: FloatArray, values: FloatArray, prices: FloatArray
    ) -> FloatArray:
        """Return coefficients of columns, the first a constant, that come near to values."""
        coefficients = np.zeros(design.shape[1])
        coefficients[0] = _median(values, weights)
        rest = values - coefficients[0]
        width = float(np.average(np.abs(rest), weights=weights))
        for _ in range(_MOST_ROUNDS):
            wanted = self._width_at(rest, weights)
            width = max(_NARROWER * width, wanted)
            pulls = weights / np.maximum(np.abs(rest), width)
            penalty = prices / np.maximum(np.abs(coefficients), width)
            weighed = design * pulls[:, None]
            step = np.linalg.solve(
                weighed.T @ design + np.diag(penalty), weighed.T @ rest - penalty * coefficients
            )
            coefficients = coefficients + step
            rest = values - design @ coefficients
            if width == wanted and np.abs(step).max() < _SMALL_STEP * width:
                break
        return coefficients


def centre_and_spread(numbers: FloatArray, weights: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the median of numbers and how far they are from it, whatever some far out are."""
    centre = _median(numbers, weights)
    distances = np.abs(numbers - centre)
    differ = (distances > _ROUNDING * max(abs(centre), np.finfo(float).tiny)) & (weights > 0)
    if not differ.any():
        return centre, 1.0
    middle = _median(distances, weights)
    if middle <= _ROUNDING * abs(centre):
        # Most numbers are the same: the others say how far apart numbers are.
        middle = _median(distances[differ], weights[differ])
    return centre, _BELL * middle


def _median(values: FloatArray, weights: npt.NDArray[Any]) -> float:
    """Return the weighted median, the middle of two where the weight below and above is equal."""
    seen = weights > 0
    values, weights = values[seen], weights[seen]
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    low, high = (int(np.searchsorted(2 * sums, sums[-1], side=side)) for side in ("left", "right"))
    return (float(values[order[low]]) + float(values[order[min(high, len(order) - 1)]])) / 2
