"""The scorecard as a plain, immutable value: lines with points, and what a sum of points means.

A line is one condition, or several conditions on one count that grow stronger ("more than 10",
"more than 19"). Its points follow from how many of its conditions hold. All points are whole
numbers, so a score is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FormulaError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.printing.english import is_about_graph
from gnn2logic.logic.syntax import Formula, Modal, conjunction, negation

__all__ = ["Line", "Scorecard", "held_conditions"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One line of a scorecard.

    Parameters
    ----------
    conditions : tuple of Formula
        One condition, or conditions on one count from weak to strong: ``1 phi > 10`` and
        ``1 phi > 19``.
    points : tuple of tuple of int
        ``points[k]`` is given where exactly the first ``k + 1`` conditions hold: one number for
        each column of points. Where none holds there are no points.
    """

    conditions: tuple[Formula, ...]
    points: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.conditions or len(self.points) != len(self.conditions):
            raise ParameterError(
                "A line needs a condition or more, and points for each. Got "
                f"{len(self.conditions)} conditions and {len(self.points)} rows of points."
            )
        for weak, strong in pairwise(self.conditions):
            if not _is_stronger(weak, strong):
                raise FormulaError(
                    "Conditions of one line must be about one count, with rising thresholds. Got "
                    f"{weak} before {strong}."
                )

    @property
    def size(self) -> int:
        """How many symbols are read: what is counted is said once, each further threshold adds 1.

        >>> from gnn2logic.logic import parse
        >>> Line((parse("1(U0 & U1) > 3"),), ((2,),)).size
        4
        """
        return self.conditions[0].size + len(self.conditions) - 1

    @property
    def largest(self) -> int:
        """The largest number of points, without its sign."""
        return max(abs(number) for row in self.points for number in row)

    @property
    def cases(self) -> tuple[tuple[Formula, tuple[int, ...]], ...]:
        """When there are points and how many: cases that exclude each other, from few to many.

        >>> from gnn2logic.logic import parse
        >>> line = Line((parse("1 U0 > 10"), parse("1 U0 > 19")), ((3,), (1,)))
        >>> [(formula.to_english(), points) for formula, points in line.cases]
        [('between 11 and 19 nodes are U0', (3,)), ('more than 19 nodes are U0', (1,))]
        """
        ends = [negation(condition) for condition in self.conditions[1:]]
        formulas = [conjunction(pair) for pair in zip(self.conditions[:-1], ends, strict=True)] + [
            self.conditions[-1]
        ]
        return tuple(
            (formula, row) for formula, row in zip(formulas, self.points, strict=True) if any(row)
        )

    def table(self) -> IntArray:
        """Return the points by how many conditions hold, from none to all."""
        return np.array([[0] * len(self.points[0]), *self.points], dtype=np.int64)


def _is_stronger(weak: Formula, strong: Formula) -> bool:
    return (
        isinstance(weak, Modal)
        and isinstance(strong, Modal)
        and weak.modality == strong.modality
        and weak.child is strong.child
        and type(weak.threshold) is type(strong.threshold)
        and weak.threshold < strong.threshold
    )


@dataclass(frozen=True)
class Scorecard:
    """Lines whose points are added up, and what the sum says.

    Parameters
    ----------
    lines : tuple of Line
    base : tuple of int
        The points that everything has: one number for each column of points.
    slope : float
        How much one point is worth: of log-odds for classes, of the target for numbers.
    intercept : float
        What is added to `slope` times the score, where there is one column of points.
    answer : {"class", "number"}
        What is predicted.
    n_classes : int
        Two classes have one column of points, for the second one; more have one column each.
    level : {"graph", "node"}
        What is scored.
    """

    lines: tuple[Line, ...]
    base: tuple[int, ...]
    slope: float
    intercept: float
    answer: Literal["class", "number"]
    n_classes: int
    level: Literal["graph", "node"]

    def __post_init__(self) -> None:
        expected = points_columns(self.answer, self.n_classes)
        widths = {len(self.base), *(len(row) for line in self.lines for row in line.points)}
        if widths != {expected}:
            raise ParameterError(
                f"A scorecard for {self.n_classes} classes has {expected} columns of points. "
                f"Got {sorted(widths)}."
            )
        if self.level == "graph":
            for line in self.lines:
                if not all(map(is_about_graph, line.conditions)):
                    raise FormulaError(
                        "A line of a scorecard for graphs must be about whole graphs, such as "
                        f"1 U0 > 2. Got {line.conditions[0]}."
                    )
        if not (math.isfinite(self.slope) and self.slope > 0 and math.isfinite(self.intercept)):
            raise ParameterError(
                "slope must be a number above 0 and intercept a number. "
                f"Got {self.slope} and {self.intercept}."
            )

    @property
    def size(self) -> int:
        """How many symbols all lines have together."""
        return sum(line.size for line in self.lines)

    @property
    def conditions(self) -> tuple[Formula, ...]:
        """The conditions of all lines."""
        return tuple(condition for line in self.lines for condition in line.conditions)

    @property
    def threshold(self) -> int:
        """Of two classes, the least score that gives the second one."""
        least = math.floor(-self.intercept / self.slope)
        while self.intercept + self.slope * least > 0:
            least -= 1
        while not self.intercept + self.slope * least > 0:
            least += 1
        return least

    def held(self, batch: GraphBatch) -> IntArray:
        """Return how many conditions of every line hold, for every graph (or node)."""
        return held_conditions([line.conditions for line in self.lines], batch, self.level)

    def scores(self, held: IntArray) -> IntArray:
        """Return the sum of all points, by row and column, given how many conditions hold.

        Parameters
        ----------
        held : array of int, shape (n_rows, n_lines)
        """
        total = np.tile(np.array(self.base, dtype=np.int64), (len(held), 1))
        for number, line in enumerate(self.lines):
            total += line.table()[held[:, number]]
        return total

    def numbers(self, scores: IntArray) -> FloatArray:
        """Return what scores stand for: log-odds of classes, or the predicted number."""
        return np.asarray(self.intercept + self.slope * scores, dtype=np.float64)

    def classes(self, scores: IntArray) -> IntArray:
        """Return the number of the predicted class for every row of scores."""
        if self.n_classes == 2:
            return (scores[:, 0] >= self.threshold).astype(np.int64)
        return np.asarray(scores.argmax(axis=1))

    def probabilities(self, scores: IntArray) -> FloatArray:
        """Return the probability of every class for every row of scores."""
        logits = self.numbers(scores)
        if self.n_classes == 2:
            logits = np.column_stack([np.zeros(len(logits)), logits[:, 0]])
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def score_range(self, column: int = 0) -> tuple[int, int]:
        """Return the least and the largest score that lines can add up to."""
        tables = [line.table()[:, column] for line in self.lines]
        low = self.base[column] + sum(int(table.min()) for table in tables)
        high = self.base[column] + sum(int(table.max()) for table in tables)
        return low, high


def points_columns(answer: str, n_classes: int) -> int:
    """Return how many columns of points there are."""
    return 1 if answer == "number" or n_classes == 2 else n_classes


def held_conditions(
    conditions: Sequence[Sequence[Formula]], batch: GraphBatch, level: Literal["graph", "node"]
) -> IntArray:
    """Return how many conditions of each line hold, as an array of shape (n_rows, n_lines)."""
    n_rows = batch.n_graphs if level == "graph" else batch.n_nodes
    wanted = list(dict.fromkeys(formula for line in conditions for formula in line))
    truths = evaluate_each(wanted, batch, level=level)
    held = np.zeros((n_rows, len(conditions)), dtype=np.int64)
    for number, line in enumerate(conditions):
        for formula in line:
            held[:, number] += truths[formula]
    return held
