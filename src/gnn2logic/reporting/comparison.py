"""`Comparison`: true labels, those of a model and those of its teacher, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.certification import agreement_bound
from gnn2logic.plotting.tables import label_counts

__all__ = ["Comparison", "area_under_roc"]

Labels = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The labels of some graphs (or nodes): true, by the model and by the teacher.

    Parameters
    ----------
    level : {"graph", "node"}
        What is classified.
    class_names : dict of label to str
        What every class is called, those of the model first.
    rows : array of int
        The rows that are compared: graph numbers, or node numbers in the batch.
    predicted : array
    truth, teacher : array or None
        None where nothing is known. All arrays have one entry for each of `rows`.
    probabilities, teacher_probabilities : array of float or None
        How sure the model and the teacher are of the second of two classes; None for other numbers
        of classes, and where nobody says.
    """

    level: str
    class_names: dict[Any, str]
    rows: npt.NDArray[np.int64]
    predicted: Labels
    truth: Labels | None
    teacher: Labels | None
    probabilities: npt.NDArray[np.float64] | None = None
    teacher_probabilities: npt.NDArray[np.float64] | None = None

    @property
    def reference(self) -> Labels | None:
        """The true labels, or those of the teacher where no others are known."""
        return self.teacher if self.truth is None else self.truth

    @property
    def most_common(self) -> Any:
        """The most common label of the reference, the first of equals; None without one."""
        if self.reference is None:
            return None
        labels, counts = np.unique(self.reference, return_counts=True)
        return labels[np.argmax(counts)].item()

    @property
    def differs(self) -> npt.NDArray[np.bool_]:
        """Where the model differs from the teacher or, without one, from the truth."""
        other = self.truth if self.teacher is None else self.teacher
        if other is None:
            return np.zeros(len(self.rows), dtype=bool)
        return np.asarray(self.predicted != other)

    def scores(self) -> list[dict[str, Any]]:
        """Return the figures of the rule, of the teacher and of the most common class.

        Accuracy and macro F1 (over the classes that are true or predicted somewhere) are against
        the true labels, fidelity is against the teacher; None where there is nothing to compare
        with. On graphs like these the rule is right at least ``accuracy_at_least`` of the time and
        agrees with the teacher at least ``fidelity_at_least``, each of them 95 % sure (see
        `gnn2logic.certify`). AUROC, the area under the ROC curve, is there for two classes: how
        often an example of the second class gets a higher probability than one of the first.

        >>> labels = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
        >>> scores = Comparison("graph", {0: "a", 1: "b"}, np.arange(4), *labels, None).scores()
        >>> [(row["who"], row["accuracy"], round(row["macro_f1"], 4)) for row in scores]
        [('rule', 0.75, 0.7333), ('baseline', 0.75, 0.4286)]
        """
        rows = [self._figures("rule", self.predicted, self.probabilities)]
        if self.teacher is not None:
            rows.append(self._figures("teacher", self.teacher, self.teacher_probabilities))
        if self.reference is not None:
            constant = np.full(len(self.reference), self.most_common)
            rows.append(self._figures("baseline", constant, np.zeros(len(constant))))
        return rows

    def _figures(
        self, who: str, labels: Labels, probabilities: npt.NDArray[np.float64] | None
    ) -> dict[str, Any]:
        n_right = None if self.truth is None else int((labels == self.truth).sum())
        n_agree = None if self.teacher is None else int((labels == self.teacher).sum())
        count = len(labels)
        return {
            "who": who,
            "n_rows": count,
            "n_right": n_right,
            "accuracy": None if n_right is None else n_right / count,
            "accuracy_at_least": self._at_least(who, n_right),
            "macro_f1": None if self.truth is None else _macro_f1(self.truth, labels),
            "auroc": self._auroc(probabilities),
            "n_agree": n_agree,
            "fidelity": None if n_agree is None else n_agree / count,
            "fidelity_at_least": self._at_least(who, n_agree),
        }

    def _at_least(self, who: str, count: int | None) -> float | None:
        # Nodes of one graph are no independent sample, and the teacher agrees with itself.
        if count is None or who != "rule" or self.level == "node":
            return None
        return agreement_bound(count, len(self.rows))

    def _auroc(self, probabilities: npt.NDArray[np.float64] | None) -> float | None:
        if self.truth is None or probabilities is None or self.probabilities is None:
            return None
        return area_under_roc(self.truth == list(self.class_names)[1], probabilities)

    def confusion(self) -> list[list[int]] | None:
        """Return how often each true class (a row) meets each class that the model says."""
        return self._counts(self.truth)

    def agreement(self) -> list[list[int]] | None:
        """Return how often each class of the teacher (a row) meets each that the model says."""
        return self._counts(self.teacher)

    def _counts(self, labels: Labels | None) -> list[list[int]] | None:
        if labels is None:
            return None
        counts: list[list[int]] = label_counts(
            labels, self.predicted, list(self.class_names)
        ).tolist()
        return counts


def _macro_f1(truth: Labels, predicted: Labels) -> float:
    """Return the mean F1 of all classes that are true or predicted somewhere.

    As ``sklearn.metrics.f1_score(truth, predicted, average="macro")``, bit for bit. But commands
    that measure a model shall not wait for scikit-learn to be loaded.
    """
    scores = []
    for label in np.union1d(truth, predicted):
        both = int(((truth == label) & (predicted == label)).sum())
        scores.append(2 * both / int((truth == label).sum() + (predicted == label).sum()))
    return float(np.mean(scores))


def area_under_roc(is_second: npt.NDArray[np.bool_], scores: npt.NDArray[Any]) -> float | None:
    """Return how often the second class is scored above the first, ties half; None without both.

    >>> area_under_roc(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.875
    """
    n_second = int(is_second.sum())
    n_first = len(is_second) - n_second
    if not n_first or not n_second:
        return None
    _, codes = np.unique(scores, return_inverse=True)
    second = np.bincount(codes, weights=is_second)
    first = np.bincount(codes, weights=~is_second)
    below = np.cumsum(first) - first
    return float((second * (below + first / 2)).sum() / (n_first * n_second))
