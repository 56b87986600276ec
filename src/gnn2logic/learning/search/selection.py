"""Which rule to take: held-out accuracy against what has to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.rules import SearchedRule

__all__ = ["HeldOut", "choose", "stratified_folds"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class HeldOut:
    """How rules of every size did on graphs that they were not learned from.

    Parameters
    ----------
    right : array of bool, shape (n_sizes, n_rows)
        Whether the best rule of at most a size, learned without a graph, is right about it.
    weights : array of float, shape (n_rows,)
    """

    right: BoolArray
    weights: npt.NDArray[np.float64]

    @property
    def accuracy(self) -> npt.NDArray[np.float64]:
        """The held-out accuracy for every size."""
        return np.asarray(self.right @ self.weights / self.weights.sum())

    def worse_by(self, place: int, other: int) -> tuple[float, float]:
        """Return by how much one size is less accurate than another, and the standard error."""
        share = self.weights / self.weights.sum()
        difference = self.right[other].astype(float) - self.right[place]
        mean = float(share @ difference)
        # The same graphs are judged twice, so what is easy for both does not count.
        unbiased = len(share) / max(1, len(share) - 1)
        error = float(np.sqrt(unbiased * (share**2 @ (difference - mean) ** 2)))
        return mean, error


def choose(held_out: HeldOut, sizes: Sequence[int], max_size: int, margin: float) -> int:
    """Return the place of the shortest rule that is within one standard error of the best.

    Rules longer than `max_size` are only taken if they are better by more than `margin`.
    """
    accuracy = held_out.accuracy
    short = [place for place, size in enumerate(sizes) if size <= max_size]
    best_short = max(short, key=lambda place: (accuracy[place], -place))
    best = int(accuracy.argmax())
    if best not in short and accuracy[best] - accuracy[best_short] <= margin:
        best = best_short
    for place in range(best):
        mean, error = held_out.worse_by(place, best)
        if mean <= error + _ROUNDING:
            return place
    return best


def best_within(front: Sequence[SearchedRule], size: int) -> SearchedRule:
    """Return the longest rule of a front that has at most a size; the front starts with a leaf."""
    return [rule for rule in front if rule.size <= size or rule is front[0]][-1]


def stratified_folds(classes: IntArray, n_folds: int, seed: Sequence[int]) -> IntArray:
    """Return the fold of every graph; classes are spread evenly."""
    draw = np.random.default_rng(seed)
    fold = np.empty(len(classes), dtype=np.int64)
    for number in np.unique(classes).tolist():
        members = draw.permutation(np.flatnonzero(classes == number))
        fold[members] = np.arange(len(members)) % n_folds
    return fold
