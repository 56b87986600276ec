"""Scorecards as users get them: what they find, and the same ones whoever does the work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

import gnn2logic as gl
from gnn2logic import (
    GraphBatch,
    ScorecardClassifier,
    ScorecardNodeClassifier,
    ScorecardNodeRegressor,
    ScorecardPredictor,
    ScorecardRegressor,
    parse,
    random_graphs,
)
from gnn2logic.engines import LocalEngine
from gnn2logic.exceptions import LabelError, ModelFileError, ParameterError, SingleClassWarning

ESTIMATORS = [
    ScorecardClassifier(3, n_layers=0, random_state=0),
    ScorecardNodeClassifier(3, n_layers=0, random_state=0),
    ScorecardRegressor(3, n_layers=0, random_state=0),
    ScorecardNodeRegressor(3, n_layers=0, random_state=0),
]


def some_graphs(seed: int, count: int = 150, **options: Any) -> GraphBatch:
    rng = np.random.default_rng(seed)
    sizes, density = rng.integers(4, 14, size=count), rng.uniform(0.1, 0.7, size=count)
    return random_graphs(count, sizes=sizes, density=density, random_state=rng, **options)


def total(batch: GraphBatch, lines: Mapping[str, float], level: Any = "graph") -> npt.NDArray[Any]:
    held = [points * parse(text).evaluate(batch, level=level) for text, points in lines.items()]
    return np.asarray(np.sum(held, axis=0))


LINES = {"1 U0 > 3": 3, "1 U1 > 4": -2, "1 true > 9": 1}
NODE_LINES = {"U0": 3, "A U1 > 1": -2, "A true > 4": 1}


@pytest.fixture(scope="module")
def fitted() -> list[tuple[Any, GraphBatch, npt.NDArray[Any]]]:
    graphs = some_graphs(0)
    models = []
    for estimator in ESTIMATORS:
        level = "node" if "Node" in type(estimator).__name__ else "graph"
        numbers = total(graphs, NODE_LINES if level == "node" else LINES, level)
        y = numbers > 0 if "Classifier" in type(estimator).__name__ else 0.5 * numbers + 7
        models.append((clone(estimator).fit(graphs, y), graphs, y))
    return models


def test_sums_of_conditions_are_found(fitted: list[Any]) -> None:
    for model, graphs, y in fitted:
        assert model.score(graphs, y) > 0.93, model
        assert 1 <= len(model.lines_) <= 3


def test_a_score_is_the_sum_of_the_evaluated_lines_far_from_the_data(fitted: list[Any]) -> None:
    strange = random_graphs(40, sizes=range(1, 41), density=0.9, random_state=5)
    for model, _, _ in fitted:
        card = model.card_
        expected = np.full(len(model.predict(strange)), card.base[0])
        for line in card.lines:
            for formula, points in line.cases:
                expected += points[0] * formula.evaluate(strange, level=card.level)
        assert model.decision_function(strange).tolist() == expected.tolist()
        assert (model.points(strange).sum(axis=1) + card.base[0]).tolist() == expected.tolist()
        if card.answer == "class":
            for label in model.classes_.tolist():
                truth = model.formula(label).evaluate(strange, level=card.level)
                assert truth.tolist() == (model.predict(strange) == label).tolist()
        else:
            numbers = card.intercept + card.slope * expected
            assert model.predict(strange).tolist() == numbers.tolist()


def test_files_hold_everything(fitted: list[Any], tmp_path: Path) -> None:
    for number, (model, graphs, _) in enumerate(fitted):
        path = tmp_path / f"{number}.json"
        model.save(path)
        for copy in (gl.load(path), type(model).load(path)):
            assert isinstance(copy, ScorecardPredictor)
            assert str(copy) == str(model)
            assert str(copy.path_) == str(model.path_)
            assert copy.path_ == model.path_
            assert copy.predict(graphs).tolist() == model.predict(graphs).tolist()
            copy.save(tmp_path / "again.json")
            assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
        assert type(model).load(path).get_params() == model.get_params()
    with pytest.raises(ModelFileError, match="must hold a scorecard that gives nodes a class"):
        ScorecardNodeClassifier.load(tmp_path / "0.json")
    with pytest.raises(ModelFileError, match=r"no format 'gnn2logic\.idt'"):
        gl.IDTClassifier.load(tmp_path / "0.json")


def test_the_work_may_be_done_by_anybody(fitted: list[Any], tmp_path: Path) -> None:
    for model, graphs, y in fitted:
        shards = clone(model).set_params(n_shards=4, n_jobs=1).fit(graphs, y)
        # The same weight everywhere is none.
        threads = clone(model).set_params(n_shards=3, engine=LocalEngine(2))
        threads.fit(graphs, y, sample_weight=np.full(len(y), 2.5))
        assert shards.path_ == threads.path_ == model.path_


def test_a_store_gives_the_same_card(fitted: list[Any], tmp_path: Path) -> None:
    model, graphs, y = fitted[0]
    store = gl.write_shards(tmp_path / "store", graphs, y=y, shard_nodes=300)
    assert len(store.shards) > 2
    again = clone(model).fit(store)
    assert again.path_ == model.path_
    assert again.score(store) == model.score(graphs, y)
    assert again.predict(store).tolist() == model.predict(graphs).tolist()


def test_the_path_goes_from_no_line_to_the_most(fitted: list[Any]) -> None:
    for model, graphs, y in fitted:
        path = model.path_
        assert [row.n_lines for row in path] == list(range(len(path)))
        assert f"chosen: {path.reason}" in str(path)
        for row in path:
            picked = model.pick(n_lines=row.n_lines)
            assert len(picked.lines_) == row.n_lines
            assert picked.score(graphs, y) == pytest.approx(row.train, abs=1e-6)
            assert row.held_out is not None
        assert model.pick(0).card_ == path[0].card
        with pytest.raises(ParameterError, match="n_lines must be the number of lines"):
            model.pick(n_lines=99)
        with pytest.raises(ParameterError, match="index of a card"):
            model.pick()


def test_three_classes_have_a_column_each() -> None:
    graphs = some_graphs(1, 300)
    y = np.array(["none", "one", "two"])[
        parse("1 U0 > 3").evaluate(graphs).astype(int) + parse("1 U1 > 4").evaluate(graphs)
    ]
    model = ScorecardClassifier(4, n_layers=0, random_state=0).fit(graphs, y)
    assert model.score(graphs, y) > 0.95
    assert model.classes_.tolist() == ["none", "one", "two"]
    scores = model.decision_function(graphs)
    assert scores.shape == (300, 3)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(graphs)).all()
    assert np.allclose(model.predict_proba(graphs).sum(axis=1), 1)
    truths = [model.formula(label).evaluate(graphs) for label in model.classes_.tolist()]
    assert (np.sum(truths, axis=0) == 1).all()
    assert (model.classes_[np.argmax(truths, axis=0)] == model.predict(graphs)).all()
    assert "none" in str(model)


def test_probabilities_are_right_on_fresh_graphs() -> None:
    def noisy(seed: int) -> tuple[GraphBatch, npt.NDArray[Any]]:
        graphs = some_graphs(seed, 600)
        chance = 1 / (1 + np.exp(-(total(graphs, LINES) - 0.5)))
        return graphs, np.random.default_rng(seed).random(600) < chance

    model = ScorecardClassifier(6, n_layers=0, random_state=0).fit(*noisy(0))
    error = model.path_.calibration_error
    assert error is not None
    assert error < 0.08
    graphs, y = noisy(1)
    chance = model.predict_proba(graphs)[:, 1]
    order = np.array_split(np.argsort(chance), 5)
    apart = [abs(chance[rows].mean() - y[rows].mean()) for rows in order]
    assert np.mean(apart) < 0.08


def test_scores_of_a_network_are_followed() -> None:
    graphs = some_graphs(2, 300)
    logits = total(graphs, LINES) - 0.5
    model = ScorecardClassifier(6, n_layers=0, random_state=0)
    one = model.fit(graphs, logits > 0, scores=logits[:, None]).path_
    two = clone(model).fit(graphs, logits > 0, scores=np.column_stack([0 * logits, logits])).path_
    assert one == two
    assert model.score(graphs, logits > 0) > 0.95
    with pytest.raises(LabelError, match="scores must have one column for each of the 2 classes"):
        clone(model).fit(graphs, logits > 0, scores=np.ones((300, 3)))


def test_a_mask_chooses_nodes() -> None:
    graphs = some_graphs(3, 60)
    numbers = total(graphs, NODE_LINES, "node").astype(float)
    mask = np.random.default_rng(0).random(len(numbers)) < 0.6
    wrong = np.where(mask, numbers, np.nan)
    model = ScorecardNodeRegressor(3, n_layers=0, random_state=0).fit(graphs, wrong, mask=mask)
    assert model.score(graphs, numbers) > 0.9
    unknown = np.where(mask, numbers > 0, 7)
    classes = ScorecardNodeClassifier(3, n_layers=0, random_state=0)
    assert classes.fit(graphs, unknown, mask=mask).classes_.tolist() == [0, 1]


def test_bad_input_is_told() -> None:
    graphs = some_graphs(4, 30)
    with pytest.raises(LabelError, match="one number for each of the 30 graphs"):
        ScorecardRegressor().fit(graphs, [1.0, 2.0])
    with pytest.raises(LabelError, match="finite numbers. Got nan for graph 3"):
        ScorecardRegressor().fit(graphs, [np.nan if n == 3 else n for n in range(30)])
    with pytest.raises(LabelError, match="one number for each graph"):
        ScorecardRegressor().fit(graphs, ["a"] * 30)
    for name, value in (("max_lines", 0), ("max_line_size", 1), ("max_points", 0)):
        with pytest.raises(ParameterError, match=name):
            ScorecardClassifier().set_params(**{name: value}).fit(graphs, np.arange(30) % 2)
    with pytest.raises(ParameterError, match="'lines' is not a parameter"):
        ScorecardClassifier().set_params(lines=3)


def test_constant_targets_give_a_card_without_lines() -> None:
    graphs = some_graphs(5, 30)
    with pytest.warns(SingleClassWarning):
        model = ScorecardClassifier(random_state=0).fit(graphs, ["yes"] * 30)
    assert model.lines_ == ()
    assert model.predict(graphs).tolist() == ["yes"] * 30
    with pytest.warns(SingleClassWarning, match=r"All targets are 2\.5"):
        numbers = ScorecardRegressor(random_state=0).fit(graphs, [2.5] * 30)
    assert numbers.predict(graphs).tolist() == [2.5] * 30


def test_lines_that_say_all_about_many_graphs_are_not_repeated() -> None:
    graphs = some_graphs(11, 200)
    y = parse("1 U0 > 4").evaluate(graphs)
    model = ScorecardClassifier(n_layers=1, random_state=0).fit(graphs, y)
    # The path ends where nothing is left to say.
    assert [row.n_lines for row in model.path_] == [0, 1]
    assert [str(line.conditions[0]) for line in model.lines_] == ["1 U0 > 4"]


def test_directed_and_typed_graphs() -> None:
    graphs = some_graphs(6, 150, directed=True, relations=["bond", "link"])
    y = parse("1(A[bond]^T U0 > 1) > 2").evaluate(graphs)
    model = ScorecardClassifier(3, n_layers=1, random_state=0).fit(graphs, y)
    assert model.score(graphs, y) > 0.95
    assert model.formula(True).evaluate(graphs).tolist() == model.predict(graphs).tolist()


def test_max_time_ends_the_search() -> None:
    graphs = some_graphs(7, 200)
    y = np.random.default_rng(0).random(200) < 0.5
    model = ScorecardClassifier(max_time=0.001, random_state=0).fit(graphs, y)
    assert len(model.path_) <= 3
    assert "stopped before data were held out" in model.path_.reason
