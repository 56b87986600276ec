"""Leaf sets: which leaves of a tree become one formula together."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

__all__ = ["all_subsets", "merge_leaves"]


def merge_leaves(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> list[tuple[int, ...]]:
    """Return the 2k-1 sets of agglomerative merging: singletons first, all leaves last.

    Again and again the two sets with the closest predictions are merged; the prediction of a set is
    the weighted mean of its leaves. Among equally close pairs the first leaves go first.

    Parameters
    ----------
    values : array of shape (n_leaves, n_targets)
    weights : array of shape (n_leaves,)

    Examples
    --------
    >>> merge_leaves(np.array([[0.0], [5.0], [1.0]]), np.ones(3))
    [(0,), (1,), (2,), (0, 2), (0, 1, 2)]
    """
    active: dict[tuple[int, ...], tuple[npt.NDArray[np.float64], float]] = {
        (leaf,): (values[leaf], float(weights[leaf])) for leaf in range(len(values))
    }
    sets = list(active)
    while len(active) > 1:
        pairs = [(min(a, b), max(a, b)) for a, b in itertools.combinations(active, 2)]
        distances = [float(((active[a][0] - active[b][0]) ** 2).sum()) for a, b in pairs]
        _, (one, other) = min(zip(distances, pairs, strict=True))
        (value, weight), (other_value, other_weight) = active.pop(one), active.pop(other)
        total = weight + other_weight
        merged = tuple(sorted((*one, *other)))
        active[merged] = ((value * weight + other_value * other_weight) / total, total)
        sets.append(merged)
    return sets


def all_subsets(n_leaves: int) -> list[tuple[int, ...]]:
    """Return every set of leaves but the empty one, small ones first."""
    return [
        members
        for size in range(1, n_leaves + 1)
        for members in itertools.combinations(range(n_leaves), size)
    ]
