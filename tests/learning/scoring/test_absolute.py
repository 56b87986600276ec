"""Absolute errors: medians of lines by brute force, planted cards among numbers far out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnn2logic as gl
from gnn2logic import GraphBatch, ScorecardNodeRegressor, ScorecardRegressor
from gnn2logic.engines import LocalEngine
from gnn2logic.exceptions import ParameterError
from gnn2logic.learning.scoring.absolute import AbsoluteLoss, centre_and_spread
from gnn2logic.learning.scoring.losses import TARGET_STEPS, PatternTable

TRUTH = {"1 N > 5": 1.0, "1(N & A O > 1) > 2": 2.5}
SMALL: dict[str, Any] = {"n_layers": 0, "n_jobs": 1, "random_state": 0}


def table_of(truths: Any, numbers: Any, weights: Any) -> PatternTable:
    whole = np.rint(np.asarray(numbers)[:, None] * TARGET_STEPS).astype(np.int64)
    none = np.zeros((len(whole), 0), dtype=np.int64)
    held = np.asarray(truths, dtype=bool).reshape(len(whole), -1)
    return PatternTable.of_rows(held, np.asarray(weights), whole, none, apart=True)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(-50, 50), st.integers(0, 3)), min_size=3, max_size=30
    ).filter(lambda rows: any(weight for _, _, weight in rows))
)
def test_points_are_medians(rows: list[tuple[bool, int, int]]) -> None:
    """With one condition each side has a median: no other two numbers are much nearer."""
    truths, numbers, weights = (np.array(column) for column in zip(*rows, strict=True))
    fitted = AbsoluteLoss().fit(table_of(truths, numbers, weights), 1e-6)[:, 0]

    def distance(inside: float, outside: float) -> float:
        return float(weights @ np.abs(numbers - np.where(truths, inside, outside)))

    best = min(distance(i, o) for i in set(numbers.tolist()) for o in set(numbers.tolist()))
    assert distance(fitted.sum(), fitted[0]) <= best * 1.02 + 1e-3


def test_rows_are_joined_in_any_order_and_by_shards() -> None:
    rng = np.random.default_rng(0)
    truths, numbers = rng.random((200, 3)) < 0.5, rng.integers(0, 9, 200).astype(float)
    weights = rng.integers(0, 3, 200)
    everything = table_of(truths, numbers, weights)
    shuffled = rng.permutation(200)
    halves = [table_of(truths[r], numbers[r], weights[r]) for r in np.split(shuffled, 2)]
    joined = halves[0] + halves[1]
    for one, other in ((everything, joined), (everything.some_conditions([2]),) * 2):
        assert (one.truths == other.truths).all()
        assert (one.targets == other.targets).all()
        assert (one.weights == other.weights).all()
    assert everything.weights.sum() == weights.sum()
    assert len(everything.weights) <= 8 * 9


@pytest.mark.parametrize(
    ("numbers", "centre", "spread"),
    [
        ([1.0, 1.0, 1.0], 1.0, 1.0),
        ([0.0, 1.0, 2.0, 3.0, 1e300], 2.0, 1.4826),
        # Most of them are the same, but for rounding.
        ([0.3, 0.1 + 0.2, 0.3, 0.3, 2.3], 0.3, 2 * 1.4826),
        ([0.0, 0.0, 0.0, -4.0], 0.0, 4 * 1.4826),
    ],
)
def test_spread_of_numbers(numbers: list[float], centre: float, spread: float) -> None:
    got = centre_and_spread(np.array(numbers), np.ones(len(numbers), dtype=np.int64))
    assert got == pytest.approx((centre, spread))


def planted(wild: bool) -> tuple[GraphBatch, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return graphs, what is true about them, and what is told: one in twenty is far out."""
    graphs = gl.random_graphs(300, sizes=10, density=0.3, names=["N", "O"], random_state=0)
    effects = [worth * gl.parse(t).evaluate(graphs) for t, worth in TRUTH.items()]
    truth = 1.2 + np.sum(effects, axis=0)
    rng = np.random.default_rng(1)
    told = truth + 0.1 * rng.normal(size=300)
    if wild:
        told[rng.choice(300, 15, replace=False)] = rng.choice([1e4, -50.0, 30.0], 15)
    return graphs, truth, told


@pytest.mark.parametrize("wild", [False, True])
def test_a_card_is_found_among_numbers_that_are_far_out(wild: bool, tmp_path: Path) -> None:
    graphs, truth, told = planted(wild)
    model = ScorecardRegressor(4, loss="absolute", **SMALL | {"n_layers": 1}).fit(graphs, told)
    card = model.card_
    learned = {str(line.conditions[0]): line.points[0][0] * card.slope for line in model.lines_}
    assert learned == pytest.approx(TRUTH, abs=0.05)
    assert card.intercept == pytest.approx(1.2, abs=0.05)
    assert np.abs(model.predict(graphs) - truth).max() < 0.1
    # What was held out is measured in the unit of the numbers.
    chosen = model.path_[model.path_.chosen]
    assert chosen.held_out_loss == pytest.approx(np.abs(told - model.predict(graphs)).mean(), 0.1)
    assert "absolute error on held-out data" in model.path_.reason
    model.save(tmp_path / "card.json")
    again = ScorecardRegressor.load(tmp_path / "card.json")
    assert again.loss == "absolute"
    assert str(again) == str(model)
    assert (gl.load(tmp_path / "card.json").predict(graphs) == model.predict(graphs)).all()


def test_squared_errors_are_drawn_by_numbers_far_out_or_agree() -> None:
    graphs, truth, told = planted(False)
    plain = ScorecardRegressor(2, **SMALL | {"n_layers": 1}).fit(graphs, told)
    assert {str(line.conditions[0]) for line in plain.lines_} == set(TRUTH)
    graphs, truth, told = planted(True)
    drawn = ScorecardRegressor(2, **SMALL | {"n_layers": 1}).fit(graphs, told)
    assert np.abs(drawn.predict(graphs) - truth).mean() > 10


def test_weights_are_repetitions_and_shards_change_nothing() -> None:
    graphs, _, told = planted(True)
    graphs, told = graphs.take(np.arange(90)), told[:90]
    weights = np.random.default_rng(0).integers(0, 3, 90)
    model = ScorecardRegressor(3, loss="absolute", **SMALL)
    first = model.fit(graphs, told, sample_weight=weights).path_
    unknown = np.where(weights > 0, told, np.nan)
    kept = weights > 0
    for others, numbers, scaled, shards in (
        (graphs, unknown, 10 * weights, 3),
        (graphs.take(np.flatnonzero(kept)), told[kept], weights[kept], 1),
    ):
        again = ScorecardRegressor(3, loss="absolute", n_shards=shards, **SMALL)
        assert again.fit(others, numbers, sample_weight=scaled).path_ == first
    threads = {"engine": LocalEngine(2), "n_jobs": 2, "n_shards": 3}
    again = ScorecardRegressor(3, loss="absolute", **SMALL | threads)
    assert again.fit(graphs, told, sample_weight=weights).path_ == first


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e90])
def test_the_unit_of_numbers_does_not_matter(scale: float) -> None:
    graphs, _, told = planted(True)
    graphs, told = graphs.take(np.arange(90)), told[:90]
    plain = ScorecardRegressor(2, loss="absolute", **SMALL).fit(graphs, told)
    other = ScorecardRegressor(2, loss="absolute", **SMALL).fit(graphs, told * scale)
    assert [line.conditions for line in other.lines_] == [line.conditions for line in plain.lines_]
    assert other.predict(graphs) / scale == pytest.approx(plain.predict(graphs), rel=1e-6)


def test_nodes_and_several_targets() -> None:
    graphs, truth, told = planted(True)
    nodes = gl.parse("A O > 1").evaluate(graphs, level="node")
    wanted = 3.0 * nodes
    wanted[::25] = 1e5
    of_nodes = ScorecardNodeRegressor(2, loss="absolute", **SMALL).fit(graphs, wanted)
    right = np.abs(of_nodes.predict(graphs) - 3.0 * nodes) < 1e-3
    assert right.all()
    several = gl.MultiTargetEstimator(
        ScorecardRegressor(2, loss="absolute", **SMALL | {"n_layers": 1}), missing="skip"
    )
    gaps = np.column_stack([told, np.where(np.arange(300) < 30, np.nan, truth)])
    predicted = several.fit(graphs, gaps).predict(graphs)
    assert np.abs(predicted - truth[:, None]).max() < 0.1


def test_unknown_losses_are_refused() -> None:
    with pytest.raises(ParameterError, match="loss must be one of 'squared', 'absolute'"):
        ScorecardRegressor(loss="median").fit(*planted(False)[:2])
