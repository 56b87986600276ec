"""How often two classifiers say the same."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from torch import nn

from gnn2logic._labels import check_labels, check_weights
from gnn2logic._validation import check_choice, to_numpy
from gnn2logic.distillation.conversion import teacher_of_classes
from gnn2logic.distillation.regression import number_fidelity, predicts_numbers
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.graphs.reading import read_once

__all__ = ["check_same_names", "fidelity"]

Labels = npt.NDArray[Any]


@overload
def fidelity(
    model: object,
    teacher: object,
    graphs: object,
    *,
    average: Literal["micro", "macro"] = "micro",
    sample_weight: object = None,
) -> float: ...


@overload
def fidelity(
    model: object, teacher: object, graphs: object, *, average: None, sample_weight: object = None
) -> dict[Any, float]: ...


def fidelity(
    model: object,
    teacher: object,
    graphs: object,
    *,
    average: Literal["micro", "macro"] | None = "micro",
    sample_weight: object = None,
) -> float | dict[Any, float]:
    """Return the share of graphs (or nodes) on which a model agrees with its teacher.

    Of a model that predicts numbers: R2, with the numbers of the teacher as the truth.

    Parameters
    ----------
    model, teacher : model, or array of labels
        A `Teacher` or torch module, anything with ``predict(graphs)``, or labels that are known
        already.
    graphs : PyG graphs, or anything that `gnn2logic.as_batch` reads
        Not used where labels are given.
    average : {"micro", "macro"} or None
        ``"micro"``: all rows count alike. ``"macro"``: class-weighted fidelity, the mean over the
        classes that the teacher predicts of the agreement within the class, so that a rare class
        counts as much as a common one. None: a dictionary with the agreement within each class.
    sample_weight : array, optional
        A weight for each row; 0 leaves it out.

    Notes
    -----
    ``torch_geometric.explain.metric.fidelity`` is something else: it measures how the prediction
    of the network itself changes when the part of one graph that an explanation marks is removed,
    or kept alone.

    Examples
    --------
    >>> fidelity([0, 0, 0, 1], [0, 0, 1, 1], None)
    0.75
    >>> fidelity([0, 0, 0, 1], [0, 1, 1, 1], None, average=None)
    {0: 1.0, 1: 0.3333333333333333}
    >>> round(fidelity([0, 0, 0, 1], [0, 1, 1, 1], None, average="macro"), 4)
    0.6667
    """
    check_choice("average", average, ("micro", "macro", None))
    if hasattr(model, "target_names_"):
        raise ParameterError(
            "fidelity compares one target at a time. Got several: fidelity(model['name'], "
            "Teacher(network).head(0), graphs) is about the first output of a network."
        )
    graphs = read_once(graphs)
    if predicts_numbers(model):
        if average != "micro":
            raise ParameterError("average is about classes. This model predicts numbers.")
        return number_fidelity(model, teacher, graphs, sample_weight)
    if isinstance(model, Teacher | nn.Module):
        # Two networks may only be compared with each other; labels tell a network what is meant.
        theirs, their_classes, asked = _labels(teacher, graphs)
        ours, our_classes, _ = _labels(model, graphs, _count(teacher, theirs, their_classes))
    else:
        ours, our_classes, _ = _labels(model, graphs)
        theirs, their_classes, asked = _labels(teacher, graphs, _count(model, ours, our_classes))
    if len(ours) != len(theirs):
        raise LabelError(
            f"Both must have one label for each row. Got {len(ours)} and {len(theirs)} labels."
        )
    if not len(theirs):
        raise LabelError("At least one row is needed to compare labels. Got none.")
    if our_classes is None or their_classes is None:
        check_same_names(ours, theirs, complete=False)
    else:
        check_same_names(our_classes, their_classes, complete=True)
    weights = check_weights(sample_weight, len(theirs), of="row")
    if asked is not None:
        # The network says nothing about nodes of other types.
        ours, theirs, weights = ours[asked], theirs[asked], weights[asked]
    equal = ours == theirs
    if average == "micro":
        return float(np.average(equal, weights=weights))
    within = {
        label: float(np.average(equal[rows], weights=weights[rows]))
        for label in np.unique(theirs).tolist()
        for rows in ((theirs == label),)
        if weights[rows].any()
    }
    return within if average is None else float(np.mean(list(within.values())))


def _count(model: object, labels: Labels, classes: Labels | None) -> int | None:
    """Return how many classes labels tell apart; those of another network tell nothing."""
    if isinstance(model, Teacher | nn.Module):
        return None
    return len(np.unique(labels)) if classes is None else len(classes)


def _labels(
    model: Any, graphs: object, n_classes: int | None = None
) -> tuple[Labels, Labels | None, npt.NDArray[np.bool_] | None]:
    """Return the labels that a model gives, all that it might give, and which rows it speaks of.

    None where it does not say which labels there are, and where it speaks of all rows.
    """
    if isinstance(model, Teacher | nn.Module):
        answers = teacher_of_classes(model, n_classes).run(graphs, activations=False)
        return answers.labels, answers.classes, answers.asked
    values: Any = to_numpy(model.predict(graphs) if hasattr(model, "predict") else model)
    if not hasattr(values, "__len__") or isinstance(values, str):
        raise LabelError(
            "A model with predict, a torch module or an array of labels is needed. "
            f"Got {type(model).__name__} instead."
        )
    return check_labels(values, len(values), of="row"), getattr(model, "classes_", None), None


def check_same_names(ours: Labels, theirs: Labels, *, complete: bool) -> None:
    """Refuse names of two kinds: texts and numbers, or -1 and 1 here and 0 and 1 there.

    Without all names there are nothing can be said about those that are missing.
    """
    a, b = set(ours.tolist()), set(theirs.tolist())
    mixed = (ours.dtype.kind == "U") != (theirs.dtype.kind == "U")
    if mixed or (complete and not (a <= b or b <= a)):
        raise LabelError(
            f"Both must use the same names of classes. Got {sorted(a)} and {sorted(b)}; name those "
            "of a network with Teacher(module, classes=...)."
        )
