"""Compiled sums over sets of rows: numbers are given bit by bit, so that all sums are popcounts.

Sums are whole numbers, and each candidate is judged by one thread, so the number of threads changes
nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from gnn2logic.learning.search.kernels import popcount
from gnn2logic.learning.threaded_loops import threaded

__all__ = ["best_below", "node_gains"]


@njit(inline="always")
def _plane_sum(
    one: npt.NDArray[np.uint64],
    other: npt.NDArray[np.uint64],
    planes: npt.NDArray[np.uint64],
) -> Any:
    """Return the sum of whole numbers, given bit by bit, over the rows of two sets."""
    total = np.int64(0)
    for plane in range(len(planes)):
        count = np.uint64(0)
        for word in range(len(one)):
            count += popcount(one[word] & other[word] & planes[plane, word])
        total += np.int64(count) << plane
    return total


@njit(inline="always")
def _side(low_sum: int, low_weight: int, sum_: int, weight: int, least_weight: int) -> float:
    """Return what a set of rows and the rest explain; -1 if one of them is too small."""
    if low_weight < least_weight or weight - low_weight < least_weight:
        return -1.0
    low, high = np.float64(low_sum), np.float64(sum_ - low_sum)
    return low * low / low_weight + high * high / (weight - low_weight)


@threaded(lambda words, weights, targets, left, *_: len(left) * (weights.size + targets.size))
def node_gains(
    words: npt.NDArray[np.uint64],
    weight_planes: npt.NDArray[np.uint64],
    target_planes: npt.NDArray[np.uint64],
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    least_weight: int,
) -> npt.NDArray[np.float32]:
    """Return what both, one, the other, none of two columns explain about nodes themselves.

    Weights and weighted targets are given bit by bit, so that all sums are popcounts.
    """
    n_columns, n_words = words.shape
    everything = np.full(n_words, ~np.uint64(0), dtype=np.uint64)
    weight = _plane_sum(everything, everything, weight_planes)
    total = _plane_sum(everything, everything, target_planes)
    base = np.float64(total) * np.float64(total) / weight
    alone = np.empty((n_columns, 2), dtype=np.int64)
    for column in prange(n_columns):
        alone[column, 0] = _plane_sum(words[column], words[column], weight_planes)
        alone[column, 1] = _plane_sum(words[column], words[column], target_planes)
    gains = np.empty((len(left), 4), dtype=np.float32)
    for pair in prange(len(left)):
        i, j = left[pair], right[pair]
        both = _plane_sum(words[i], words[j], weight_planes)
        sum_both = _plane_sum(words[i], words[j], target_planes)
        weights = (
            both,
            alone[i, 0] - both,
            alone[j, 0] - both,
            weight - alone[i, 0] - alone[j, 0] + both,
        )
        sums = (
            sum_both,
            alone[i, 1] - sum_both,
            alone[j, 1] - sum_both,
            total - alone[i, 1] - alone[j, 1] + sum_both,
        )
        for signs in range(4):
            gains[pair, signs] = (
                _side(sums[signs], weights[signs], total, weight, least_weight) - base
            )
    return gains


@threaded(lambda truths, weights, targets, *_: len(truths) ** 2 * (weights.size + targets.size))
def best_below(
    truths: npt.NDArray[np.uint64],
    weight_planes: npt.NDArray[np.uint64],
    target_planes: npt.NDArray[np.uint64],
    sizes: npt.NDArray[np.int64],
    prices: npt.NDArray[np.float64],
    least_weight: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return what the sides of every condition explain, alone and with the best condition below.

    Parameters
    ----------
    truths : array, shape (n_conditions, n_words)
        The rows where each condition holds, as bits.
    weight_planes : array, shape (n_planes, n_words)
        The weights of the rows, bit by bit.
    target_planes : array, shape (n_targets, n_planes, n_words)
        The weighted targets of the rows, bit by bit.
    sizes : array, shape (n_conditions,)
    prices : array, shape (n_prices,)
        Of a symbol, in the units of what is explained.

    Returns
    -------
    leaf : array, shape (n_conditions, 2)
        What the true side and the false side explain as leaves.
    best : array, shape (n_conditions, 2, n_prices)
        What they explain with the best condition below, without its price.
    below : array, shape (n_conditions, 2, n_prices)
        That condition, or -1.
    """
    n_conditions, n_words = truths.shape
    n_targets, n_prices = len(target_planes), len(prices)
    leaf = np.zeros((n_conditions, 2))
    best = np.full((n_conditions, 2, n_prices), -np.inf)
    below = np.full((n_conditions, 2, n_prices), -1, dtype=np.int64)
    everything = np.full(n_words, ~np.uint64(0), dtype=np.uint64)
    alone = np.empty((n_conditions + 1, n_targets + 1), dtype=np.int64)
    for condition in prange(n_conditions + 1):
        rows = truths[condition] if condition < n_conditions else everything
        alone[condition, n_targets] = _plane_sum(rows, rows, weight_planes)
        for target in range(n_targets):
            alone[condition, target] = _plane_sum(rows, rows, target_planes[target])
    total = alone[n_conditions]
    for root in prange(n_conditions):
        value = np.full((2, n_prices), -np.inf)
        weight = alone[root, n_targets]
        for target in range(n_targets):
            true_sum = np.float64(alone[root, target])
            false_sum = np.float64(total[target] - alone[root, target])
            if weight > 0:
                leaf[root, 0] += true_sum * true_sum / weight
            if total[n_targets] > weight:
                leaf[root, 1] += false_sum * false_sum / (total[n_targets] - weight)
        for other in range(n_conditions):
            both = _plane_sum(truths[root], truths[other], weight_planes)
            only_root = weight - both
            only_other = alone[other, n_targets] - both
            none = total[n_targets] - weight - only_other
            in_true = both >= least_weight and only_root >= least_weight
            in_false = only_other >= least_weight and none >= least_weight
            if not (in_true or in_false):
                continue
            true, false = 0.0, 0.0
            for target in range(n_targets):
                sum_both = _plane_sum(truths[root], truths[other], target_planes[target])
                sum_root = alone[root, target] - sum_both
                sum_other = alone[other, target] - sum_both
                sum_none = total[target] - alone[root, target] - sum_other
                if in_true:
                    true += np.float64(sum_both) ** 2 / both
                    true += np.float64(sum_root) ** 2 / only_root
                if in_false:
                    false += np.float64(sum_other) ** 2 / only_other
                    false += np.float64(sum_none) ** 2 / none
            for number in range(n_prices):
                cost = prices[number] * sizes[other]
                if in_true and true - cost > value[0, number]:
                    value[0, number] = true - cost
                    best[root, 0, number], below[root, 0, number] = true, other
                if in_false and false - cost > value[1, number]:
                    value[1, number] = false - cost
                    best[root, 1, number], below[root, 1, number] = false, other
    return leaf, best, below
