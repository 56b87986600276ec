"""Checks of what an estimator learns and says about graphs of every kind, and of its parameters."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score

from gnn2logic.graphs import GraphBatch, random_graphs, to_networkx, to_pyg
from gnn2logic.testing.requirements import (
    Level,
    Sample,
    classes_of,
    gives_probabilities,
    predicts_numbers,
    require,
    require_error,
    require_same,
    require_same_model,
    rows_of,
    sample,
)

__all__ = []


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
        ask = fitted.predict_proba if gives_probabilities(fitted) else fitted.predict
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


def check_order_of_graphs_does_not_matter(estimator: Any, level: Level) -> None:
    """Graphs in another order get the same predictions, in that order."""
    data = sample(level)
    expected = estimator.fit(data.graphs, data.y).predict(data.graphs)
    order = np.random.default_rng(0).permutation(data.graphs.n_graphs)
    rows = rows_of(data.graphs, order, level)
    got = estimator.predict(data.graphs.take(order))
    message = "graphs in another order must get the same predictions, in that order."
    require_same(expected[rows], got, message)


def check_a_graph_alone_is_predicted_alike(estimator: Any, level: Level) -> None:
    """Predictions of a graph do not depend on the others in the batch."""
    data = sample(level)
    expected = estimator.fit(data.graphs, data.y).predict(data.graphs)
    for number in range(0, data.graphs.n_graphs, 3):
        rows = rows_of(data.graphs, np.array([number]), level)
        got = estimator.predict(data.graphs[number])
        message = f"graph {number} must be predicted alone as it is among others."
        require_same(expected[rows], got, message)


def check_numbering_of_nodes_does_not_matter(estimator: Any, level: Level) -> None:
    """Graphs whose nodes are numbered otherwise are the same graphs."""
    data = sample(level)
    estimator.fit(data.graphs, data.y)
    for number in range(data.graphs.n_graphs):
        graph = data.graphs[number]
        order = np.random.default_rng(number).permutation(graph.n_nodes)
        other = GraphBatch(
            graph.predicates[order],
            graph.adjacency.toarray()[np.ix_(order, order)],
            names=graph.names,
        )
        expected, got = estimator.predict(graph), estimator.predict(other)
        message = f"graph {number} with its nodes in another order must be predicted alike."
        require_same(expected[order] if level == "node" else expected, got, message)


def check_probabilities(estimator: Any, level: Level) -> None:
    """`predict_proba` has one distribution per row, and `predict` is where it is largest."""
    data, fresh = sample(level), sample(level, seed=1)
    estimator.fit(data.graphs, data.y)
    proba = np.asarray(estimator.predict_proba(fresh.graphs))
    shape = (len(fresh.y), len(estimator.classes_))
    require(
        proba.shape == shape,
        f"predict_proba must have one row per {level} and one column per class, {shape}. "
        f"Got shape {proba.shape}.",
    )
    require(
        bool((proba >= 0).all()) and np.allclose(proba.sum(axis=1), 1.0),
        "each row of predict_proba must be at least 0 and have the sum 1.",
    )
    message = "predict must return the class with the largest probability, the first of equals."
    largest = estimator.classes_[proba.argmax(axis=1)]
    require_same(largest, estimator.predict(fresh.graphs), message)


def check_score_is_accuracy(estimator: Any, level: Level) -> None:
    """`score` is the share of right predictions."""
    data, fresh = sample(level), sample(level, seed=1)
    estimator.fit(data.graphs, data.y)
    accuracy = float(np.mean(estimator.predict(fresh.graphs) == fresh.y))
    got = estimator.score(fresh.graphs, fresh.y)
    require(bool(np.isclose(got, accuracy)), f"score must be the accuracy {accuracy}. Got {got}.")


def check_score_is_r2(estimator: Any, level: Level) -> None:
    """`score` of a regressor is the share of the variance that is explained."""
    data, fresh = sample(level), sample(level, seed=1)
    estimator.fit(data.graphs, data.y)
    expected = r2_score(fresh.y, estimator.predict(fresh.graphs))
    got = estimator.score(fresh.graphs, fresh.y)
    require(bool(np.isclose(got, expected)), f"score must be R2, {expected}. Got {got}.")


def check_formulas_agree_with_predictions(estimator: Any, level: Level) -> None:
    """Formulas are true exactly where their class is predicted."""
    data = sample(level)
    estimator.fit(data.graphs, data.y)
    # Graphs like those at fit, and larger ones.
    for seed, largest in ((0, 8), (1, 8), (2, 25)):
        fresh = sample(level, seed=seed, largest=largest)
        predicted = estimator.predict(fresh.graphs)
        for label in classes_of(estimator).tolist():
            truth = estimator.formula(label).evaluate(fresh.graphs, level=level)
            message = f"formula({label!r}) must be true exactly where {label!r} is predicted."
            require_same(predicted == label, truth, message)


def check_pickle_round_trip(estimator: Any, level: Level) -> None:
    """Fitted estimators can be sent to another process."""
    data = sample(level)
    estimator.fit(data.graphs, data.y)
    copied = pickle.loads(pickle.dumps(estimator))  # noqa: S301 - written one line above
    message = "an estimator must be the same after pickling."
    require_same_model(estimator, copied, sample(level, seed=1), message)


def check_list_of_batches(estimator: Any, level: Level) -> None:
    """Graphs in a list are as good as one batch."""
    _check_graph_type(estimator, level, list, "a list of GraphBatch")


def check_networkx_graphs(estimator: Any, level: Level) -> None:
    """Graphs of networkx are as good as a batch."""
    _check_graph_type(estimator, level, to_networkx, "a list of networkx graphs")


def check_pyg_graphs(estimator: Any, level: Level) -> None:
    """Graphs of PyTorch Geometric are as good as a batch."""
    _check_graph_type(estimator, level, to_pyg, "a list of PyG Data")


def _check_graph_type(estimator: Any, level: Level, convert: Any, name: str) -> None:
    data = sample(level)
    expected = clone(estimator).fit(data.graphs, data.y).predict(data.graphs)
    graphs = convert(data.graphs)
    estimator.fit(graphs, data.y)
    message = f"{name} must be predicted as one GraphBatch is."
    require_same(expected, estimator.predict(graphs), message)
    require_same(expected, estimator.predict(data.graphs), message)


def check_constructor_only_stores_parameters(estimator: Any, level: Level) -> None:
    """Estimators are made by storing what is given, as it is, and nothing else."""
    names = list(estimator.get_params(deep=False))
    given = {name: object() for name in names}
    made = type(estimator)(**given)
    for name in names:
        require(
            getattr(made, name, None) is given[name],
            f"the constructor must store the parameter {name!r} as it is given.",
        )
    others = sorted(set(vars(made)) - set(names))
    require(
        not others,
        f"the constructor must set nothing but its parameters. Got the attributes {others}.",
    )


def check_parameters_can_be_read_set_and_cloned(estimator: Any, level: Level) -> None:
    """`get_params`, `set_params` and `clone` fit together."""
    before = estimator.get_params(deep=False)
    copied = clone(estimator).get_params(deep=False)
    require(
        {name: repr(value) for name, value in before.items()}
        == {name: repr(value) for name, value in copied.items()},
        f"a clone must have the same parameters. Got {copied}, expected {before}.",
    )
    for name, value in before.items():
        other = object()
        returned = estimator.set_params(**{name: other})
        require(returned is estimator, "set_params must return the estimator itself.")
        require(
            estimator.get_params(deep=False)[name] is other,
            f"get_params must return what set_params set for {name!r}.",
        )
        estimator.set_params(**{name: value})
    require_error(
        ValueError,
        lambda: estimator.set_params(no_such_parameter=1),
        "set_params must raise ValueError for a parameter that is not there.",
    )


def check_use_before_fit_raises(estimator: Any, level: Level) -> None:
    """Before `fit` there is nothing to predict with and nothing to read."""
    data = sample(level)
    uses = {"predict": data.graphs, "predict_proba": data.graphs, "formula": 0}
    for name, argument in uses.items():
        method = getattr(estimator, name, None)
        if method is not None:
            require_error(
                NotFittedError,
                partial(method, argument),
                f"{name} must raise NotFittedError before fit.",
            )


def check_fit_returns_self(estimator: Any, level: Level) -> None:
    """``fit(...)`` can be followed by ``.predict(...)``."""
    data = sample(level)
    returned = estimator.fit(data.graphs, data.y)
    require(
        returned is estimator,
        f"fit must return the estimator itself. Got {type(returned).__name__}.",
    )


def check_fitted_attributes_end_in_underscore(estimator: Any, level: Level) -> None:
    """`fit` leaves the parameters alone; what it learns ends in an underscore."""
    data = sample(level)
    before = dict(vars(estimator))
    estimator.fit(data.graphs, data.y)
    after = vars(estimator)
    for name, value in before.items():
        require(after.get(name) is value, f"fit must not change the parameter {name!r}.")
    learned = set(after) - set(before)
    bad = sorted(name for name in learned if not name.endswith("_") and not name.startswith("_"))
    require(not bad, f"attributes set by fit must end in an underscore. Got {bad}.")
    has_classes = "classes_" in learned or predicts_numbers(estimator)
    require(has_classes, "fit must set classes_.")
