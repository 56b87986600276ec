"""From weights to points: small whole numbers that lose next to nothing.

Points are tried from small to large, and the first ones are taken whose loss is as low as that of
the weights, but for a small share of what all lines explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.losses import Loss, PatternTable, scaled_sums

__all__ = ["RoundedPoints", "rounded_points"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Of what the lines explain, rounding may lose this share.
MOST_LOST = 0.01
_LARGEST_TRIED = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True)
class RoundedPoints:
    """Points of all cases, and what one point is worth.

    Parameters
    ----------
    points : tuple of array of int
        For every line, the points by case and column: the first row is for no condition.
    base : array of int, shape (n_columns,)
    slope, intercept : float
    loss : float
        The mean loss on the rows.
    """

    points: tuple[IntArray, ...]
    base: IntArray
    slope: float
    intercept: float
    loss: float


def rounded_points(
    loss: Loss,
    table: PatternTable,
    coefficients: FloatArray,
    n_cases: Sequence[int],
    max_points: int,
    *,
    ridge: float,
    polish: bool = True,
) -> RoundedPoints:
    """Return points for weights that fit the rows of a table.

    Parameters
    ----------
    coefficients : array
        The constant and the weight of every condition, as `Loss.fit` returns them.
    n_cases : sequence of int
        How many conditions every line has.
    max_points : int
        The most points, with either sign.
    ridge : float
        The price of large weights, as in `Loss.fit`.
    polish : bool
        Whether single points are changed by one where that helps.
    """
    weights, targets = scaled_sums(table)
    held = _held(table, n_cases)
    values = _values_of_cases(coefficients[1:], n_cases)
    constant = coefficients[0]
    if loss.n_columns > 1:
        # Only differences between classes matter: most classes get nothing for most cases.
        values = [of_line - np.median(of_line, axis=1, keepdims=True) for of_line in values]
        constant = constant - constant.min()
    exact = loss.mean(_raw(constant, values, held), weights, targets)
    none = _fitted_scale(loss, np.zeros((len(weights), loss.n_columns)), weights, targets, 0.0)
    allowed = exact + MOST_LOST * max(none.loss - exact, 0.0)
    largest = max((float(np.abs(of_line).max()) for of_line in values), default=0.0)
    no_weight = largest == 0.0
    if no_weight:
        # Of several classes the constants still say how frequent each one is.
        largest = float(constant.max()) if loss.n_columns > 1 else 0.0
    if largest == 0.0:
        zeros = tuple(np.zeros_like(of_line, dtype=np.int64) for of_line in values)
        return RoundedPoints(zeros, none.base, none.slope, none.intercept, none.loss)
    best: RoundedPoints | None = None
    for most in (*(n for n in _LARGEST_TRIED if n < max_points), max_points):
        points = [
            np.zeros_like(of_line, dtype=np.int64)
            if no_weight
            else _rounded(of_line * (most / largest))
            for of_line in values
        ]
        # Of several classes the constants are points as well.
        base = np.zeros(1, dtype=np.int64)
        if loss.n_columns > 1:
            base = np.rint(constant * (most / largest)).astype(np.int64)
        candidate = _with_scale(loss, points, base, held, weights, targets, ridge)
        if best is None or candidate.loss < best.loss:
            best = candidate
        if best.loss <= allowed:
            break
    assert best is not None
    if polish and not no_weight:
        best = _improved(loss, best, held, weights, targets, ridge, max_points)
    if loss.is_number:
        # Two numbers for all rows are not fitted too closely, so what a point is worth is free.
        best = _with_scale(
            loss, best.points, best.base, held, weights, targets, 0.0, (best.slope, best.intercept)
        )
    return best


def _held(table: PatternTable, n_cases: Sequence[int]) -> list[IntArray]:
    """Return, for every line, how many of its conditions hold in each pattern."""
    ends = list(accumulate(n_cases))
    return [
        table.truths[:, end - count : end].sum(axis=1)
        for end, count in zip(ends, n_cases, strict=True)
    ]


def _values_of_cases(steps: FloatArray, n_cases: Sequence[int]) -> list[FloatArray]:
    """Return the value of every case of every line: the steps up to it, added up."""
    values, start = [], 0
    for count in n_cases:
        rising = np.cumsum(steps[start : start + count], axis=0)
        values.append(np.vstack([np.zeros((1, steps.shape[1])), rising]))
        start += count
    return values


def _raw(
    constant: FloatArray, values: Sequence[npt.NDArray[Any]], held: Sequence[IntArray]
) -> FloatArray:
    n_rows = len(held[0]) if held else 1
    raw = np.tile(np.asarray(constant, dtype=np.float64), (n_rows, 1))
    for of_line, cases in zip(values, held, strict=True):
        raw += of_line[cases]
    return raw


def _rounded(values: FloatArray) -> IntArray:
    """Return whole numbers; a line never vanishes."""
    points = np.rint(values).astype(np.int64)
    if not points.any():
        place = np.unravel_index(np.abs(values).argmax(), values.shape)
        points[place] = 1 if values[place] > 0 else -1
    return points


def _with_scale(
    loss: Loss,
    points: Sequence[IntArray],
    base: IntArray,
    held: Sequence[IntArray],
    weights: FloatArray,
    targets: FloatArray,
    ridge: float,
    start: tuple[float, float] = (0.1, 0.0),
) -> RoundedPoints:
    """Return points with the best value of one point."""
    scores = _raw(base.astype(np.float64), points, held)
    price = ridge * float(sum(loss.size_of(np.diff(of_line, axis=0)) for of_line in points))
    fitted = _fitted_scale(loss, scores, weights, targets, price, start)
    return RoundedPoints(tuple(points), base, fitted.slope, fitted.intercept, fitted.loss)


def _fitted_scale(
    loss: Loss,
    scores: FloatArray,
    weights: FloatArray,
    targets: FloatArray,
    price: float,
    start: tuple[float, float] = (0.1, 0.0),
) -> RoundedPoints:
    """Fit what one point is worth, and the constant where there is one column."""
    one_column = loss.n_columns == 1
    slope, intercept = loss.fit_line(scores, weights, targets, price, start)
    slope = max(slope, 1e-6)
    value = loss.mean(intercept + slope * scores, weights, targets)
    base = np.zeros(loss.n_columns, dtype=np.int64)
    return RoundedPoints((), base, slope, intercept if one_column else 0.0, value)


def _improved(
    loss: Loss,
    start: RoundedPoints,
    held: Sequence[IntArray],
    weights: FloatArray,
    targets: FloatArray,
    ridge: float,
    most: int,
) -> RoundedPoints:
    """Change single points by one where that makes the loss smaller, once around."""
    best = start
    for line in range(len(best.points)):
        for case in range(1, len(best.points[line])):
            for column in range(loss.n_columns):
                for change in (1, -1):
                    points = [of_line.copy() for of_line in best.points]
                    points[line][case, column] += change
                    within = abs(points[line][case, column]) <= most
                    if not within or not points[line].any():
                        continue
                    near = best.slope, best.intercept
                    other = _with_scale(
                        loss, points, best.base, held, weights, targets, ridge, near
                    )
                    if other.loss < best.loss - 1e-12:
                        best = other
                        break
    return best
