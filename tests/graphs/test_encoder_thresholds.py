from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gnn2logic.graphs.encoded_columns import choose_thresholds, decimal_text, simplest_decimal

finite = st.floats(allow_nan=False, allow_infinity=False)


def digits(value: float) -> int:
    """The number of significant digits that a person reads; 0 has none."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits) if value else 0


def all_decimals(most_digits: int, exponents: range) -> list[tuple[int, Fraction, float]]:
    """Every decimal with so few digits at these scales: digits, exact value, float value."""
    found = {}
    for exponent in exponents:
        for mantissa in range(1, 10**most_digits):
            for signed in (mantissa, -mantissa):
                value = float(f"{signed}e{exponent}")
                found[value] = (digits(value), Fraction(signed) * Fraction(10) ** exponent, value)
    return [(0, Fraction(0), 0.0), *found.values()]


SMALL = all_decimals(2, range(-3, 3))


@settings(max_examples=300, deadline=None)
@given(st.integers(-3000, 3000), st.integers(-3000, 3000), st.sampled_from([10, 100, 1000, 64]))
@example(2, 7, 10)
@example(1, 2, 10)
@example(-7, -2, 10)
@example(-1, 1, 10)
@example(0, 1, 1000)
def test_no_simpler_decimal_is_in_the_gap(first: int, second: int, scale: int) -> None:
    assume(first != second)
    low, high = sorted((first / scale, second / scale))
    chosen = simplest_decimal(low, high)
    assert low <= chosen < high
    middle = (Fraction(low) + Fraction(high)) / 2
    inside = [
        (n_digits, abs(exact - middle), value)
        for n_digits, exact, value in SMALL
        if low <= value < high
    ]
    if inside:
        assert min(inside)[2] == chosen
    else:
        assert digits(chosen) > 2


@settings(max_examples=300, deadline=None)
@given(finite, finite)
@example(0.1, math.nextafter(0.1, 1))
@example(-0.1, math.nextafter(-0.1, 1))
@example(2.0**53 + 2, 2.0**53 + 4)
@example(5e-324, 1e-323)
@example(-1e-323, -5e-324)
@example(1.7976931348623155e308, 1.7976931348623157e308)
@example(-1.7976931348623157e308, 1.7976931348623157e308)
def test_any_gap_of_floats(first: float, second: float) -> None:
    assume(first != second)
    low, high = min(first, second), max(first, second)
    chosen = simplest_decimal(low, high)
    assert low <= chosen < high
    assert digits(chosen) <= digits(low)
    assert float(decimal_text(chosen)) == chosen


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.4837, 0.5316, "0.5"),
        (0, 1, "0"),
        (-0.3, 0.9, "0"),
        (3, 4, "3"),
        (12, 13, "12"),
        (1.5, 2.5, "2"),
        (15, 37, "30"),
        (-2, -1, "-2"),
        (-0.9, -0.1, "-0.5"),
        (1234.2, 1236.8, "1235"),
        (0.001, 0.003, "0.002"),
        (1e-9, 3e-9, "2e-09"),
        (3e20, 5e20, "4e+20"),
    ],
)
def test_what_people_read(low: float, high: float, expected: str) -> None:
    assert decimal_text(simplest_decimal(low, high)) == expected


columns = st.lists(
    st.one_of(st.integers(-20, 20).map(lambda k: k / 4), st.floats(-5, 5)), min_size=1, max_size=40
)


@settings(max_examples=200, deadline=None)
@given(columns, st.integers(1, 10), st.sampled_from([np.float64, np.float32]))
def test_thresholds_split_the_column(values: list[float], most: int, dtype: type) -> None:
    column: npt.NDArray[Any] = np.array(values, dtype=dtype)
    chosen = choose_thresholds(column, most)
    n_gaps = len(np.unique(column)) - 1
    assert len(chosen) == min(n_gaps, most)
    assert list(chosen) == sorted(set(chosen))
    splits = {tuple(column.astype(np.float64) > threshold) for threshold in chosen}
    # Every threshold is in a gap of its own, with values on both sides.
    assert len(splits) == len(chosen)
    assert all(any(split) and not all(split) for split in splits)


@settings(max_examples=100, deadline=None)
@given(columns, st.integers(1, 6), st.randoms(use_true_random=False))
def test_order_of_nodes_does_not_matter(values: list[float], most: int, random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose_thresholds(np.array(values), most) == choose_thresholds(np.array(shuffled), most)


def test_quantiles() -> None:
    evenly = np.arange(100.0) + 0.5
    assert choose_thresholds(evenly, 3) == (25.0, 50.0, 75.0)
    # 50 is the simplest number in [49.5, 50.5): not a digit more than is needed.
    assert choose_thresholds(evenly, 1) == (50.0,)


def test_a_common_value_does_not_use_up_the_thresholds() -> None:
    """Nine tenths are 0: every quantile falls into the gap above it, the tail still is split."""
    values = np.concatenate([np.zeros(900), np.arange(1, 101)])
    chosen = choose_thresholds(values, 4)
    assert chosen[0] == 0
    assert len(chosen) == 4
    assert [int((values > threshold).sum()) for threshold in chosen] == [100, 80, 50, 20]


def test_many_values_get_readable_thresholds() -> None:
    """Thousands of values: each gap is tiny, but a short decimal is near every quantile."""
    values = np.random.default_rng(0).normal(size=5000)
    chosen = choose_thresholds(values, 4)
    assert chosen == (-0.8, -0.3, 0.2, 0.9)
    shares = [float((values > threshold).mean()) for threshold in chosen]
    assert np.allclose(shares, [0.8, 0.6, 0.4, 0.2], atol=0.2 / 8 + 0.001)


def test_ties_go_to_the_lower_gap() -> None:
    # Three values once each: the median is as near to one gap as to the other.
    assert choose_thresholds(np.array([1.0, 2.0, 3.0]), 1) == (1.0,)


def test_float32_is_split_as_its_decimals_look() -> None:
    """A float32 0.2 is more than 0.2, so 0.2 must not be the threshold between 0.1 and 0.2."""
    looks = [0.1, 0.2, 0.3, 0.7]
    narrow = choose_thresholds(np.array(looks, dtype=np.float32), 8)
    assert narrow == (0.15, 0.25, 0.5)
    for dtype in (np.float32, np.float64):
        values = np.array(looks, dtype=dtype).astype(np.float64)
        assert [(values > threshold).sum() for threshold in narrow] == [3, 2, 1]


def test_whole_numbers_beyond_float_precision() -> None:
    values = np.array([2**60, 2**60 + 1, 2**61])
    (threshold,) = choose_thresholds(values, 8)
    assert 2.0**60 <= threshold < 2.0**61


def test_a_constant_column_has_no_gap() -> None:
    assert choose_thresholds(np.array([3.5, 3.5]), 8) == ()
