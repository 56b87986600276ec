"""How good the answers are: accuracy, macro F1 and fidelity, next to what costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.reporting.subject import Answers

__all__ = ["macro_f1", "most_common", "score_table", "table_of_counts"]

Labels = npt.NDArray[Any]


def score_table(answers: Answers) -> list[dict[str, Any]]:
    """Return the figures of the rule, of the teacher and of the most common class.

    Accuracy and macro F1 are against the true labels, fidelity is against the teacher; None where
    there is nothing to compare with.
    """
    reference = answers.teacher if answers.truth is None else answers.truth
    who: list[tuple[str, Labels]] = [("rule", answers.predicted)]
    if answers.teacher is not None:
        who.append(("teacher", answers.teacher))
    if reference is not None:
        who.append(("baseline", np.full(len(reference), most_common(reference))))
    return [_figures(name, labels, answers) for name, labels in who]


def _figures(who: str, labels: Labels, answers: Answers) -> dict[str, Any]:
    n_right = None if answers.truth is None else int((labels == answers.truth).sum())
    n_agree = None if answers.teacher is None else int((labels == answers.teacher).sum())
    count = len(labels)
    return {
        "who": who,
        "n_rows": count,
        "n_right": n_right,
        "accuracy": None if n_right is None else n_right / count,
        "macro_f1": None if answers.truth is None else macro_f1(answers.truth, labels),
        "n_agree": n_agree,
        "fidelity": None if n_agree is None else n_agree / count,
    }


def most_common(labels: Labels) -> Any:
    """Return the most common label, the first of equals."""
    values, counts = np.unique(labels, return_counts=True)
    return values[np.argmax(counts)]


def macro_f1(truth: Labels, predicted: Labels) -> float:
    """Return the mean F1 of all classes that are true or predicted somewhere.

    >>> round(macro_f1(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])), 4)
    0.7333
    """
    scores = []
    for label in np.union1d(truth, predicted):
        both = int(((truth == label) & (predicted == label)).sum())
        scores.append(2 * both / int((truth == label).sum() + (predicted == label).sum()))
    return float(np.mean(scores))


def table_of_counts(rows: Labels, columns: Labels, order: Sequence[Any]) -> list[list[int]]:
    """Return how often each label of `rows` meets each label of `columns`."""
    return [[int(((rows == row) & (columns == column)).sum()) for column in order] for row in order]
