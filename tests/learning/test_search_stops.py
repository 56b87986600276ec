"""A search that was killed goes on after its last stage; one that is interrupted gives a rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic import IDTClassifier, IDTNodeClassifier
from gnn2logic._digests import digest_of_document
from gnn2logic.exceptions import CheckpointError, InterruptedSearchWarning
from gnn2logic.graphs import GraphBatch
from gnn2logic.learning.search import fit
from gnn2logic.learning.search.rounds import Search
from gnn2logic.learning.search.rule_search import RuleSearch
from narrow_search import learned_by_search, narrow_search

TRUTH = gl.parse("1(A U0 > 1) > 2")


class Killed(BaseException):
    pass


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow_search(monkeypatch)


def data(count: int = 60) -> tuple[GraphBatch, Any]:
    sizes = 4 + np.arange(count) % 8
    graphs = gl.random_graphs(count, sizes=sizes, density=0.3, random_state=0)
    noise = np.random.default_rng(0).random(count) < 0.1
    return graphs, TRUTH.evaluate(graphs) ^ noise


def stop_at_stage(
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    error: BaseException | type[BaseException] = Killed,
) -> list[int]:
    """Let a search break off at the beginning of a stage; return the numbers of those it did."""
    original = RuleSearch.run
    stages: list[int] = []

    def run(self: RuleSearch, **settings: Any) -> Any:
        if len(stages) == number:
            raise error
        stages.append(len(stages))
        return original(self, **settings)

    monkeypatch.setattr(RuleSearch, "run", run)
    return stages


# Checkpoints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 2, 5])
def test_a_search_goes_on_where_it_broke_off(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fit.checkpoint"
    IDTClassifier(0, random_state=5).fit(*data()).save(tmp_path / "plain.json")
    learner = IDTClassifier(0, random_state=5, checkpoint=file)
    with monkeypatch.context() as patched:
        stop_at_stage(patched, at)
        with pytest.raises(Killed):
            learner.fit(*data())
    assert len(json.loads(file.read_bytes())["stages"]) == at
    stages = stop_at_stage(monkeypatch, 99)
    learner.fit(*data()).save(tmp_path / "again.json")
    assert len(stages) == 6 - at
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plain.json").read_bytes()
    assert not file.exists()


def test_columns_of_deep_searches_are_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes, a network's columns, and shards that differ before and after the break."""
    graphs, _ = data()
    y = gl.parse("U0 & A U1 > 1").evaluate(graphs, level="node")
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.05)
    layers = [np.random.default_rng(1).normal(size=(graphs.n_nodes, 3))]
    settings: dict[str, Any] = {"n_layers": 1, "random_state": 5}

    def fitted(**more: Any) -> Any:
        return IDTNodeClassifier(**settings, **more).fit(graphs, y, activations=layers)

    plain = learned_by_search(fitted(), tmp_path)
    with monkeypatch.context() as patched:
        stop_at_stage(patched, 2)
        with pytest.raises(Killed):
            fitted(checkpoint=tmp_path / "x")
    stages = stop_at_stage(monkeypatch, 99)
    again = fitted(checkpoint=tmp_path / "x", n_shards=3)
    assert len(stages) == 4
    assert learned_by_search(again, tmp_path) == plain


def test_a_drawn_seed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "fit.checkpoint"
    learner = IDTClassifier(0, checkpoint=file)
    with monkeypatch.context() as patched:
        stop_at_stage(patched, 1)
        with pytest.raises(Killed):
            learner.fit(*data())
    seed = json.loads(file.read_bytes())["seed"]
    seeded = IDTClassifier(0, random_state=seed).fit(*data())
    assert learned_by_search(learner.fit(*data()), tmp_path) == learned_by_search(seeded, tmp_path)


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[IDTClassifier, Path]:
    """Return a learner, and the checkpoint after its second stage."""
    learner = IDTClassifier(0, random_state=5, checkpoint=tmp_path / "fit.checkpoint")
    with monkeypatch.context() as patched:
        stop_at_stage(patched, 2)
        with pytest.raises(Killed):
            learner.fit(*data())
    return learner, tmp_path / "fit.checkpoint"


def test_a_search_goes_on_with_more_time_and_another_limit(
    begun: tuple[IDTClassifier, Path],
) -> None:
    """Neither changes a stage that is done."""
    learner, file = begun
    goes_on = learner.set_params(max_size=7, max_time=600).fit(*data())
    plain = IDTClassifier(0, random_state=5, max_size=7).fit(*data())
    assert str(goes_on) == str(plain)
    assert not file.exists()


def test_the_checkpoint_of_another_fit_is_refused(begun: tuple[IDTClassifier, Path]) -> None:
    learner, file = begun
    graphs, y = data()
    before = file.read_bytes()
    other = y.copy()
    other[0] ^= True
    foreign: list[tuple[dict[str, Any], Any, dict[str, Any]]] = [
        ({"random_state": 6}, (graphs, y), {}),
        ({"max_samples": 0.5}, (graphs, y), {}),
        ({"n_layers": 1}, (graphs, y), {}),
        ({}, (graphs, other), {}),
        ({}, (graphs[:59], y[:59]), {}),
        ({}, (graphs, y), {"scores": y * 1.0}),
        ({}, (graphs, y), {"sample_weight": 1 + np.arange(60) % 2}),
    ]
    for settings, rows, more in foreign:
        changed = IDTClassifier(**{**learner.get_params(deep=False), **settings})
        with pytest.raises(CheckpointError, match="other data or settings"):
            changed.fit(*rows, **more)
    layers = IDTClassifier(0, algorithm="layers", random_state=5, checkpoint=file)
    with pytest.raises(CheckpointError, match="Delete it to begin anew"):
        layers.fit(graphs, y)
    assert file.read_bytes() == before


def test_damaged_checkpoints_give_our_own_error(begun: tuple[IDTClassifier, Path]) -> None:
    learner, file = begun
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(20):
        at = int(rng.integers(len(whole)))
        if chr(whole[at]).isspace():
            continue
        damaged = bytearray(whole)
        damaged[at] = (damaged[at] + int(rng.integers(1, 256))) % 256
        for text in (bytes(damaged), whole[:at]):
            file.write_bytes(text)
            with pytest.raises(CheckpointError, match="Delete it to begin anew"):
                learner.fit(*data())
            assert file.read_bytes() == text


def other_seed(document: Any) -> None:
    document["seed"] = 6


def unknown_class(document: Any) -> None:
    document["stages"][0][0]["tree"][0]["label"] = 7


def negative_class(document: Any) -> None:
    document["stages"][0][0]["tree"][0]["label"] = -1


def rule_without_leaves(document: Any) -> None:
    document["stages"][0][-1]["tree"].pop()


def rule_with_too_many_leaves(document: Any) -> None:
    document["stages"][0][-1]["tree"].append({"type": "leaf", "label": 0})


def formula_that_is_not_there(document: Any) -> None:
    branch = next(node for node in document["stages"][0][-1]["tree"] if node["type"] == "branch")
    branch["formula"] = 10**6


def negative_formula(document: Any) -> None:
    branch = next(node for node in document["stages"][0][-1]["tree"] if node["type"] == "branch")
    branch["formula"] = -1


def unknown_predicate(document: Any) -> None:
    row = next(row for row in document["rows"] if "U0" in json.dumps(row))
    text = json.dumps(row).replace("U0", "U7")
    document["rows"][document["rows"].index(row)] = json.loads(text)


def column_that_is_not_there(document: Any) -> None:
    document["columns"][-1] = 10**6


def empty_stage(document: Any) -> None:
    document["stages"][0] = []


def no_stages(document: Any) -> None:
    document["stages"] = []


@pytest.mark.parametrize(
    "change",
    [
        other_seed,
        unknown_class,
        negative_class,
        rule_without_leaves,
        rule_with_too_many_leaves,
        formula_that_is_not_there,
        negative_formula,
        unknown_predicate,
        column_that_is_not_there,
        empty_stage,
        no_stages,
    ],
)
def test_checkpoints_made_on_purpose(
    change: Callable[[Any], None], begun: tuple[IDTClassifier, Path]
) -> None:
    learner, file = begun
    document = json.loads(file.read_bytes())
    before = copy.deepcopy(document)
    change(document)
    assert document != before
    document["digest"] = digest_of_document(document)
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(CheckpointError, match="no sound checkpoint: .* Delete it to begin anew"):
        learner.fit(*data())
    assert file.exists()


def test_random_changes_of_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever signs a changed checkpoint gets another model or our error, and nothing else."""
    file = tmp_path / "fit.checkpoint"
    learner = IDTClassifier(0, random_state=5, checkpoint=file)

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(fit, "counted_models", killed)
        with pytest.raises(Killed):
            learner.fit(*data())
    document = json.loads(file.read_bytes())
    assert len(document["stages"]) == 6, "nothing is left to search"
    rng = np.random.default_rng(0)
    refused = 0
    values = [0, 1, -1, 7, 10**20, "1/2", "x", None, [], [0], True, 0.5, {}, "A", 1e300]
    for _ in range(150):
        changed = json.loads(json.dumps(document))
        rules = changed["stages"][rng.integers(6)]
        tree = rules[rng.integers(len(rules))]["tree"]
        node = tree[rng.integers(len(tree))]
        row = changed["rows"][rng.integers(len(changed["rows"]))]
        where: Any = [changed, rules[0], node, row, tree, rules, changed["columns"]][
            rng.integers(7)
        ]
        keys = list(where) if isinstance(where, dict) else list(range(len(where)))
        where[keys[rng.integers(len(keys))]] = values[rng.integers(len(values))]
        changed["digest"] = digest_of_document(changed)
        file.write_text(json.dumps(changed), encoding="utf-8")
        try:
            learner.fit(*data())
        except CheckpointError:
            refused += 1
    assert refused > 100


# Interrupts -----------------------------------------------------------------------------------


def test_an_interrupt_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, y = data()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RuleSearch, "_polish", interrupted)
    with pytest.warns(InterruptedSearchWarning, match="the model is the best so far"):
        model = IDTClassifier(0, random_state=0).fit(graphs, y)
    assert len(model.rules_) > 1
    assert model.rules_.chosen.held_out is None
    assert "the search was interrupted before any were held out" in " ".join(str(model).split())
    predicted = model.predict(graphs)
    np.testing.assert_array_equal(model.formula(True).evaluate(graphs), predicted)


@pytest.mark.parametrize("stage", [1, 2, 5])
def test_an_interrupt_in_a_fold_leaves_the_folds_before_it(
    stage: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, y = data()
    plain = IDTClassifier(0, random_state=0).fit(graphs, y)
    stop_at_stage(monkeypatch, stage, KeyboardInterrupt)
    with pytest.warns(InterruptedSearchWarning):
        model = IDTClassifier(0, random_state=0).fit(graphs, y)
    # What later folds find is not there.
    assert {rule.size for rule in model.rules_} <= {rule.size for rule in plain.rules_}
    assert (model.rules_.chosen.held_out is None) == (stage == 1)


def test_an_interrupt_in_the_first_step_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, y = data()
    model = IDTClassifier(0, random_state=0).fit(graphs, y)
    before = model.model_

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "judge_columns", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(graphs, ~y)
    assert model.model_ is before, "what was learned before is still there"


@pytest.mark.parametrize("stage", [1, 2])
def test_an_interrupt_within_a_kernel_is_one_too(
    stage: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, y = data()
    stop_at_stage(monkeypatch, stage, from_a_kernel())
    with pytest.warns(InterruptedSearchWarning):
        model = IDTClassifier(0, random_state=0).fit(graphs, y)
    assert len(model.rules_) > 1


def test_other_errors_of_kernels_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, y = data()
    stop_at_stage(monkeypatch, 1, SystemError("a kernel failed"))
    with pytest.raises(SystemError, match="a kernel failed"):
        IDTClassifier(0, random_state=0).fit(graphs, y)


def from_a_kernel() -> SystemError:
    """Return what numba makes of an interrupt."""
    error = SystemError("returned a result with an exception set")
    error.__cause__ = KeyboardInterrupt()
    return error
