"""What a network says about graphs or nodes, as classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import expit, softmax
from torch_geometric.data import Batch

from gnn2logic._labels import check_labels
from gnn2logic._validation import to_numpy
from gnn2logic.distillation.node_types import count_of
from gnn2logic.exceptions import LabelError, ParameterError, TeacherError

__all__ = [
    "NO_LINKS",
    "AskedLevel",
    "Outputs",
    "check_classes",
    "class_numbers",
    "named",
    "probabilities",
    "score_rows",
]

AskedLevel = Literal["auto", "graph", "node"]
Level = Literal["graph", "node"]
FloatArray = npt.NDArray[np.float32]

NO_LINKS = (
    "Networks that say something about edges or pairs of nodes (link prediction) cannot be "
    "distilled as they are, only those that say something about graphs or nodes. Make a graph of "
    "each pair with gnn2logic.link_graphs, and learn from what the network says about the pairs."
)


def check_classes(classes: object) -> npt.NDArray[Any] | None:
    """Return the names of the classes in the order of the outputs, or None."""
    if classes is None:
        return None
    listed: Any = to_numpy(classes)
    if isinstance(listed, str) or not hasattr(listed, "__len__") or not len(listed):
        raise ParameterError(
            f"classes must list one label for each class. Got {classes!r} instead."
        )
    try:
        labels = check_labels(listed, len(listed), of="class")
    except LabelError as error:
        raise ParameterError(f"classes cannot be read. {error}") from None
    if len(np.unique(labels)) != len(labels):
        raise ParameterError(f"classes must be distinct. Got {labels.tolist()}.")
    return labels


class Outputs:
    """The outputs of a network on mini-batches, put together.

    Parameters
    ----------
    level : {"auto", "graph", "node"}
        Whether rows are graphs or nodes; "auto" looks at their number.
    node_type : str, optional
        The type of the nodes that are asked about, where there are several.
    """

    def __init__(self, level: AskedLevel, node_type: str | None = None) -> None:
        self._node_type = node_type
        self._levels: tuple[Level, ...] = ("graph", "node") if level == "auto" else (level,)
        self._parts: list[FloatArray] = []
        self._n_rows = 0

    def add(self, output: Any, batch: Batch) -> None:
        """Keep the output for one more mini-batch."""
        rows = score_rows(output)
        counts = {"graph": batch.num_graphs, "node": count_of(batch, self._node_type)}
        fitting = tuple(level for level in self._levels if counts[level] == len(rows))
        if not fitting:
            allowed = " or ".join(f"each of the {counts[level]} {level}s" for level in self._levels)
            raise TeacherError(
                f"The network must return one row for {allowed} of a mini-batch. Got shape "
                f"{tuple(output.shape)} instead. {_advice(len(rows), batch)}".rstrip()
            )
        if _is_about_pairs(rows, batch):
            raise TeacherError(
                "The network must return one row of scores for each graph or node. Got one number "
                f"for each of {len(rows)} times {len(rows)} pairs of nodes. {NO_LINKS}"
            )
        if self._parts and rows.shape[1] != self._parts[0].shape[1]:
            raise TeacherError(
                "The network must return as many columns for every mini-batch. Got "
                f"{self._parts[0].shape[1]} and then {rows.shape[1]}."
            )
        finite = ~np.isnan(rows).any(axis=1)
        if not finite.all():
            at = self._n_rows + int(np.argmin(finite))
            raise TeacherError(f"The network must not return NaN. Got NaN for {fitting[0]} {at}.")
        self._levels = fitting
        self._parts.append(rows)
        self._n_rows += len(rows)

    @property
    def level(self) -> Level:
        """What the rows are; graphs where every graph has one node and nobody said."""
        return self._levels[0]

    @property
    def either_level(self) -> bool:
        """Whether the rows may be graphs or nodes."""
        return len(self._levels) > 1

    @property
    def scores(self) -> FloatArray:
        """All rows; one column is the logit of the second of two classes."""
        return np.concatenate(self._parts)


def _advice(n_rows: int, batch: Batch) -> str:
    """Return what to do about a number of rows that fits neither graphs nor nodes."""
    if n_rows == batch.num_edges:
        return f"These are as many as there are edges. {NO_LINKS}"
    types = [each for each in getattr(batch, "node_types", ()) if count_of(batch, each) == n_rows]
    if types and n_rows > 1:
        return (
            f"So many are of type {types[0]!r}; then say Teacher(module, node_type={types[0]!r})."
        )
    if n_rows == 1:
        return (
            "It takes all graphs of a mini-batch for one. Pool with the batch vector, as in "
            "global_mean_pool(x, batch), or have graphs asked one by one: Teacher(module, "
            "forward=..., batch_size=1)."
        )
    return ""


def _is_about_pairs(rows: FloatArray, batch: Batch) -> bool:
    """Whether there is a number for each pair of nodes; products of representations commute."""
    is_square = rows.shape == (batch.num_nodes, batch.num_nodes)
    return is_square and len(rows) > 2 and np.allclose(rows, rows.T, rtol=1e-4, atol=1e-6)


def score_rows(output: Any) -> FloatArray:
    """Return the output of a network as a matrix with one row for each graph or node."""
    if not isinstance(output, torch.Tensor) or output.layout is not torch.strided:
        raise TeacherError(
            f"The network must return one tensor. Got {type(output).__name__} instead; choose it "
            "with Teacher(module, forward=...)."
        )
    if output.dim() > 2 or output.is_complex() or (output.dim() == 2 and not output.shape[1]):
        raise TeacherError(
            "The network must return one row of real numbers for each graph or node. Got shape "
            f"{tuple(output.shape)}, dtype {output.dtype} instead."
        )
    if output.dim() < 2 and not output.is_floating_point() and (output > 1).any():
        raise TeacherError(
            "The network must return scores, whose largest tells the class. Got whole numbers up "
            f"to {int(output.max())}, which look like the classes themselves."
        )
    values = output.detach().to("cpu", torch.float32).numpy()
    # A squeezed output of one graph has no dimension left.
    return np.array(values if values.ndim == 2 else values.reshape(-1, 1))


def class_numbers(scores: FloatArray) -> npt.NDArray[np.int64]:
    """Return the number of the class of each row: the largest score, or logit > 0."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def probabilities(scores: FloatArray) -> npt.NDArray[np.float64]:
    """Return class probabilities of logits, log-probabilities or probabilities."""
    values = scores.astype(np.float64)
    if values.shape[1] == 1:
        second = expit(values)
        return np.concatenate([1 - second, second], axis=1)
    if (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-4):
        return np.asarray(values / values.sum(axis=1, keepdims=True))
    return np.asarray(softmax(values, axis=1))


def named(classes: npt.NDArray[Any] | None, n_columns: int) -> npt.NDArray[Any]:
    """Return the classes of so many columns, numbered from 0 if they have no names.

    One column stands for two classes, unless the only class there is has a name.
    """
    if classes is not None and len(classes) == n_columns == 1:
        return classes
    count = max(n_columns, 2)
    if classes is None:
        return np.arange(count)
    if len(classes) != count:
        raise TeacherError(
            f"classes must name each of the {count} classes that the network tells apart. "
            f"Got {len(classes)}: {classes.tolist()}."
        )
    return classes
