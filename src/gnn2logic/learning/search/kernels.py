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

from gnn2logic.learning.threaded_loops import threaded

__all__ = [
    "BIN_BITS",
    "TARGET_BITS",
    "_LOW_BITS",
    "count_bits",
    "pack_above",
    "pair_gains",
    "popcount",
    "single_gains",
]

TARGET_BITS = 34
"""The weighted target is in this many lower bits, the weight in the others."""

_LOW_BITS = (1 << TARGET_BITS) - 1

BIN_BITS = 10
"""The bins of a count, of what is left to the size and of the share are so many bits each."""

_BIN = np.uint32((1 << BIN_BITS) - 1)
_SECOND_BIN, _THIRD_BIN = np.uint32(BIN_BITS), np.uint32(2 * BIN_BITS)

Counts = npt.NDArray[np.unsignedinteger[Any]]

_N_FORMS = 4
_CHUNKS = 64
# The bits of -1.0.
_NOT_ALLOWED = int(np.array([-1.0]).view(np.int64)[0])
# Targets are added up by size and count first where that many graphs share a size and a count.
_GRAPHS_PER_CELL = 2


def _count_bits_of_a_word(_: Any, word: Any) -> Any:
    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


# One instruction of the processor.
popcount: Any = intrinsic(_count_bits_of_a_word)


# Columns come in small portions, for which starting threads would cost more than counting.
@njit(cache=True, nogil=True)
def count_bits(words: npt.NDArray[np.uint64], first: npt.NDArray[np.int64], out: Counts) -> None:
    """Write the number of bits of each column in each graph to `out`."""
    for column in range(len(words)):
        for graph in range(len(first) - 1):
            count = np.uint64(0)
            for word in range(first[graph], first[graph + 1]):
                count += popcount(words[column, word])
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
        # From here on too little is left on the other side.
        if ((total - low) >> TARGET_BITS) < least_weight:
            break
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
    low, explained = np.int64(0), -1.0
    for place in range(n_bins - 1):
        value = histogram[start + np.uint64(place)]
        if value != 0:
            low += value
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


@threaded(lambda counts, *_: 4 * counts.size)
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


@njit(inline="always")
def _count_both(
    one: npt.NDArray[np.uint64],
    other: npt.NDArray[np.uint64],
    first: npt.NDArray[np.int64],
    one_word_each: bool,
    out: npt.NDArray[np.uint32],
) -> None:
    """Write to `out` at how many nodes of each graph two columns hold."""
    if one_word_each:
        for graph in range(len(out)):
            out[graph] = popcount(one[graph] & other[graph])
    else:
        for graph in range(len(out)):
            both = np.uint64(0)
            for word in range(first[graph], first[graph + 1]):
                both += popcount(one[word] & other[word])
            out[graph] = both


@njit(inline="always")
def _add_to_three(
    histogram: npt.NDArray[np.int64], start: np.uint64, step: np.uint64, bins: Any, target: int
) -> None:
    """Add a target to the histograms of a count, of its complement and of its share."""
    histogram[start + np.uint64(bins & _BIN)] += target
    histogram[start + step + np.uint64((bins >> _SECOND_BIN) & _BIN)] += target
    histogram[start + step + step + np.uint64(bins >> _THIRD_BIN)] += target


@njit(inline="always")
def _explain_all(
    histogram: npt.NDArray[np.int64],
    n_histograms: int,
    width: int,
    total: int,
    least_weight: int,
    out: npt.NDArray[np.float64],
) -> None:
    """Write to `out` what a cut after each bin of each histogram explains; sums replace bins.

    Without branches, so that the processor does several bins at once.
    """
    for number in range(n_histograms):
        low = np.int64(0)
        for place in range(number * width, (number + 1) * width):
            low += histogram[np.uint64(place)]
            histogram[np.uint64(place)] = low
    whole_weight = total >> TARGET_BITS
    for place in range(n_histograms * width):
        below = histogram[np.uint64(place)]
        low_weight = below >> TARGET_BITS
        high_weight = whole_weight - low_weight
        low_sum = np.float64(below & _LOW_BITS)
        high_sum = np.float64((total - below) & _LOW_BITS)
        low_explained = low_sum * low_sum / max(low_weight, 1)
        high_explained = high_sum * high_sum / max(high_weight, 1)
        allowed = min(low_weight, high_weight) >= least_weight
        out[np.uint64(place)] = low_explained + high_explained if allowed else -1.0


@threaded(lambda words, *others: 2 * len(others[-2]) * len(others[3]))
def pair_gains(
    words: npt.NDArray[np.uint64],
    first: npt.NDArray[np.int64],
    one_word_each: bool,
    counts: Counts,
    sizes: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    bins_of_cell: npt.NDArray[np.uint32],
    first_cell: npt.NDArray[np.int64],
    n_counts: int,
    n_shares: int,
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    least_weight: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return what the best cuts explain for both, one, the other, none of two columns.

    The first answer is for counts and shares of the conjunction, the second for those of its
    complement. One AND and one popcount give the counts of all four conjunctions; twelve histograms
    side by side keep the processor busy where one would wait for its last addition. The size of a
    graph and a count, a cell, say which bins they belong to: where there are few cells, targets are
    added up by cell, and the twelve histograms are made of these sums.
    """
    n_pairs, n_graphs, n_cells = len(left), len(sizes), len(bins_of_cell)
    gains = np.empty((n_pairs, 4), dtype=np.float32)
    complement_gains = np.empty((n_pairs, 4), dtype=np.float32)
    total, base = _total(targets)
    width = max(n_counts, n_shares)
    by_cell = _GRAPHS_PER_CELL * n_cells <= n_graphs
    s1 = np.uint64(width)
    s3, s6, s9 = s1 * np.uint64(3), s1 * np.uint64(6), s1 * np.uint64(9)
    c1 = np.uint64(n_cells)
    c2, c3 = c1 * np.uint64(2), c1 * np.uint64(3)
    for chunk in prange(_CHUNKS):
        histogram = np.zeros(12 * width, dtype=np.int64)
        both_count = np.empty(n_graphs, dtype=np.uint32)
        explained = np.empty(12 * width, dtype=np.float64)
        # Numbers from 0 on, and -1, are in the order of their bits as whole numbers, of which the
        # processor compares several at once.
        explained_bits = explained.view(np.int64)
        best = np.empty(2, dtype=np.float64)
        best_bits = best.view(np.int64)
        cell_sums = np.zeros(4 * n_cells if by_cell else 0, dtype=np.int64)
        for pair in range(n_pairs * chunk // _CHUNKS, n_pairs * (chunk + 1) // _CHUNKS):
            histogram[:] = 0
            _count_both(words[left[pair]], words[right[pair]], first, one_word_each, both_count)
            one_count, second_count = counts[left[pair]], counts[right[pair]]
            if by_cell:
                for graph in range(n_graphs):
                    both = np.uint64(both_count[graph])
                    left_only = np.uint64(one_count[graph]) - both
                    right_only = np.uint64(second_count[graph]) - both
                    none = np.uint64(sizes[graph]) - both - left_only - right_only
                    cell, target = np.uint64(first_cell[graph]), targets[graph]
                    cell_sums[cell + both] += target
                    cell_sums[c1 + cell + left_only] += target
                    cell_sums[c2 + cell + right_only] += target
                    cell_sums[c3 + cell + none] += target
                for signs in range(4):
                    first_bin, first_sum = np.uint64(signs) * s3, np.uint64(signs) * c1
                    for place in range(n_cells):
                        there = first_sum + np.uint64(place)
                        cell_sum = cell_sums[there]
                        if cell_sum != 0:
                            bins = bins_of_cell[np.uint64(place)]
                            _add_to_three(histogram, first_bin, s1, bins, cell_sum)
                            cell_sums[there] = 0
            else:
                for graph in range(n_graphs):
                    both = np.uint64(both_count[graph])
                    left_only = np.uint64(one_count[graph]) - both
                    right_only = np.uint64(second_count[graph]) - both
                    none = np.uint64(sizes[graph]) - both - left_only - right_only
                    cell, target = np.uint64(first_cell[graph]), targets[graph]
                    # All bins are read before anything is written.
                    bins_both, bins_left = bins_of_cell[cell + both], bins_of_cell[cell + left_only]
                    bins_right = bins_of_cell[cell + right_only]
                    bins_none = bins_of_cell[cell + none]
                    _add_to_three(histogram, np.uint64(0), s1, bins_both, target)
                    _add_to_three(histogram, s3, s1, bins_left, target)
                    _add_to_three(histogram, s6, s1, bins_right, target)
                    _add_to_three(histogram, s9, s1, bins_none, target)
            _explain_all(histogram, 12, width, total, least_weight, explained)
            for signs in range(4):
                start = 3 * signs * width
                count = other = share = other_share = np.int64(_NOT_ALLOWED)
                for place in range(start, start + n_counts - 1):
                    count = max(count, explained_bits[np.uint64(place)])
                for place in range(start + width, start + width + n_counts - 1):
                    other = max(other, explained_bits[np.uint64(place)])
                for place in range(start + 2 * width, start + 2 * width + n_shares - 1, 2):
                    other_share = max(other_share, explained_bits[np.uint64(place)])
                    share = max(share, explained_bits[np.uint64(place + 1)])
                best_bits[0], best_bits[1] = max(count, share), max(other, other_share)
                gains[pair, signs] = best[0] - base
                complement_gains[pair, signs] = best[1] - base
    return gains, complement_gains
