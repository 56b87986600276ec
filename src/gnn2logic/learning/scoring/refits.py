"""Lines fitted together: what they leave open, and what a further line would add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.losses import TARGET_STEPS, Loss, PatternTable

__all__ = ["Pace", "Refit", "ScoreTargets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pace:
    """How much a new line is trusted while others are searched.

    A planted card is found line by line, each with all its weight, and a line that others make
    better is replaced. Where no few lines are the truth, small weights make fewer mistakes: a line
    leaves much of what it says to the next ones, which say it in other words.

    Parameters
    ----------
    price : float
        What a symbol, or what is as dear to read, must explain, in rows: a share of
        ``price / n_rows`` of the variance.
    ridge : float
        The least price of large weights, in rows.
    ridge_share : float
        The same as a share of the rows; the larger one holds.
    swaps : bool
        Whether lines are replaced by better ones, given the others.
    dearest : int
        What a line may cost to read at most.
    searches : bool
        Whether it looks for columns; else it takes those of the pace before.
    """

    price: float
    ridge: float
    ridge_share: float
    swaps: bool
    dearest: int = 1000
    searches: bool = True


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
    unit : float
        What 1 is in the unit of the numbers.
    """

    whole: IntArray
    classes: IntArray
    weights: IntArray
    loss: Loss
    unit: float = 1.0

    @property
    def values(self) -> FloatArray:
        """The targets as numbers."""
        return self.whole / TARGET_STEPS

    def table(self, truths: npt.NDArray[np.bool_], rows: IntArray) -> PatternTable:
        """Return the pattern table of some rows, given where conditions hold there."""
        return PatternTable.of_rows(
            truths,
            self.weights[rows],
            self.whole[rows],
            self.classes[rows],
            apart=self.loss.apart,
        )

    def ridge(self, per_row: float, rows: IntArray) -> float:
        """Return the price of large weights; it is given in rows, whatever a row weighs."""
        return per_row * float(self.weights[rows].sum()) / len(rows)


@dataclass(frozen=True)
class Refit:
    """What some conditions, fitted together, say about rows.

    Parameters
    ----------
    residuals : array of float, shape (n_all_rows, n_columns)
        Targets less what is expected; 0 for rows that are not looked at.
    log_likelihood : float
        How likely the targets are, less the price of large weights; a row of mean weight counts 1.
    """

    residuals: FloatArray
    log_likelihood: float
    _design: FloatArray
    _residuals_here: FloatArray
    _weights: FloatArray
    _curves: FloatArray
    _ridge: float

    @classmethod
    def of_rows(cls, targets: ScoreTargets, rows: IntArray, truths: BoolArray, pace: Pace) -> Self:
        """Fit conditions to rows, given where they hold there."""
        loss, values = targets.loss.for_search(), targets.values[rows]
        weights = targets.weights[rows].astype(np.float64)
        per_row = max(pace.ridge, pace.ridge_share * len(rows))
        ridge = targets.ridge(per_row, rows)
        coefficients = loss.fit(targets.table(truths, rows), ridge)
        design = np.column_stack([np.ones(len(rows)), truths])
        raw = design @ coefficients
        residuals = np.zeros((len(targets.whole), loss.n_columns))
        residuals[rows] = loss.residuals(raw, values, weights)
        one_row = float(weights.sum()) / len(rows)
        weights = weights / one_row
        price = per_row / 2 * float(loss.size_of(coefficients[1:]))
        curves = loss.curves(raw, values, weights)
        likelihood, width = loss.likelihood(raw, values, weights, price)
        return cls(
            residuals,
            likelihood,
            design,
            residuals[rows] / width,
            weights,
            curves / width,
            per_row / width,
        )

    def gains(self, further: Sequence[BoolArray]) -> FloatArray:
        """Return about how much likelier each further condition would make the targets.

        The best of all columns; one Newton step in which the other weights may change too.
        """
        best = np.zeros(len(further))
        if not len(further):
            return best
        truths = np.stack(further, axis=1).astype(np.float64)
        for column in range(self._curves.shape[1]):
            curve = self._weights * self._curves[:, column]
            slopes = truths.T @ (self._weights * self._residuals_here[:, column])
            weighed = self._design * curve[:, None]
            within = weighed.T @ self._design + np.diag(
                [1e-4, *[self._ridge] * (self._design.shape[1] - 1)]
            )
            across = weighed.T @ truths
            alone = curve @ truths + self._ridge
            left = alone - (across * np.linalg.solve(within, across)).sum(axis=0)
            best = np.maximum(best, slopes**2 / (2 * np.maximum(left, self._ridge)))
        return best
