"""Scorecards that predict a number for every graph or node, as scikit-learn estimators."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import RegressorMixin

from gnn2logic._labels import check_mask, check_numbers, check_weights
from gnn2logic._validation import check_choice
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning.inputs import check_target_texts, warn_if_constant
from gnn2logic.learning.scorecard_base import ScorecardEstimator
from gnn2logic.storage import ShardStore

__all__ = ["ScorecardNodeRegressor", "ScorecardRegressor"]


class _ScorecardOfNumbers(RegressorMixin, ScorecardEstimator):  # type: ignore[misc]
    _answer = "number"
    # scikit-learn's does not know the labels of a store.
    score = ScorecardEstimator.score

    def __init__(
        self,
        max_lines: int = 20,
        *,
        max_line_size: int = 10,
        max_points: int = 100,
        loss: str = "squared",
        target_name: str | None = None,
        unit: str | None = None,
        n_layers: int | None = None,
        max_time: float | None = None,
        modalities: object = "auto",
        absolute: bool = True,
        relative: bool = True,
        max_samples: float | None = None,
        encoder: object = None,
        n_shards: int = 1,
        engine: object = None,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int | None = None,
    ) -> None:
        self.max_lines = max_lines
        self.max_line_size = max_line_size
        self.max_points = max_points
        self.loss = loss
        self.target_name = target_name
        self.unit = unit
        self.n_layers = n_layers
        self.max_time = max_time
        self.modalities = modalities
        self.absolute = absolute
        self.relative = relative
        self.max_samples = max_samples
        self.encoder = encoder
        self.n_shards = n_shards
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, graphs: object, y: object, mask: object, sample_weight: object) -> Self:
        check_choice("loss", self.loss, ("squared", "absolute"))
        check_target_texts(self)
        given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
        encoder, batch = self._encode(given)
        count = batch.n_graphs if self._level == "graph" else batch.n_nodes
        seen = np.ones(count, dtype=bool)
        if self._level == "node":
            seen = check_mask(mask, count)
        weights = check_weights(sample_weight, count, of=self._level, among=seen)
        weights = np.where(seen, weights, 0.0)
        listed = self._given_labels(y, batch)
        # What is said about rows that are not learned from is not looked at.
        numbers = check_numbers(listed, count, of=self._level, among=weights > 0)
        warn_if_constant(numbers[weights > 0])
        self._learn(
            (encoder, batch),
            given,
            np.zeros(count, dtype=np.int64),
            1,
            weights,
            (weights == 0) & seen,
            numbers[:, None],
        )
        return self


class ScorecardRegressor(_ScorecardOfNumbers):
    """Predict a number for every graph with a scorecard: ``constant + slope * score``.

    Parameters are those of `ScorecardClassifier` but for ``class_weight``; `max_points` is 100 by
    default, so that points are about percent of the largest effect. `target_name` and `unit` say
    what is predicted, for all texts: ``"log solubility"``, ``"mol/L"``.

    With ``loss="squared"``, the default, points make squared errors small. With ``"absolute"`` they
    make absolute errors small, so that a few targets far out change nothing, and cards are chosen
    by their mean absolute error on held-out data. (To be exact: errors of less than a tenth of the
    median error are squared, and lines are looked for by errors that are drawn in to twice the
    median error.)

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(400, sizes=10, density=0.3, random_state=0)
    >>> heavy = gl.parse("1 U0 > 5").evaluate(graphs)
    >>> model = ScorecardRegressor(n_layers=0, random_state=0).fit(graphs, 1.5 + 2.0 * heavy)
    >>> round(model.score(graphs, 1.5 + 2.0 * heavy), 3)
    1.0
    """

    _level = "graph"

    def fit(self, graphs: object, y: object = None, *, sample_weight: object = None) -> Self:
        """Learn from graphs with numbers."""
        return self._fit(graphs, y, None, sample_weight)


class ScorecardNodeRegressor(_ScorecardOfNumbers):
    """Predict a number for every node with a scorecard; see `ScorecardRegressor`."""

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
