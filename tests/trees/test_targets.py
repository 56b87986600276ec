"""Targets as integers: every sum that the search makes is exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gnn2logic.trees.targets import fixed_point, projection

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
