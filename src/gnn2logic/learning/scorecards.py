"""Scorecards that classify graphs or nodes, as scikit-learn estimators."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from gnn2logic._labels import check_mask
from gnn2logic.exceptions import LabelError
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning.data import checked_rows
from gnn2logic.learning.inputs import check_scores
from gnn2logic.learning.scorecard_base import ScorecardEstimator
from gnn2logic.storage import ShardStore

__all__ = ["ScorecardClassifier", "ScorecardNodeClassifier"]


class _ScorecardOfClasses(ClassifierMixin, ScorecardEstimator):  # type: ignore[misc]
    _answer = "class"
    # scikit-learn's does not know the labels of a store.
    score = ScorecardEstimator.score

    def __init__(
        self,
        max_lines: int = 20,
        *,
        max_line_size: int = 10,
        max_points: int = 10,
        n_layers: int | None = None,
        max_time: float | None = None,
        modalities: object = "auto",
        absolute: bool = True,
        relative: bool = True,
        max_samples: float | None = None,
        class_weight: object = None,
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
        self.n_layers = n_layers
        self.max_time = max_time
        self.modalities = modalities
        self.absolute = absolute
        self.relative = relative
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_shards = n_shards
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(
        self,
        graphs: object,
        y: object,
        mask: object,
        scores: object,
        sample_weight: object,
        classes: object,
    ) -> Self:
        given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
        encoder, batch = self._encode(given)
        count = batch.n_graphs if self._level == "graph" else batch.n_nodes
        among = check_mask(mask, count) if self._level == "node" else None
        rows = checked_rows(
            self._given_labels(y, batch),
            count,
            sample_weight,
            level=self._level,
            classes=classes,
            class_weight=self.class_weight,
            among=among,
        )
        shares = None
        if scores is not None:
            shares = _class_shares(scores, count, len(rows.classes))
        self._learn(
            (encoder, batch),
            given,
            rows.codes,
            len(rows.classes),
            rows.weights,
            rows.absent,
            shares,
        )
        self.classes_ = rows.classes
        return self


class ScorecardClassifier(_ScorecardOfClasses):
    """Classify graphs with a scorecard: a few lines whose points are added up.

    A line is a condition such as ``1(C & A O > 0) > 2`` ("more than 2 nodes ..."), or one count
    with a few steps. Points are small whole numbers. Of two classes the second one is predicted
    from a certain score on; of more, the class with the most points.

    Parameters
    ----------
    max_lines : int
        The most lines; fewer are taken where cross-validation says so.
    max_line_size : int
        The most symbols of a line. What is hard to say counts more: a share and "itself and its
        neighbours" one symbol each, neighbours of neighbours two, and of these again four.
    max_points : int
        The most points of a line, with either sign.
    n_layers : int, optional
        How many modal parameters a line may nest below its count, 3 by default.
    max_time : float, optional
        The seconds after which nothing new is begun; what was found is the answer.
    modalities, absolute, relative, max_samples
        As in `IDTClassifier`, for the conditions of lines.
    class_weight : None, "balanced" or mapping
        Factors of the weights of classes.
    encoder : PredicateEncoder, optional
        How features become predicates; one with default settings if left out.
    n_shards, engine, n_jobs
        As in `IDTClassifier`: the graphs are counted in so many pieces, by whom, on how many
        threads. The scorecard is the same for all of them.
    random_state : int, Generator or None
        Which rows are held out together, and which graphs are searched where there are very many.
    verbose : int, optional
        0 keeps quiet, 1 shows progress; by default it is shown on terminals.

    Attributes
    ----------
    card_ : Scorecard
    lines_ : tuple of Line
    path_ : CardPath
        Cards from no line to the most, with accuracy on training and held-out data; `pick` takes
        another one.
    classes_ : array

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(400, sizes=[6, 9, 12, 15] * 100, density=0.3, random_state=0)
    >>> texts = ["1 U0 > 4", "1 U1 > 4", "1 true > 9"]
    >>> two_of_three = sum(gl.parse(text).evaluate(graphs).astype(int) for text in texts) > 1
    >>> model = ScorecardClassifier(n_layers=0, random_state=0).fit(graphs, two_of_three)
    >>> sorted((str(line.conditions[0]), line.points[0][0]) for line in model.lines_)
    [('1 U0 > 4', 1), ('1 U1 > 4', 1), ('1 true > 9', 1)]
    """

    _level = "graph"

    def fit(
        self,
        graphs: object,
        y: object = None,
        *,
        scores: object = None,
        sample_weight: object = None,
        classes: object = None,
    ) -> Self:
        """Learn from graphs with labels.

        `graphs` may be a `ShardStore`; `y` may then be left out if the store has labels. `scores`,
        one row of logits for each graph with a column for each class (or one column for two), are
        what a network says: the card follows these, and `y` are its answers. Of `sample_weight`
        only the proportions matter. `classes` lists all classes, also those that no label has.
        """
        return self._fit(graphs, y, None, scores, sample_weight, classes)


class ScorecardNodeClassifier(_ScorecardOfClasses):
    """Classify nodes with a scorecard; see `ScorecardClassifier`. Lines are about one node."""

    _level = "node"

    def fit(
        self,
        graphs: object,
        y: object = None,
        *,
        mask: object = None,
        scores: object = None,
        sample_weight: object = None,
        classes: object = None,
    ) -> Self:
        """Learn from the labels of nodes, in batch order; `mask` chooses the training nodes."""
        return self._fit(graphs, y, mask, scores, sample_weight, classes)


def _class_shares(scores: object, count: int, n_classes: int) -> npt.NDArray[np.float64]:
    """Return the probability of every class that logits stand for."""
    logits = check_scores(scores, np.ones(count, dtype=bool))
    if logits.shape[1] == 1 and n_classes == 2:
        logits = np.column_stack([np.zeros(count), logits[:, 0]])
    if logits.shape[1] != n_classes:
        raise LabelError(
            f"scores must have one column for each of the {n_classes} classes"
            f"{', or one column' if n_classes == 2 else ''}. Got {logits.shape[1]} columns."
        )
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
