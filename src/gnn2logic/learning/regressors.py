"""Rules that predict a number for every graph or node, as scikit-learn estimators."""

from __future__ import annotations

import os
from typing import Self

import numpy as np
from sklearn.base import RegressorMixin

from gnn2logic._labels import check_mask, check_numbers, check_weights
from gnn2logic._validation import check_choice
from gnn2logic.engines.threads import limited_threads
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning.data import RowLabels
from gnn2logic.learning.inputs import check_target_texts, warn_if_constant
from gnn2logic.learning.rule_estimator import RuleEstimator
from gnn2logic.learning.targets import integer_weights
from gnn2logic.storage import ShardStore

__all__ = ["IDTNodeRegressor", "IDTRegressor"]


class _IDTOfNumbers(RegressorMixin, RuleEstimator):  # type: ignore[misc]
    _answer = "number"
    # scikit-learn's does not know the labels of a store.
    score = RuleEstimator.score

    def __init__(
        self,
        n_layers: int | None = None,
        *,
        loss: str = "squared",
        target_name: str | None = None,
        unit: str | None = None,
        max_size: int | None = None,
        max_time: float | None = None,
        modalities: object = "auto",
        absolute: bool = True,
        relative: bool = True,
        max_samples: float | None = None,
        min_samples_leaf: int = 1,
        encoder: object = None,
        n_shards: int = 1,
        engine: object = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int | None = None,
    ) -> None:
        self.n_layers = n_layers
        self.loss = loss
        self.target_name = target_name
        self.unit = unit
        self.max_size = max_size
        self.max_time = max_time
        self.modalities = modalities
        self.absolute = absolute
        self.relative = relative
        self.max_samples = max_samples
        self.min_samples_leaf = min_samples_leaf
        self.encoder = encoder
        self.n_shards = n_shards
        self.engine = engine
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, graphs: object, y: object, mask: object, sample_weight: object) -> Self:
        # numba is slow to import and only learning needs it.
        from gnn2logic.learning.search.numbers import NumberTargets

        loss = check_choice("loss", self.loss, ("squared", "absolute"))
        check_target_texts(self)
        given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
        encoder, batch = self._encode(given)
        count = batch.n_graphs if self._level == "graph" else batch.n_nodes
        seen = np.ones(count, dtype=bool) if mask is None else check_mask(mask, count)
        weights = check_weights(sample_weight, count, of=self._level, among=seen)
        absent = weights == 0
        weights = np.where(seen, weights, 0.0)
        # What is said about rows that are not learned from is not looked at.
        listed = self._given_labels(y, batch)
        numbers = check_numbers(listed, count, of=self._level, among=weights > 0)
        warn_if_constant(numbers[weights > 0])
        encoder, kept, data, rows = self._learned_from((encoder, batch), given, None, absent)
        whole = integer_weights(weights[rows])
        labels = RowLabels(np.zeros(len(whole), dtype=np.int64), whole, 1)
        targets = NumberTargets.of(numbers[rows], whole, loss)
        with limited_threads(self.n_jobs):
            front, prunings, chosen, model = self._by_search(kept, data, labels, numbers=targets)
        assert front is not None
        # What was learned before is replaced at the very end: if anything fails, it is still there.
        self.encoder_ = encoder
        self.classes_ = np.array(front.numbers[chosen].values)
        self.front_, self.prunings_, self.chosen_, self.model_ = front, prunings, chosen, model
        return self


class IDTRegressor(_IDTOfNumbers):
    """Predict a number for every graph with a short rule: a tree whose leaves are numbers.

    Parameters
    ----------
    n_layers : int, optional
        The most modal parameters that are nested below the count of a graph, 3 by default.
    loss : {"squared", "absolute"}
        ``"squared"``: leaves are means, and rules are chosen by R2. ``"absolute"``: leaves are
        medians, conditions tell ranks apart, and rules are chosen by their mean absolute error: a
        few targets far out change nothing.
    target_name, unit : str, optional
        What is predicted, for all texts: ``"log solubility"``, ``"mol/L"``.
    max_size : int, optional
        The most symbols of the chosen rule, 40 by default. A longer one is taken, with a warning,
        if it explains more of held-out data by more than 0.02 and one standard error.
    max_time, modalities, absolute, relative, max_samples, min_samples_leaf, encoder, n_shards, \
    engine, checkpoint, n_jobs, random_state, verbose
        As of `IDTClassifier`.

    Attributes
    ----------
    classes_ : array
        The numbers that the rule predicts, from low to high. They are rounded to steps of about a
        hundredth of the spread of the targets.
    rules_ : RuleTable
        Rules from small to large, with R2, mean absolute error, and the share of the loss that
        rules of this size take away on held-out data (R2 for the squared loss).
    model_, encoder_, front_, n_features_in_, feature_names_in_
        As of `IDTClassifier`.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(300, sizes=10, density=0.3, random_state=0)
    >>> y = 1.5 + 2.0 * gl.parse("1(U0 & A U1 > 1) > 2").evaluate(graphs)
    >>> model = IDTRegressor(n_layers=1, unit="eV", random_state=0).fit(graphs, y)
    >>> print(model.formula(3.5))
    1(U0 & A U1 > 1) > 2
    >>> model.score(graphs, y)
    1.0
    """

    _level = "graph"

    def fit(self, graphs: object, y: object = None, *, sample_weight: object = None) -> Self:
        """Learn from graphs with numbers.

        Of `sample_weight` only the proportions matter; a graph of weight 0 is as if it were not
        there, and its number may be missing (NaN).
        """
        return self._fit(graphs, y, None, sample_weight)


class IDTNodeRegressor(_IDTOfNumbers):
    """Predict a number for every node with a short rule; see `IDTRegressor`.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graph = gl.random_graphs(1, sizes=400, density=0.01, random_state=0)
    >>> y = 10.0 * gl.parse("A U0 > 2").evaluate(graph, level="node")
    >>> model = IDTNodeRegressor(n_layers=0, random_state=0).fit(graph, y)
    >>> print(model.formula(10.0))
    A U0 > 2
    """

    _level = "node"

    def fit(
        self,
        graphs: object,
        y: object = None,
        *,
        mask: object = None,
        sample_weight: object = None,
    ) -> Self:
        """Learn from the numbers of nodes, in batch order; `mask` chooses the training nodes."""
        return self._fit(graphs, y, mask, sample_weight)
