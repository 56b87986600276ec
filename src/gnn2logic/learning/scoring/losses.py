"""What points are fitted to: log loss of classes, squared error of numbers (or `absolute`).

Rows with the same truth of all conditions get the same score, so they are one row of a table:
their weights and targets are added up, as whole numbers. The table is the same whatever order, or
shards, the rows came in. Medians cannot be had from sums: for them only rows with the same target
are joined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Loss", "PatternTable", "loss_for"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Targets are whole numbers of so many steps, so that sums are exact.
TARGET_STEPS = 1 << 20
_MOST_ITERATIONS = 200
_SMALL_STEP = 1e-7
# No single step is longer than this many units of log-odds: far away the curve misleads.
_LONGEST_STEP = 4.0
# Weights times classes: as many equations are solved in one step.
_LARGEST_MATRIX = 400


@dataclass(frozen=True)
class PatternTable:
    """What a loss has to know about some rows.

    Parameters
    ----------
    truths : array of bool, shape (n_patterns, n_conditions)
    weights : array of int, shape (n_patterns,)
    targets : array of int, shape (n_patterns, n_columns)
        Sums of weight times target, in `TARGET_STEPS`; the target itself where rows are `apart`.
    classes : array of int, shape (n_patterns, n_classes)
        The weight of every class; without columns for numbers.
    apart : bool
        Whether rows with different targets stay apart, as medians ask for.
    """

    truths: BoolArray
    weights: IntArray
    targets: IntArray
    classes: IntArray
    apart: bool = False

    @classmethod
    def of_rows(
        cls,
        truths: BoolArray,
        weights: IntArray,
        targets: IntArray,
        classes: IntArray,
        *,
        apart: bool = False,
    ) -> Self:
        """Join rows with the same truth values, and the same targets where they are `apart`.

        Parameters
        ----------
        truths : array of bool, shape (n_rows, n_conditions)
        targets, classes : array of int
            Of every row, without its weight.
        """
        seen = weights > 0
        factors = weights[seen, None]
        summed = targets[seen] if apart else targets[seen] * factors
        return cls(truths[seen], weights[seen], summed, classes[seen] * factors, apart)._joined()

    def __add__(self, other: PatternTable) -> PatternTable:
        return PatternTable(
            np.concatenate([self.truths, other.truths]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.targets, other.targets]),
            np.concatenate([self.classes, other.classes]),
            self.apart,
        )._joined()

    def _joined(self) -> Self:
        first = np.zeros(min(1, len(self.truths)), dtype=np.int64)
        which = np.zeros(len(self.truths), dtype=np.int64)
        if self.truths.shape[1] or self.apart:
            key = np.packbits(self.truths, axis=1)
            if self.apart:
                key = np.hstack([key, np.ascontiguousarray(self.targets).view(np.uint8)])
            _, first, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
        truths, which = self.truths[first], which.ravel()
        weights, targets, classes = (
            _sums_by(which, len(truths), each)
            for each in (self.weights[:, None], self.targets, self.classes)
        )
        if self.apart:
            targets = self.targets[first]
        return type(self)(truths, weights[:, 0], targets, classes, self.apart)

    def some_conditions(self, numbers: Sequence[int]) -> PatternTable:
        """Return the table of some conditions alone."""
        truths = self.truths[:, list(numbers)]
        return PatternTable(truths, self.weights, self.targets, self.classes, self.apart)._joined()


def _sums_by(which: IntArray, count: int, values: IntArray) -> IntArray:
    sums = np.zeros((count, values.shape[1]), dtype=np.int64)
    np.add.at(sums, which, values)
    return sums


class Loss(ABC):
    """What is made small: the mean loss of rows, given what is predicted for them.

    Parameters
    ----------
    n_columns : int
    """

    is_number = False
    # Whether one column of log-odds tells two classes apart.
    is_binary = False
    # Whether rows with different targets stay apart in tables.
    apart = False

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns

    @abstractmethod
    def of_rows(self, raw: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of every row; of numbers without what no prediction changes."""

    def mean(self, raw: FloatArray, weights: FloatArray, targets: FloatArray) -> float:
        """Return the mean loss; `targets` are sums over the rows of a pattern."""
        # A loss is linear in the target, so sums may take its place; else targets are apart.
        of_patterns = self.of_rows(raw, targets / weights[:, None])
        return float(weights @ of_patterns / weights.sum())

    @abstractmethod
    def expected(self, raw: FloatArray) -> FloatArray:
        """Return the target that each raw prediction stands for."""

    def residuals(self, raw: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
        """Return what predictions leave open in every row: how they should change."""
        return np.asarray(targets - self.expected(raw))

    def curves(self, raw: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
        """Return second derivatives of every row by its raw prediction, column by column."""
        expected = self.expected(raw)
        return np.asarray(expected * (1 - expected))

    def likelihood(
        self, raw: FloatArray, targets: FloatArray, weights: FloatArray, price: float
    ) -> tuple[float, float]:
        """Return how likely rows are, less a price, and the loss that makes one e times less so."""
        return -float(weights @ self.of_rows(raw, targets)) - price, 1.0

    def size_of(self, weights: npt.NDArray[Any]) -> Any:
        """Return how large weights are, which has a price."""
        return (weights**2).sum()

    def for_search(self) -> Loss:
        """Return the loss by which lines are looked for; points are fitted to this one."""
        return self

    def _newton(
        self, design: FloatArray, weights: FloatArray, raw: FloatArray, penalty: FloatArray
    ) -> _Solver:
        """Return what turns a gradient into a step, for losses that have second derivatives."""
        raise NotImplementedError

    def fit(self, table: PatternTable, ridge: float, start: FloatArray | None = None) -> FloatArray:
        """Return the constant (first row) and the weight of every condition, by column.

        Parameters
        ----------
        ridge : float
            The price of squared weights, in rows: with more rows it matters less.
        start : array, optional
            A guess of the answer.
        """
        weights, targets = scaled_sums(table)
        design = np.column_stack([np.ones(len(weights)), table.truths]).astype(np.float64)
        coefficients = np.zeros((design.shape[1], self.n_columns))
        if start is not None:
            coefficients[: len(start)] = start
        penalty = np.full(design.shape[1], ridge)
        # The constant is free but for a trace that keeps it finite where there is one class.
        penalty[0] = 1e-4
        for _ in range(_MOST_ITERATIONS):
            raw = design @ coefficients
            gradient = design.T @ (targets - weights[:, None] * self.expected(raw))
            gradient -= penalty[:, None] * coefficients
            step = self._newton(design, weights, raw, penalty).step(gradient)
            longest = float(np.abs(step).max())
            if longest > _LONGEST_STEP:
                step *= _LONGEST_STEP / longest
            coefficients = coefficients + step
            if longest < _SMALL_STEP:
                break
        return coefficients

    def fit_line(
        self,
        scores: FloatArray,
        weights: FloatArray,
        targets: FloatArray,
        price: float,
        start: tuple[float, float],
    ) -> tuple[float, float]:
        """Return what one point is worth, and the constant where there is one column.

        Without the `price` of a large slope, cards of many lines would be far too sure.
        """
        one_column = self.n_columns == 1
        slope, intercept = start
        total = weights.sum()
        for _ in range(50):
            raw = intercept + slope * scores
            expected = self.expected(raw)
            rest = targets - weights[:, None] * expected
            gradient = np.array(
                [(rest * scores).sum() - price * slope, rest.sum() if one_column else 0.0]
            )
            shift = 1e-6
            # Second derivatives along the two directions, by differences: two numbers are enough.
            ahead = self.expected(raw + shift * scores)
            curve_slope = float((weights[:, None] * (ahead - expected) * scores).sum()) / shift
            if one_column:
                above = self.expected(raw + shift)
                mixed = float((weights[:, None] * (above - expected) * scores).sum()) / shift
                curve_intercept = float((weights[:, None] * (above - expected)).sum()) / shift
            else:
                mixed, curve_intercept = 0.0, 1.0
            hessian = np.array([[curve_slope, mixed], [mixed, curve_intercept]])
            hessian += np.diag([1e-6 * total + price, 1e-6 * total])
            step = np.linalg.solve(hessian, gradient)
            longest = float(np.abs(step).max())
            if longest > 2.0:
                step *= 2.0 / longest
            slope, intercept = slope + float(step[0]), intercept + float(step[1])
            if longest < 1e-8:
                break
        return slope, intercept


def scaled_sums(table: PatternTable) -> tuple[FloatArray, FloatArray]:
    """Return weights and targets of a table as numbers; weights are used as they are."""
    weights, targets = table.weights.astype(np.float64), table.targets / TARGET_STEPS
    return weights, targets * weights[:, None] if table.apart else targets


class _Solver:
    """Turns gradients into steps by a matrix of second derivatives."""

    def __init__(self, hessian: FloatArray) -> None:
        self._hessian = hessian

    def step(self, gradient: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.solve(self._hessian, gradient))


class _JointSolver(_Solver):
    """The same for all classes at once, whose weights depend on each other."""

    def __init__(self, hessian: FloatArray, penalty: FloatArray) -> None:
        n_classes, n_weights = hessian.shape[:2]
        square = hessian.reshape(n_classes * n_weights, -1)
        super().__init__(square + np.diag(np.tile(penalty, n_classes)))

    def step(self, gradient: FloatArray) -> FloatArray:
        return super().step(gradient.T.ravel()).reshape(gradient.shape[::-1]).T


def _weighted_square(design: FloatArray, weights: FloatArray, penalty: FloatArray) -> FloatArray:
    return (design * weights[:, None]).T @ design + np.diag(penalty)


class _LogLoss(Loss):
    """Two classes: the target is the share (or probability) of the second one."""

    is_binary = True

    def __init__(self) -> None:
        super().__init__(1)

    def of_rows(self, raw: FloatArray, targets: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0, raw[:, 0]) - targets[:, 0] * raw[:, 0])

    def expected(self, raw: FloatArray) -> FloatArray:
        return np.asarray(0.5 * (1 + np.tanh(0.5 * raw)))

    def _newton(
        self, design: FloatArray, weights: FloatArray, raw: FloatArray, penalty: FloatArray
    ) -> _Solver:
        chance = self.expected(raw)[:, 0]
        curve = np.maximum(weights * chance * (1 - chance), 1e-9 * weights)
        return _Solver(_weighted_square(design, curve, penalty))


class _SoftmaxLoss(Loss):
    """Three classes or more: one column of targets for each."""

    def of_rows(self, raw: FloatArray, targets: FloatArray) -> FloatArray:
        highest = raw.max(axis=1)
        totals = highest + np.log(np.exp(raw - highest[:, None]).sum(axis=1))
        return np.asarray(totals - (targets * raw).sum(axis=1))

    def expected(self, raw: FloatArray) -> FloatArray:
        raised = np.exp(raw - raw.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def _newton(
        self, design: FloatArray, weights: FloatArray, raw: FloatArray, penalty: FloatArray
    ) -> _Solver:
        chances = self.expected(raw)
        n_weights, n_classes = design.shape[1], self.n_columns
        if n_weights * n_classes > _LARGEST_MATRIX:
            # Half of the largest curve there can be: a bound that needs no matrix across classes.
            return _Solver(_weighted_square(design, weights / 2, penalty))
        hessian = np.empty((n_classes, n_weights, n_classes, n_weights))
        for one in range(n_classes):
            for other in range(one + 1):
                curve = chances[:, one] * ((one == other) - chances[:, other])
                block = (design * (weights * curve)[:, None]).T @ design
                hessian[one, :, other], hessian[other, :, one] = block, block.T
        return _JointSolver(hessian, penalty)


class _SquaredLoss(Loss):
    """Numbers."""

    is_number = True

    def __init__(self) -> None:
        super().__init__(1)

    def of_rows(self, raw: FloatArray, targets: FloatArray) -> FloatArray:
        return np.asarray(raw[:, 0] ** 2 - 2 * targets[:, 0] * raw[:, 0])

    def expected(self, raw: FloatArray) -> FloatArray:
        return raw

    def curves(self, raw: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
        return np.ones_like(raw)

    def likelihood(
        self, raw: FloatArray, targets: FloatArray, weights: FloatArray, price: float
    ) -> tuple[float, float]:
        # As likely as numbers are whose noise is normal, of a width that is fitted too.
        squared = float(weights @ (targets - raw)[:, 0] ** 2) + 2 * price
        width = max(squared / len(raw), 1e-12)
        return -len(raw) / 2 * float(np.log(width)), width

    def _newton(
        self, design: FloatArray, weights: FloatArray, raw: FloatArray, penalty: FloatArray
    ) -> _Solver:
        return _Solver(_weighted_square(design, weights, penalty))


def loss_for(answer: Literal["class", "number"], n_classes: int) -> Loss:
    """Return the loss of what is predicted."""
    if answer == "number":
        return _SquaredLoss()
    return _LogLoss() if n_classes == 2 else _SoftmaxLoss(n_classes)
