"""What a report is about, checked: the model, the graphs as it sees them, and all answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels, check_mask, check_numbers
from gnn2logic._validation import to_numpy
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import GraphError, LabelError, ParameterError
from gnn2logic.explanation.subject import Subject, teacher_numbers, teacher_with_predict
from gnn2logic.fitted_models import FittedModel, fitted_model
from gnn2logic.graphs.reading import read_once
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.target import Target
from gnn2logic.reporting.comparison import Comparison
from gnn2logic.reporting.number_comparison import NumberComparison
from gnn2logic.scorecards import Scorecard, ScorecardPredictor

__all__ = ["ReportLimits", "ReportSubject", "read_subject"]


@dataclass(frozen=True)
class ReportLimits:
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
ClassNames = Mapping[Any, object] | Sequence[object] | None


@dataclass(frozen=True, eq=False)
class ReportSubject(Subject):
    """Everything that a report speaks of.

    Parameters
    ----------
    predictor : IDTPredictor or ScorecardPredictor
    graphs : object
        The graphs as they were given.
    comparison : Comparison or NumberComparison
        All answers.
    class_names : dict of label to str
        What every class is called, those of the model first; of numbers, those of its leaves.
    graph_names : list of str
    title : str
    dataset_name : str or None
    teacher_name : str or None
        None without a teacher, and for one of which only the labels are known.
    """

    predictor: FittedModel
    graphs: Any
    comparison: Comparison | NumberComparison
    class_names: dict[Any, str]
    graph_names: list[str]
    title: str
    dataset_name: str | None
    teacher_name: str | None

    @property
    def target(self) -> Target | None:
        """What is predicted, for models of numbers; None for classes."""
        return self.predictor.target

    def said(self, answer: Any) -> str:
        """Return an answer as people read it: the name of a class, or a number with its unit."""
        if self.target is None or answer in self.class_names:
            return self.class_names[answer]
        return self.target.rounded(answer)

    @property
    def model_class_names(self) -> list[str]:
        """What the classes of the model are called, by number."""
        return [self.class_names[label] for label in self.labels]


def read_subject(
    model: object,
    graphs: object,
    y: object,
    *,
    teacher: object,
    mask: object,
    title: str | None,
    dataset_name: str | None,
    class_names: ClassNames,
    graph_names: Sequence[object] | None,
) -> ReportSubject:
    """Return what a report is about; every argument is checked before any work is done."""
    fitted = fitted_model(model)
    target = fitted.target
    if target is not None and class_names is not None:
        raise ParameterError(
            f"class_names is for models that tell classes. This one {target}; give its name and "
            "unit to the model: target_name=..., unit=..."
        )
    if isinstance(graphs, Dataset):
        y = graphs.y if y is None and fitted.level == "graph" else y
        dataset_name = graphs.name if dataset_name is None else dataset_name
        if (
            target is None
            and class_names is None
            and set(fitted.classes_.tolist()) <= set(range(graphs.n_classes))
        ):
            class_names = graphs.class_names
        graphs = graphs.inputs
    graphs = read_once(graphs)
    plain = fitted.model_ if isinstance(fitted, IDTPredictor) else fitted.card_
    labels = [] if isinstance(plain, Scorecard) and target is not None else fitted.classes_.tolist()
    subject = Subject(plain, labels, fitted.encoder_.transform(graphs))
    comparison: Comparison | NumberComparison
    if target is None:
        comparison = _comparison(subject, fitted, graphs, y, teacher, mask, class_names)
        named = comparison.class_names
    else:
        comparison = _number_comparison(subject, fitted, target, graphs, y, teacher, mask)
        named = {value: target.with_unit(value) for value in labels}
    return ReportSubject(
        model=subject.model,
        labels=subject.labels,
        batch=subject.batch,
        predictor=fitted,
        graphs=graphs,
        graph_names=_graph_names(graph_names, subject.batch.n_graphs),
        comparison=comparison,
        class_names=named,
        title=_heading(fitted, dataset_name, teacher) if title is None else title,
        dataset_name=dataset_name,
        teacher_name=None if teacher is None else _teacher_name(teacher),
    )


def _comparison(
    subject: Subject,
    model: FittedModel,
    graphs: Any,
    y: object,
    teacher: object,
    mask: object,
    class_names: ClassNames,
) -> Comparison:
    level, count = subject.level, subject.n_rows
    rows = _rows(subject, mask, teacher)
    truth = None if y is None else check_labels(y, count, of=level)
    taught = None if teacher is None else _teacher_labels(teacher, graphs, subject)
    predicted = model.predict(graphs)
    for labels, who in ((truth, "y"), (taught, "The teacher")):
        if labels is not None and (labels.dtype.kind in "US") != (predicted.dtype.kind in "US"):
            raise LabelError(
                f"{who} must use the names of the classes of the model, {subject.labels}. "
                f"Got {labels.tolist()[0]!r}."
            )
    truth = None if truth is None else truth[rows]
    taught = None if taught is None else taught[rows]
    names = _names_of_classes(class_names, subject.labels, truth, taught)
    sure = [_second_class(one, graphs, subject.labels) for one in (model, teacher)]
    certain, theirs = (None if column is None else column[rows] for column in sure)
    return Comparison(level, names, rows, predicted[rows], truth, taught, certain, theirs)


def _rows(subject: Subject, mask: object, teacher: object) -> npt.NDArray[np.int64]:
    if mask is not None and subject.level == "graph":
        raise ParameterError(
            "mask is for models that classify nodes. Choose graphs before the report instead."
        )
    chosen = check_mask(mask, subject.n_rows)
    spoken_of = getattr(teacher, "node_type", None)
    if isinstance(spoken_of, str) and spoken_of in subject.batch.names:
        # The network says nothing about nodes of other types.
        chosen = check_mask(chosen & subject.batch.column(spoken_of), subject.n_rows)
    return np.flatnonzero(chosen)


def _number_comparison(
    subject: Subject,
    model: FittedModel,
    target: Target,
    graphs: Any,
    y: object,
    teacher: object,
    mask: object,
) -> NumberComparison:
    level, count = subject.level, subject.n_rows
    rows = _rows(subject, mask, teacher)
    chosen = np.isin(np.arange(count), rows)
    truth = None if y is None else check_numbers(y, count, of=level, among=chosen)[rows]
    taught = None if teacher is None else teacher_numbers(teacher, graphs, count, level)[rows]
    return NumberComparison(level, target, rows, model.predict(graphs)[rows], truth, taught)


def _second_class(model: Any, graphs: Any, labels: list[Any]) -> npt.NDArray[np.float64] | None:
    """Return how sure a model is of the second of two classes; None if it does not say."""
    classes = getattr(model, "classes_", None)
    known = classes is not None and np.asarray(classes).tolist() == labels
    if len(labels) != 2 or not known or not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(graphs), dtype=np.float64)[:, 1]


def _teacher_labels(teacher: Any, graphs: Any, subject: Subject) -> Labels:
    """Return what a teacher says; labels and models with predict need no torch."""
    answers = teacher
    if (
        not hasattr(teacher, "__len__")
        or hasattr(teacher, "predict")
        or hasattr(teacher, "forward")
    ):
        answers = teacher_with_predict(teacher, len(subject.labels)).predict(graphs)
    labels: Any = to_numpy(answers)
    try:
        return check_labels(labels, subject.n_rows, of=subject.level)
    except LabelError as error:
        raise LabelError(f"The labels of the teacher cannot be used: {error}") from error


def _teacher_name(teacher: Any) -> str | None:
    module = getattr(teacher, "module", None)
    if module is not None:
        return type(module).__name__
    if not hasattr(teacher, "predict") and not hasattr(teacher, "forward"):
        return None
    conv = getattr(teacher, "conv", None)
    class_name = type(teacher).__name__
    return f"{class_name} ({conv})" if isinstance(conv, str) else class_name


def _heading(model: FittedModel, dataset_name: str | None, teacher: object) -> str:
    if isinstance(model, ScorecardPredictor):
        ours = f"A scorecard for {model.level}s"
        what = "A network as a scorecard" if teacher is not None else ours
    else:
        what = "A network in logic" if teacher is not None else f"Rules for {model.level}s"
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


def _names_of_classes(
    names: ClassNames, of_model: list[Any], truth: Labels | None, taught: Labels | None
) -> dict[Any, str]:
    """Return names of the classes of the model, and of others that truth or teacher know."""
    labels = list(of_model)
    for array in (truth, taught):
        if array is not None:
            known = set(labels)
            labels += [label for label in np.unique(array).tolist() if label not in known]
    by_label = _named(names, labels, of_model)
    if len(set(by_label.values())) < len(by_label):
        raise LabelError(f"class_names must be distinct. Got {list(by_label.values())} instead.")
    return by_label


def _named(names: ClassNames, labels: list[Any], of_model: list[Any]) -> dict[Any, str]:
    if names is None:
        return {label: str(label) for label in labels}
    if isinstance(names, Mapping):
        return {label: str(names.get(label, label)) for label in labels}
    if isinstance(names, str) or len(names) < len(of_model):
        raise LabelError(
            f"class_names must have one name for each of the {len(of_model)} classes of the model, "
            f"{of_model}. Got {len(names)} instead."
        )
    if all(isinstance(label, int) and 0 <= label < len(names) for label in labels):
        # Numbers are positions in the list, also where the model does not know all of them.
        return {label: str(names[label]) for label in labels}
    return {
        label: str(names[number]) if number < len(names) else str(label)
        for number, label in enumerate(labels)
    }
