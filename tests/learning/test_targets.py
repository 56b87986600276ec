"""Targets and weights as integers: every sum that the search makes is exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import FeatureError
from gnn2logic.learning.targets import fixed_point, integer_weights, projection

WEIGHTS = [10, 2**20, 2**27, 10**9]


@pytest.mark.parametrize("total_weight", WEIGHTS)
@pytest.mark.parametrize("n_targets", [2, 128, 1000])
def test_projected_sums_fit_into_doubles(total_weight: int, n_targets: int) -> None:
    """The worst case: all weight on one row whose targets are all as large as can be."""
    rng = np.random.default_rng(0)
    highest = np.full(n_targets, 3.0)
    scale = fixed_point(-highest, highest, total_weight, square=True)
    rows = scale.quantise(np.concatenate([[highest], rng.uniform(-3, 3, size=(20, n_targets))]))
    directions = projection(total_weight * rows[0], total_weight * rows.T @ rows, total_weight, 2)
    largest = max(abs(int(value)) for value in directions.apply(rows).ravel())
    assert largest * total_weight < 2**53
    assert int(np.abs(rows).max()) ** 2 * total_weight < 2**53
    exact = [
        sum(Fraction(own) * Fraction(other) for own, other in zip(rows[0], column, strict=True))
        for column in directions.directions.T
    ]
    assert directions.apply(rows)[0].tolist() == [int(value) for value in exact]


@pytest.mark.parametrize("total_weight", WEIGHTS)
def test_plain_sums_fit_into_doubles(total_weight: int) -> None:
    scale = fixed_point(np.array([0.0]), np.array([0.7]), total_weight)
    assert abs(int(scale.quantise(np.array([[0.7]]))[0, 0])) * total_weight < 2**53


def test_no_room_for_exact_sums() -> None:
    with pytest.raises(ValueError, match="no room for exact sums. Use sample weights that are"):
        fixed_point(np.zeros(1), np.ones(1), 2**47)


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
