from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import FeatureError, GraphError
from gnn2logic.trees.coding import ValueSpace, code_tables, codebooks
from gnn2logic.trees.gaps import simplest_count, simplest_share
from gnn2logic.trees.leaf_sets import all_subsets, merge_leaves
from gnn2logic.trees.targets import fixed_point, integer_weights, projection

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


def test_too_many_shares_are_refused() -> None:
    with pytest.raises(GraphError, match="relative=False"):
        ValueSpace.of_shares(np.arange(20_000))


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


def test_merging_leaves() -> None:
    values = np.array([[0.0], [10.0], [1.0], [10.5]])
    sets = merge_leaves(values, np.array([1.0, 1.0, 3.0, 1.0]))
    assert sets == [(0,), (1,), (2,), (3,), (1, 3), (0, 2), (0, 1, 2, 3)]
    assert len(merge_leaves(np.zeros((5, 2)), np.ones(5))) == 9
    assert merge_leaves(np.zeros((1, 2)), np.ones(1)) == [(0,)]


def test_merging_uses_weighted_means() -> None:
    # (0, 1) merge to 0.9 or to 0.1 depending on the weights, which decides what 2 is closer to.
    values = np.array([[0.0], [1.0], [2.05], [-1.0]])
    heavy_right = merge_leaves(values, np.array([1.0, 9.0, 1.0, 1.0]))
    heavy_left = merge_leaves(values, np.array([9.0, 1.0, 1.0, 1.0]))
    assert (0, 1, 2) in heavy_right
    assert (0, 1, 3) in heavy_left


def test_all_subsets() -> None:
    assert all_subsets(2) == [(0,), (1,), (0, 1)]
    assert len(all_subsets(4)) == 15


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    weight=st.integers(1, 1000),
)
def test_quantised_means_are_close(values: list[float], weight: int) -> None:
    column = np.array(values)[:, None]
    scale = fixed_point(column.min(axis=0), column.max(axis=0), weight * len(values))
    whole = scale.quantise(column)
    assert np.array_equal(whole, np.rint(whole))
    assert np.abs(whole).sum() * weight < 2**53
    spread = float(np.ptp(column))
    found = scale.mean(whole.sum(axis=0) * weight, weight * len(values))
    assert np.allclose(found, column.mean(axis=0), atol=spread * 2**-30 + 1e-9, rtol=1e-9)


def test_projection_finds_the_direction_of_variation() -> None:
    rng = np.random.default_rng(0)
    line = (
        rng.normal(size=(500, 1)) @ np.array([[3.0, 4.0, 0.0]]) + rng.normal(size=(500, 3)) * 0.01
    )
    scale = fixed_point(line.min(axis=0), line.max(axis=0), 500, square=True)
    whole = scale.quantise(line)
    directions = projection(whole.sum(axis=0), whole.T @ whole, 500, 1).directions
    assert np.allclose(directions.ravel() / 1024, [0.6, 0.8, 0.0], atol=0.01)
    assert np.array_equal(directions, np.rint(directions))


def test_weights_become_whole_numbers() -> None:
    assert integer_weights(np.array([0.25, 0.25])).tolist() == [1, 1]
    assert integer_weights(np.array([0.5, 1.5, 0.0])).tolist() == [1, 3, 0]
    odd = integer_weights(np.array([1.0, math.pi, 1e-9]))
    assert odd[2] == 1
    assert odd[1] / odd[0] == pytest.approx(math.pi, rel=1e-5)
    with pytest.raises(FeatureError, match="not 0 everywhere"):
        integer_weights(np.zeros(3))


# Some numbers lie just where rounding goes one way or the other: always the same examples.
@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    weights=st.lists(st.floats(1e-9, 1e9) | st.integers(1, 1000), min_size=1, max_size=8),
    scale=st.floats(1e-250, 1e250) | st.integers(1, 1000),
)
def test_only_the_proportions_of_weights_matter(weights: list[float], scale: float) -> None:
    given_weights = np.array(weights, dtype=float)
    whole = integer_weights(given_weights)
    assert np.array_equal(integer_weights(given_weights * scale), whole)
    assert np.array_equal(integer_weights(given_weights / scale), whole)
    # A weight of 0 changes nothing for the others.
    assert np.array_equal(integer_weights(np.append(given_weights, 0.0)), np.append(whole, 0))
    kept = given_weights > 2.0**-19 * given_weights.max()
    expected = given_weights[kept] / given_weights.max()
    assert np.allclose(whole[kept] / whole.max(), expected, rtol=0, atol=2.0**-20)
