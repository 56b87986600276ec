"""What checks of estimators require, and small graphs with labels that a rule explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from gnn2logic.graphs import GraphBatch, random_graphs
from gnn2logic.logic import parse

__all__ = [
    "Level",
    "Sample",
    "classes_of",
    "gives_probabilities",
    "predicts_numbers",
    "require",
    "require_error",
    "require_same",
    "require_same_model",
    "rows_of",
    "sample",
]

Level = Literal["graph", "node"]

_RULES: dict[Level, tuple[str, str]] = {
    "graph": ("1 U1 > 1/2", "1 U0 > 2"),
    "node": ("U1 & A U0 > 0", "A true > 2"),
}


@dataclass(frozen=True)
class Sample:
    """Graphs and one label for each of them, or for each of their nodes.

    Parameters
    ----------
    graphs : GraphBatch
    y : array
    level : {"graph", "node"}
    """

    graphs: GraphBatch
    y: npt.NDArray[Any]
    level: Level

    def pairs(self) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Return every graph as an adjacency and a feature matrix, which can be written to."""
        return [
            (graph.adjacency.toarray(), graph.predicates.astype(np.int64)) for graph in self.graphs
        ]


def sample(level: Level, seed: int = 0, largest: int = 8) -> Sample:
    """Return 40 graphs of 1 to 8 nodes with three classes; every fifth label is wrong.

    Without errors a tree of two splits would know everything, and weights would change nothing.

    >>> sample("graph").graphs.n_graphs, sorted(set(sample("graph").y.tolist()))
    (40, [0, 1, 2])
    """
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[1], rng.integers(1, largest + 1, size=39)])
    graphs = random_graphs(40, sizes=sizes, density=0.4, random_state=rng)
    first, second = (parse(rule).evaluate(graphs, level=level) for rule in _RULES[level])
    y = np.where(first, 1, 2 * second).astype(np.int64)
    y[::5] = (y[::5] + 1) % 3
    return Sample(graphs, y, level)


def rows_of(graphs: GraphBatch, numbers: npt.NDArray[Any], level: Level) -> npt.NDArray[Any]:
    """Return the positions of the labels of some graphs, in the order of `numbers`."""
    if level == "graph":
        return numbers
    return np.concatenate([np.arange(graphs.ptr[n], graphs.ptr[n + 1]) for n in numbers])


def require(condition: bool, message: str) -> None:
    """Raise an AssertionError unless the condition holds, also where ``assert`` is switched off."""
    if not condition:
        raise AssertionError(message)


def require_same(expected: Any, got: Any, message: str) -> None:
    """Require two arrays to be equal; the message is followed by the first difference."""
    first, second = np.asarray(expected), np.asarray(got)
    require(
        first.shape == second.shape,
        f"{message} Got shape {second.shape}, expected {first.shape}.",
    )
    for index in np.argwhere(first != second)[:1]:
        at = tuple(index.tolist())
        require(False, f"{message} Got {second[at]!r} at {at}, expected {first[at]!r}.")


def gives_probabilities(estimator: Any) -> bool:
    """Whether an estimator has probabilities of classes to give."""
    return hasattr(estimator, "predict_proba") and not predicts_numbers(estimator)


def predicts_numbers(estimator: Any) -> bool:
    """Whether an estimator is a regressor by scikit-learn's mixin."""
    return isinstance(estimator, RegressorMixin)


def classes_of(estimator: Any) -> npt.NDArray[Any]:
    """Return the classes of a fitted estimator, or the numbers that it may say if they are few.

    Whoever adds up numbers has no list of them.
    """
    if predicts_numbers(estimator) and not hasattr(estimator, "classes_"):
        return np.array([])
    classes: npt.NDArray[Any] = estimator.classes_
    return classes


def require_same_model(first: Any, second: Any, data: Sample, message: str) -> None:
    """Require two fitted estimators to have equal classes, predictions and formulas."""
    require_same(classes_of(first), classes_of(second), f"{message} The classes differ.")
    expected, got = first.predict(data.graphs), second.predict(data.graphs)
    require_same(expected, got, f"{message} The predictions differ.")
    if gives_probabilities(first):
        expected, got = first.predict_proba(data.graphs), second.predict_proba(data.graphs)
        require_same(expected, got, f"{message} The probabilities differ.")
    if hasattr(first, "formula"):
        for label in classes_of(first).tolist():
            old, new = first.formula(label), second.formula(label)
            require(old == new, f"{message} The formulas of {label!r} differ: {old}; {new}.")


def require_error(
    error_type: type[BaseException], action: Callable[[], object], message: str
) -> None:
    """Require an action to raise an error of the given type."""
    try:
        action()
    except error_type:
        return
    except Exception as error:
        raise AssertionError(f"{message} Got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{message} Got no error.")
