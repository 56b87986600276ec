"""Compiled loops of the split search.

numba is imported here and nowhere else, and only learning imports this module: models load, predict
and print without it. All sums are integers, so results are the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from gnn2logic.learning.threaded_loops import ThreadedLoop

__all__ = [
    "add_histograms",
    "count_differences",
    "count_values",
    "encode_values",
    "fingerprint",
    "mix_rows",
    "reach_leaves",
    "sum_leaves",
]

IntArray = npt.NDArray[np.int64]


def _add_histograms(codes, features, starts, rows, sums, out):  # type: ignore[no-untyped-def]
    # Unsigned indices in flat arrays: no test for negative ones, which would cost a tenth.
    width = np.uint64(sums.shape[1])
    flat, target = sums.ravel(), out.ravel()
    for j in numba.prange(len(features)):
        column = codes[features[j]]
        start = np.uint64(starts[j])
        for i in range(len(rows)):
            line = (start + np.uint64(column[np.uint64(rows[i])])) * width
            source = np.uint64(i) * width
            for k in range(width):
                target[line + np.uint64(k)] += flat[source + np.uint64(k)]


def _add_pair_histograms(codes, features, starts, rows, sums, out):  # type: ignore[no-untyped-def]
    # The same for two columns of sums, without the inner loop: twice as fast.
    flat, target = sums.ravel(), out.ravel()
    one, two = np.uint64(1), np.uint64(2)
    for j in numba.prange(len(features)):
        column = codes[features[j]]
        start = np.uint64(starts[j])
        for i in range(len(rows)):
            line = (start + np.uint64(column[np.uint64(rows[i])])) * two
            source = np.uint64(i) * two
            target[line] += flat[source]
            target[line + one] += flat[source + one]


def _count_values(counts, offsets, rank_of_key, out):  # type: ignore[no-untyped-def]
    for j in numba.prange(counts.shape[1]):
        for i in range(counts.shape[0]):
            out[j, rank_of_key[offsets[i] + counts[i, j]]] += 1


def _encode_values(counts, offsets, rank_of_key, code_of_rank, out):  # type: ignore[no-untyped-def]
    for j in numba.prange(counts.shape[1]):
        for i in range(counts.shape[0]):
            out[j, i] = code_of_rank[j, rank_of_key[offsets[i] + counts[i, j]]]


def _fingerprint(codes, salt, out):  # type: ignore[no-untyped-def]
    for j in numba.prange(codes.shape[0]):
        total = np.uint64(0)
        for i in range(codes.shape[1]):
            total += np.uint64(codes[j, i]) * salt[i]
        out[j] = total


def _mix_rows(codes, salt, out):  # type: ignore[no-untyped-def]
    for i in numba.prange(codes.shape[1]):
        total = out[i]
        for j in range(codes.shape[0]):
            total += np.uint64(codes[j, i]) * salt[j]
        out[i] = total


def _count_differences(codes, like, out):  # type: ignore[no-untyped-def]
    for j in numba.prange(codes.shape[0]):
        differing = 0
        for i in range(codes.shape[1]):
            differing += codes[j, i] != codes[j, like[i]]
        out[j] = differing


def _reach_leaves(codes, feature, limit, children, answer, out):  # type: ignore[no-untyped-def]
    for i in numba.prange(codes.shape[1]):
        node = 0
        while feature[node] >= 0:
            above = codes[feature[node], i] > limit[node]
            node = children[node, 1] if above else children[node, 0]
        out[i] = answer[node]


def _sum_leaves(reached, values, out):  # type: ignore[no-untyped-def]
    # Threads would share the leaves. All values are whole numbers, also as floats.
    for i in range(len(reached)):
        for k in range(values.shape[1]):
            out[reached[i], k] += values[i, k]


_histograms = ThreadedLoop(_add_histograms)
_pair_histograms = ThreadedLoop(_add_pair_histograms)
_values = ThreadedLoop(_count_values)
_codes = ThreadedLoop(_encode_values)
_prints = ThreadedLoop(_fingerprint)
_rows = ThreadedLoop(_mix_rows)
_differences = ThreadedLoop(_count_differences)
_leaves = ThreadedLoop(_reach_leaves)
_leaf_sums = numba.njit(cache=True, nogil=True)(_sum_leaves)


def add_histograms(
    codes: npt.NDArray[Any],
    features: IntArray,
    starts: IntArray,
    rows: IntArray,
    sums: IntArray,
    out: IntArray,
) -> None:
    """Add ``sums[i]`` of every row ``rows[i]`` to the bin it falls into, for each feature."""
    steps = len(features) * len(rows) * sums.shape[1]
    kernel = _pair_histograms if sums.shape[1] == 2 else _histograms
    kernel(steps, codes, features, starts, rows, sums, out)


def count_values(
    counts: npt.NDArray[Any], offsets: IntArray, rank_of_key: IntArray, out: IntArray
) -> None:
    """Count how often each value occurs: ``out[column, rank of (row, count)] += 1``."""
    _values(counts.size, counts, offsets, rank_of_key, out)


def encode_values(
    counts: npt.NDArray[Any],
    offsets: IntArray,
    rank_of_key: IntArray,
    code_of_rank: npt.NDArray[np.uint16],
    out: npt.NDArray[Any],
) -> None:
    """Write the code of every value: ``out[column, row]``."""
    _codes(counts.size, counts, offsets, rank_of_key, code_of_rank, out)


def fingerprint(
    codes: npt.NDArray[Any], salt: npt.NDArray[np.uint64], out: npt.NDArray[np.uint64]
) -> None:
    """Write a hash of every row of `codes` that adds up over parts of its columns."""
    _prints(codes.size, codes, salt, out)


def mix_rows(
    codes: npt.NDArray[Any], salt: npt.NDArray[np.uint64], out: npt.NDArray[np.uint64]
) -> None:
    """Add to ``out[row]`` a hash of what all features say about the row."""
    _rows(codes.size, codes, salt, out)


def count_differences(codes: npt.NDArray[Any], like: IntArray) -> int:
    """Return how many codes differ from those of the row ``like[row]``."""
    out = np.zeros(len(codes), dtype=np.int64)
    _differences(codes.size, codes, like, out)
    return int(out.sum())


def reach_leaves(
    codes: npt.NDArray[Any],
    feature: IntArray,
    limit: IntArray,
    children: IntArray,
    answer: IntArray,
    out: npt.NDArray[np.int32],
) -> None:
    """Write the `answer` of the leaf that each row reaches."""
    _leaves(codes.shape[1] * len(feature), codes, feature, limit, children, answer, out)


def sum_leaves(
    reached: npt.NDArray[np.int32], values: npt.NDArray[Any], n_leaves: int
) -> npt.NDArray[Any]:
    """Return the sum of the rows of `values` at each leaf."""
    out = np.zeros((n_leaves, values.shape[1]), dtype=values.dtype)
    _leaf_sums(reached, values, out)
    return out
