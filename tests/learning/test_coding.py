from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import GraphError
from gnn2logic.learning.coding import (
    ValueSpace,
    code_tables,
    codebooks,
    simplest_count,
    simplest_share,
)

shares = st.fractions(0, 1, max_denominator=60)


@settings(max_examples=300, deadline=None)
@given(first=shares, second=shares)
def test_the_share_in_a_gap_has_the_smallest_denominator(first: Fraction, second: Fraction) -> None:
    assume(first != second)
    low, high = sorted((first, second))
    chosen = simplest_share(low, high)
    assert low <= chosen < high
    for q in range(1, chosen.denominator):
        assert Fraction(math.ceil(low * q), q) >= high


@given(low=st.integers(0, 50), gap=st.integers(1, 50))
def test_the_count_in_a_gap_is_nearest_to_its_middle(low: int, gap: int) -> None:
    middle = low + Fraction(gap, 2)
    expected = min(range(low, low + gap), key=lambda n: (abs(n - middle), n))
    assert simplest_count(low, low + gap) == expected


def test_empty_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="lower must be below upper"):
        simplest_count(2, 2)
    with pytest.raises(ValueError, match="lower must be below upper"):
        simplest_share(Fraction(1, 2), Fraction(1, 2))


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_shares_are_ranked_exactly(sizes: list[int]) -> None:
    space = ValueSpace.of_shares(sizes)
    values = {}
    for size in set(sizes):
        for count in range(size + 1):
            rank = int(space.rank_of_key[space.offset_of_size[size] + count])
            value = Fraction(count, size) if size else Fraction(0)
            assert Fraction(int(space.numerators[rank]), int(space.denominators[rank])) == value
            values[rank] = value
    assert sorted(values) == list(range(space.n_values))
    assert [values[rank] for rank in sorted(values)] == sorted(set(values.values()))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_shares_of_many_sizes_are_told_apart_in_ranges(sizes: list[int], random: Any) -> None:
    # As many keys as hubs have: a rank is a range of shares, and thresholds are between ranges.
    sizes = [*sizes, 10**7]
    space = ValueSpace.of_shares(sizes)
    assert space.highest is not None
    rows = [(random.randint(0, size), size) for size in sizes for _ in range(5)]
    counts, of_size = np.array(rows).T
    keys, offsets = space.keys(counts[:, None], of_size)
    ranks = space.rank_of_key[offsets + keys[:, 0]]
    values = [Fraction(count, max(size, 1)) for count, size in rows]
    for value, rank in zip(values, ranks.tolist(), strict=True):
        assert space.value(rank) <= value <= space.value(rank, highest=True)
    order = np.argsort(ranks, kind="stable").tolist()
    different = [(a, b) for a, b in itertools.pairwise(order) if ranks[a] < ranks[b]]
    assert all(values[a] < values[b] for a, b in different)
    (book,) = codebooks(space, np.bincount(ranks, minlength=space.n_values)[None], 255)
    for code in range(book.n_codes - 1):
        threshold = book.threshold(code, code + 1)
        above = [value > threshold for value in values]
        assert above == (ranks >= book.lowest[code + 1]).tolist()
        assert book.last_code_below(threshold) == code
    again: Any = pickle.loads(pickle.dumps(space))
    assert (again.numerators == space.numerators).all()


def test_shares_of_sets_beyond_doubles_are_refused() -> None:
    with pytest.raises(GraphError, match="relative=False"):
        ValueSpace.of_shares([2**26])


@settings(max_examples=100, deadline=None)
@given(counts=st.lists(st.integers(0, 9), min_size=2, max_size=40), bins=st.integers(2, 8))
def test_few_codes_keep_order_and_whole_values(counts: list[int], bins: int) -> None:
    assume(sum(c > 0 for c in counts) > 1)
    space = ValueSpace.of_counts(len(counts) - 1)
    (book,) = codebooks(space, np.array([counts]), bins)
    table = code_tables([book.lowest], space.n_values)
    present = [value for value, count in enumerate(counts) if count]
    codes = [int(table[0, value]) for value in present]
    assert codes == sorted(codes)
    assert set(codes) == set(range(book.n_codes))
    assert book.n_codes <= bins
    for code in range(book.n_codes - 1):
        threshold = book.threshold(code, code + 1)
        assert book.highest[code] <= threshold < book.lowest[code + 1]
        assert book.last_code_below(threshold) == code
