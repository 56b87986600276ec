"""What a report is about, checked: the model, the graphs as it sees them, and all answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels, check_mask
from gnn2logic._validation import check_fitted, to_numpy
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import GraphError, LabelError, ParameterError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import read_once
from gnn2logic.idt.predictor import IDTPredictor

__all__ = ["Answers", "Limits", "Subject", "read_subject"]


@dataclass(frozen=True)
class Limits:
    """How much a report shows; what is left out is said in its notes.

    Parameters
    ----------
    n_examples : int
        Graphs (or nodes) of each class.
    n_differences : int
        Graphs (or nodes) on which rule and teacher differ.
    max_nodes : int
        Nodes of one picture.
    max_formulas : int
        Formulas to choose from.
    max_leaves : int
        Leaves of the rules in the table of the trade-off, but for the chosen one.
    max_text : int
        Characters of one formula.
    """

    n_examples: int = 6
    n_differences: int = 12
    max_nodes: int = 120
    max_formulas: int = 60
    max_leaves: int = 24
    max_text: int = 20_000


Labels = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Answers:
    """The labels of all rows: what is true, what the model says and what the teacher says.

    Parameters
    ----------
    rows : array of int
        The rows that are reported on: graph numbers, or node numbers in the batch.
    predicted : array
    truth, teacher : array or None
        None where nothing is known. All arrays have one entry for each of `rows`.
    """

    rows: npt.NDArray[np.int64]
    predicted: Labels
    truth: Labels | None
    teacher: Labels | None


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that a report speaks of.

    Parameters
    ----------
    idt : IDTPredictor
    batch : GraphBatch
        The graphs as the model sees them.
    graphs : object
        The graphs as they were given.
    answers : Answers
    classes : dict of label to str
        What every class is called, those of the model first.
    graph_names : list of str
    title : str
    dataset_name : str or None
    teacher_name : str or None
        None without a teacher, and for one of which only the labels are known.
    """

    idt: IDTPredictor
    batch: GraphBatch
    graphs: Any
    answers: Answers
    classes: dict[Any, str]
    graph_names: list[str]
    title: str
    dataset_name: str | None
    teacher_name: str | None

    @property
    def level(self) -> str:
        """What is classified: "graph" or "node"."""
        return self.idt.model_.level

    @property
    def own_labels(self) -> list[Any]:
        """The classes of the model."""
        labels: list[Any] = self.idt.classes_.tolist()
        return labels

    @property
    def own_names(self) -> list[str]:
        """What the classes of the model are called."""
        return [self.classes[label] for label in self.own_labels]

    @property
    def n_rows(self) -> int:
        """How many graphs (or nodes) there are, reported on or not."""
        return self.batch.n_graphs if self.level == "graph" else self.batch.n_nodes

    def place(self, row: int) -> tuple[int, int | None]:
        """Return the graph of a row, and its node in there for models that classify nodes."""
        if self.level == "graph":
            return row, None
        graph = int(self.batch.graph_index[row])
        return graph, row - int(self.batch.ptr[graph])


def read_subject(
    idt: object,
    graphs: object,
    y: object,
    *,
    teacher: object,
    mask: object,
    title: str | None,
    dataset_name: str | None,
    class_names: Mapping[Any, object] | Sequence[object] | None,
    graph_names: Sequence[object] | None,
) -> Subject:
    """Return what a report is about; every argument is checked before any work is done."""
    model = _fitted(idt)
    if isinstance(graphs, Dataset):
        y = graphs.y if y is None and model.model_.level == "graph" else y
        dataset_name = graphs.name if dataset_name is None else dataset_name
        if class_names is None and set(model.classes_.tolist()) <= set(range(graphs.n_classes)):
            class_names = graphs.class_names
        graphs = graphs.inputs
    graphs = read_once(graphs)
    batch = model.encoder_.transform(graphs)
    names = _graph_names(graph_names, batch.n_graphs)
    answers = _answers(model, graphs, batch, y, teacher, mask)
    classes = _class_names(class_names, model.classes_, answers)
    heading = title if title is not None else _heading(dataset_name, teacher)
    known = None if teacher is None else _teacher_name(teacher)
    return Subject(model, batch, graphs, answers, classes, names, heading, dataset_name, known)


def _fitted(idt: Any) -> IDTPredictor:
    if not isinstance(idt, IDTPredictor) and hasattr(idt, "idt_"):
        # An IDTDistiller; its room needs torch, which a report does not.
        idt = idt.idt_
    if not isinstance(idt, IDTPredictor):
        raise UnsupportedInputError(
            "idt must be a fitted IDTClassifier, IDTNodeClassifier, IDTPredictor or IDTDistiller. "
            f"Got {type(idt).__name__} instead."
        )
    check_fitted(idt, "model_")
    return idt


def _answers(
    idt: IDTPredictor, graphs: Any, batch: GraphBatch, y: object, teacher: object, mask: object
) -> Answers:
    level = idt.model_.level
    count = batch.n_graphs if level == "graph" else batch.n_nodes
    if mask is not None and level == "graph":
        raise ParameterError(
            "mask is for models that classify nodes. Choose graphs before the report instead."
        )
    rows = np.flatnonzero(check_mask(mask, count))
    truth = None if y is None else check_labels(y, count, of=level)
    given: Labels | None = None
    if teacher is not None:
        given = _teacher_labels(teacher, graphs, count, level, len(idt.classes_))
    predicted = idt.predict(graphs)
    for labels, who in ((truth, "y"), (given, "The teacher")):
        if labels is not None and (labels.dtype.kind in "US") != (predicted.dtype.kind in "US"):
            raise LabelError(
                f"{who} must use the names of the classes of the model, {idt.classes_.tolist()}. "
                f"Got {labels.tolist()[0]!r}."
            )
    return Answers(
        rows,
        predicted[rows],
        None if truth is None else truth[rows],
        None if given is None else given[rows],
    )


def _teacher_labels(teacher: Any, graphs: Any, count: int, level: str, n_classes: int) -> Labels:
    """Return what a teacher says; labels and models with predict need no torch."""
    is_network = hasattr(teacher, "forward")
    if hasattr(teacher, "predict") and not is_network:
        found = teacher.predict(graphs)
    elif hasattr(teacher, "__len__") and not is_network:
        found = teacher
    else:
        from gnn2logic.distillation.conversion import teacher_of_classes

        found = teacher_of_classes(teacher, n_classes).predict(graphs)
    labels: Any = to_numpy(found)
    try:
        return check_labels(labels, count, of=level)
    except LabelError as error:
        raise LabelError(f"The labels of the teacher cannot be used: {error}") from error


def _teacher_name(teacher: Any) -> str | None:
    module = getattr(teacher, "module", None)
    if module is not None:
        return type(module).__name__
    if not hasattr(teacher, "predict") and not hasattr(teacher, "forward"):
        return None
    conv = getattr(teacher, "conv", None)
    kind = type(teacher).__name__
    return f"{kind} ({conv})" if isinstance(conv, str) else kind


def _heading(dataset_name: str | None, teacher: object) -> str:
    what = "A network in logic" if teacher is not None else "Rules for graphs"
    return what if dataset_name is None else f"{what}: {dataset_name}"


def _graph_names(names: Sequence[object] | None, count: int) -> list[str]:
    if names is None:
        return [f"Graph {number}" for number in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise GraphError(
            f"graph_names must have one name for each of the {count} graphs. "
            f"Got {len(names)} instead."
        )
    return [str(name) for name in names]


def _class_names(
    names: Mapping[Any, object] | Sequence[object] | None, own: Labels, answers: Answers
) -> dict[Any, str]:
    """Return names of the classes of the model, and of others that truth or teacher know."""
    labels = own.tolist()
    for array in (answers.truth, answers.teacher):
        if array is not None:
            known = set(labels)
            labels += [label for label in np.unique(array).tolist() if label not in known]
    found = _named(names, labels, own)
    if len(set(found.values())) < len(found):
        raise LabelError(f"class_names must be distinct. Got {list(found.values())} instead.")
    return found


def _named(
    names: Mapping[Any, object] | Sequence[object] | None, labels: list[Any], own: Labels
) -> dict[Any, str]:
    if names is None:
        return {label: str(label) for label in labels}
    if isinstance(names, Mapping):
        return {label: str(names.get(label, label)) for label in labels}
    if isinstance(names, str) or len(names) < len(own):
        raise LabelError(
            f"class_names must have one name for each of the {len(own)} classes of the model, "
            f"{own.tolist()}. Got {len(names)} instead."
        )
    if all(isinstance(label, int) and 0 <= label < len(names) for label in labels):
        # Numbers are places in the list, also where the model does not know all of them.
        return {label: str(names[label]) for label in labels}
    return {
        label: str(names[place]) if place < len(names) else str(label)
        for place, label in enumerate(labels)
    }
