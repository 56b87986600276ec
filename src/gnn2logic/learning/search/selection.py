"""Which rule to take: held-out accuracy against what has to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.rules import SearchedRule

__all__ = ["NEARLY_BEST", "HeldOut", "choose", "counterpart", "held_out_folds", "stratified_folds"]

IntArray = npt.NDArray[np.int64]

N_FOLDS = 5
# A rule is nearly the best if it is worse by at most so many standard errors. Over 57 splits of
# IMDB-BINARY, PROTEINS, BZR, MUTAG and BBBP (seeds from 101 on) rules were as accurate with a half
# as with none, and shorter; with three quarters or a whole one they were a little less accurate.
NEARLY_BEST = 0.5
_ROUNDING = 1e-12
# Rules of two folds that explain as much, but for this share, may be one rule.
_SAME_FIT = 0.02


@dataclass(frozen=True)
class HeldOut:
    """How rules of every size did on graphs that they were not learned from.

    Parameters
    ----------
    right : array of float, shape (n_sizes, n_rows)
        How right the best rule of at most a size, learned without a graph, is about it: 1 or 0 for
        a class, up to 1 for a number.
    weights : array of float, shape (n_rows,)
    """

    right: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    @property
    def accuracy(self) -> npt.NDArray[np.float64]:
        """The held-out accuracy for every size."""
        return np.asarray(self.right @ self.weights / self.weights.sum())

    def worse_by(self, index: int, other: int) -> tuple[float, float]:
        """Return by how much one size is less accurate than another, and the standard error.

        The error is that of one row more, at which the two differ as much as anywhere.
        """
        share = self.weights / self.weights.sum()
        difference = self.right[other] - self.right[index]
        mean = float(share @ difference)
        # The same graphs are judged twice, so what is easy for both does not count.
        unbiased = len(share) / max(1, len(share) - 1)
        spread = unbiased * float(share**2 @ (difference - mean) ** 2)
        return mean, float(np.sqrt(spread + self._one_row(difference) ** 2))

    def is_near(self, index: int, best: int) -> bool:
        """Whether one size is nearly as accurate as the best; no single row decides anything."""
        mean, error = self.worse_by(index, best)
        one_row = self._one_row(self.right[best] - self.right[index])
        return mean <= max(NEARLY_BEST * error, one_row) + _ROUNDING

    def _one_row(self, difference: npt.NDArray[np.float64]) -> float:
        """Return what one row is worth at which two differ as much as anywhere."""
        share = self.weights / self.weights.sum()
        return float(np.sqrt((share**2).mean() * (difference**2).max()))


def choose(
    held_out: HeldOut,
    sizes: Sequence[int],
    max_size: int,
    margin: float,
    lengths: Sequence[int] | None = None,
) -> int:
    """Return the index of the rule that is quickest to read of those that are nearly the best.

    The best is that of rules of at most `max_size` symbols, unless a longer one is better by more
    than `margin` and by more than one standard error. `lengths` say how much there is to read, by
    default the sizes.
    """
    accuracy = held_out.accuracy
    short = [index for index, size in enumerate(sizes) if size <= max_size]
    best = max(short, key=lambda index: (accuracy[index], -index))
    longest = int(accuracy.argmax())
    mean, error = held_out.worse_by(best, longest)
    if mean > max(margin, error) + _ROUNDING:
        best = longest
    near = [best]
    for index, size in enumerate(sizes):
        if size <= max(max_size, sizes[best]) and held_out.is_near(index, best):
            near.append(index)
    read = sizes if lengths is None else lengths
    return min(near, key=lambda index: (read[index], index))


def counterpart(front: Sequence[SearchedRule], rule: SearchedRule, size: int) -> SearchedRule:
    """Return what another fold, whose front is given, has instead of a rule of some size.

    That is its longest rule of at most this size. The same rule may have a symbol more in another
    fold, so a longer one that does not explain more there than the rule does here will do too.
    """
    # Rules of folds are not simplified.
    size = max(size, rule.size)
    longest = size + max(1, size // 4) if size > 1 else size
    return [
        other
        for other in front
        if other is front[0]
        or other.size <= size
        or (other.size <= longest and other.fit <= rule.fit + _SAME_FIT)
    ][-1]


def held_out_folds(
    classes: IntArray, n_classes: int, groups: IntArray | None, seed: Sequence[int]
) -> IntArray | None:
    """Return the fold of every row, -1 for the only row of a class; None if all are alone.

    Parameters
    ----------
    groups : array of int or None
        Rows of one group are held out together.
    """
    if groups is not None:
        members, which = np.unique(groups, return_inverse=True)
        if len(members) >= N_FOLDS:
            draw = np.random.default_rng([*seed, 1])
            return np.asarray(draw.permutation(np.arange(len(members)) % N_FOLDS)[which])
    counts = np.bincount(classes, minlength=n_classes)
    # The only row of its class is always learned from.
    several = counts[classes] > 1
    if not several.any():
        return None
    folds = np.full(len(classes), -1)
    # A rare class is in some of the folds, and says nothing about how many there are.
    n_folds = min(N_FOLDS, int(counts.max()))
    folds[several] = stratified_folds(classes[several], n_folds, [*seed, 1])
    return folds


def stratified_folds(classes: IntArray, n_folds: int, seed: Sequence[int]) -> IntArray:
    """Return the fold of every graph; classes are spread evenly."""
    draw = np.random.default_rng(seed)
    fold = np.empty(len(classes), dtype=np.int64)
    for number in np.unique(classes).tolist():
        members = draw.permutation(np.flatnonzero(classes == number))
        fold[members] = np.arange(len(members)) % n_folds
    return fold
