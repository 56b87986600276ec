"""The best trees of one to three conditions: all of them are tried.

Greedy growth cannot see a truth like xor, whose first condition alone explains nothing. Here every
condition is tried as a root, with the best condition below each of its sides. Conditions are sets
of rows as bits, and so are weights and targets, bit by bit: sums are popcounts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.plane_kernels import best_below
from gnn2logic.learning.search.whole_numbers import bit_planes

__all__ = ["SmallTree", "best_small_trees"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SmallTree:
    """A root condition and, if any, the conditions where it is true and where it is false.

    `fit` is the share of the variance that the tree explains.
    """

    root: int
    if_true: int | None
    if_false: int | None
    fit: float


def best_small_trees(
    truths: npt.NDArray[np.bool_],
    sizes: IntArray,
    targets: IntArray,
    weights: IntArray,
    *,
    prices: tuple[float, ...],
    least_weight: int,
) -> list[SmallTree]:
    """Return the best trees of each shape and price.

    Parameters
    ----------
    truths : array of bool, shape (n_conditions, n_rows)
    sizes : array of int, shape (n_conditions,)
        The number of symbols of each condition.
    targets : array of int, shape (n_rows, n_targets)
        From 0 on.
    weights : array of int, shape (n_rows,)
    prices : tuple of float
        Shares of the variance that a symbol must explain.
    least_weight : int
        What must be in each leaf.
    """
    weighted = targets * weights[:, None]
    total = int(weights.sum())
    base = float((weighted.sum(axis=0).astype(float) ** 2).sum()) / total
    variance = float((weighted * targets).sum()) - base
    leaf, best, below = best_below(
        _packed(truths),
        bit_planes(weights, _packed),
        _all_planes(weighted),
        sizes,
        np.array(prices) * variance,
        least_weight,
    )
    trees = {}
    for number, price in enumerate(prices):
        for tree in _shapes(leaf, best[:, :, number], below[:, :, number], sizes, price * variance):
            fit = (tree.fit - base) / variance
            trees[tree.root, tree.if_true, tree.if_false] = SmallTree(
                tree.root, tree.if_true, tree.if_false, fit
            )
    return list(trees.values())


def _shapes(
    leaf: npt.NDArray[np.float64],
    best: npt.NDArray[np.float64],
    below: IntArray,
    sizes: IntArray,
    price: float,
) -> Iterator[SmallTree]:
    """Give the best tree with no, one or two conditions below its root."""
    paid = np.where(below >= 0, best - price * sizes[below], -np.inf)
    shapes = (
        (False, False, leaf[:, 0] + leaf[:, 1] - price * sizes),
        (True, False, paid[:, 0] + leaf[:, 1] - price * (sizes + 1)),
        (False, True, leaf[:, 0] + paid[:, 1] - price * (sizes + 1)),
        # The formula of a full tree says its root twice, once negated.
        (True, True, paid[:, 0] + paid[:, 1] - price * (2 * sizes + 4)),
    )
    for if_true, if_false, values in shapes:
        root = int(values.argmax())
        if np.isfinite(values[root]):
            yield SmallTree(
                root,
                int(below[root, 0]) if if_true else None,
                int(below[root, 1]) if if_false else None,
                float(
                    (best[root, 0] if if_true else leaf[root, 0])
                    + (best[root, 1] if if_false else leaf[root, 1])
                ),
            )


def _packed(rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Return sets of rows as words; the bits after the last row are 0."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // 64) * 64), dtype=bool)
    padded[:, : rows.shape[1]] = rows
    words: npt.NDArray[np.uint64] = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    return words


def _all_planes(numbers: IntArray) -> npt.NDArray[np.uint64]:
    """Return the bit planes of every column of whole numbers, the same number for each."""
    planes = [bit_planes(column, _packed) for column in numbers.T]
    together = np.zeros((len(planes), max(map(len, planes)), planes[0].shape[1]), dtype=np.uint64)
    for number, column_planes in enumerate(planes):
        together[number, : len(column_planes)] = column_planes
    return together
