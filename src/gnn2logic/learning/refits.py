"""`stability`: fit again on other draws of the graphs, and see whether the same rule comes back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from gnn2logic._labels import check_labels, check_mask
from gnn2logic._progress import Progress
from gnn2logic._validation import check_flag, check_whole, seed_from
from gnn2logic.exceptions import LabelError, ParameterError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning.base import IDTEstimator
from gnn2logic.learning.estimators import IDTClassifier
from gnn2logic.learning.rule_groups import condition_counts, grouped_rules
from gnn2logic.learning.stable_rules import Stability
from gnn2logic.logic.syntax import FALSE, Formula
from gnn2logic.storage import ShardStore

__all__ = ["stability"]


def stability(
    estimator: Any,
    graphs: object,
    y: object = None,
    *,
    n_fits: int = 10,
    bootstrap: bool = True,
    mask: object = None,
    max_nodes: int = 6,
    random_state: object = None,
    verbose: int | None = None,
) -> Stability:
    """Fit an estimator several times and count how often the same rule comes back.

    Would other graphs, or another seed, have given this rule? Every fit sees a bootstrap of the
    graphs, as many as there are, drawn with replacement, and has its own ``random_state``. A
    bootstrap holds about 63 % of the graphs, some of them several times, so it is a somewhat harder
    test than new graphs would be. A graph that was drawn k times has weight k.

    What "the same" means is told apart in the result: rules that say the same about all given
    graphs; rules that were proved equal on all graphs with few nodes; and the very same formula.

    Parameters
    ----------
    estimator : IDTClassifier, IDTNodeClassifier, IDTDistiller, or one like them
        Copies of it are fitted, never itself. It needs ``fit``, ``predict`` and ``formula(label)``.
        If it is fitted already, the result says how often its rule came back.
    graphs : anything that `gnn2logic.as_batch` reads, or ShardStore
    y : array, optional
        One label for each graph, or for each node in batch order. A store may have labels.
    n_fits : int
        The number of fits, at least 2.
    bootstrap : bool
        False: all fits see all graphs, and only ``random_state`` differs.
    mask : array of bool, optional
        For nodes: those that have labels. What the rules say is compared at all nodes.
    max_nodes : int
        Different formulas that say the same about all given graphs are compared on all graphs with
        at most so many nodes, or fewer if there are more than 50000 of those. A proof counts only
        if its bound reaches every threshold.
    random_state : int, RandomState, Generator or None
        All draws and all seeds of fits follow from it. The first fits are the same, however
        many there are.
    verbose : int, optional
        1 shows progress, 0 shows nothing.

    Returns
    -------
    Stability

    Notes
    -----
    Graphs are drawn from each class apart, so that no class is lost. For nodes, whole graphs are
    drawn; from a single graph, nodes are drawn from each class. Those are not independent: what is
    left out of the draw has neighbours that were learned from.

    Warnings of the fits are shown once, with the number of fits that gave them.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(200, sizes=8, random_state=0)
    >>> labels = gl.parse("1 U0 > 3").evaluate(graphs)
    >>> model = gl.IDTClassifier(n_layers=0)
    >>> result = gl.stability(model, graphs, labels, n_fits=3, random_state=0)
    >>> print(result.summary)
    Stable: the most frequent rule came back in all 3 fits.
    >>> print(result.rules[0].formulas[True], result.rules[0].n_identical, result.accuracy_mean)
    1 U0 > 3 3 1.0
    """
    _check_estimator(estimator)
    check_whole("n_fits", n_fits, least=2)
    check_whole("max_nodes", max_nodes, least=1)
    check_flag("bootstrap", bootstrap)
    seeds = _seed_names(estimator)
    if not bootstrap and not seeds:
        raise ParameterError(
            "bootstrap=False needs an estimator with a random_state: nothing else differs between "
            f"the fits. Got {type(estimator).__name__} without one; leave bootstrap out."
        )
    if (bootstrap or mask is not None) and not has_fit_parameter(estimator, "sample_weight"):
        raise UnsupportedInputError(
            "estimator must have a fit that takes sample_weight, by which graphs are drawn. "
            f"Got {type(estimator).__name__} without it; bootstrap=False only changes random_state."
        )
    rows = _rows(estimator, graphs, y, mask)
    refits = _Refits(estimator, rows, seeds, seed_from(random_state))
    answers: list[_FitAnswers] = []
    accuracies: list[float] = []
    heard: list[list[warnings.WarningMessage]] = []
    given = _given_answers(estimator, rows)
    with Progress("stability", n_fits, verbose=verbose) as progress:
        for number in range(n_fits):
            weights = refits.weights(number) if bootstrap else rows.known.astype(float)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answers.append(_answers(refits.fit(number, weights), rows))
            heard.append(caught)
            accuracies.append(_accuracy(rows, answers[-1], rows.known & (weights == 0)))
            progress.step("fit")
    _pass_on(heard)
    conditions, counts, predicates = condition_counts(answer.formulas for answer in answers)
    every = [*answers, *given]
    labels = list(dict.fromkeys(label for answer in every for label in answer.formulas))
    codes = _codes([answer.predicted for answer in every])
    return Stability(
        rules=grouped_rules(
            [{label: one.formulas.get(label, FALSE) for label in labels} for one in every],
            codes,
            accuracies,
            n_fits=n_fits,
            max_nodes=max_nodes,
            graph_class=rows.graph_class,
        ),
        n_fits=n_fits,
        agreement=_agreement(codes[:n_fits]),
        accuracies=tuple(accuracies),
        conditions=conditions,
        counts=counts,
        predicates=predicates,
        drawn=rows.drawn if bootstrap else None,
        level=rows.level,
        n_rows=len(rows.known),
        graph_class=rows.graph_class,
    )


# What was given ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """The graphs, and the labels of what is classified.

    Parameters
    ----------
    graphs, y : object
        As they were given, but readable more than once.
    labels : array
        Those of the known rows.
    known : array of bool
        The rows that have a label.
    unit : array of int
        What every row is drawn with: itself, or its graph.
    strata : array of int
        Of every unit: those of one number are drawn from each other; -1 is never drawn.
    """

    graphs: object
    y: object
    level: Literal["graph", "node"]
    labels: npt.NDArray[Any]
    known: npt.NDArray[np.bool_]
    unit: npt.NDArray[np.int64]
    strata: npt.NDArray[np.int64]
    drawn: Literal["graphs", "nodes"]
    graph_class: str

    @property
    def classes(self) -> npt.NDArray[Any]:
        return np.unique(self.labels)


def _rows(estimator: Any, graphs: object, y: object, mask: object) -> _Rows:
    if isinstance(estimator, RegressorMixin):
        raise UnsupportedInputError(
            "stability compares the formulas of classes. Got an estimator that predicts numbers, "
            f"{type(estimator).__name__}; rules_ says how such rules do on held-out data."
        )
    given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
    reader = estimator if isinstance(estimator, IDTEstimator) else IDTClassifier()
    batches = list(_batches(reader._encode(given)[1]))
    sizes = np.concatenate([sizes for sizes, _, _ in batches])
    symmetric = all(symmetric for _, symmetric, _ in batches)
    looped = any(looped for _, _, looped in batches)
    plain = "looped" if looped else "simple"
    graph_class = plain if symmetric else "directed-looped" if looped else "directed"
    if y is None and isinstance(given, ShardStore):
        y = given.y
    level = _level(estimator, y, len(sizes), int(sizes.sum()))
    if level == "graph":
        if mask is not None:
            raise ParameterError(
                "mask chooses nodes. Got one with an estimator that classifies graphs; leave it "
                "out, and give the graphs that have labels."
            )
        labels = check_labels(y, len(sizes), of="graph")
        units = np.arange(len(sizes))
        known, strata = np.ones(len(sizes), dtype=bool), _class_codes(labels)
        return _Rows(given, y, level, labels, known, units, strata, "graphs", graph_class)
    known = check_mask(mask, int(sizes.sum()))
    labels = check_labels(y, len(known), of="node", among=known)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    with_labels = np.bincount(owner[known], minlength=len(sizes)) > 0
    if np.count_nonzero(with_labels) > 1:
        strata = np.where(with_labels, 0, -1)
        return _Rows(given, y, level, labels, known, owner, strata, "graphs", graph_class)
    strata = np.full(len(known), -1)
    strata[known] = _class_codes(labels)
    units = np.arange(len(known))
    return _Rows(given, y, level, labels, known, units, strata, "nodes", graph_class)


def _batches(
    graphs: GraphBatch | ShardStore,
) -> Iterator[tuple[npt.NDArray[Any], bool, bool]]:
    """Yield the sizes of graphs, whether they are undirected, and whether they have loops."""
    for batch in [graphs] if isinstance(graphs, GraphBatch) else graphs:
        yield batch.sizes, batch.is_symmetric, bool(batch.adjacency.diagonal().any())


def _class_codes(labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    codes: npt.NDArray[np.int64] = np.unique(labels, return_inverse=True)[1]
    return codes


def _level(estimator: Any, y: object, n_graphs: int, n_nodes: int) -> Literal["graph", "node"]:
    """Return what is classified: what the estimator says, or else by the number of labels."""
    if isinstance(estimator, IDTEstimator):
        return estimator._level
    try:
        count = len(y)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count in (n_graphs, n_nodes):
        return "graph" if count == n_graphs else "node"
    raise LabelError(
        f"y must hold one label for each of the {n_graphs} graphs or {n_nodes} nodes. "
        f"Got {'no list of labels' if count < 0 else f'{count} labels'} instead."
    )


def _check_estimator(estimator: Any) -> None:
    needed = ("fit", "predict", "formula", "get_params", "set_params")
    missing = [name for name in needed if not hasattr(estimator, name)]
    if isinstance(estimator, type):
        raise UnsupportedInputError(
            f"estimator must be an object. Got the class {estimator.__name__} instead; write "
            f"{estimator.__name__}()."
        )
    if missing:
        raise UnsupportedInputError(
            "estimator must be one of scikit-learn's manner with a formula for each class, such as "
            f"IDTClassifier. Got {type(estimator).__name__} without {missing[0]!r} instead."
        )


# Fits ----------------------------------------------------------------------------------------


def _seed_names(estimator: Any) -> list[str]:
    """Return the parameters that are seeds, also those of estimators inside of it."""
    parameters = estimator.get_params()
    seeds = [name for name in parameters if name.split("__")[-1] == "random_state"]
    # A distiller without an IDT makes one when it is asked to set a parameter of it.
    return seeds or ["idt__random_state"] * ("idt" in parameters)


@dataclass(frozen=True)
class _Refits:
    """The fits by their numbers; each has a random stream of its own."""

    estimator: Any
    rows: _Rows
    seeds: list[str]
    seed: int

    def weights(self, number: int) -> npt.NDArray[np.float64]:
        """Return how often every row was drawn."""
        generator = np.random.default_rng([self.seed, number, 1])
        times = np.zeros(len(self.rows.strata))
        for stratum in range(int(self.rows.strata.max()) + 1):
            members = np.flatnonzero(self.rows.strata == stratum)
            np.add.at(times, generator.choice(members, len(members)), 1)
        return np.where(self.rows.known, times[self.rows.unit], 0.0)

    def fit(self, number: int, weights: npt.NDArray[np.float64]) -> Any:
        """Return a fitted copy of the estimator."""
        copied = clone(self.estimator)
        generator = np.random.default_rng([self.seed, number, 0])
        copied.set_params(**{name: int(generator.integers(2**31)) for name in self.seeds})
        options: dict[str, Any] = {}
        if (weights != 1).any():
            options["sample_weight"] = weights
        if has_fit_parameter(copied, "classes"):
            # A draw of whole graphs may have no node of some class.
            options["classes"] = self.rows.classes.tolist()
        return copied.fit(self.rows.graphs, self.rows.y, **options)


@dataclass(frozen=True)
class _FitAnswers:
    """The formula of every class, by label, and the predicted classes of all rows."""

    formulas: dict[Any, Formula]
    predicted: npt.NDArray[Any]


def _answers(fitted: Any, rows: _Rows) -> _FitAnswers:
    known = np.asarray(getattr(fitted, "classes_", rows.classes)).tolist()
    every = dict.fromkeys([*rows.classes.tolist(), *known])
    # A class that a fit does not know is nowhere.
    formulas = {label: fitted.formula(label) if label in known else FALSE for label in every}
    return _FitAnswers(formulas, np.asarray(fitted.predict(rows.graphs)))


def _given_answers(estimator: Any, rows: _Rows) -> list[_FitAnswers]:
    """Return what the estimator says as it was given; nothing if it is not fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return []
    return [_answers(estimator, rows)]


def _pass_on(heard: list[list[warnings.WarningMessage]]) -> None:
    """Warn once about what several fits have warned of."""
    fits: dict[type[Warning], list[str]] = {}
    for caught in heard:
        first = {warning.category: str(warning.message) for warning in reversed(caught)}
        for category, message in first.items():
            fits.setdefault(category, []).append(message)
    for category, messages in fits.items():
        warnings.warn(
            f"{len(messages)} of {len(heard)} fits gave this warning, here the first: "
            f"{messages[0]}",
            category,
            stacklevel=3,
        )


# Figures -------------------------------------------------------------------------------------


def _accuracy(rows: _Rows, answers: _FitAnswers, left_out: npt.NDArray[np.bool_]) -> float:
    if not left_out.any():
        return float("nan")
    return float(np.mean(answers.predicted[left_out] == rows.labels[left_out[rows.known]]))


def _codes(predictions: list[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """Return predictions of all fits as numbers, one row for each fit."""
    together = np.stack(predictions)
    return np.unique(together, return_inverse=True)[1].reshape(together.shape).astype(np.int64)


def _agreement(codes: npt.NDArray[np.int64]) -> float:
    """Return the share of columns where two rows are equal, in the mean over all pairs of rows."""
    n = len(codes)
    pairs = 0
    for code in range(int(codes.max()) + 1):
        count = np.count_nonzero(codes == code, axis=0)
        pairs += int((count * (count - 1)).sum())
    return float(pairs / (n * (n - 1) * codes.shape[1]))
