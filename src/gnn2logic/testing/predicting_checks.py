"""Checks of what a fitted estimator says about graphs of every kind."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from gnn2logic.graphs import GraphBatch, to_networkx, to_pyg
from gnn2logic.testing.requirements import (
    Level,
    require,
    require_same,
    require_same_model,
    rows_of,
    sample,
)


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


def check_formulas_agree_with_predictions(estimator: Any, level: Level) -> None:
    """Formulas are true exactly where their class is predicted."""
    data = sample(level)
    estimator.fit(data.graphs, data.y)
    # Graphs like those at fit, and larger ones.
    for seed, largest in ((0, 8), (1, 8), (2, 25)):
        fresh = sample(level, seed=seed, largest=largest)
        predicted = estimator.predict(fresh.graphs)
        for label in estimator.classes_.tolist():
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
