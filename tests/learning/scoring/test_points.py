"""Fits of weights against scikit-learn and by hand; rounding keeps its promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge

from gnn2logic.learning.scoring.losses import TARGET_STEPS, PatternTable, loss_for, scaled_sums
from gnn2logic.learning.scoring.points import MOST_LOST, rounded_points


def rows_of(seed: int, n_rows: int = 300, n_conditions: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truths = rng.random((n_rows, n_conditions)) < 0.5
    raw = truths @ rng.normal(0, 2, n_conditions) - 0.3
    return truths, (rng.random(n_rows) < 1 / (1 + np.exp(-raw))).astype(np.int64)


def table_of(
    truths: np.ndarray, classes: np.ndarray, n_classes: int = 2, weights: np.ndarray | None = None
) -> PatternTable:
    one_hot = np.eye(n_classes, dtype=np.int64)[classes]
    targets = (one_hot[:, 1:] if n_classes == 2 else one_hot) * TARGET_STEPS
    counted = np.ones(len(classes), dtype=np.int64) if weights is None else weights
    return PatternTable.of_rows(truths, counted, targets, one_hot)


def test_two_classes_as_scikit_learn() -> None:
    truths, classes = rows_of(0)
    ours = loss_for("class", 2).fit(table_of(truths, classes), ridge=2.0)
    theirs = LogisticRegression(C=1 / 2.0, tol=1e-10, max_iter=1000).fit(truths, classes)
    assert ours[1:, 0] == pytest.approx(theirs.coef_[0], abs=1e-4)
    assert ours[0, 0] == pytest.approx(theirs.intercept_[0], abs=1e-4)


def test_three_classes_as_scikit_learn() -> None:
    truths, _ = rows_of(1)
    classes = np.random.default_rng(1).integers(0, 3, len(truths))
    ours = loss_for("class", 3).fit(table_of(truths, classes, 3), ridge=2.0)
    theirs = LogisticRegression(C=1 / 2.0, tol=1e-10, max_iter=5000).fit(truths, classes)
    chance = loss_for("class", 3).expected(ours[0] + truths @ ours[1:])
    assert chance == pytest.approx(theirs.predict_proba(truths), abs=2e-3)


def test_numbers_as_scikit_learn() -> None:
    truths, _ = rows_of(2)
    numbers = truths @ [1.0, -2.0, 0.5, 3.0] + np.random.default_rng(2).normal(0, 1, len(truths))
    whole = np.rint(numbers[:, None] * TARGET_STEPS).astype(np.int64)
    none = np.zeros((len(truths), 0), dtype=np.int64)
    table = PatternTable.of_rows(truths, np.ones(len(truths), dtype=np.int64), whole, none)
    ours = loss_for("number", 0).fit(table, ridge=3.0)
    theirs = Ridge(alpha=3.0).fit(truths, numbers)
    assert ours[1:, 0] == pytest.approx(theirs.coef_, abs=1e-3)


def test_weights_are_repeated_rows() -> None:
    truths, classes = rows_of(3, 60)
    weights = np.random.default_rng(3).integers(0, 4, 60)
    loss = loss_for("class", 2)
    weighted = loss.fit(table_of(truths, classes, weights=weights), ridge=1.0)
    repeated = loss.fit(
        table_of(np.repeat(truths, weights, axis=0), np.repeat(classes, weights)), ridge=1.0
    )
    assert weighted.tolist() == repeated.tolist()


@given(st.integers(0, 10_000), st.integers(1, 5))
@settings(max_examples=25)
def test_tables_add_up_whatever_the_shards(seed: int, n_shards: int) -> None:
    truths, classes = rows_of(seed, 80, 3)
    whole = table_of(truths, classes)
    places = np.random.default_rng(seed).integers(0, n_shards, 80)
    shards = [
        table_of(truths[places == n], classes[places == n])
        for n in range(n_shards)
        if (places == n).any()
    ]
    total = shards[0]
    for shard in shards[1:]:
        total = total + shard
    for name in ("truths", "weights", "targets", "classes"):
        assert getattr(total, name).tolist() == getattr(whole, name).tolist()


@given(st.integers(0, 10_000), st.sampled_from([2, 3]), st.sampled_from([3, 10, 100]))
@settings(max_examples=25)
def test_points_are_small_and_lose_little(seed: int, n_classes: int, most: int) -> None:
    truths, classes = rows_of(seed, 200, 3)
    # The last two conditions are one line with two steps.
    truths[:, 2] &= truths[:, 1]
    if n_classes == 3:
        classes = classes + truths[:, 0]
    loss = loss_for("class", n_classes)
    table = table_of(truths, classes, n_classes)
    fitted = loss.fit(table, ridge=1.0)
    card = rounded_points(loss, table, fitted, [1, 2], most, ridge=1.0)
    assert [points.shape for points in card.points] == [(2, fitted.shape[1]), (3, fitted.shape[1])]
    assert all(abs(points).max() <= most for points in card.points)
    assert all((points[0] == 0).all() and points.any() for points in card.points)
    assert card.slope > 0
    weights, targets = scaled_sums(table)
    raw = fitted[0] + table.truths @ fitted[1:]
    exact = loss.mean(raw, weights, targets)
    free = loss.fit(table.some_conditions([]), ridge=0.0)
    nothing = loss.mean(np.tile(free[0], (len(weights), 1)), weights, targets)
    if most == 100 and n_classes == 2:
        assert card.loss <= exact + MOST_LOST * (nothing - exact) + 1e-6


def test_points_of_a_card_that_explains_nothing() -> None:
    truths = np.zeros((10, 0), dtype=bool)
    loss = loss_for("class", 2)
    table = table_of(truths, np.array([0] * 7 + [1] * 3))
    card = rounded_points(loss, table, loss.fit(table, ridge=1.0), [], 10, ridge=1.0)
    assert card.points == ()
    assert loss.expected(np.array([[card.intercept]]))[0, 0] == pytest.approx(0.3, abs=1e-3)


def test_without_lines_classes_are_as_likely_as_they_are_frequent() -> None:
    classes = np.array([0] * 10 + [1] * 60 + [2] * 30)
    truths = np.zeros((100, 0), dtype=bool)
    loss = loss_for("class", 3)
    table = table_of(truths, classes, 3)
    card = rounded_points(loss, table, loss.fit(table, ridge=1.0), [], 10, ridge=1.0)
    chance = loss.expected(card.intercept + card.slope * card.base[None].astype(float))
    assert chance[0] == pytest.approx([0.1, 0.6, 0.3], abs=0.05)


@pytest.mark.parametrize("n_classes", [3, 5, 40])
def test_weights_of_several_classes_leave_no_gradient(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    truths = rng.random((300, 8)) < 0.4
    classes = np.eye(n_classes, dtype=np.int64)[rng.integers(0, n_classes, 300)]
    weights = rng.integers(1, 4, 300)
    table = PatternTable.of_rows(truths, weights, classes * TARGET_STEPS, classes)
    loss = loss_for("class", n_classes)
    fitted = loss.fit(table, 2.0)
    sums, targets = scaled_sums(table)
    design = np.column_stack([np.ones(len(sums)), table.truths])
    rest = targets - sums[:, None] * loss.expected(design @ fitted)
    price = np.r_[1e-4, np.full(8, 2.0)][:, None] * fitted
    assert np.abs(design.T @ rest - price).max() < 1e-4
