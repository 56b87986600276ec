"""The checks pass good estimators and catch broken ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gnn2logic import (
    GraphBatch,
    IDTClassifier,
    IDTNodeClassifier,
    IDTNodeRegressor,
    IDTRegressor,
    parse,
)
from gnn2logic.exceptions import ParameterError
from gnn2logic.logic import Formula
from gnn2logic.testing import check_graph_estimator, graph_estimator_checks

GRAPH = IDTClassifier(1, algorithm="layers", width=2, max_depth=3)
NODE = IDTNodeClassifier(1, algorithm="layers", width=2, max_depth=2, ccp_alpha=0.001)


# Models as users get them, with the fewest steps.
SEARCHED_GRAPH = IDTClassifier(0, n_jobs=1)
SEARCHED_NODE = IDTNodeClassifier(0, n_jobs=1)


@pytest.mark.parametrize(
    ("name", "check"), [*graph_estimator_checks(GRAPH), *graph_estimator_checks(SEARCHED_GRAPH)]
)
def test_graph_classifier(name: str, check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(
    ("name", "check"),
    [
        *graph_estimator_checks(NODE, level="node"),
        *graph_estimator_checks(SEARCHED_NODE, level="node"),
    ],
)
def test_node_classifier(name: str, check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(
    ("name", "check"),
    [
        *graph_estimator_checks(IDTRegressor(0, n_jobs=1)),
        *graph_estimator_checks(IDTNodeRegressor(0, n_jobs=1, loss="absolute"), level="node"),
    ],
)
def test_regressors(name: str, check: Callable[[], None]) -> None:
    check()


def test_the_estimator_is_left_alone() -> None:
    estimator = IDTClassifier(0, algorithm="layers", max_depth=2, ccp_alpha=0.0)
    before = dict(vars(estimator))
    check_graph_estimator(estimator)
    assert vars(estimator) == before


def test_level_must_be_known() -> None:
    with pytest.raises(ParameterError, match="level must be one of 'graph', 'node'. Got 'edge'"):
        check_graph_estimator(GRAPH, level="edge")  # type: ignore[arg-type]


def test_checks_of_what_is_not_there_are_left_out() -> None:
    names = [name for name, _ in graph_estimator_checks(GRAPH)]
    assert len(names) == len(set(names))
    assert "check_formulas_agree_with_predictions" in names
    silent = type("Silent", (), {"predict": None})()
    assert "check_formulas_agree_with_predictions" not in [
        name for name, _ in graph_estimator_checks(silent)
    ]


def test_checks_do_not_need_asserts() -> None:
    """They also fail where Python switches assertions off."""
    code = (
        "from gnn2logic import IDTClassifier\n"
        "from gnn2logic.testing import graph_estimator_checks\n"
        "class Loud(IDTClassifier):\n"
        "    def score(self, graphs, y, sample_weight=None): return 2.0\n"
        "checks = dict(graph_estimator_checks(Loud(0)))\n"
        "try: checks['check_score_is_accuracy']()\n"
        "except AssertionError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("check_score_is_accuracy of Loud: score must be the accuracy")


# Broken estimators: each fails the check that is named with it -------------------------------


class Plain(IDTClassifier):
    """Nothing is broken yet."""

    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        return super().fit(graphs, y, sample_weight=sample_weight)


class ChangesParameter(Plain):
    def __init__(
        self,
        n_layers: Any = 0,
        *,
        algorithm: str = "layers",
        max_depth: Any = 2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_layers, algorithm=algorithm, max_depth=max_depth or 2, random_state=random_state
        )
        self.max_depth = [max_depth]  # type: ignore[assignment]


class LearnsInConstructor(Plain):
    def __init__(
        self,
        n_layers: Any = 0,
        *,
        algorithm: str = "layers",
        max_depth: Any = 2,
        random_state: Any = None,
    ) -> None:
        self.n_layers, self.max_depth, self.random_state = n_layers, max_depth, random_state
        self.algorithm = algorithm
        self.classes_ = np.array([])


class ForgetsParameter(Plain):
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = super().get_params(deep)
        return params | {"width": 16}


class GuessesBeforeFit(Plain):
    def predict(self, graphs: Any) -> Any:
        return super().predict(graphs) if hasattr(self, "model_") else np.zeros(40)


class ReturnsNothing(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        super().fit(graphs, y, sample_weight=sample_weight)


class PlainAttribute(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        self.n_seen = len(y) if y is not None else 0
        return super().fit(graphs, y, sample_weight=sample_weight)


class SetsParameterInFit(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        self.width = self.width + 1
        return super().fit(graphs, y, sample_weight=sample_weight)


class UsesGlobalRandomness(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        return super().fit(graphs, y, sample_weight=np.random.rand(len(y)) + 0.01)


class Remembers(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        old = getattr(self, "classes_", None)
        super().fit(graphs, y, sample_weight=sample_weight)
        self.classes_ = self.classes_ if old is None else old[: len(self.classes_)]
        return self


class WritesToLabels(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        super().fit(graphs, y, sample_weight=sample_weight)
        np.asarray(y)[:] = np.asarray(y)[::-1].copy()
        return self


class WritesToGraphs(Plain):
    def predict(self, graphs: Any) -> Any:
        found = super().predict(graphs)
        if isinstance(graphs, list) and isinstance(graphs[0], tuple):
            graphs[0][1][:] = 1 - graphs[0][1]
        return found


class ReversesClasses(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        super().fit(graphs, y, sample_weight=sample_weight)
        self.classes_ = self.classes_[::-1]
        return self


class NumbersOnly(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        labels = None if y is None else np.asarray(y).astype(int)
        return super().fit(graphs, labels, sample_weight=sample_weight)


class CutsLabels(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        labels = y if y is None or len(y) < 40 else y[:40]
        return super().fit(graphs, labels, sample_weight=sample_weight)


class OnesAreTwos(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        weights = None if sample_weight is None else sample_weight * (1 + 9 * (y == 0))
        return super().fit(graphs, y, sample_weight=weights)


class IgnoresWeights(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        return super().fit(graphs, y)


class SeedsEverybody(Plain):
    def fit(self, graphs: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> Any:
        np.random.seed(0)
        return super().fit(graphs, y, sample_weight=sample_weight)


class LooksAtTheFirstNode(Plain):
    def predict(self, graphs: Any) -> Any:
        found = super().predict(graphs)
        if not isinstance(graphs, GraphBatch):
            return found
        return np.where(graphs.predicates[graphs.ptr[:-1], 0], found, self.classes_[0])


class LiesAboutLargeGraphs(Plain):
    def formula(self, label: Any) -> Formula:
        large = parse("1 true > 11")
        formula = super().formula(label)
        return (formula & ~large) | (~formula & large)


class LooksAtNeighbours(Plain):
    def predict(self, graphs: Any) -> Any:
        found = super().predict(graphs)
        return np.where(np.arange(len(found)) == 0, self.classes_[0], found)


class LooksAtBatch(Plain):
    def predict(self, graphs: Any) -> Any:
        found = super().predict(graphs)
        return found if len(found) > 1 else self.classes_[:1]


class DoublesProbabilities(Plain):
    def predict_proba(self, graphs: Any) -> Any:
        return 2 * super().predict_proba(graphs)


class ScoresErrors(Plain):
    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        return 1.0 - super().score(graphs, y, sample_weight)


class LiesInFormulas(Plain):
    def formula(self, label: Any) -> Formula:
        return ~super().formula(label)


class LosesModelInPickle(Plain):
    def __getstate__(self) -> Any:
        return {name: value for name, value in vars(self).items() if name != "model_"}


class BatchesOnly(Plain):
    def predict(self, graphs: Any) -> Any:
        if isinstance(graphs, list) and not isinstance(graphs[0], tuple):
            raise TypeError("batches only")
        return super().predict(graphs)


@pytest.mark.parametrize(
    ("kind", "failing", "message"),
    [
        (ChangesParameter, "constructor_only_stores", "must store the parameter 'max_depth'"),
        (LearnsInConstructor, "constructor_only_stores", "Got the attributes ['classes_']"),
        (ForgetsParameter, "parameters_can_be_read", "what set_params set for 'width'"),
        (GuessesBeforeFit, "use_before_fit", "predict must raise NotFittedError"),
        (ReturnsNothing, "fit_returns_self", "must return the estimator itself. Got NoneType"),
        (PlainAttribute, "fitted_attributes", "must end in an underscore. Got ['n_seen']"),
        (SetsParameterInFit, "fitted_attributes", "must not change the parameter 'width'"),
        (UsesGlobalRandomness, "fit_is_deterministic", "must give the same model"),
        (Remembers, "refit_forgets", "must forget the first one. The classes differ"),
        (WritesToLabels, "inputs_are_not_modified", "fit must not modify y"),
        (WritesToGraphs, "inputs_are_not_modified", "predict must not modify the graphs"),
        (ReversesClasses, "classes_are_sorted", "sorted distinct labels. Got np.int64(5)"),
        (NumbersOnly, "string_labels", "there must be no error. Got ValueError"),
        (CutsLabels, "wrong_number_of_labels", "ValueError for 41 labels where 40 are needed"),
        (OnesAreTwos, "sample_weight_of_ones", "must change nothing"),
        (IgnoresWeights, "sample_weight_matters", "100 times the weight on one class"),
        (SeedsEverybody, "global_randomness", "must not touch the global random states"),
        (LooksAtTheFirstNode, "numbering_of_nodes", "with its nodes in another order"),
        (LiesAboutLargeGraphs, "formulas_agree", "must be true exactly where"),
        (LooksAtNeighbours, "order_of_graphs", "in another order"),
        (LooksAtBatch, "a_graph_alone", "must be predicted alone as it is among others"),
        (DoublesProbabilities, "probabilities", "have the sum 1"),
        (ScoresErrors, "score_is_accuracy", "score must be the accuracy"),
        (LiesInFormulas, "formulas_agree", "must be true exactly where"),
        (LosesModelInPickle, "pickle_round_trip", "NotFittedError"),
        (BatchesOnly, "list_of_batches", "Got TypeError: batches only"),
        (BatchesOnly, "networkx_graphs", "Got TypeError: batches only"),
    ],
)
def test_broken_estimators_are_caught(kind: Any, failing: str, message: str) -> None:
    estimator = kind(0, algorithm="layers", max_depth=2)
    (check,) = (
        own
        for name, own in graph_estimator_checks(estimator)
        if name.startswith(f"check_{failing}")
    )
    with pytest.raises(AssertionError) as caught:
        check()
    assert message in str(caught.value)
    assert f"of {kind.__name__}: " in str(caught.value)


def test_the_unbroken_base_of_the_broken_ones_passes() -> None:
    check_graph_estimator(clone(Plain(0, algorithm="layers", max_depth=2)))
