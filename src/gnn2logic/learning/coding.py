"""Candidate columns as small integers.

What a modal parameter counts takes few values: counts are small, and shares are quotients of small
numbers. Each candidate column is coded once by the rank of its value, and the split search only
ever sees the codes. Which value a code stands for is kept in a `Codebook`, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import GraphError
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import Threshold

__all__ = [
    "Codebook",
    "CodedFeatures",
    "Measure",
    "SetSizes",
    "ValueSpace",
    "code_tables",
    "codebooks",
    "simplest_count",
    "simplest_share",
]

IntArray = npt.NDArray[np.int64]

# More keys than these, and a rank stands for all shares of a narrow range. 2520 is divisible by all
# numbers up to 10, so that no half, third or tenth is inside of a range.
_MAX_KEYS = 5_000_000
_RANGES = 8 * 2520
# Quotients of whole numbers below this that differ at all differ as doubles.
_MAX_SIZE = 2**26


class Measure(Enum):
    """What a split compares: how many nodes of a set, or which share of it."""

    COUNT = 0
    SHARE = 1


@dataclass(frozen=True)
class ValueSpace:
    """All values that counts (or shares) along one modal parameter can take.

    A row whose set has size s and where c nodes count has the key ``offset_of_size[s] + c``; equal
    values have equal ranks, and ranks are in the order of the values.

    Hubs see sets of so many sizes that the shares are too many for a table. Then a rank stands for
    a range of shares, rank r for those above ``(r - 1) / n`` and up to ``r / n``.

    Parameters
    ----------
    numerators, denominators : array
        By rank, the value; the lowest of a range that there can be.
    highest : pair of arrays, optional
        The same for the highest value of a range; None where a rank is one value.
    """

    offset_of_size: IntArray
    rank_of_key: IntArray
    numerators: IntArray
    denominators: IntArray
    measure: Measure
    sizes: IntArray
    highest: tuple[IntArray, IntArray] | None = None

    def __reduce__(self) -> tuple[Callable[..., ValueSpace], tuple[Any, ...]]:
        # The sizes say it all, and are far smaller than the tables made from them.
        if self.measure is Measure.SHARE:
            return ValueSpace.of_shares, (self.sizes,)
        return ValueSpace.of_counts, (int(self.sizes[-1]),)

    @property
    def n_values(self) -> int:
        """The number of distinct values."""
        return len(self.numerators)

    def keys(self, counts: npt.NDArray[Any], sizes: IntArray) -> tuple[Any, IntArray]:
        """Return what the keys of rows are made of: a number for each column, and an offset.

        Parameters
        ----------
        counts : array of int, shape (n_rows, n_columns)
            How many nodes count.
        sizes : array of int, shape (n_rows,)
            Of how many.
        """
        if self.highest is None:
            return counts, self.offset_of_size[sizes]
        each = np.maximum(sizes, 1)[:, None]
        ranges = -(-counts.astype(np.int64) * _RANGES // each)
        return np.ascontiguousarray(ranges), np.zeros(len(sizes), dtype=np.int64)

    def value(self, rank: int, *, highest: bool = False) -> Fraction:
        """Return the value of a rank, of a range the lowest or the highest one."""
        numerators, denominators = self.numerators, self.denominators
        if highest and self.highest is not None:
            numerators, denominators = self.highest
        return Fraction(int(numerators[rank]), int(denominators[rank]))

    @classmethod
    def of_counts(cls, largest: int) -> ValueSpace:
        """Return the space of the counts 0, ..., `largest`."""
        values = np.arange(largest + 1, dtype=np.int64)
        zero = np.zeros(largest + 1, dtype=np.int64)
        return cls(zero, values, values, np.ones_like(values), Measure.COUNT, values[-1:])

    @classmethod
    def of_shares(cls, sizes: npt.ArrayLike) -> ValueSpace:
        """Return the space of all shares of sets with these sizes.

        An empty set has the share 0: no share of it is ever more than p.
        """
        distinct = np.unique(np.asarray(sizes, dtype=np.int64))
        if distinct[-1] >= _MAX_SIZE:
            raise GraphError(
                f"Shares are of sets with fewer than {_MAX_SIZE} members. Got one with "
                f"{distinct[-1]}; learn without them (relative=False)."
            )
        if int((distinct + 1).sum()) > _MAX_KEYS:
            return cls._of_ranges(distinct)
        offset_of_size = np.zeros(int(distinct[-1]) + 1, dtype=np.int64)
        offset_of_size[distinct] = np.cumsum(distinct + 1) - (distinct + 1)
        size = np.repeat(distinct, distinct + 1)
        count = np.arange(len(size)) - offset_of_size[size]
        share = count / np.maximum(size, 1)
        _, first, rank_of_key = np.unique(share, return_index=True, return_inverse=True)
        divisor = np.gcd(count[first], np.maximum(size[first], 1))
        return cls(
            offset_of_size,
            rank_of_key.astype(np.int64),
            count[first] // divisor,
            np.maximum(size[first], 1) // divisor,
            Measure.SHARE,
            distinct,
        )

    @classmethod
    def _of_ranges(cls, sizes: IntArray) -> ValueSpace:
        ranks = np.arange(_RANGES + 1, dtype=np.int64)
        # Ranges without any share are never seen; what is said of them does not matter.
        lowest = ranks.copy(), np.full(len(ranks), _RANGES)
        highest = ranks.copy(), np.full(len(ranks), _RANGES)
        least, most = np.full(len(ranks), np.inf), np.full(len(ranks), -np.inf)
        for size in np.maximum(sizes, 1).tolist():
            last = ranks * size // _RANGES
            first = np.maximum((ranks - 1) * size // _RANGES + 1, 0)
            held = first <= last
            for counts, bound, ends, better in (
                (first, least, lowest, np.less),
                (last, most, highest, np.greater),
            ):
                chosen = held & better(counts / size, bound)
                bound[chosen] = counts[chosen] / size
                ends[0][chosen], ends[1][chosen] = counts[chosen], size
        none = np.zeros(0, dtype=np.int64)
        return cls(none, ranks, *lowest, Measure.SHARE, sizes, highest)


@dataclass(frozen=True)
class SetSizes:
    """The different sizes of the sets that rows see; those of two shards are united.

    `n_nodes` is the number of nodes of the data: without parallel edges no set is larger.
    """

    sizes: IntArray
    n_nodes: int

    def __add__(self, other: SetSizes) -> SetSizes:
        sizes = np.union1d(self.sizes, other.sizes)
        return SetSizes(sizes, self.n_nodes + other.n_nodes)


@dataclass(frozen=True)
class CodedFeatures:
    """One feature for each of some columns: counts or shares along one modal parameter.

    Parameters
    ----------
    modality : Modality
    space : ValueSpace
    lowest : tuple of arrays
        By column, the lowest rank of each code; empty before the features are coded.
    """

    modality: Modality
    space: ValueSpace
    lowest: tuple[IntArray, ...] = ()


@dataclass(frozen=True)
class Codebook:
    """The values behind the codes of one column; code k stands for ``lowest[k]`` to ``highest[k]``.

    The two differ only where a column has more values than there are codes.
    """

    space: ValueSpace
    lowest: IntArray
    highest: IntArray

    @property
    def n_codes(self) -> int:
        """The number of codes in use."""
        return len(self.lowest)

    def threshold(self, code: int, next_code: int) -> Threshold:
        """Return the simplest threshold that sends `code` down and `next_code` up."""
        if self.space.highest is not None or not np.array_equal(self.lowest, self.highest):
            # Where a code stands for several values, no threshold may fall among them.
            next_code = code + 1
        low = self.space.value(int(self.highest[code]), highest=True)
        high = self.space.value(int(self.lowest[next_code]))
        if self.space.measure is Measure.COUNT:
            return simplest_count(int(low), int(high))
        share = simplest_share(low, high)
        # More than 0 % is more than none.
        return share if share > 0 else 0

    def last_code_below(self, threshold: Threshold) -> int:
        """Return the largest code whose values are not above `threshold`; -1 if all are."""
        limit = Fraction(threshold)
        # A threshold never lies inside of a code, so its lowest value decides; values are few.
        low, high = 0, self.n_codes
        while low < high:
            middle = (low + high) // 2
            if self.space.value(int(self.lowest[middle])) <= limit:
                low = middle + 1
            else:
                high = middle
        return low - 1


def codebooks(space: ValueSpace, counts: IntArray, max_bins: int) -> list[Codebook]:
    """Return the codebook of every column.

    Parameters
    ----------
    space : ValueSpace
    counts : array of shape (n_columns, n_values)
        How many rows of all the data have each value.
    max_bins : int
        Columns with more distinct values share a code among neighbouring ones.
    """
    books = []
    for how_many in counts:
        present = np.flatnonzero(how_many)
        if len(present) <= max_bins:
            lowest = highest = present
        else:
            # About equally many rows in each code; whole values only.
            before = np.cumsum(how_many[present]) - how_many[present]
            group = before * max_bins // int(how_many.sum())
            _, group = np.unique(group, return_inverse=True)
            starts = np.flatnonzero(np.diff(group, prepend=-1))
            lowest = present[starts]
            highest = present[np.append(starts[1:], len(present)) - 1]
        books.append(Codebook(space, lowest.astype(np.int64), highest.astype(np.int64)))
    return books


def code_tables(lowest: Sequence[IntArray], n_values: int) -> npt.NDArray[np.uint16]:
    """Return the code of every rank for each column, given the lowest rank of each code."""
    steps = np.zeros((len(lowest), n_values), dtype=np.uint16)
    for line, ranks in zip(steps, lowest, strict=True):
        line[ranks[1:]] = 1
    return np.cumsum(steps, axis=1, dtype=np.uint16)


# The simplest threshold in a gap ----------------------------------------------------------------
#
# Between two neighbouring observed values every threshold splits the data alike, so the one that
# people read most easily is taken: "> 1/2", not "> 0.4837".


def simplest_count(lower: int, upper: int) -> int:
    """Return the whole number nearest to the middle of ``[lower, upper)``, the lower one on ties.

    >>> simplest_count(2, 3), simplest_count(2, 7), simplest_count(0, 10)
    (2, 4, 5)
    """
    if not lower < upper:
        raise ValueError(f"lower must be below upper. Got {lower} and {upper}.")
    return (lower + upper) // 2


def simplest_share(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in ``[lower, upper)``.

    Of several with one denominator, the smallest.

    >>> print(simplest_share(Fraction(4, 9), Fraction(5, 9)))
    1/2
    """
    if not lower < upper:
        raise ValueError(f"lower must be below upper. Got {lower} and {upper}.")
    # Walk down the Stern-Brocot tree, several steps at once along each straight part: the first
    # fraction met inside of the gap has the smallest denominator.
    whole = lower.numerator // lower.denominator
    if whole == lower:
        return lower
    if whole + 1 < upper:
        return Fraction(whole + 1)
    # lower and upper lie in one unit interval (upper may be its end): flip the rest and go on. The
    # flipped gap is open below and closed above, so its closed twin is searched.
    return whole + 1 / _simplest_above(1 / (upper - whole), 1 / (lower - whole))


def _simplest_above(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in ``(lower, upper]``."""
    whole = lower.numerator // lower.denominator
    if whole + 1 <= upper:
        return Fraction(whole + 1)
    rest_lower, rest_upper = lower - whole, upper - whole
    if rest_lower == 0:
        # (whole, whole + r] with r < 1: the simplest is whole + 1/k for the smallest k >= 1/r.
        return whole + Fraction(1, -(-rest_upper.denominator // rest_upper.numerator))
    return whole + 1 / simplest_share(1 / rest_upper, 1 / rest_lower)
