"""`NumberComparison`: true numbers, those of a model and of its teacher, and how near they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.graph_model import r_squared
from gnn2logic.idt.target import Target

__all__ = ["NumberComparison", "number_figures"]

FloatArray = npt.NDArray[np.float64]


def number_figures(truth: FloatArray | None, predicted: FloatArray) -> tuple[Any, Any]:
    """Return R2 and the mean absolute error; None for both without a truth.

    >>> number_figures(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    (0.5, 0.3333333333333333)
    """
    if truth is None:
        return None, None
    error = float(np.abs(truth - predicted).mean())
    return r_squared(truth, predicted, np.ones(len(truth))), error


@dataclass(frozen=True, eq=False)
class NumberComparison:
    """The numbers of some graphs (or nodes): true, by the model and by the teacher.

    Parameters
    ----------
    level : {"graph", "node"}
        What is given a number.
    target : Target
        What the numbers are.
    rows : array of int
        The rows that are compared: graph numbers, or node numbers in the batch.
    predicted : array of float
    truth, teacher : array of float or None
        None where nothing is known. All arrays have one entry for each of `rows`.
    """

    level: str
    target: Target
    rows: npt.NDArray[np.int64]
    predicted: FloatArray
    truth: FloatArray | None
    teacher: FloatArray | None

    @property
    def reference(self) -> FloatArray | None:
        """The true numbers, or those of the teacher where no others are known."""
        return self.teacher if self.truth is None else self.truth

    @property
    def errors(self) -> FloatArray:
        """How far the model is from the teacher or, without one, from the truth."""
        other = self.truth if self.teacher is None else self.teacher
        if other is None:
            return np.zeros(len(self.rows))
        return np.abs(self.predicted - other)

    @property
    def mean(self) -> float | None:
        """The mean of the reference; None without one."""
        return None if self.reference is None else float(self.reference.mean())

    def scores(self) -> list[dict[str, Any]]:
        """Return the figures of the rule, of the teacher and of the mean.

        R2 and MAE, the mean absolute error, are against the true numbers; those of fidelity are
        against the teacher. None where there is nothing to compare with.

        >>> truth = np.array([1.0, 2.0, 3.0])
        >>> told = NumberComparison("graph", Target(), np.arange(3), truth, truth, None)
        >>> [(row["who"], row["r2"]) for row in told.scores()]
        [('rule', 1.0), ('baseline', 0.0)]
        """
        rows = [self._figures("rule", self.predicted)]
        if self.teacher is not None:
            rows.append(self._figures("teacher", self.teacher))
        if (mean := self.mean) is not None:
            rows.append(self._figures("baseline", np.full(len(self.rows), mean)))
        return rows

    def _figures(self, who: str, numbers: FloatArray) -> dict[str, Any]:
        r2, mae = number_figures(self.truth, numbers)
        fidelity, distance = number_figures(self.teacher, numbers)
        return {
            "who": who,
            "n_rows": len(numbers),
            "r2": r2,
            "mae": mae,
            "fidelity_r2": fidelity,
            "fidelity_mae": distance,
        }
