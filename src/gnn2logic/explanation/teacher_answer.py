"""What the network says that a model was distilled from. Needs torch only if it is a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnn2logic._validation import some_of
from gnn2logic.exceptions import LabelError, UnsupportedInputError
from gnn2logic.explanation.subject import Subject

__all__ = ["TeacherAnswer", "ask_teacher"]


@dataclass(frozen=True)
class TeacherAnswer:
    """The answer of a teacher.

    Parameters
    ----------
    label : object
        The class that the teacher predicts.
    probability : float or None
        How sure it is of that class; None if it does not say.
    agrees : bool
        Whether the model predicts the same class. If not, the explanation is one of the model and
        not of the teacher.
    """

    label: Any
    probability: float | None
    agrees: bool


def ask_teacher(teacher: Any, graph: object, subject: Subject, label: object) -> TeacherAnswer:
    """Return the answer of a network, or of anything with ``predict``, for what is explained."""
    # A module may have a method of that name, but it would not read graphs.
    is_network = hasattr(teacher, "forward") or not hasattr(teacher, "predict")
    asked = _network(teacher, len(subject.labels)) if is_network else teacher
    labels = np.asarray(asked.predict(graph))
    rows = 1 if subject.node is None else subject.graph.n_nodes
    if labels.shape != (rows,):
        raise LabelError(
            f"teacher must give one class for each of the {rows} {subject.model.level}s that the "
            f"model classifies. Got an answer of shape {labels.shape} instead."
        )
    own = labels.tolist()[subject.row]
    if own in subject.own_labels and own not in subject.labels:
        # The teacher says what the model would say; the caller has given it another name.
        own = subject.labels[subject.own_labels.index(own)]
    if isinstance(own, str) != isinstance(label, str):
        raise LabelError(
            f"teacher must use the names of classes of the model: {some_of(subject.labels)}. "
            f"Got {own!r} instead; name those of a network with Teacher(module, classes=...)."
        )
    probability = None
    if hasattr(asked, "predict_proba"):
        # Its own answer is what it is most sure of, so no order of classes is needed.
        probability = float(np.asarray(asked.predict_proba(graph))[subject.row].max())
    return TeacherAnswer(own, probability, bool(own == label))


def _network(teacher: object, n_classes: int) -> Any:
    try:
        from gnn2logic.distillation.conversion import teacher_of_classes
    except ImportError:
        raise UnsupportedInputError(
            "teacher must have predict(graphs), or be a torch module (which needs the extra "
            f"'torch'). Got {type(teacher).__name__} instead."
        ) from None
    return teacher_of_classes(teacher, n_classes)
