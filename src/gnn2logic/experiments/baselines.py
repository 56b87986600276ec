"""What the models must beat: the majority, a tree on counts, and a graph kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from gnn2logic.experiments.folds import Fold, inner_splits, stream
from gnn2logic.experiments.plans import ExperimentPlan, RunSettings
from gnn2logic.graphs import GraphBatch

__all__ = ["LearnedBaseline", "count_features", "learn_baseline", "wl_counts", "wl_kernel"]

Array = npt.NDArray[Any]
# Fits on some rows of the training part and returns the classes of other rows.
Learner = Callable[[Array, Array, Array], Array]

_ALPHAS = (0.02, 0.01, 0.005, 0.002, 0.0)
_ROUNDS = (1, 2, 3, 5)
_COSTS = (1.0, 10.0, 100.0)
_MAX_DEGREE = 12


@dataclass(frozen=True)
class LearnedBaseline:
    """The predictions of a baseline on the test part, and what they took."""

    predictions: Array
    tuned: dict[str, Any]
    fit_seconds: float
    tune_seconds: float


def learn_baseline(
    name: str, fold: Fold, plan: ExperimentPlan, run: RunSettings
) -> LearnedBaseline:
    """Tune a baseline on inner splits, fit it to the training part and predict the test part."""
    seed = stream(run, fold.dataset, fold.number, name)
    y = fold.train.y
    # Features and kernels look at one graph, or two, at a time, and never at labels.
    both = GraphBatch.concat([fold.train.graphs, fold.test.graphs])
    started = time.process_time()
    learners = _learners(name, both, seed)
    splits = inner_splits(y, plan, stream(run, fold.dataset, fold.number, "inner splits"))
    scores = np.zeros(len(learners))
    if len(learners) > 1:
        for learned, held_out in splits:
            for number, (_, learner) in enumerate(learners):
                scores[number] += np.mean(learner(learned, y[learned], held_out) == y[held_out])
    tuned, learner = learners[int(np.argmax(scores))]
    tune_seconds = time.process_time() - started
    started = time.process_time()
    rows = np.arange(both.n_graphs)
    predictions = learner(rows[: len(y)], y, rows[len(y) :])
    return LearnedBaseline(predictions, tuned, time.process_time() - started, tune_seconds)


def _learners(name: str, graphs: GraphBatch, seed: int) -> list[tuple[dict[str, Any], Learner]]:
    if name == "Majority":
        nothing = np.zeros((graphs.n_graphs, 1))
        return [({}, partial(_on_features, nothing, DummyClassifier(strategy="most_frequent")))]
    if name == "Counts tree":
        features = count_features(graphs)
        return [
            (
                {"ccp_alpha": alpha},
                partial(
                    _on_features,
                    features,
                    DecisionTreeClassifier(ccp_alpha=alpha, random_state=seed),
                ),
            )
            for alpha in _ALPHAS
        ]
    counts = wl_counts(graphs, max(_ROUNDS))
    kernels = {rounds: wl_kernel(counts[: rounds + 1]) for rounds in _ROUNDS}
    return [
        ({"rounds": rounds, "C": cost}, partial(_on_kernel, kernels[rounds], cost))
        for rounds in _ROUNDS
        for cost in _COSTS
    ]


def _on_features(features: Array, model: Any, train: Array, y: Array, test: Array) -> Array:
    return np.asarray(model.fit(features[train], y).predict(features[test]))


def _on_kernel(kernel: Array, cost: float, train: Array, y: Array, test: Array) -> Array:
    model = SVC(C=cost, kernel="precomputed").fit(kernel[np.ix_(train, train)], y)
    return np.asarray(model.predict(kernel[np.ix_(test, train)]))


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
    together = sp.hstack(counts, format="csr").astype(np.float64)
    products = (together @ together.T).toarray()
    length = np.sqrt(np.diag(products))
    return np.asarray(products / np.outer(length, length))
