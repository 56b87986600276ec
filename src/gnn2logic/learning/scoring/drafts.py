"""Lines without points, as the search has them: where they hold, and how hard they are to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.scoring.reading import reading_cost
from gnn2logic.learning.search.conditions import SearchCondition
from gnn2logic.learning.search.cuts import Form

__all__ = ["DraftLine", "reading_cost_of", "truths_of"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DraftLine:
    """A line without points: conditions on one column from weak to strong.

    Parameters
    ----------
    column : int
    form : Form or None
        What is compared; None for conditions on nodes.
    cuts : tuple of int
    conditions : tuple of SearchCondition
    """

    column: int
    form: Form | None
    cuts: tuple[int, ...]
    conditions: tuple[SearchCondition, ...]


def reading_cost_of(lines: Sequence[DraftLine]) -> int:
    """Return how hard lines are to read: a further condition on a count is one more symbol."""
    return sum(
        reading_cost(line.conditions[0].formula) + len(line.conditions) - 1 for line in lines
    )


def truths_of(lines: Sequence[DraftLine], rows: IntArray) -> npt.NDArray[np.bool_]:
    """Return where the conditions of all lines hold, of shape (n_rows, n_conditions)."""
    conditions = [condition.truth[rows] for line in lines for condition in line.conditions]
    if not conditions:
        return np.zeros((len(rows), 0), dtype=bool)
    return np.stack(conditions, axis=1)
