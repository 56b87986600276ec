from __future__ import annotations

import copy
import errno
import importlib.util
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from gnn2logic import (
    GraphBatch,
    IDTClassifier,
    IDTNodeClassifier,
    IDTNodeRegressor,
    IDTPredictor,
    IDTRegressor,
    Modality,
    PredicateEncoder,
    load,
    parse,
    random_graphs,
)
from gnn2logic.exceptions import ModelFileError
from gnn2logic.idt.parameters import PARAMETERS
from model_documents import load_bytes, signed

DATA = Path(__file__).parent / "data"

ODD_NAMES = ("a > b", 'say "hi"', "$\\alpha_{1}$", "<b>&amp;</b>", "größe ✓ 中", "line\nbreak")


def some_graphs(seed: int = 0, count: int = 80, **options: Any) -> GraphBatch:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=count)
    return random_graphs(count, sizes=sizes, density=0.4, random_state=rng, **options)


def noisy_labels(batch: GraphBatch, rule: str, level: Any = "graph", seed: int = 0) -> Any:
    truth = parse(rule).evaluate(batch, level=level)
    return truth ^ (np.random.default_rng(seed).random(len(truth)) < 0.1)


def check_round_trip(model: Any, folder: Path, graphs: Any, fresh: Any) -> Any:
    """Save, load both as a predictor and as an estimator, compare everything, and save again."""
    first = folder / "first.json"
    model.save(first)
    assert type(load(first)) is IDTPredictor
    check_same(load(first), model, folder, graphs, fresh)
    loaded = type(model).load(first)
    assert type(loaded) is type(model)
    check_same(loaded, model, folder, graphs, fresh)
    return loaded


def check_same(loaded: Any, model: Any, folder: Path, graphs: Any, fresh: Any) -> None:
    first, second = folder / "first.json", folder / "second.json"
    for own in (graphs, fresh):
        assert loaded.predict(own).tolist() == model.predict(own).tolist()
        assert np.array_equal(loaded.predict_proba(own), model.predict_proba(own))
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert all(loaded.formula(label) is model.formula(label) for label in model.classes_.tolist())
    assert str(loaded) == str(model)
    assert (loaded.ccp_alpha_, loaded.n_layers_) == (model.ccp_alpha_, model.n_layers_)
    for old, new in zip(model.rules_, loaded.rules_, strict=True):
        assert (old.index, old.alpha, old.n_leaves, old.accuracy, old.chosen) == (
            new.index,
            new.alpha,
            new.n_leaves,
            new.accuracy,
            new.chosen,
        )
        assert old.support == new.support
    for rule in loaded.rules_[:3]:
        picked, other = model.pick(rule.index), loaded.pick(rule.index)
        assert np.array_equal(picked.predict_proba(fresh), other.predict_proba(fresh))
    loaded.save(second)
    assert second.read_bytes() == first.read_bytes()


# Round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["graph", "node"])
@pytest.mark.parametrize("labels", [(0, 1), (-7, 300), ("no", "yes"), (False, True)])
def test_labels_of_all_kinds_survive(level: str, labels: tuple[Any, Any], tmp_path: Path) -> None:
    train, fresh = some_graphs(0), some_graphs(1)
    y = np.array(labels)[noisy_labels(train, "1(A U0 > 1) > 1/3", level).astype(int)]
    kind = IDTClassifier if level == "graph" else IDTNodeClassifier
    model = kind(1, algorithm="layers", width=2, max_depth=3, random_state=0, ccp_alpha=0.005).fit(
        train, y
    )
    loaded = check_round_trip(model, tmp_path, train, fresh)
    assert loaded.classes_.dtype.kind == model.classes_.dtype.kind
    check_round_trip(model.prune(), tmp_path, train, fresh)
    picked = check_round_trip(model.pick(1), tmp_path, train, fresh)
    assert picked.rules_.chosen.index == 1


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), level=st.sampled_from("gn"))
def test_directed_typed_models_with_odd_names_survive(
    seed: int, n_classes: int, level: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    options: dict[str, Any] = {"directed": True, "names": ODD_NAMES, "relations": ("a b", "ü]")}
    train, fresh = some_graphs(seed, **options), some_graphs(seed + 1, loops=True, **options)
    kind = IDTClassifier if level == "g" else IDTNodeClassifier
    count = train.n_graphs if level == "g" else train.n_nodes
    y = np.array([f"{n} {ODD_NAMES[n]}" for n in range(4)])
    y = y[np.arange(count) % n_classes]
    model = kind(2, algorithm="layers", width=1, max_depth=2, random_state=seed, ccp_alpha=0.001)
    model.fit(train, y)
    check_round_trip(model, tmp_path_factory.mktemp("models"), train, fresh)


def test_constant_model_survives(tmp_path: Path) -> None:
    train = some_graphs()
    with pytest.warns(UserWarning, match="All labels are"):
        model = IDTClassifier(1, random_state=0).fit(train, np.ones(train.n_graphs, dtype=int))
    check_round_trip(model, tmp_path, train, some_graphs(1))


def test_encoders_and_hyper_parameters_survive(tmp_path: Path) -> None:
    """A loaded model can be cloned and learned again with the settings that it was made with."""
    rng = np.random.default_rng(0)

    def pairs() -> list[Any]:
        sizes = rng.integers(1, 8, size=80)
        columns = [(rng.choice([6, 7, 8], size=n), rng.normal(size=n)) for n in sizes]
        edges = [(rng.random((n, n)) < 0.4).astype(int) for n in sizes]
        return [(a, np.column_stack(x)) for a, x in zip(edges, columns, strict=True)]

    train, fresh = pairs(), pairs()
    model = IDTClassifier(
        2,
        algorithm="layers",
        width=cast(Any, np.int64(2)),
        modalities=[["I", Modality.from_set("1-A")], ("A^T",)],
        class_weight={np.int64(3): np.float32(2.0)},
        encoder=PredicateEncoder(feature_names=("atom", "charge > 0"), n_thresholds=3),
        max_features=np.float64(0.5),
        projection=None,
        random_state=np.random.default_rng(0),
        max_depth=3,
        ccp_alpha=0.001,
    )
    model.fit(train, np.arange(80) // 20)
    loaded = check_round_trip(model, tmp_path, train, fresh)
    assert loaded.encoder_.names_ == model.encoder_.names_
    parameters = loaded.get_params()
    assert parameters["modalities"] == [["I", "1-A"], ["A^T"]]
    assert parameters["class_weight"] == {3: 2.0}
    assert parameters["projection"] is None
    assert parameters["random_state"] is None
    assert parameters["encoder__feature_names"] == ["atom", "charge > 0"]
    assert parameters["encoder__n_thresholds"] == 3
    options = {"random_state": 5}
    again = clone(loaded).set_params(**options).fit(train, np.arange(80) // 20)
    same = clone(model).set_params(**options).fit(train, np.arange(80) // 20)
    assert all(again.formula(label) is same.formula(label) for label in range(4))


@pytest.mark.parametrize("labels", [["a", "\ud800"]])
def test_labels_that_no_file_can_hold(labels: list[Any], tmp_path: Path) -> None:
    train = some_graphs()
    model = IDTClassifier(0, random_state=0).fit(train, np.array(labels * 40))
    with pytest.raises(ModelFileError, match="The classes of a model must be"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# The first format version, for ever ----------------------------------------------------------


def frozen(kind: str) -> tuple[Any, Any, Any]:
    """A committed model, graphs, and what it must say about them."""
    expected = json.loads((DATA / "expected-v1.json").read_text(encoding="utf-8"))[kind]
    spec = importlib.util.spec_from_file_location("regenerate", DATA / "regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    regenerate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(regenerate)
    if kind == "graph":
        graphs = [(np.array(a), np.array(x)) for a, x in expected["inputs"]]
    else:
        graphs = regenerate.node_batch(expected["inputs"])
    return load(DATA / f"{kind}-v1.idt.json"), graphs, expected


@pytest.mark.parametrize("kind", ["graph", "node"])
def test_committed_models_of_version_1_predict_as_ever(
    kind: Literal["graph", "node"], tmp_path: Path
) -> None:
    model, graphs, expected = frozen(kind)
    assert model.predict(graphs).tolist() == expected["predictions"]
    assert len(set(expected["predictions"])) == len(model.classes_)
    batch = model.encoder_.transform(graphs)
    for label, text in expected["formulas"]:
        truth = parse(text).evaluate(batch, level=kind).tolist()
        assert truth == [own == label for own in expected["predictions"]]
    model.save(tmp_path / "again.json")
    again = load(tmp_path / "again.json")
    assert np.array_equal(again.predict_proba(graphs), model.predict_proba(graphs))


@pytest.mark.parametrize("kind", ["graph", "node"])
def test_committed_models_of_version_1_read_as_ever(kind: str) -> None:
    """If formulas have become better: ``python tests/idt/data/regenerate.py expected``."""
    model, _, expected = frozen(kind)
    assert [[own, str(model.formula(own))] for own in model.classes_] == expected["formulas"]


@pytest.mark.parametrize("estimator", [IDTClassifier, IDTNodeClassifier])
def test_files_that_do_not_name_an_algorithm_mean_the_layers(estimator: Any) -> None:
    """They were written when there was no other one."""
    kind: Any = "graph" if estimator is IDTClassifier else "node"
    model, graphs, expected = frozen(kind)
    again = estimator.load(DATA / f"{kind}-v1.idt.json")
    assert "algorithm" not in model._parameters
    assert again.algorithm == "layers"
    again.fit(graphs, np.array(expected["predictions"]))
    assert again.score(graphs, expected["predictions"]) > 0.5


# Writing -------------------------------------------------------------------------------------


@pytest.fixture
def model() -> IDTClassifier:
    train = some_graphs()
    return IDTClassifier(1, algorithm="layers", width=1, random_state=0).fit(
        train, np.arange(train.n_graphs) % 2
    )


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_failure_while_writing_leaves_the_old_file(
    model: IDTClassifier,
    step: str,
    error: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "model.json"
    target.write_text("old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        model.save(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_folder_without_permission(
    model: IDTClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system would say it; who runs as root may write everywhere."""

    def refuse(path: Any, *_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match="Permission denied"):
        model.save(tmp_path / "model.json")
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())


def test_folder_that_is_not_there(model: IDTClassifier, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "no" / "model.json")
    with pytest.raises(OSError, match="."):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_permissions_are_the_usual_ones_or_the_old_ones(
    model: IDTClassifier, tmp_path: Path
) -> None:
    before = os.umask(0o027)
    try:
        model.save(tmp_path / "new.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640
    (tmp_path / "new.json").chmod(0o600)
    model.save(tmp_path / "new.json")
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o600


def test_long_names_and_paths_as_text(model: IDTClassifier, tmp_path: Path) -> None:
    path = tmp_path / ("m" * 250 + ".json")
    model.save(str(path))
    assert load(str(path)).classes_.tolist() == [0, 1]


def test_parameters_are_those_of_the_estimators() -> None:
    others = {"encoder", "engine", "checkpoint"}
    every = {IDTClassifier, IDTNodeClassifier, IDTRegressor, IDTNodeRegressor}
    of_estimators = [set(kind().get_params(deep=False)) for kind in every]
    assert {*PARAMETERS, *others} == set().union(*of_estimators)


def test_earlier_names_of_parameters_are_read(tmp_path: Path) -> None:
    """`max_samples` was `max_graphs` before the first release."""
    train = some_graphs()
    model = IDTClassifier(1, algorithm="layers", width=2, max_samples=0.5, random_state=0)
    model.fit(train, noisy_labels(train, "1 U0 > 2")).save(tmp_path / "now.json")
    now = json.loads((tmp_path / "now.json").read_bytes())
    document = copy.deepcopy(now)
    parameters = document["parameters"]
    parameters["max_graphs"] = parameters.pop("max_samples")
    earlier = tmp_path / "earlier.json"
    earlier.write_bytes(signed(document))
    assert IDTClassifier.load(earlier).max_samples == 0.5
    for loaded in (IDTClassifier.load(earlier), load(earlier)):
        loaded.save(tmp_path / "again.json")
        assert json.loads((tmp_path / "again.json").read_bytes()) == now
    parameters["max_samples"] = 0.5
    with pytest.raises(ModelFileError, match="unknown parameter 'max_graphs'"):
        load_bytes(signed(document), tmp_path)


def test_loading_an_estimator_of_the_other_kind(model: IDTClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="Got one that gives graphs a class"):
        IDTNodeClassifier.load(tmp_path / "model.json")


def test_subclasses_with_parameters_of_their_own(tmp_path: Path) -> None:
    class Own(IDTClassifier):
        def __init__(self, more: int = 0, width: int = 16, random_state: object = None) -> None:
            super().__init__(1, algorithm="layers", width=width, random_state=random_state)
            self.more = more

    train = some_graphs()
    own = Own(more=5, width=2, random_state=0).fit(train, np.arange(train.n_graphs) % 2)
    own.save(tmp_path / "model.json")
    assert np.array_equal(load(tmp_path / "model.json").predict(train), own.predict(train))


def test_saving_needs_a_fitted_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        IDTClassifier().save(tmp_path / "model.json")


def test_using_a_saved_model_needs_no_heavy_package() -> None:
    code = (
        "import sys, gnn2logic\n"
        f"model = gnn2logic.load({str(DATA / 'node-v1.idt.json')!r})\n"
        "graphs = gnn2logic.random_graphs(5, names=['P'], relations=['single', 'd o u b l e'],"
        " random_state=0)\n"
        "model.predict(graphs), model.predict_proba(graphs), str(model), repr(model)\n"
        "[model.formula(name).to_latex() for name in model.classes_], model.prune(), model.rules_\n"
        "heavy = {'sklearn', 'torch', 'networkx', 'matplotlib', 'z3', 'pandas', 'numba', 'dask'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "changed", [{"leaf_sets": "\ud800"}, {"class_weight": {"\ud800": 1.0}}, {"max_depth": "\udcff"}]
)
def test_settings_that_are_no_unicode_are_left_out(changed: dict[str, Any], tmp_path: Path) -> None:
    graphs = some_graphs(count=20)
    model = IDTClassifier(1, algorithm="layers", width=2, random_state=0).fit(
        graphs, np.arange(20) % 2
    )
    model.set_params(**changed).save(tmp_path / "model.json")
    again = IDTClassifier.load(tmp_path / "model.json")
    assert (again.predict(graphs) == model.predict(graphs)).all()
    assert again.width == 2
    assert not changed.keys() & again._parameters.keys()
