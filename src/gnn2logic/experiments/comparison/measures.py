"""What is measured: AUROC, R2, and how stable a model is over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from gnn2logic.idt.graph_model import r_squared

__all__ = ["agreement_of_pairs", "area_under_roc", "share_explained"]

Array = npt.NDArray[Any]


def area_under_roc(y: Array, scores: Array, classes: Array) -> float | None:
    """Return the area under the ROC curve, of more than two classes the mean of each against all.

    Classes that all graphs have, or none, have no curve; None if there is no other.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> area_under_roc(np.array([0, 1, 1]), scores, np.array([0, 1]))
    1.0
    """
    columns = range(len(classes)) if len(classes) > 2 else range(1, len(classes))
    areas = [
        float(roc_auc_score(y == classes[number], scores[:, number]))
        for number in columns
        if 0 < np.mean(y == classes[number]) < 1
    ]
    return float(np.mean(areas)) if areas else None


def agreement_of_pairs(predictions: Sequence[Sequence[int]]) -> float | None:
    """Return how often two of several lists say the same, in the mean over all pairs.

    Examples
    --------
    >>> agreement_of_pairs([[0, 1], [0, 1], [1, 1]])
    0.6666666666666666
    """
    pairs = [np.mean(np.array(a) == np.array(b)) for a, b in combinations(predictions, 2)]
    return float(np.mean(pairs)) if pairs else None


def share_explained(truth: Array, predicted: Array) -> float:
    """Return R2: which share of the variance of `truth` is explained; 0 for its mean.

    Examples
    --------
    >>> share_explained(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    0.5
    """
    return r_squared(truth, predicted, np.ones(len(truth)))
