"""What is asked: a model, graphs as it sees them, and the network beside it; all checked here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_numbers
from gnn2logic._validation import is_whole, some_of
from gnn2logic.exceptions import GraphError, LabelError, ParameterError, UnsupportedInputError
from gnn2logic.fitted_models import FittedModel, fitted_model
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import as_batch
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.scorecards import Scorecard

__all__ = [
    "GraphSubject",
    "Subject",
    "TeacherAnswer",
    "ask_teacher",
    "ask_teacher_number",
    "graph_subject",
    "model_to_explain",
    "teacher_numbers",
    "teacher_with_predict",
]


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and graphs as it sees them.

    Parameters
    ----------
    model : IDT or Scorecard
    labels : list
        The classes by number, as the model itself calls them; empty if it predicts numbers.
    batch : GraphBatch
        The graphs, with the predicates of the model.
    """

    model: IDT | Scorecard
    labels: list[Any]
    batch: GraphBatch

    @property
    def level(self) -> Literal["graph", "node"]:
        """What is classified: "graph" or "node"."""
        return self.model.level

    @property
    def n_rows(self) -> int:
        """How many graphs (or nodes) there are to classify."""
        return self.batch.n_graphs if self.level == "graph" else self.batch.n_nodes

    def position(self, row: int) -> tuple[int, int | None]:
        """Return the graph of a row, and its node in there for models that classify nodes."""
        if self.level == "graph":
            return row, None
        graph = int(self.batch.graph_index[row])
        return graph, row - int(self.batch.ptr[graph])


@dataclass(frozen=True, eq=False)
class GraphSubject(Subject):
    """One graph, or one node of it, that is explained.

    Parameters
    ----------
    names : list
        The classes by number, as the caller calls them.
    node : int or None
        The node that is classified; None for models that classify graphs.
    """

    names: list[Any]
    node: int | None

    @property
    def row(self) -> int:
        """The node from which the conditions look."""
        # Conditions about the graph look along 1, so they are the same at every node.
        return 0 if self.node is None else self.node


def model_to_explain(model: object) -> FittedModel | IDT | Scorecard:
    """Return a fitted model, or one that is a plain value, in whatever form users have it."""
    return model if isinstance(model, IDT | Scorecard) else fitted_model(model)


def graph_subject(
    given: FittedModel | IDT | Scorecard,
    graph: object,
    *,
    node: int | None,
    class_names: Iterable[object] | None = None,
) -> GraphSubject:
    """Return what is explained; all that users give is checked here."""
    model: IDT | Scorecard
    labels: list[Any]
    if isinstance(given, IDT):
        model, labels = given, list(range(given.final.values.shape[1]))
    elif isinstance(given, Scorecard):
        model, labels = given, list(range(given.n_classes))
    elif isinstance(given, IDTPredictor):
        model, labels = given.model_, given.classes_.tolist()
        if class_names is None:
            class_names = given.shown_classes
    else:
        model = given.card_
        labels = [] if model.answer == "number" else given.classes_.tolist()
    if isinstance(given, IDT | Scorecard):
        batch = as_batch(graph)
    else:
        batch = given.encoder_.transform(graph)
    if batch.n_graphs != 1:
        raise GraphError(
            f"One graph is explained at a time. Got {batch.n_graphs}; choose one of them."
        )
    names = labels if class_names is None else _checked_names(class_names, len(labels))
    return GraphSubject(model, labels, batch, names, _checked_node(model, batch, node))


def _checked_names(class_names: Iterable[object], count: int) -> list[object]:
    names = [name.item() if isinstance(name, np.generic) else name for name in class_names]
    if isinstance(class_names, str) or len(names) != count or len(set(names)) != count:
        raise LabelError(
            f"class_names must have one name of its own for each of the {count} classes of the "
            f"model. Got {class_names!r} instead."
        )
    return names


def _checked_node(model: IDT | Scorecard, batch: GraphBatch, node: Any) -> int | None:
    if model.level == "graph":
        if node is not None:
            raise ParameterError(
                f"node is for models that classify nodes. Got {node!r} for one that classifies "
                "graphs."
            )
        return None
    if not is_whole(node) or not 0 <= node < batch.n_nodes:
        raise ParameterError(
            f"node must be a number from 0 to {batch.n_nodes - 1}, because the model classifies "
            f"nodes. Got {node!r} instead."
        )
    return int(node)


# The network beside a model -------------------------------------------------------------------


@dataclass(frozen=True)
class TeacherAnswer:
    """The answer of a teacher.

    Parameters
    ----------
    label : object
        The class, or the number, that the teacher predicts.
    probability : float or None
        How sure it is of that class; None if it does not say.
    agrees : bool or None
        Whether the model predicts the same class. If not, the explanation is one of the model and
        not of the teacher. None for numbers, which are near or far.
    """

    label: Any
    probability: float | None
    agrees: bool | None


def ask_teacher(teacher: Any, graph: object, subject: GraphSubject, name: object) -> TeacherAnswer:
    """Return the answer of a teacher for what is explained, which the model calls `name`."""
    teacher = teacher_with_predict(teacher, len(subject.labels))
    answers = np.asarray(teacher.predict(graph))
    if answers.shape != (subject.n_rows,):
        raise LabelError(
            f"teacher must give one class for each of the {subject.n_rows} {subject.level}s that "
            f"the model classifies. Got an answer of shape {answers.shape} instead."
        )
    label = answers.tolist()[subject.row]
    if label in subject.labels and label not in subject.names:
        # The teacher says what the model would say; the caller has given it another name.
        label = subject.names[subject.labels.index(label)]
    if isinstance(label, str) != isinstance(name, str):
        raise LabelError(
            f"teacher must use the names of classes of the model: {some_of(subject.names)}. "
            f"Got {label!r} instead; name those of a network with Teacher(module, classes=...)."
        )
    probability = None
    if hasattr(teacher, "predict_proba"):
        # Its own answer is what it is most sure of, so no order of classes is needed.
        probability = float(np.asarray(teacher.predict_proba(graph))[subject.row].max())
    return TeacherAnswer(label, probability, bool(label == name))


def ask_teacher_number(teacher: object, graph: object, subject: GraphSubject) -> TeacherAnswer:
    """Return the number that a teacher says about what is explained."""
    numbers = teacher_numbers(teacher, graph, subject.n_rows, subject.level)
    return TeacherAnswer(float(numbers[subject.row]), None, agrees=None)


def teacher_numbers(
    teacher: Any, graphs: object, count: int, level: str
) -> npt.NDArray[np.float64]:
    """Return the numbers of a network, of a model with ``predict``, or those that were given."""
    answers = teacher
    if hasattr(teacher, "forward") or hasattr(teacher, "numbers"):
        # Only a network needs torch.
        from gnn2logic.distillation.conversion import as_teacher

        answers = as_teacher(teacher).numbers(graphs)[0]
    elif callable(predict := getattr(teacher, "predict", None)):
        answers = predict(graphs)
    try:
        return check_numbers(answers, count, of=level)
    except LabelError as error:
        raise LabelError(f"The numbers of the teacher cannot be used: {error}") from error


def teacher_with_predict(teacher: Any, n_classes: int) -> Any:
    """Return a teacher that has ``predict(graphs)``; only a network needs torch for that."""
    # A module may have a method of that name, but it would not read graphs.
    if hasattr(teacher, "predict") and not hasattr(teacher, "forward"):
        return teacher
    try:
        from gnn2logic.distillation.conversion import teacher_of_classes
    except ImportError:
        raise UnsupportedInputError(
            "teacher must have predict(graphs), or be a torch module (which needs the extra "
            f"'torch'). Got {type(teacher).__name__} instead."
        ) from None
    return teacher_of_classes(teacher, n_classes)
