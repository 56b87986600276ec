"""Estimators that learn by search: the same sort of model, with everything that belongs to one."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gnn2logic as gl
from gnn2logic import IDTClassifier, IDTNodeClassifier
from gnn2logic.exceptions import LongRuleWarning, ModelFileError, ParameterError


def graphs(n: int = 240, seed: int = 0, **settings: Any) -> gl.GraphBatch:
    return gl.random_graphs(n, sizes=10, density=0.4, random_state=seed, **settings)


def learned(truth: str, batch: gl.GraphBatch, **settings: Any) -> IDTClassifier:
    model = IDTClassifier(1, random_state=0, **settings)
    return model.fit(batch, gl.parse(truth).evaluate(batch))


def agree(model: Any, batch: gl.GraphBatch, level: str = "graph") -> None:
    """Formulas say what the model predicts."""
    predicted = model.predict(batch)
    for label in model.classes_.tolist():
        truth = model.formula(label).evaluate(batch, level=level)
        np.testing.assert_array_equal(truth, predicted == label)


@pytest.fixture(scope="module")
def model() -> IDTClassifier:
    return learned("1(U0 & A U1 > 1) > 2", graphs())


def test_the_planted_rule_is_read_as_it_was_written(model: IDTClassifier) -> None:
    assert str(model.formula(True)) == "1(U0 & A U1 > 1) > 2"
    agree(model, graphs(500, 1))


def test_rules_go_from_short_to_long_and_one_is_chosen(model: IDTClassifier) -> None:
    sizes = [rule.size for rule in model.rules_]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert model.rules_.chosen.held_out is not None
    assert model.rules_.chosen.alpha is None
    text = str(model)
    assert "held out" in text
    assert "chosen: the most accurate on held-out data" in text
    measured = model.rules(graphs(100, 2), np.zeros(100, dtype=bool))
    assert measured[0].accuracy + measured[0].support[True] == pytest.approx(1.0)


def test_other_rules_can_be_picked(model: IDTClassifier) -> None:
    other = model.pick(0)
    assert other.formula(True).size == 1
    assert "chosen: picked" in str(other)
    agree(other, graphs(50, 3))
    assert model.pick(model.rules_.chosen).formula(True) is model.formula(True)
    with pytest.raises(ParameterError, match="index must be below"):
        model.pick(len(model.rules_))


def test_pruned_models_have_one_rule(model: IDTClassifier) -> None:
    pruned = model.prune()
    assert len(pruned.rules_) == 1
    assert pruned.formula(True) is model.formula(True)


def test_saved_models_are_what_they_were(model: IDTClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.json")
    for read in (gl.load(tmp_path / "model.json"), IDTClassifier.load(tmp_path / "model.json")):
        assert str(read) == str(model)
        assert str(read.pick(0)) == str(model.pick(0))
        np.testing.assert_array_equal(
            read.predict_proba(graphs(30, 4)), model.predict_proba(graphs(30, 4))
        )
    again = IDTClassifier.load(tmp_path / "model.json")
    assert again.algorithm == "search"
    assert str(pickle.loads(pickle.dumps(model))) == str(model)


def test_files_say_whether_they_have_a_front(model: IDTClassifier, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model.save(path)
    path.write_text(path.read_text().replace('"version": 2', '"version": 1'))
    with pytest.raises(ModelFileError, match="has none"):
        gl.load(path)


@pytest.mark.parametrize(
    ("truth", "settings"),
    [
        ("1(U0 & A^T U1 > 1) > 2", {"directed": True}),
        ("1(A[r] U1 > 0) > 3", {"relations": ["r", "s"]}),
    ],
)
def test_directed_and_typed_graphs(truth: str, settings: dict[str, Any]) -> None:
    batch = graphs(300, 5, **settings)
    model = learned(truth, batch)
    assert model.formula(True) is gl.parse(truth)


def test_several_classes() -> None:
    batch = graphs()
    classes = gl.parse("1 U0 > 5").evaluate(batch).astype(int) + gl.parse("1 U1 > 5").evaluate(
        batch
    )
    labels = np.array(["few", "some", "many"])[classes]
    model = IDTClassifier(1, random_state=0).fit(batch, labels)
    assert model.score(batch, labels) == 1.0
    agree(model, graphs(100, 6))


def test_nodes_within_a_mask() -> None:
    batch = graphs(100)
    labels = gl.parse("U0 & A U1 > 1").evaluate(batch, level="node")
    mask = np.arange(batch.n_nodes) % 3 > 0
    wrong = np.where(mask, labels, ~labels)
    model = IDTNodeClassifier(1, random_state=0).fit(batch, wrong, mask=mask)
    assert str(model.formula(True)) == "U0 & A U1 > 1"
    agree(model, graphs(20, 7), level="node")


def test_weight_0_is_removal_and_scale_does_not_matter() -> None:
    batch = graphs(120)
    labels: npt.NDArray[Any] = gl.parse("1 U0 > 5").evaluate(batch)
    noisy = np.where(np.arange(120) < 40, ~labels, labels)
    weights = np.where(np.arange(120) < 40, 0.0, 1.0)

    def fitted(*data: Any, **more: Any) -> str:
        model = IDTClassifier(1, random_state=0)
        return str(model.fit(*data, **more))

    removed = fitted(batch.take(np.arange(40, 120)), labels[40:])
    assert fitted(batch, noisy, sample_weight=weights) == removed
    assert fitted(batch, noisy, sample_weight=weights * 0.1) == removed


def test_one_class_is_a_constant() -> None:
    with pytest.warns(gl.exceptions.SingleClassWarning):
        model = IDTClassifier(1).fit(graphs(20), np.zeros(20, dtype=int))
    assert str(model.formula(0)) == "true"


def test_threads_do_not_matter_and_stores_are_read(tmp_path: Path) -> None:
    batch = graphs(150)
    labels = gl.parse("1(A U0 > 2) > 3 & 1 U1 > 4").evaluate(batch)
    store = gl.write_shards(tmp_path / "store", batch, labels, shard_nodes=400)
    models = [IDTClassifier(1, random_state=3, n_jobs=n).fit(batch, labels) for n in (1, 2)]
    models.append(IDTClassifier(1, random_state=3).fit(store))
    assert len({str(model) for model in models}) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "guess"}, "algorithm must be one of 'search', 'layers'"),
        ({"algorithm": "layers", "max_size": 10}, "max_size belongs to algorithm='search'"),
        ({"width": 4}, "width belongs to algorithm='layers'"),
        ({"ccp_alpha": 0.0}, "ccp_alpha belongs to algorithm='layers'"),
        ({"max_size": 0}, "max_size must be a whole number >= 1"),
        ({"max_time": "soon"}, "max_time must be a number >= 0"),
    ],
)
def test_settings_that_do_not_go_together(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        IDTClassifier(**settings).fit(graphs(10), np.arange(10) % 2)


def test_no_time_still_gives_a_rule() -> None:
    batch = graphs(60)
    labels = gl.parse("1 U0 > 5").evaluate(batch)
    model = IDTClassifier(max_time=0).fit(batch, labels)
    assert model.rules_.chosen.held_out is None
    agree(model, batch)


def test_longer_rules_than_wished_for_are_told() -> None:
    batch = graphs()
    labels = gl.parse("1(U0 & A U1 > 1) > 2").evaluate(batch)
    with pytest.warns(LongRuleWarning, match="more than max_size=3"):
        model = IDTClassifier(1, max_size=3, random_state=0).fit(batch, labels)
    assert model.formula(True).size == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned("1(U0 & A U1 > 1) > 2", batch)


def test_weights_that_are_no_small_numbers_do_not_hide_conditions() -> None:
    batch = graphs(120)
    labels = gl.parse("1(U0 & A U1 > 1) > 2").evaluate(batch)
    balanced = IDTClassifier(1, random_state=0, class_weight="balanced").fit(batch, labels)
    weights = np.random.default_rng(0).uniform(0.5, 1.0, len(batch))
    weighted = IDTClassifier(1, random_state=0).fit(batch, labels, sample_weight=weights)
    assert balanced.score(batch, labels) == weighted.score(batch, labels) == 1.0


def test_the_constant_rule_of_many_classes_is_one_symbol() -> None:
    batch = graphs(60)
    labels = np.random.default_rng(0).integers(0, 4, len(batch))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IDTClassifier(0, random_state=0, max_size=1).fit(batch, labels)
    assert model.rules_.chosen.index == 0
    assert model.rules_.chosen.size == 1
    # Classes that are never answered are named once, and none is said to be `false`.
    first = str(model.rules_).split("\n")[2:4]
    assert first[0].endswith("2 (100%): true")
    assert first[1].strip() == "never: 0, 1, 3"
    assert not any(line.endswith(": false") for line in str(model.rules_).split("\n"))


def test_many_classes_have_leaves_enough() -> None:
    batch = gl.random_graphs(300, sizes=20, density=0.1, random_state=0)
    counts = np.bincount(batch.graph_index, batch.column("U0"), 300).astype(int)
    labels = np.clip(counts - 4, 0, 10)
    model = IDTClassifier(0, random_state=0, max_size=100).fit(batch, labels)
    assert max(rule.accuracy for rule in model.rules_) == 1.0
