"""What the models must beat: the majority or mean, trees on counts, and graph kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gnn2logic.experiments.folds import Labelled
from gnn2logic.graphs import GraphBatch

__all__ = [
    "LearnedBaseline",
    "count_features",
    "learn_baseline",
    "optimal_assignment_kernel",
    "wl_counts",
    "wl_kernel",
]

Array = npt.NDArray[Any]
# Fits on some rows and returns the classes of other rows, and a score for every class.
Learner = Callable[[Array, Array, Array], tuple[Array, Array]]

_ALPHAS = (0.02, 0.01, 0.005, 0.002, 0.0)
_ROUNDS = (1, 2, 3, 5)
_COSTS = (1.0, 10.0, 100.0)
_LEAF_SIZES = (1, 5)
_N_TREES = 200
_MAX_DEGREE = 12


@dataclass(frozen=True)
class LearnedBaseline:
    """What a baseline says about the test part, and what it took.

    Parameters
    ----------
    predictions : array
    scores : array
        A column for each class, in order; the higher, the more likely. Of numbers these themselves.
    tuned : dict
    fit_seconds, tune_seconds : float
    """

    predictions: Array
    scores: Array
    tuned: dict[str, Any]
    fit_seconds: float
    tune_seconds: float


def learn_baseline(
    name: str, train: Labelled, test: GraphBatch, splits: list[Any], seed: int
) -> LearnedBaseline:
    """Tune a baseline on inner splits, fit it to the training part and predict the test part.

    Of numbers to predict (floats) it learns the mean or a tree or forest of numbers.
    """
    y = train.y
    # Features and kernels look at one graph, or two, at a time, and never at labels.
    both = GraphBatch.concat([train.graphs, test])
    started = time.process_time()
    is_number = y.dtype.kind == "f"
    learners = _number_learners(name, both, y, seed) if is_number else _learners(name, both, seed)
    right = np.zeros(len(learners))
    if len(learners) > 1:
        for learned, held_out in splits:
            for number, (_, learner) in enumerate(learners):
                told, _ = learner(learned, y[learned], held_out)
                truth = y[held_out]
                right[number] += (
                    -np.mean((told - truth) ** 2) if is_number else np.mean(told == truth)
                )
    tuned, learner = learners[int(np.argmax(right))]
    tune_seconds = time.process_time() - started
    started = time.process_time()
    rows = np.arange(both.n_graphs)
    predictions, scores = learner(rows[: len(y)], y, rows[len(y) :])
    fit_seconds = time.process_time() - started
    return LearnedBaseline(predictions, scores, tuned, fit_seconds, tune_seconds)


def _learners(name: str, graphs: GraphBatch, seed: int) -> list[tuple[dict[str, Any], Learner]]:
    if name == "Majority":
        nothing = np.zeros((graphs.n_graphs, 1))
        return [({}, partial(_on_features, nothing, DummyClassifier(strategy="most_frequent")))]
    if name in ("Counts tree", "Forest"):
        features = count_features(graphs)
        models: list[tuple[dict[str, Any], Any]] = (
            [
                ({"ccp_alpha": alpha}, DecisionTreeClassifier(ccp_alpha=alpha, random_state=seed))
                for alpha in _ALPHAS
            ]
            if name == "Counts tree"
            else [
                (
                    {"min_samples_leaf": leaf},
                    RandomForestClassifier(_N_TREES, min_samples_leaf=leaf, random_state=seed),
                )
                for leaf in _LEAF_SIZES
            ]
        )
        return [(tuned, partial(_on_features, features, model)) for tuned, model in models]
    kernel_of = {"WL kernel": wl_kernel, "WL-OA": optimal_assignment_kernel}[name]
    counts = wl_counts(graphs, max(_ROUNDS))
    kernels = {rounds: kernel_of(counts[: rounds + 1]) for rounds in _ROUNDS}
    return [
        ({"rounds": rounds, "C": cost}, partial(_on_kernel, kernels[rounds], cost))
        for rounds in _ROUNDS
        for cost in _COSTS
    ]


def _number_learners(
    name: str, graphs: GraphBatch, y: Array, seed: int
) -> list[tuple[dict[str, Any], Learner]]:
    models: dict[str, list[tuple[dict[str, Any], Any]]] = {
        "Mean": [({}, DummyRegressor())],
        "Counts tree": [
            (
                {"ccp_alpha": alpha},
                # Shares of the variance: what a number is measured in makes no difference.
                DecisionTreeRegressor(ccp_alpha=alpha * np.var(y), random_state=seed),
            )
            for alpha in _ALPHAS
        ],
        "Forest": [
            (
                {"min_samples_leaf": leaf},
                RandomForestRegressor(_N_TREES, min_samples_leaf=leaf, random_state=seed),
            )
            for leaf in _LEAF_SIZES
        ],
    }
    features = count_features(graphs)
    return [
        (tuned, partial(_numbers_on_features, features, model)) for tuned, model in models[name]
    ]


def _numbers_on_features(
    features: Array, model: Any, train: Array, y: Array, test: Array
) -> tuple[Array, Array]:
    numbers = model.fit(features[train], y).predict(features[test])
    return numbers, numbers[:, None]


def _on_features(
    features: Array, model: Any, train: Array, y: Array, test: Array
) -> tuple[Array, Array]:
    model.fit(features[train], y)
    return model.predict(features[test]), model.predict_proba(features[test])


def _on_kernel(
    kernel: Array, cost: float, train: Array, y: Array, test: Array
) -> tuple[Array, Array]:
    model = SVC(C=cost, kernel="precomputed").fit(kernel[np.ix_(train, train)], y)
    rows = kernel[np.ix_(test, train)]
    margins = model.decision_function(rows)
    scores = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
    return model.predict(rows), scores


def count_features(graphs: GraphBatch) -> npt.NDArray[np.int64]:
    """Return for each graph the number of nodes, of nodes with each predicate and each degree.

    Degrees above 12 are counted together.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> path = gl.from_edges([(0, 1), (1, 2)], 3).symmetrize()
    >>> count_features(path)[0, :4].tolist()
    [3, 0, 2, 1]
    """
    degrees = np.asarray(graphs.adjacency.sum(axis=1)).reshape(-1)
    by_degree = np.eye(_MAX_DEGREE + 2, dtype=np.int64)[np.minimum(degrees, _MAX_DEGREE + 1)]
    nodes = np.ones((graphs.n_nodes, 1), dtype=np.int64)
    table = np.hstack([nodes, graphs.predicates.astype(np.int64), by_degree])
    return np.asarray(np.add.reduceat(table, graphs.ptr[:-1], axis=0))


IntArray = npt.NDArray[np.int64]


def wl_counts(graphs: GraphBatch, n_rounds: int) -> list[sp.csr_matrix]:
    """Return, for round 0 to `n_rounds`, how often each colour occurs in each graph.

    The colour of a node in round 0 is the set of its predicates; in the next rounds it is its
    colour together with the multiset of its neighbours' colours.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> path = gl.from_edges([(0, 1), (1, 2)], 3).symmetrize()
    >>> [counts.toarray().tolist() for counts in wl_counts(path, 1)]
    [[[3]], [[2, 1]]]
    """
    _, colours = np.unique(graphs.predicates, axis=0, return_inverse=True)
    colours = colours.reshape(-1).astype(np.int64)
    adjacency = sp.csr_matrix(graphs.adjacency)
    counts = [_histogram(graphs, colours)]
    for _ in range(n_rounds):
        colours = _refined(colours, adjacency)
        counts.append(_histogram(graphs, colours))
    return counts


def _refined(colours: IntArray, adjacency: sp.csr_matrix) -> IntArray:
    ends = adjacency.indptr.tolist()
    around = colours[adjacency.indices]
    known: dict[tuple[int, bytes], int] = {}
    new = np.empty_like(colours)
    for node, colour in enumerate(colours.tolist()):
        signature = colour, np.sort(around[ends[node] : ends[node + 1]]).tobytes()
        new[node] = known.setdefault(signature, len(known))
    return new


def _histogram(graphs: GraphBatch, colours: IntArray) -> sp.csr_matrix:
    ones = np.ones(len(colours), dtype=np.int64)
    shape = graphs.n_graphs, int(colours.max()) + 1
    return sp.csr_matrix((ones, (graphs.graph_index, colours)), shape=shape)


def wl_kernel(counts: list[sp.csr_matrix]) -> npt.NDArray[np.float64]:
    """Return the cosine similarity of all graphs, given the counts of their colours."""
    return _cosine(sp.hstack(counts, format="csr").astype(np.float64))


def optimal_assignment_kernel(counts: list[sp.csr_matrix]) -> npt.NDArray[np.float64]:
    """Return how much the colours of two graphs overlap, scaled so that each is 1 with itself.

    Two graphs that have a colour 3 and 5 times have 3 of it in common. This is what the best
    one-to-one assignment of their nodes gives (WL-OA).

    Examples
    --------
    >>> optimal_assignment_kernel([sp.csr_matrix([[4, 0], [1, 3]])]).tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    return _cosine(_unary(sp.hstack(counts, format="csr")))


def _unary(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Return a table of 0 and 1 whose products are sums of minima: n is n ones, then zeros."""
    table = sp.csc_matrix(counts)
    table.sort_indices()
    most = np.zeros(table.shape[1], dtype=np.int64)
    owners = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
    values = table.data.astype(np.int64)
    np.maximum.at(most, owners, values)
    first = np.concatenate([[0], np.cumsum(most)])
    # The ones of an entry are side by side, from the first column of its colour on.
    ends = np.cumsum(values)
    steps = np.arange(ends[-1]) - np.repeat(ends - values, values)
    columns = np.repeat(first[owners], values) + steps
    rows = np.repeat(table.indices, values)
    shape = table.shape[0], int(first[-1])
    return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def _cosine(table: sp.csr_matrix) -> npt.NDArray[np.float64]:
    products = (table @ table.T).toarray()
    length = np.sqrt(np.diag(products))
    return np.asarray(products / np.outer(length, length))
