"""Checks of what `fit` learns, from which labels and weights."""

from __future__ import annotations

import copy
import inspect
import random
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from gnn2logic.graphs import random_graphs
from gnn2logic.testing.requirements import (
    Level,
    Sample,
    require,
    require_error,
    require_same,
    require_same_model,
    sample,
)


def check_fit_is_deterministic(estimator: Any, level: Level) -> None:
    """Two fits with the same data and an integer `random_state` give the same model."""
    data = sample(level)
    first = clone(estimator).fit(data.graphs, data.y)
    # What others draw in between must not matter.
    state = np.random.get_state()
    try:
        np.random.seed(12345)
        second = clone(estimator).fit(data.graphs, data.y)
    finally:
        np.random.set_state(state)
    message = "two fits with the same data and random_state must give the same model."
    require_same_model(first, second, sample(level, seed=1), message)


def check_refit_forgets(estimator: Any, level: Level) -> None:
    """Fitting again, on other graphs and classes, is like fitting for the first time."""
    old, new = sample(level), _other_sample(level)
    estimator.fit(old.graphs, old.y).fit(new.graphs, new.y)
    fresh = clone(estimator).fit(new.graphs, new.y)
    require_same_model(fresh, estimator, new, "a second fit must forget the first one.")


def _other_sample(level: Level) -> Sample:
    """Graphs with other predicates and other classes."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 7, size=40)
    graphs = random_graphs(40, sizes=sizes, names=("P", "Q", "R"), random_state=rng)
    count = graphs.n_graphs if level == "graph" else graphs.n_nodes
    return Sample(graphs, rng.integers(10, 12, size=count), level)


def check_inputs_are_not_modified(estimator: Any, level: Level) -> None:
    """Graphs, labels and weights are the caller's, before and after."""
    data = sample(level)
    pairs, y = data.pairs(), data.y.copy()
    given = {"the graphs": [array for pair in pairs for array in pair], "y": [y]}
    options = {}
    if _knows_weights(estimator):
        options["sample_weight"] = np.linspace(0.5, 2.0, len(y))
        given["sample_weight"] = [options["sample_weight"]]
    before = copy.deepcopy(given)
    estimator.fit(pairs, y, **options)
    _require_unchanged(before, given, "fit")
    estimator.predict(pairs)
    _require_unchanged(before, given, "predict")
    estimator.score(pairs, y)
    _require_unchanged(before, given, "score")


def _require_unchanged(
    before: dict[str, list[Any]], after: dict[str, list[Any]], what: str
) -> None:
    for name, arrays in before.items():
        for old, new in zip(arrays, after[name], strict=True):
            require_same(old, new, f"{what} must not modify {name}.")


def check_classes_are_sorted(estimator: Any, level: Level) -> None:
    """`classes_` are the labels, each once, in rising order."""
    data = sample(level)
    labels = np.array([5, -3, 2])[data.y]
    estimator.fit(data.graphs, labels)
    message = "classes_ must be the sorted distinct labels."
    require_same(np.unique(labels), estimator.classes_, message)
    unknown = sorted(set(estimator.predict(data.graphs).tolist()) - set(labels.tolist()))
    require(not unknown, f"predict must return classes only. Got {unknown}.")


def check_string_labels(estimator: Any, level: Level) -> None:
    """Labels are names: strings in the same order give the same model."""
    data = sample(level)
    names = np.array(["a first", "b > 'second'", "ç"])
    numbers = clone(estimator).fit(data.graphs, data.y).predict(data.graphs)
    strings = clone(estimator).fit(data.graphs, names[data.y]).predict(data.graphs)
    message = "string labels must be predicted where numbers in the same order are."
    require_same(names[numbers], strings, message)


def check_wrong_number_of_labels_raises(estimator: Any, level: Level) -> None:
    """One label too few or too many is an error, and so are none."""
    data = sample(level)
    for y in (data.y[:-1], np.append(data.y, 0), data.y[:0], None):
        count = "no" if y is None else len(y)
        require_error(
            ValueError,
            partial(clone(estimator).fit, data.graphs, y),
            f"fit must raise ValueError for {count} labels where {len(data.y)} are needed.",
        )


def check_sample_weight_of_ones_is_none(estimator: Any, level: Level) -> None:
    """Equal weights are no weights, if the estimator knows weights at all."""
    if not _knows_weights(estimator):
        return
    data = sample(level)
    plain = clone(estimator).fit(data.graphs, data.y)
    weighted = clone(estimator).fit(data.graphs, data.y, sample_weight=np.ones(len(data.y)))
    require_same_model(plain, weighted, data, "a sample_weight of ones must change nothing.")


def check_sample_weight_matters(estimator: Any, level: Level) -> None:
    """Other weights give another model, if the estimator knows weights at all."""
    if not _knows_weights(estimator):
        return
    data = sample(level)
    answers = []
    for label in (0, 1):
        heavy = np.where(data.y == label, 100.0, 1.0)
        fitted = clone(estimator).fit(data.graphs, data.y, sample_weight=heavy)
        ask = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
        answers.append(np.asarray(ask(data.graphs)))
    require(
        not np.array_equal(answers[0], answers[1]),
        "sample_weight must matter: 100 times the weight on one class or on another must not give "
        "the same answers.",
    )


def check_global_randomness_is_left_alone(estimator: Any, level: Level) -> None:
    """Neither fit nor predict draws from, or seeds, the generators that everybody shares."""
    data = sample(level)
    before = (random.getstate(), str(np.random.get_state()))
    estimator.fit(data.graphs, data.y).predict(data.graphs)
    require(
        before == (random.getstate(), str(np.random.get_state())),
        "fit and predict must not touch the global random states of random and numpy.",
    )


def _knows_weights(estimator: Any) -> bool:
    return "sample_weight" in inspect.signature(estimator.fit).parameters
