"""Rules or scorecards for several targets at once, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone

from gnn2logic._labels import check_mask, check_weights
from gnn2logic._notices import telling_caller
from gnn2logic._validation import check_choice
from gnn2logic.exceptions import Gnn2LogicError, LabelError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder, graph_tags
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning.graph_estimator import GraphEstimator
from gnn2logic.multi_target.labels import TargetColumn, check_target_names, target_columns
from gnn2logic.multi_target.predictor import MultiTargetPredictor
from gnn2logic.storage import ShardStore

__all__ = ["MultiTargetEstimator"]


class MultiTargetEstimator(MetaEstimatorMixin, MultiTargetPredictor, BaseEstimator):  # type: ignore[misc]
    """Learn one model for each of several targets, on graphs that are encoded once.

    Every target has the model that `estimator` would have learned from it alone, on the graphs
    whose label is known: what one target is about never changes another.

    Parameters
    ----------
    estimator : IDTClassifier, ScorecardClassifier, IDTRegressor or the like
        What is fitted to every target, with its parameters; they are searched as
        ``estimator__max_size`` and so on.
    targets : sequence of str, optional
        By default the columns of a data frame, else ``target_0``, ``target_1``, ...
    missing : {"error", "skip"}
        What to do about labels that are missing, NaN or None: refuse them, or learn every target
        from the graphs (or nodes) whose label is known.

    Attributes
    ----------
    estimators_ : list of estimators
        One for each target; ``model["name"]`` gives them by name.
    target_names_ : tuple of str
    classes_ : list of array
    encoder_ : PredicateEncoder
    n_features_in_, feature_names_in_
        The columns of the graphs that the models read: their number, and their names.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(300, sizes=8, random_state=0)
    >>> truths = ["1 U1 > 4", "1(A U0 > 2) > 1"]
    >>> y = np.column_stack([gl.parse(truth).evaluate(graphs) for truth in truths]).astype(float)
    >>> y[:50, 1] = np.nan
    >>> rules = gl.IDTClassifier(n_layers=1, random_state=0)
    >>> model = MultiTargetEstimator(rules, targets=["many", "busy"], missing="skip")
    >>> print(model.fit(graphs, y)["busy"].formula(1))
    1(A U0 > 2) > 1
    >>> model.target_scores(graphs, y)
    {'many': 1.0, 'busy': 1.0}
    """

    def __init__(
        self, estimator: object, *, targets: object = None, missing: str = "error"
    ) -> None:
        self.estimator = estimator
        self.targets = targets
        self.missing = missing

    def fit(
        self,
        graphs: object,
        y: object = None,
        *,
        mask: object = None,
        sample_weight: object = None,
    ) -> Self:
        """Learn from a matrix of labels with one row for each graph (or node).

        `mask` chooses the training nodes, for estimators of nodes. Of `sample_weight` only the
        proportions matter.
        """
        student = self._student()
        skips = check_choice("missing", self.missing, ("error", "skip")) == "skip"
        if mask is not None and student.level == "graph":
            raise ParameterError("mask is for estimators of nodes. This one is about graphs.")
        given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
        encoder, batch = student._encode(given)
        count = batch.n_graphs if student.level == "graph" else batch.n_nodes
        seen = np.ones(count, dtype=bool) if mask is None else check_mask(mask, count)
        weights = check_weights(sample_weight, count, of=student.level, among=seen)
        columns = target_columns(
            y,
            count,
            of=student.level,
            names=self.targets,
            skip_missing=skips,
            among=seen & (weights > 0),
        )
        if not isinstance(student, RegressorMixin):
            for column in columns:
                _refuse_quantities(column, seen & (weights > 0), student)
        more = {} if mask is None else {"mask": mask}
        return self._fit_each(
            encoder,
            batch,
            {
                column.name: {
                    "y": column.values,
                    "sample_weight": np.where(column.known, weights, 0.0),
                    **more,
                }
                for column in columns
            },
        )

    def _student(self) -> Any:
        """Return what is fitted to every target, checked."""
        student = self.estimator
        if not isinstance(student, GraphEstimator):
            raise ParameterError(
                "estimator must be an IDTClassifier, a ScorecardClassifier, an IDTRegressor or the "
                f"like. Got {student!r} instead."
            )
        if getattr(student, "checkpoint", None) is not None:
            raise ParameterError(
                "checkpoint must be None: it is the file of one fit, and every target has its own."
            )
        if self.targets is not None:
            check_target_names(self.targets)
        return student

    def _fit_each(
        self,
        encoder: PredicateEncoder,
        graphs: GraphBatch | ShardStore,
        targets: Mapping[str, Mapping[str, Any]],
    ) -> Self:
        """Fit a copy of the estimator for every target, with what `fit` is to be given for it.

        What was learned before is replaced at the very end: if anything fails, it is still there.
        """
        fitted = [self._fitted(graphs, name, given) for name, given in targets.items()]
        for student in fitted:
            # They were fitted on predicates; what users give has to become these first.
            student.encoder_ = encoder
            student.encoder = clone(self._student().encoder, safe=False)
        self.encoder_ = encoder
        self.target_names_ = tuple(targets)
        self.estimators_ = fitted
        return self

    def _fitted(self, graphs: GraphBatch | ShardStore, name: str, given: Mapping[str, Any]) -> Any:
        student = clone(self._student()).set_params(encoder=None)
        if getattr(student, "target_name", name) is None:
            # Numbers of several targets are told apart by their names.
            student.set_params(target_name=name)
        about = f"Target {name!r}: "
        try:
            return telling_caller(lambda: student.fit(graphs, **given), about)
        except Gnn2LogicError as error:
            raise type(error)(f"{about}{error}") from error

    def __sklearn_tags__(self) -> Any:
        tags = graph_tags(super().__sklearn_tags__())
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags


def _refuse_quantities(
    column: TargetColumn, looked_at: npt.NDArray[np.bool_], student: object
) -> None:
    """Refuse a target of numbers where classes are learned, and say where it belongs."""
    if column.values.dtype.kind != "f":
        return
    rows = np.flatnonzero(looked_at & column.known & (column.values % 1 != 0))
    if len(rows):
        raise LabelError(
            f"Target {column.name!r}: y must hold class labels: {type(student).__name__} learns "
            f"classes. Got {column.values[rows[0]]} in row {rows[0]}. Fit targets that are numbers "
            "apart from those that are classes, with IDTRegressor or ScorecardRegressor in a "
            "MultiTargetEstimator of their own."
        )
