"""Manners of scorecards: the estimator checks, engines, interrupts, weights, odd and small data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import distributed
import numpy as np
import pytest
from sklearn.base import clone

import gnn2logic as gl
from dask_processes import client_of_two_workers
from gnn2logic import (
    ScorecardClassifier,
    ScorecardNodeClassifier,
    ScorecardNodeRegressor,
    ScorecardRegressor,
    parse,
    random_graphs,
)
from gnn2logic.exceptions import InterruptedSearchWarning, LabelError, SingleClassWarning
from gnn2logic.learning import threaded_loops
from gnn2logic.learning.scoring.lines import LineSearch
from gnn2logic.testing import graph_estimator_checks

GRAPHS = random_graphs(80, sizes=3 + np.arange(80) % 8, density=0.4, random_state=0)
SMALL: dict[str, Any] = {"n_layers": 0, "n_jobs": 1, "random_state": 0}


@pytest.mark.parametrize(
    ("name", "check"),
    [
        *graph_estimator_checks(ScorecardClassifier(1, n_layers=0, n_jobs=1)),
        *graph_estimator_checks(ScorecardNodeClassifier(1, n_layers=0, n_jobs=1), level="node"),
        *graph_estimator_checks(ScorecardRegressor(2, n_layers=0, n_jobs=1)),
        *graph_estimator_checks(ScorecardNodeRegressor(2, n_layers=0, n_jobs=1), level="node"),
        *graph_estimator_checks(ScorecardRegressor(2, loss="absolute", n_layers=0, n_jobs=1)),
    ],
)
def test_scorecards_have_manners(name: str, check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(
    ("estimator", "level"),
    [(ScorecardRegressor(2, **SMALL), "graph"), (ScorecardNodeRegressor(2, **SMALL), "node")],
)
def test_regressors_have_manners(estimator: Any, level: str) -> None:
    """What the checks ask of classifiers, for numbers."""
    count = GRAPHS.n_graphs if level == "graph" else GRAPHS.n_nodes
    rng = np.random.default_rng(0)
    condition = parse("1 U0 > 2" if level == "graph" else "U0").evaluate(GRAPHS, level=level)  # type: ignore[arg-type]
    y = 3.0 * condition + rng.normal(0, 0.5, count)
    kept = y.copy()
    model = clone(estimator)
    assert model.fit(GRAPHS, y) is model
    assert (y == kept).all()
    predicted = model.predict(GRAPHS)
    again = clone(estimator).fit(GRAPHS, y, sample_weight=np.ones(count))
    assert again.path_ == model.path_
    heavy = clone(estimator).fit(GRAPHS, y, sample_weight=np.where(y > 1, 100.0, 1.0))
    assert heavy.path_ != model.path_
    assert model.fit(GRAPHS, -y).fit(GRAPHS, y).predict(GRAPHS).tolist() == predicted.tolist()
    # A graph alone, and graphs in another order, get the same numbers.
    order = rng.permutation(GRAPHS.n_graphs)
    turned = model.predict(GRAPHS.take(order))
    alone = np.concatenate([model.predict(GRAPHS.take([number])) for number in order])
    assert turned.tolist() == alone.tolist()
    residual, total = ((y - predicted) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    assert model.score(GRAPHS, y) == pytest.approx(1 - residual / total)
    for wrong in (y[:-1], np.append(y, 0.0), y[:0], None):
        with pytest.raises(ValueError, match="number"):
            clone(estimator).fit(GRAPHS, wrong)


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    with client_of_two_workers() as connected:
        yield connected


def test_a_cluster_gives_the_same_card(client: distributed.Client, tmp_path: Any) -> None:
    labels = parse("1 U0 > 2").evaluate(GRAPHS) ^ (np.random.default_rng(0).random(80) < 0.1)
    plain = ScorecardClassifier(4, **SMALL).fit(GRAPHS, labels)
    assert plain.lines_
    shared = ScorecardClassifier(4, **SMALL, engine=client, n_shards=3).fit(GRAPHS, labels)
    assert shared.path_ == plain.path_
    store = gl.write_shards(tmp_path / "store", GRAPHS, y=labels, shard_nodes=100)
    assert ScorecardClassifier(4, **SMALL, engine=client).fit(store).path_ == plain.path_


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # So little work would be done by one thread alone.
    monkeypatch.setattr(threaded_loops, "WORTH_THREADS", -1)
    graphs = random_graphs(60, sizes=4 + np.arange(60) % 9, density=0.3, random_state=1)
    y = np.random.default_rng(1).integers(0, 3, 60)
    one, two, all_cores = (
        ScorecardClassifier(2, n_layers=1, n_jobs=n_jobs, random_state=0).fit(graphs, y)
        for n_jobs in (1, 2, None)
    )
    assert one.path_ == two.path_ == all_cores.path_


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Interrupt a fit at some line, as Ctrl-C does."""
    original, seen = LineSearch._best_line, [0]

    def best_line(self: LineSearch, *arguments: Any) -> Any:
        seen[0] += 1
        if seen[0] > after:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(LineSearch, "_best_line", best_line)


def noisy_labels() -> Any:
    labels = parse("1 U0 > 2").evaluate(GRAPHS) | parse("1 true > 8").evaluate(GRAPHS)
    return labels ^ (np.random.default_rng(3).random(80) < 0.1)


def test_an_interrupt_keeps_the_lines_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ScorecardClassifier(4, **SMALL).fit(GRAPHS, noisy_labels())
    with monkeypatch.context() as patched:
        interrupted(patched, 2)
        with pytest.warns(InterruptedSearchWarning, match="lines that were found so far"):
            model = ScorecardClassifier(4, **SMALL).fit(GRAPHS, noisy_labels())
    assert 1 <= len(model.lines_) <= 2
    assert "stopped before data were held out" in model.path_.reason
    with monkeypatch.context() as patched:
        # In the middle of the folds: the cards are those of all data.
        interrupted(patched, 25)
        with pytest.warns(InterruptedSearchWarning):
            late = ScorecardClassifier(4, **SMALL).fit(GRAPHS, noisy_labels())
    assert late.lines_
    assert {row.card.lines for row in whole.path_} & {row.card.lines for row in late.path_}


def test_an_interrupt_before_the_first_line_ends_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScorecardClassifier(4, **SMALL)
    interrupted(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(GRAPHS, noisy_labels())
    assert not hasattr(model, "path_")


def test_weights_are_repeated_graphs() -> None:
    times = np.random.default_rng(4).integers(1, 3, 80)
    labels = noisy_labels()
    weighted = ScorecardClassifier(1, **SMALL).fit(GRAPHS, labels, sample_weight=times)
    repeated = np.repeat(np.arange(80), times)
    again = ScorecardClassifier(1, **SMALL).fit(GRAPHS.take(repeated), labels[repeated])
    one, other = weighted.path_.rows[-1].card, again.path_.rows[-1].card
    assert one.lines[0].conditions == other.lines[0].conditions


def test_weight_zero_is_absence() -> None:
    labels = noisy_labels()
    seen = np.arange(80) % 4 > 0
    weighted = ScorecardClassifier(3, **SMALL).fit(GRAPHS, labels, sample_weight=seen.astype(float))
    without = ScorecardClassifier(3, **SMALL).fit(GRAPHS.take(np.flatnonzero(seen)), labels[seen])
    assert weighted.path_ == without.path_


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_very_few_graphs_give_a_card(count: int) -> None:
    graphs = GRAPHS.take(np.arange(count))
    labels = ["a" if number % 2 else "b" for number in range(count)]
    if count == 1:
        with pytest.warns(SingleClassWarning):
            model = ScorecardClassifier(**SMALL).fit(graphs, labels)
    else:
        model = ScorecardClassifier(**SMALL).fit(graphs, labels)
    assert set(model.predict(GRAPHS)) <= {"a", "b"}
    assert np.isfinite(model.predict_proba(GRAPHS)).all()
    with warnings.catch_warnings():
        # One number is a constant target, and the caller is told so.
        warnings.simplefilter("ignore", SingleClassWarning)
        numbers = ScorecardRegressor(**SMALL).fit(graphs, np.arange(count, dtype=float))
    assert np.isfinite(numbers.predict(GRAPHS)).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_must_be_finite(wrong: float) -> None:
    y = np.arange(80, dtype=float)
    y[5] = wrong
    with pytest.raises(LabelError, match="graph 5"):
        ScorecardRegressor(**SMALL).fit(GRAPHS, y)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_unit_of_numbers_does_not_matter(scale: float) -> None:
    y = 2.0 * parse("1 U0 > 2").evaluate(GRAPHS) + np.random.default_rng(5).normal(0, 0.3, 80)
    plain = ScorecardRegressor(3, **SMALL).fit(GRAPHS, y)
    scaled = ScorecardRegressor(3, **SMALL).fit(GRAPHS, scale * y)
    assert scaled.lines_ == plain.lines_
    assert scaled.predict(GRAPHS) == pytest.approx(scale * plain.predict(GRAPHS), rel=1e-6)
