"""Checks that all rooms share: what they let through, and what they say of the rest."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gnn2logic._validation import (
    check_choice,
    check_flag,
    check_number,
    check_share,
    check_whole,
    generator_from,
    seed_from,
)
from gnn2logic.datasets import shapes
from gnn2logic.exceptions import GraphError, ParameterError
from gnn2logic.graphs import random_graphs


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_numpy_are_whole_numbers(value: object) -> None:
    assert type(check_whole("n", value, least=3, most=3)) is int


@pytest.mark.parametrize("value", [2, 6, 3.0, "3", None, True, np.bool_(True), Fraction(3)])
def test_a_whole_number_has_limits(value: object) -> None:
    with pytest.raises(ParameterError, match=r"^n must be a whole number from 3 to 5\. Got"):
        check_whole("n", value, least=3, most=5)


def test_a_room_raises_its_own_error() -> None:
    with pytest.raises(GraphError, match=r"^n must be a whole number >= 0. Got -1 instead\.$"):
        check_whole("n", -1, least=0, error=GraphError)
    with pytest.raises(GraphError, match=r"^n must be one of 1, None. Got 2 instead\.$"):
        check_choice("n", 2, (1, None), error=GraphError)


@pytest.mark.parametrize("value", [1, 0.5, Fraction(1, 2), np.float32(0.5)])
def test_shares_are_real_numbers_of_any_type(value: object) -> None:
    assert check_share("s", value) == value
    assert check_number("s", value, above=0, below=2) == value


@pytest.mark.parametrize("value", [0, -0.1, 1.1, float("nan"), True, np.bool_(True), "1", None])
def test_what_is_no_share_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match=r"^s must be a number in \(0, 1\]\. Got"):
        check_share("s", value)


def test_a_share_may_be_nothing_where_that_makes_sense() -> None:
    assert check_share("s", 0, or_none=True) == 0
    with pytest.raises(ParameterError, match=r"^s must be a number in \[0, 1\]\. Got -1 instead"):
        check_share("s", -1, or_none=True)


@pytest.mark.parametrize("value", [1, 0, "false", None])
def test_a_flag_is_true_or_false_and_nothing_else(value: object) -> None:
    check_flag("f", np.bool_(False))
    with pytest.raises(ParameterError, match="^f must be True or False. Got"):
        check_flag("f", value)


def test_a_seed_is_a_number_or_a_source_of_numbers() -> None:
    assert seed_from(np.int64(7)) == 7
    assert seed_from(np.random.default_rng(0)) == seed_from(np.random.default_rng(0))
    assert generator_from(np.int64(7)).integers(1000) == generator_from(7).integers(1000)
    for refused in (-1, 1.5, True, "7"):
        with pytest.raises(ParameterError, match="random_state must be a whole number >= 0"):
            seed_from(refused)
        with pytest.raises(ParameterError, match="random_state must be a whole number >= 0"):
            generator_from(refused)


def test_rooms_agree_on_what_a_number_is() -> None:
    # One room counted True graphs, and another knew no short floats.
    with pytest.raises(GraphError, match="n_graphs must be a whole number >= 1. Got True"):
        random_graphs(True)
    of_numpy: dict[str, Any] = {"balance": np.float32(0.5), "random_state": np.int16(0)}
    data = shapes.ba_2motifs(4, **of_numpy)
    assert data.y.sum() == 2
