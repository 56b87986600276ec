"""What a fit by search is given: shards, weights, masks, samples, activations and scores."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gnn2logic as gl
from gnn2logic import IDTClassifier, IDTNodeClassifier
from gnn2logic.engines import LocalEngine
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs import GraphBatch
from gnn2logic.learning.search import outcome
from narrow_search import learned_by_search, narrow_search

TRUTH = gl.parse("1(A U0 > 1) > 2")
NODE_TRUTH = gl.parse("U0 & A U1 > 1")


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow_search(monkeypatch)


def graphs(count: int = 80, seed: int = 0, **settings: Any) -> GraphBatch:
    sizes = 4 + np.arange(count) % 8
    return gl.random_graphs(count, sizes=sizes, density=0.3, random_state=seed, **settings)


def noisy(truth: npt.NDArray[np.bool_], seed: int = 0) -> npt.NDArray[np.bool_]:
    return truth ^ (np.random.default_rng(seed).random(len(truth)) < 0.1)


def saved(model: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return learned_by_search(model, Path(folder))


def agree(model: Any, batch: GraphBatch, level: str = "graph") -> None:
    """Formulas say what the model predicts."""
    predicted = model.predict(batch)
    for label in model.classes_.tolist():
        truth = model.formula(label).evaluate(batch, level=level)
        np.testing.assert_array_equal(truth, predicted == label)


# Shards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["graph", "node"])
def test_shards_engines_and_stores_give_one_model(level: Any, tmp_path: Path) -> None:
    batch = graphs()
    learner: Any = IDTClassifier if level == "graph" else IDTNodeClassifier
    y = noisy((TRUTH if level == "graph" else NODE_TRUTH).evaluate(batch, level=level))
    weights = np.random.default_rng(1).integers(1, 4, size=len(y))
    store = gl.write_shards(tmp_path / "store", batch, y, level=level, shard_nodes=60)
    assert len(store) > 3

    def fitted(data: Any, **settings: Any) -> dict[str, Any]:
        model = learner(0, random_state=3, **settings).fit(*data, sample_weight=weights)
        assert len(model.rules_) > 1
        return saved(model)

    plain = fitted((batch, y))
    assert fitted((batch, y), n_shards=3) == plain
    engine = LocalEngine(2, max_memory="1 GiB", scratch=tmp_path)
    assert fitted((batch, y), n_shards=7, engine=engine) == plain
    assert fitted((store,)) == plain
    assert fitted((store,), engine=LocalEngine(1)) == plain
    assert [path.name for path in tmp_path.iterdir()] == ["store"], "scratch files are left"


def test_columns_of_a_network_do_not_depend_on_shards(tmp_path: Path) -> None:
    batch = graphs(60)
    y = TRUTH.evaluate(batch)
    near = gl.parse("A U0 > 1").evaluate(batch, level="node")[:, None]
    layers = [near + np.random.default_rng(0).normal(scale=0.1, size=(batch.n_nodes, 4))]
    store = gl.write_shards(tmp_path / "store", batch, y, shard_nodes=100)
    for shard in store.shards:
        rows = slice(shard.first_node, shard.first_node + shard.n_nodes)
        store.add_activations(shard.number, [layer[rows] for layer in layers])
    models = [
        IDTClassifier(random_state=0, n_shards=n).fit(batch, y, activations=layers) for n in (1, 4)
    ]
    models.append(IDTClassifier(random_state=0).fit(store, activations="stored"))
    first, *others = map(saved, models)
    assert all(other == first for other in others)
    assert models[0].formula(True) is TRUTH


# Weights --------------------------------------------------------------------------------------


def test_a_whole_weight_is_as_many_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What folds find, and what is chosen, changes with copies; what all data say does not."""
    monkeypatch.setattr(outcome, "rules_of_folds", lambda *_, **__: [])
    batch = graphs(60)
    y = noisy(TRUTH.evaluate(batch))
    weights = 1 + np.arange(60) % 2
    copied = np.repeat(np.arange(60), weights)
    weighted = IDTClassifier(0, random_state=0).fit(batch, y, sample_weight=weights)
    copies = IDTClassifier(0, random_state=0).fit(batch.take(copied), y[copied])
    assert [rule.size for rule in weighted.rules_] == [rule.size for rule in copies.rules_]
    assert weighted.front_ is not None
    assert copies.front_ is not None
    for first, second in zip(weighted.front_.models, copies.front_.models, strict=True):
        assert first.columns == second.columns
        assert first.final.splits == second.final.splits
        np.testing.assert_array_equal(first.final.values, second.final.values)


@pytest.mark.parametrize("level", ["graph", "node"])
def test_weight_0_is_removal_and_only_proportions_matter(level: Any) -> None:
    batch = graphs(60)
    learner: Any = IDTClassifier if level == "graph" else IDTNodeClassifier
    y = noisy((TRUTH if level == "graph" else NODE_TRUTH).evaluate(batch, level=level))
    kept = np.arange(60) % 4 > 0
    rows = kept if level == "graph" else np.repeat(kept, batch.sizes)
    weights = np.random.default_rng(0).integers(1, 4, size=len(y)) * rows

    def fitted(*data: Any, **settings: Any) -> dict[str, Any]:
        return saved(learner(0, random_state=0).fit(*data, **settings))

    rest = fitted(batch[kept], y[rows], sample_weight=weights[rows])
    assert fitted(batch, np.where(rows, y, ~y), sample_weight=weights) == rest
    assert fitted(batch, y, sample_weight=weights * 0.1) == rest
    assert fitted(batch, y, sample_weight=weights * 1e200) == rest


def test_nodes_of_weight_0_are_outside_of_the_mask() -> None:
    batch = graphs(60)
    y = noisy(NODE_TRUTH.evaluate(batch, level="node"))
    mask = np.random.default_rng(0).random(len(y)) < 0.7
    mask[batch.ptr[:-1]] = True
    masked = IDTNodeClassifier(0, random_state=0).fit(batch, np.where(mask, y, ~y), mask=mask)
    zero = IDTNodeClassifier(0, random_state=0).fit(batch, y, sample_weight=mask * 0.1)
    assert saved(zero) == saved(masked)


def test_weights_choose_the_class() -> None:
    batch = graphs(60)
    y = np.arange(60) % 6 == 0
    few = IDTClassifier(0, random_state=0).fit(batch, y).pick(0)
    assert set(few.predict(batch)) == {False}
    many = IDTClassifier(0, class_weight={True: 100.0}, random_state=0).fit(batch, y).pick(0)
    assert set(many.predict(batch)) == {True}


# Truths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{}, {"directed": True}, {"relations": ["r", "s"]}],
    ids=["plain", "directed", "typed"],
)
@pytest.mark.parametrize("level", ["graph", "node"])
def test_formulas_are_what_is_predicted_far_from_the_data(
    level: Any, settings: dict[str, Any]
) -> None:
    batch = graphs(50, 1, **settings)
    learner: Any = IDTClassifier if level == "graph" else IDTNodeClassifier
    rng = np.random.default_rng(0)
    first = (TRUTH if level == "graph" else NODE_TRUTH).evaluate(batch, level=level)
    y = first.astype(int) + (rng.random(len(first)) < 0.3)
    model = learner(1, random_state=0).fit(batch, y)
    assert model.classes_.tolist() == [0, 1, 2]
    far = gl.random_graphs(
        150,
        sizes=rng.integers(1, 25, size=150),
        density=rng.random(150),
        **{"directed": True, **settings},
        loops=True,
        max_multiplicity=3,
        random_state=2,
    )
    for rule in model.rules_:
        agree(model.pick(rule.index), far, level)
    agree(model.prune(), far, level)


def test_three_planted_classes() -> None:
    batch = graphs(150)
    many, busy = (gl.parse(text).evaluate(batch) for text in ("1 U1 > 3", "1(A U0 > 1) > 2"))
    labels = np.array(["quiet", "busy", "red"])[np.where(many, 2, busy.astype(int))]
    model = IDTClassifier(1, random_state=0).fit(batch, labels)
    assert model.score(batch, labels) == 1.0
    assert model.formula("red") is gl.parse("1 U1 > 3")
    fresh = graphs(300, 5)
    truth = gl.parse("1(A U0 > 1) > 2 & 1 U1 <= 3").evaluate(fresh)
    np.testing.assert_array_equal(model.predict(fresh) == "busy", truth)


# Samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["graph", "node"])
def test_a_sample_is_searched_and_all_data_is_counted(level: Any, tmp_path: Path) -> None:
    batch = graphs(200)
    learner: Any = IDTClassifier if level == "graph" else IDTNodeClassifier
    truth = gl.parse("1 U0 > 3" if level == "graph" else "U0 & U1")
    y = truth.evaluate(batch, level=level)
    weights = np.random.default_rng(0).integers(1, 4, size=len(y))
    model = learner(0, max_samples=0.3, random_state=0).fit(batch, y, sample_weight=weights)
    assert model.formula(True) is truth
    for each in model.front_.models:
        np.testing.assert_array_equal(each.final.values[0], [weights[~y].sum(), weights[y].sum()])
    # Of a sample all is known that a rule says; a store and shards draw the same one.
    store = gl.write_shards(tmp_path / "store", batch, y, level=level, shard_nodes=200)
    again = learner(0, max_samples=0.3, n_shards=3, random_state=0)
    again.fit(batch, y, sample_weight=weights)
    stored = learner(0, max_samples=0.3, random_state=0).fit(store, sample_weight=weights)
    assert saved(again) == saved(stored) == saved(model)


def test_a_sample_holds_every_class() -> None:
    batch = graphs(100)
    y = np.where(np.arange(100) == 7, 2, TRUTH.evaluate(batch).astype(int))
    model = IDTClassifier(0, max_samples=0.1, random_state=0).fit(batch, y)
    assert model.classes_.tolist() == [0, 1, 2]
    agree(model, batch)


def test_other_seeds_draw_other_samples() -> None:
    batch = graphs(120)
    y = noisy(TRUTH.evaluate(batch))
    models = [
        IDTClassifier(0, max_samples=0.3, random_state=seed).fit(batch, y) for seed in (0, 0, 1, 2)
    ]
    first, same, *others = (saved(model)["front"] for model in models)
    assert first == same
    assert any(other != first for other in others)


# Scores ---------------------------------------------------------------------------------------


def test_rules_explain_scores_instead_of_classes() -> None:
    batch = graphs(150)
    truth = TRUTH.evaluate(batch)
    scores = np.where(truth, 3.0, -2.5) + np.random.default_rng(0).normal(scale=0.05, size=150)
    model = IDTClassifier(1, random_state=0).fit(batch, truth, scores=scores)
    assert model.formula(True) is TRUTH
    # A column of a matrix is the same, and so is any scale that is a power of two.
    other = IDTClassifier(1, random_state=0).fit(batch, truth, scores=scores[:, None] * 4)
    assert saved(other) == saved(model)


def test_scores_tell_where_classes_do_not() -> None:
    """The class says little about the graphs, the network's certainty all."""
    batch = graphs(150)
    truth = gl.parse("1 U0 > 3").evaluate(batch)
    y = noisy(truth, 5)
    model = IDTClassifier(0, random_state=0).fit(batch, y, scores=truth * 1.0)
    assert len(model.rules_) == 2
    assert model.formula(True) is gl.parse("1 U0 > 3")


def test_scores_of_nodes_and_of_several_classes() -> None:
    batch = graphs(80)
    truths = [gl.parse(text).evaluate(batch, level="node") for text in ("U0 & U1", "U0 & !U1")]
    classes = np.select(truths, [2, 1])
    scores = np.eye(3)[classes] * 0.9 + 0.05
    model = IDTNodeClassifier(0, random_state=0).fit(batch, classes, scores=scores)
    np.testing.assert_array_equal(model.predict(batch), classes)
    agree(model, graphs(30, 6), "node")


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            np.zeros(9),
            r"one row for each of the 10 graphs or nodes. Got an array of shape \(9, 1\)",
        ),
        (np.zeros((10, 0)), r"Got an array of shape \(10, 0\)"),
        (np.zeros((10, 2, 2)), r"Got an array of shape \(10, 2, 2\)"),
        (0.5, r"Got an array of shape \(\)"),
        (np.r_[np.zeros(9), np.nan], "scores must be finite"),
        (np.r_[np.inf, np.zeros(9)], "scores must be finite"),
        (["high"] * 10, "scores must be an array of numbers"),
        ([[1.0], [1.0, 2.0]] * 5, "scores must be an array of numbers"),
    ],
)
def test_scores_that_make_no_sense(scores: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        IDTClassifier(0).fit(graphs(10), np.arange(10) % 2, scores=scores)


def test_scores_of_what_is_not_there_are_not_looked_at() -> None:
    batch = graphs(60)
    y = TRUTH.evaluate(batch)
    kept = np.arange(60) % 3 > 0
    scores = np.where(kept, y * 1.0, np.nan)
    model = IDTClassifier(0, random_state=0).fit(batch, y, scores=scores, sample_weight=kept * 1.0)
    rest = IDTClassifier(0, random_state=0).fit(batch[kept], y[kept], scores=scores[kept])
    assert saved(model) == saved(rest)


def test_layers_do_not_learn_from_scores() -> None:
    with pytest.raises(ParameterError, match="scores are for algorithm='search'"):
        IDTClassifier(0, algorithm="layers").fit(graphs(10), np.arange(10) % 2, scores=np.zeros(10))


def test_the_same_score_everywhere_is_no_obstacle() -> None:
    batch = graphs(40)
    model = IDTClassifier(0, random_state=0).fit(
        batch, np.arange(40) % 2, scores=np.full((40, 2), 0.5)
    )
    agree(model, batch)
