"""Compiled loops over words: counts, histograms of targets by count, the best thresholds.

A target and the weight of its graph are one number: the weight above, the weighted target below, so
that a histogram takes one addition. Sums are whole numbers, and each candidate is judged by one
thread, so the number of threads changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange, types
from numba.extending import intrinsic

__all__ = [
    "TARGET_BITS",
    "_LOW_BITS",
    "best_below",
    "count_bits",
    "node_gains",
    "pack_above",
    "pair_gains",
    "single_gains",
]

TARGET_BITS = 34
"""The weighted target is in this many lower bits, the weight in the others."""

_LOW_BITS = (1 << TARGET_BITS) - 1

Counts = npt.NDArray[np.unsignedinteger[Any]]

_N_FORMS = 4
_CHUNKS = 64


def _count_bits_of_a_word(_: Any, word: Any) -> Any:
    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


# One instruction of the processor.
_popcount: Any = intrinsic(_count_bits_of_a_word)


# Columns come in small portions, for which starting threads would cost more than counting.
@njit(cache=True, nogil=True)
def count_bits(words: npt.NDArray[np.uint64], first: npt.NDArray[np.int64], out: Counts) -> None:
    """Write the number of bits of each column in each graph to `out`."""
    for column in range(len(words)):
        for graph in range(len(first) - 1):
            count = np.uint64(0)
            for word in range(first[graph], first[graph + 1]):
                count += _popcount(words[column, word])
            out[column, graph] = count


@njit(cache=True, nogil=True)
def pack_above(
    values: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
    bit: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint64],
) -> None:
    """Set the bit of each node in row k of `out` where its value is above the k-th limit.

    Parameters
    ----------
    limits : array of shape (n_limits,)
        Rising.
    """
    for node in range(len(values)):
        word = bit[node] >> 6
        one = np.uint64(1) << np.uint64(bit[node] & 63)
        for row in range(len(limits)):
            if values[node] <= limits[row]:
                break
            out[row, word] |= one


@njit(inline="always")
def _explained(low: int, total: int, least_weight: int) -> float:
    """Return the sum of squares that a division explains (plus a constant); -1 if too uneven."""
    low_weight = low >> TARGET_BITS
    high_weight = (total >> TARGET_BITS) - low_weight
    if low_weight < least_weight or high_weight < least_weight:
        return -1.0
    low_sum = np.float64(low & _LOW_BITS)
    high_sum = np.float64((total - low) & _LOW_BITS)
    return low_sum * low_sum / low_weight + high_sum * high_sum / high_weight


@njit(inline="always")
def _cut_counts(
    histogram: npt.NDArray[np.int64],
    start: np.uint64,
    n_bins: int,
    total: int,
    least_weight: int,
) -> tuple[float, int]:
    """Return what the best cut after a bin explains, and the bin."""
    best, cut, low = -1.0, -1, np.int64(0)
    for place in range(n_bins - 1):
        value = histogram[start + np.uint64(place)]
        if value == 0:
            continue
        low += value
        explained = _explained(low, total, least_weight)
        if explained > best:
            best, cut = explained, place
    return best, cut


@njit(inline="always")
def _cut_shares(
    histogram: npt.NDArray[np.int64],
    start: np.uint64,
    n_bins: int,
    total: int,
    least_weight: int,
) -> tuple[float, int, float, int]:
    """Return the best cuts after ("more than") and before ("at least") the bin of a fraction."""
    best_after, after, best_before, before = -1.0, -1, -1.0, -1
    low = np.int64(0)
    for place in range(n_bins - 1):
        low += histogram[start + np.uint64(place)]
        explained = _explained(low, total, least_weight)
        if place % 2 == 1:
            if explained > best_after:
                best_after, after = explained, place
        elif explained > best_before:
            best_before, before = explained, place
    return best_after, after, best_before, before


@njit(inline="always")
def _total(targets: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """Return the sum of all targets, and what no division at all explains."""
    total = np.int64(0)
    for graph in range(len(targets)):
        total += targets[graph]
    target_sum = np.float64(total & _LOW_BITS)
    return total, target_sum * target_sum / (total >> TARGET_BITS)


@njit(parallel=True, cache=True, nogil=True)
def single_gains(
    counts: Counts,
    sizes: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    bin_of_count: npt.NDArray[np.uint16],
    n_counts: int,
    bin_of_share: npt.NDArray[np.uint16],
    share_offset: npt.NDArray[np.int64],
    n_shares: int,
    least_weight: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int16]]:
    """Return what the best cut of each form explains, and the cut, for each column.

    Forms are those of `cuts.Form`; a gain is the explained sum of squares, negative where no cut is
    allowed.
    """
    n_columns, n_graphs = counts.shape
    gains = np.empty((n_columns, _N_FORMS), dtype=np.float32)
    cuts = np.empty((n_columns, _N_FORMS), dtype=np.int16)
    total, base = _total(targets)
    width = max(n_counts, n_shares)
    step = np.uint64(width)
    for column in prange(n_columns):
        histogram = np.zeros(3 * width, dtype=np.int64)
        for graph in range(n_graphs):
            size, count = np.uint64(sizes[graph]), np.uint64(counts[column, graph])
            share = np.uint64(share_offset[graph]) + count
            target = targets[graph]
            histogram[np.uint64(bin_of_count[count])] += target
            histogram[step + np.uint64(bin_of_count[size - count])] += target
            histogram[step + step + np.uint64(bin_of_share[share])] += target
        for form in range(2):
            start = np.uint64(form) * step
            gain, cut = _cut_counts(histogram, start, n_counts, total, least_weight)
            gains[column, form], cuts[column, form] = gain - base, cut
        gain, cut, other_gain, other_cut = _cut_shares(
            histogram, step + step, n_shares, total, least_weight
        )
        gains[column, 2], cuts[column, 2] = gain - base, cut
        gains[column, 3], cuts[column, 3] = other_gain - base, other_cut
    return gains, cuts


@njit(parallel=True, cache=True, nogil=True)
def pair_gains(
    words: npt.NDArray[np.uint64],
    first: npt.NDArray[np.int64],
    one_word_each: bool,
    counts: Counts,
    sizes: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    bin_of_count: npt.NDArray[np.uint16],
    n_counts: int,
    bin_of_share: npt.NDArray[np.uint16],
    share_offset: npt.NDArray[np.int64],
    n_shares: int,
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    least_weight: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return what the best cuts explain for both, one, the other, none of two columns.

    The first answer is for counts and shares of the conjunction, the second for those of its
    complement. One AND and one popcount give the counts of all four conjunctions; twelve histograms
    side by side keep the processor busy where one would wait for its last addition.
    """
    n_pairs, n_graphs = len(left), len(sizes)
    gains = np.empty((n_pairs, 4), dtype=np.float32)
    complement_gains = np.empty((n_pairs, 4), dtype=np.float32)
    total, base = _total(targets)
    width = max(n_counts, n_shares)
    s1 = np.uint64(width)
    s2, s3, s4, s5 = s1 * np.uint64(2), s1 * np.uint64(3), s1 * np.uint64(4), s1 * np.uint64(5)
    s6, s7, s8, s9 = s1 * np.uint64(6), s1 * np.uint64(7), s1 * np.uint64(8), s1 * np.uint64(9)
    s10, s11 = s1 * np.uint64(10), s1 * np.uint64(11)
    for chunk in prange(_CHUNKS):
        histogram = np.zeros(12 * width, dtype=np.int64)
        for pair in range(n_pairs * chunk // _CHUNKS, n_pairs * (chunk + 1) // _CHUNKS):
            histogram[:] = 0
            one, second = words[left[pair]], words[right[pair]]
            one_count, second_count = counts[left[pair]], counts[right[pair]]
            for graph in range(n_graphs):
                if one_word_each:
                    both = _popcount(one[graph] & second[graph])
                else:
                    both = np.uint64(0)
                    for word in range(first[graph], first[graph + 1]):
                        both += _popcount(one[word] & second[word])
                size = np.uint64(sizes[graph])
                left_only = np.uint64(one_count[graph]) - both
                right_only = np.uint64(second_count[graph]) - both
                none = size - both - left_only - right_only
                first_share = np.uint64(share_offset[graph])
                target = targets[graph]
                histogram[np.uint64(bin_of_count[both])] += target
                histogram[s1 + np.uint64(bin_of_count[size - both])] += target
                histogram[s2 + np.uint64(bin_of_share[first_share + both])] += target
                histogram[s3 + np.uint64(bin_of_count[left_only])] += target
                histogram[s4 + np.uint64(bin_of_count[size - left_only])] += target
                histogram[s5 + np.uint64(bin_of_share[first_share + left_only])] += target
                histogram[s6 + np.uint64(bin_of_count[right_only])] += target
                histogram[s7 + np.uint64(bin_of_count[size - right_only])] += target
                histogram[s8 + np.uint64(bin_of_share[first_share + right_only])] += target
                histogram[s9 + np.uint64(bin_of_count[none])] += target
                histogram[s10 + np.uint64(bin_of_count[size - none])] += target
                histogram[s11 + np.uint64(bin_of_share[first_share + none])] += target
            for signs in range(4):
                start = np.uint64(3 * signs) * s1
                count, _ = _cut_counts(histogram, start, n_counts, total, least_weight)
                other, _ = _cut_counts(histogram, start + s1, n_counts, total, least_weight)
                share, _, other_share, _ = _cut_shares(
                    histogram, start + s2, n_shares, total, least_weight
                )
                gains[pair, signs] = max(count, share) - base
                complement_gains[pair, signs] = max(other, other_share) - base
    return gains, complement_gains


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
            count += _popcount(one[word] & other[word] & planes[plane, word])
        total += np.int64(count) << plane
    return total


@njit(inline="always")
def _side(low_sum: int, low_weight: int, sum_: int, weight: int, least_weight: int) -> float:
    """Return what a set of rows and the rest explain; -1 if one of them is too small."""
    if low_weight < least_weight or weight - low_weight < least_weight:
        return -1.0
    low, high = np.float64(low_sum), np.float64(sum_ - low_sum)
    return low * low / low_weight + high * high / (weight - low_weight)


@njit(parallel=True, cache=True, nogil=True)
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


@njit(parallel=True, cache=True, nogil=True)
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
