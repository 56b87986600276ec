from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from torch_geometric.data import Data

from gnn2logic import random_graphs
from gnn2logic.exceptions import (
    FeatureError,
    Gnn2LogicError,
    LabelError,
    ParameterError,
    SingleClassWarning,
    UndertrainedWarning,
)
from gnn2logic.models import GNNClassifier, GNNNodeClassifier, pyg_graphs
from gnn2logic.models.training import validation_rows
from gnn2logic.testing import graph_estimator_checks
from gnn_samples import labelled, quick

SMALL: dict[str, Any] = {"n_layers": 1, "hidden": 4, "max_epochs": 2, "random_state": 0}


def same_weights(first: Any, second: Any) -> bool:
    own, other = first.module_.state_dict(), second.module_.state_dict()
    return all(torch.equal(own[name], other[name]) for name in own)


# Manners --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{level}-{name}")
        for level, estimator in (
            ("graph", GNNClassifier(**SMALL)),
            ("node", GNNNodeClassifier(**SMALL)),
        )
        for name, check in graph_estimator_checks(estimator, level)  # type: ignore[arg-type]
    ],
)
def test_manners(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize("scale", [0.1, 1e-300, 1e300])
def test_only_ratios_of_weights_matter(scale: float) -> None:
    graphs, y = labelled(n_graphs=40)
    weights = np.arange(40) % 4
    expected = quick(max_epochs=2).fit(graphs, y, sample_weight=weights)
    scaled = quick(max_epochs=2).fit(graphs, y, sample_weight=weights * scale)
    assert same_weights(scaled, expected)


def test_cross_validation_and_clone() -> None:
    graphs, y = labelled(n_graphs=40)
    for given_graphs in (graphs, pyg_graphs(graphs)):
        scores = cross_val_score(quick(), given_graphs, y, cv=2)
        assert scores.shape == (2,)
        assert np.isfinite(scores).all()
    copied = clone(quick(conv="gin", class_weight={0: 2.0}))
    assert copied.get_params()["conv"] == "gin"
    assert copied.get_params()["class_weight"] == {0: 2.0}


def test_seeds_and_modes_are_left_as_found() -> None:
    graphs, y = labelled()
    torch.manual_seed(5)
    np.random.seed(5)
    random.seed(5)
    before = (
        torch.get_rng_state(),
        np.random.get_state(legacy=False)["state"]["key"].copy(),
        random.getstate(),
    )
    gnn = quick(dropout=0.5).fit(graphs, y)
    modes = [gnn.module_.training]
    gnn.module_.train()
    first, second = gnn.predict_proba(graphs), gnn.predict_proba(graphs)
    assert [*modes, gnn.module_.training] == [False, True]
    assert (first == second).all()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state(legacy=False)["state"]["key"] == before[1]).all()
    assert random.getstate() == before[2]


def test_the_seed_decides_the_weights() -> None:
    graphs, y = labelled()
    one, again, other = (quick(dropout=0.3, random_state=seed).fit(graphs, y) for seed in (1, 1, 2))
    assert same_weights(one, again)
    assert [e.training for e in one.history_] == [e.training for e in again.history_]
    assert not same_weights(one, other)


def test_given_graphs_are_not_changed() -> None:
    graphs, y = labelled(n_graphs=10)
    datas = [
        Data(edge_index=data.edge_index, num_nodes=data.num_nodes) for data in pyg_graphs(graphs)
    ]
    before = copy.deepcopy(datas)
    quick().fit(datas, y).predict(datas)
    for old, new in zip(before, datas, strict=True):
        assert old.keys() == new.keys()
        assert torch.equal(old.edge_index, new.edge_index)


# Learning -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "options", "least"),
    [
        ("1 U1 > 1/2", {"conv": "gcn"}, 0.9),
        ("1 U1 > 1/2", {"conv": "sage"}, 0.9),
        ("1 U1 > 1/2", {"conv": "gat"}, 0.9),
        ("1(A true > 4) > 0", {"conv": "gin"}, 0.9),
        ("1 true > 8", {"conv": "gcn", "pooling": "sum"}, 0.9),
    ],
)
def test_formulas_are_learned(formula: str, options: dict[str, Any], least: float) -> None:
    graphs, y = labelled(formula, 400, sizes=np.arange(400) % 10 + 4, density=0.4)
    fresh, truth = labelled(formula, 200, sizes=np.arange(200) % 10 + 4, density=0.4, seed=1)
    assert 0.2 < truth.mean() < 0.8
    gnn = GNNClassifier(
        n_layers=2, hidden=16, lr=0.01, max_epochs=15, batch_size=32, random_state=0, **options
    ).fit(graphs, y)
    assert gnn.score(fresh, truth) >= least


def test_nodes_are_learned_where_the_mask_says() -> None:
    graph = random_graphs(3, sizes=150, density=0.02, random_state=0)
    y = graph.column("U0").astype(int)
    mask = np.arange(graph.n_nodes) % 2 == 0
    # What is not in the mask is wrong, and must not be believed.
    wrong = np.where(mask, y, 1 - y)
    gnn = GNNNodeClassifier(n_layers=1, hidden=16, lr=0.01, max_epochs=40, random_state=0)
    assert gnn.fit(graph, wrong, mask=mask).score(graph, y) > 0.95


def test_early_stopping_keeps_the_best_weights() -> None:
    """Random labels: the validation loss soon rises, and shorter training must say the same."""
    graphs, _ = labelled(n_graphs=80)
    y = np.random.default_rng(0).integers(0, 2, size=80)
    settings_ = {"hidden": 16, "lr": 0.03, "validation_fraction": 0.3}
    gnn = quick(max_epochs=60, patience=5, **settings_).fit(graphs, y)
    losses = [epoch.validation for epoch in gnn.history_]
    assert gnn.best_epoch_ == int(np.argmin(np.array(losses)))
    assert len(losses) == gnn.best_epoch_ + 1 + 5 < 60
    upto = quick(max_epochs=gnn.best_epoch_ + 1, patience=5, **settings_).fit(graphs, y)
    assert same_weights(gnn, upto)


def test_without_validation_all_epochs_are_run() -> None:
    graphs, y = labelled()
    gnn = quick(max_epochs=4, patience=1, validation_fraction=0).fit(graphs, y)
    assert [epoch.validation for epoch in gnn.history_] == [None] * 4
    assert gnn.best_epoch_ == 3


@settings(deadline=None, max_examples=50)
@given(
    codes=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    fraction=st.floats(0, 0.99),
    seed=st.integers(0, 5),
)
def test_validation_is_stratified(codes: list[int], fraction: float, seed: int) -> None:
    labels = np.array(codes)
    weights = (np.arange(len(codes)) % 5 != 0).astype(float)
    chosen = validation_rows(labels, weights, fraction, seed)
    assert not chosen[weights == 0].any()
    for code in np.unique(labels):
        rows = (labels == code) & (weights > 0)
        taken = int(chosen[rows].sum())
        assert taken <= max(rows.sum() - 1, 0)
        assert abs(taken - fraction * rows.sum()) <= 0.5 or taken == rows.sum() - 1
    assert (chosen == validation_rows(labels, weights, fraction, seed)).all()


def test_weights_of_classes_and_rows_count() -> None:
    """Three quarters of equal graphs are of class 0: weights turn the answer around."""
    graphs, y = random_graphs(40, sizes=3, density=1, names=(), random_state=0), np.arange(40) % 4
    labels = (y == 0).astype(int)
    common = {"max_epochs": 40, "lr": 0.05, "validation_fraction": 0}
    plain = quick(**common).fit(graphs, labels)
    assert plain.predict_proba(graphs)[0, 1] == pytest.approx(0.25, abs=0.05)
    balanced = quick(class_weight="balanced", **common).fit(graphs, labels)
    assert balanced.predict_proba(graphs)[0, 1] == pytest.approx(0.5, abs=0.05)
    heavy = quick(class_weight={1: 9.0}, **common).fit(graphs, labels)
    assert heavy.predict_proba(graphs)[0, 1] == pytest.approx(0.75, abs=0.05)
    rows = quick(**common).fit(graphs, labels, sample_weight=np.where(labels == 1, 9.0, 1.0))
    assert rows.predict_proba(graphs)[0, 1] == pytest.approx(0.75, abs=0.05)


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.3, 0.0])
@pytest.mark.parametrize("kind", [GNNClassifier, GNNNodeClassifier])
def test_networks_not_above_the_majority_say_so(kind: type[Any], fraction: float) -> None:
    graphs = random_graphs(60, sizes=4, random_state=0)
    level = "graph" if kind is GNNClassifier else "node"
    y = np.random.default_rng(0).random(60 if level == "graph" else 240) < 0.3
    lazy = kind(**SMALL, lr=1e-9, validation_fraction=fraction)
    with pytest.warns(UndertrainedWarning) as caught:
        lazy.fit(graphs, y)
    watched = validation_rows(y.astype(int), np.ones(len(y)), fraction, 0)
    if not fraction:
        watched = ~watched
    right = np.mean(lazy.predict(graphs)[watched] == y[watched])
    most = max(y[watched].mean(), 1 - y[watched].mean())
    assert right <= most
    message = str(caught[0].message)
    part = "held out for validation" if fraction else "it was trained on"
    assert f"on the {watched.sum()} {level}s {part} it is right for {right:.1%}" in message
    assert f"that class for {most:.1%}" in message
    # What was learned all the same is there, and the warning points here.
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_networks_above_the_majority_say_nothing() -> None:
    graphs, y = labelled(n_graphs=200)
    quick(max_epochs=30).fit(graphs, y)
    nodes = GNNNodeClassifier(**(SMALL | {"max_epochs": 30}), lr=0.05)
    nodes.fit(graphs, graphs.column("U0").astype(int))
    # Where all rows that are watched have one class, nothing is above it.
    rare = np.zeros(200, dtype=int)
    rare[7] = 1
    quick().fit(graphs, rare)


def test_the_majority_is_that_of_the_weights() -> None:
    """A class that is rare but counts a lot is the one to beat."""
    graphs, y = random_graphs(100, sizes=3, random_state=0), np.arange(100) % 5 == 0
    with pytest.warns(UndertrainedWarning, match=r"on the 10 graphs .*, and that class for 96\.0%"):
        quick(lr=1e-9, validation_fraction=0.1).fit(graphs, y, sample_weight=1 + 95 * y)


def test_one_class_is_a_constant_model() -> None:
    graphs, _ = labelled(n_graphs=5)
    with pytest.warns(SingleClassWarning, match="All labels are 'yes'"):
        gnn = quick().fit(graphs, ["yes"] * 5)
    assert gnn.predict(graphs).tolist() == ["yes"] * 5
    assert gnn.predict_proba(graphs).tolist() == [[1.0]] * 5
    assert gnn.history_ == []


def test_tiny_and_edgeless_data() -> None:
    two = [np.zeros((1, 1)), np.zeros((2, 2))]
    gnn = quick().fit(two, [0, 1])
    assert gnn.predict_proba(two).shape == (2, 2)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("conv", "gnn", "conv must be one of 'gcn', 'gin', 'sage', 'gat'"),
        ("n_layers", 0, "n_layers must be a whole number >= 1"),
        ("hidden", 1.5, "hidden must be a whole number >= 1"),
        ("norm", "batch", "norm must be one of 'graph', None"),
        ("pooling", "max", "pooling must be one of 'mean', 'sum'"),
        ("dropout", 1, "dropout must be a number >= 0 and < 1. Got 1 instead"),
        ("lr", 0, "lr must be a number > 0. Got 0 instead"),
        ("lr", float("nan"), "lr must be a number > 0"),
        ("lr", "fast", "lr must be a number > 0. Got 'fast' instead"),
        ("weight_decay", -1, "weight_decay must be a number >= 0"),
        ("batch_size", 0, "batch_size must be a whole number"),
        ("max_epochs", 0, "max_epochs must be a whole number"),
        ("patience", 0, "patience must be a whole number"),
        ("validation_fraction", 1.0, "validation_fraction must be a number >= 0 and < 1"),
        ("class_weight", {7: 1.0}, "class_weight names 7, which is not a class"),
        ("device", "toaster", "device must be 'auto' or a device that torch can use"),
        ("device", "cuda:99", "device must be 'auto' or a device that torch can use"),
        ("random_state", -1, "random_state must be a whole number"),
    ],
)
def test_bad_parameters(name: str, value: object, message: str) -> None:
    graphs, y = labelled(n_graphs=10)
    with pytest.raises(ParameterError, match=message):
        quick(**{name: value}).fit(graphs, y)


@pytest.mark.parametrize("y", [[0, 1], [0.5] * 10, [np.nan] * 10, None, [[0]] * 10])
def test_bad_labels(y: object) -> None:
    with pytest.raises(LabelError):
        quick().fit(labelled(n_graphs=10)[0], y)


def test_predict_before_fit() -> None:
    with pytest.raises(NotFittedError):
        GNNClassifier().predict(labelled(n_graphs=3)[0])


@pytest.mark.parametrize(
    ("graphs", "kind", "message"),
    [
        (random_graphs(2, names=("U0",)), FeatureError, "the 2 feature columns.* Got 1"),
        (random_graphs(2, names=("U1", "U0")), FeatureError, "in that order: 'U0', 'U1'"),
        ([Data(x=torch.full((1, 2), torch.inf))], FeatureError, "Got inf at node 0 of graph 0"),
        ([], Gnn2LogicError, "At least one graph"),
    ],
)
def test_other_graphs_at_predict(graphs: object, kind: type[Gnn2LogicError], message: str) -> None:
    gnn = quick(max_epochs=1).fit(*labelled(n_graphs=10))
    with pytest.raises(kind, match=message):
        gnn.predict(graphs)


def test_graphs_to_watch_can_be_given() -> None:
    graphs = random_graphs(60, sizes=5, random_state=0)
    y = np.arange(60) % 2
    watched = np.arange(60) >= 50
    # What is watched is not learned from: other labels there give the same weights after an epoch.
    once = {**SMALL, "max_epochs": 1}
    first, second = (
        GNNClassifier(**once).fit(graphs, labels, validation=watched)
        for labels in (y, np.where(watched, 1 - y, y))
    )
    assert same_weights(first, second)
    assert first.history_[0].validation != second.history_[0].validation
    with pytest.raises(LabelError, match="one truth value for each of the 60 graphs"):
        GNNClassifier(**SMALL).fit(graphs, y, validation=np.ones(3, dtype=bool))
    with pytest.raises(LabelError, match="leave graphs of every class"):
        GNNClassifier(**SMALL).fit(graphs, y, validation=y == 1)
