"""The best split of one node, from the sums of its rows by feature and code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ChosenSplit", "GrowthLimits", "best_split", "may_split"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class GrowthLimits:
    """When to stop, and how thresholds are drawn."""

    max_depth: int | None = None
    min_rows_leaf: int = 1
    random_thresholds: bool = False
    splits_without_gain: bool = False
    """Grow on while a node is not pure, even if no single split helps; pruning decides later."""


@dataclass(frozen=True)
class ChosenSplit:
    """A split: the position of its feature among the candidates, and the codes on both sides."""

    column: int
    code: int
    next_code: int
    low_sums: IntArray


def may_split(total: IntArray, depth: int, limits: GrowthLimits) -> bool:
    """Return whether a node with these sums may be split at all."""
    if limits.max_depth is not None and depth >= limits.max_depth:
        return False
    if int(total[-1]) < 2 * limits.min_rows_leaf:
        return False
    return not (limits.splits_without_gain and np.count_nonzero(total[:-2]) <= 1)


def best_split(
    histogram: IntArray,
    sizes: IntArray,
    preference: IntArray,
    total: IntArray,
    limits: GrowthLimits,
    seed: Sequence[int] | None,
) -> ChosenSplit | None:
    """Return the split with the largest gain, or None where none is allowed.

    Parameters
    ----------
    histogram : array of shape (sizes.sum(), n_sums)
        The sums of the node's rows, one line for each code of each candidate in turn; the last two
        columns are the weight and the number of rows.
    sizes : array of int
        The number of codes of each candidate.
    preference : array of int
        Of equally good candidates the one with the lowest number wins.
    total : array
        The sums of all rows of the node.
    seed : sequence of int, optional
        Of the random thresholds of this node.
    """
    n_rows = int(total[-1])
    if not len(sizes):
        return None
    starts = np.cumsum(sizes) - sizes
    low = np.cumsum(histogram, axis=0)
    before = low[starts] - histogram[starts]
    low -= np.repeat(before, sizes, axis=0)
    rows_low = low[:, -1]
    # Only codes that occur here bound a gap; the last one of a column has nothing above it.
    possible = np.flatnonzero(
        (histogram[:, -1] > 0)
        & (rows_low >= limits.min_rows_leaf)
        & (n_rows - rows_low >= limits.min_rows_leaf)
    )
    owner = np.repeat(np.arange(len(sizes)), sizes)[possible]
    if limits.random_thresholds:
        assert seed is not None
        keep = _one_each(owner, np.random.default_rng(seed))
        possible, owner = possible[keep], owner[keep]
    if not len(possible):
        return None
    score = _score(low[possible], total)
    best = score.max()
    if not limits.splits_without_gain:
        whole = float((total[:-2].astype(float) ** 2).sum() / total[-2])
        if best - whole <= 1e-12 * max(abs(best), 1e-300):
            return None
    tied = np.flatnonzero(score == best)
    chosen = tied[np.lexsort((possible[tied], preference[owner[tied]]))[0]]
    line, column = int(possible[chosen]), int(owner[chosen])
    end = int(starts[column] + sizes[column])
    above = int(np.argmax(histogram[line + 1 : end, -1] > 0)) + line + 1
    return ChosenSplit(
        column=column,
        code=line - int(starts[column]),
        next_code=above - int(starts[column]),
        low_sums=low[line].copy(),
    )


def _score(low: IntArray, total: IntArray) -> npt.NDArray[np.float64]:
    """Return what the variance reduction depends on: sum of squares over weight, on both sides."""
    left = np.zeros(len(low))
    right = np.zeros(len(low))
    # Column by column, so that equal and mirrored splits get exactly equal scores.
    for k in range(low.shape[1] - 2):
        left += low[:, k].astype(float) ** 2
        right += (total[k] - low[:, k]).astype(float) ** 2
    weight = low[:, -2].astype(float)
    return np.asarray(left / weight + right / (float(total[-2]) - weight))


def _one_each(owner: IntArray, rng: np.random.Generator) -> IntArray:
    """Return one random position for each owner; `owner` is sorted."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    counts = np.diff(np.append(starts, len(owner)))
    return starts + (rng.random(len(starts)) * counts).astype(np.int64)
