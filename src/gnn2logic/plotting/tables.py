"""Two sets of labels against each other: confusion and fidelity tables as heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels
from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import LabelError
from gnn2logic.explanation.phrases import percent
from gnn2logic.idt.export.view import one_line
from gnn2logic.plotting.axes import needs_matplotlib, new_axes
from gnn2logic.plotting.words import BLUE, INK, PAPER, wrapped

__all__ = ["label_counts", "plot_confusion", "plot_fidelity"]

Labels = Sequence[object] | npt.NDArray[Any] | Mapping[Any, object]

_NAME_WIDTH = 18
_NAME_LINES = 3


def plot_confusion(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    *,
    class_names: Labels | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw how often rows of each class are given each class.

    A cell has the number of rows and their share of all rows of the true class, which is also
    its shade.

    Parameters
    ----------
    y_true, y_pred : array of labels
    class_names : sequence, or mapping of label to name, optional
        The classes in the order of the table, and what they are called; by default all labels,
        sorted.
    title : str, optional
        By default the accuracy.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from gnn2logic.plotting import plot_confusion
    >>> ax = plot_confusion([0, 0, 0, 1], [0, 0, 1, 1], class_names={0: "inactive", 1: "active"})
    >>> ax.get_title()
    'accuracy 0.750'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_confusion", ax)
    truth, predicted = _label_arrays({"y_true": y_true, "y_pred": y_pred})
    names = _names_of_classes(class_names, truth, predicted)
    counts = label_counts(truth, predicted, list(names))
    texts = _cell_texts(counts)
    if title is None:
        title = f"accuracy {np.trace(counts) / counts.sum():.3f}"
    return _heat_map(ax, counts, texts, list(names.values()), ("true class", "predicted"), title)


def plot_fidelity(
    teacher_labels: npt.ArrayLike,
    model_labels: npt.ArrayLike,
    y_true: npt.ArrayLike | None = None,
    *,
    class_names: Labels | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw how often a model says what its teacher says.

    A cell has the number of rows and their share of all rows that the teacher gives the class.
    With the true labels, a cell also says in how many of its rows they are right: both together
    where they agree, the teacher and the model each where they differ.

    Parameters
    ----------
    teacher_labels, model_labels : array of labels
        What the teacher and the model predict.
    y_true : array of labels, optional
    class_names : sequence, or mapping of label to name, optional
        The classes in the order of the table, and what they are called; by default all labels,
        sorted.
    title : str, optional
        By default the fidelity, and the accuracies where they are known.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from gnn2logic.plotting import plot_fidelity
    >>> ax = plot_fidelity([0, 0, 1, 1], [0, 1, 1, 1], y_true=[0, 0, 0, 1])
    >>> print(ax.get_title())
    fidelity 0.750
    accuracy: teacher 0.750, IDT 0.500
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_fidelity", ax)
    given = {"teacher_labels": teacher_labels, "model_labels": model_labels}
    if y_true is not None:
        given["y_true"] = y_true
    theirs, ours, *truths = _label_arrays(given)
    names = _names_of_classes(class_names, theirs, ours)
    order = list(names)
    counts = label_counts(theirs, ours, order)
    texts = _cell_texts(counts)
    heading = f"fidelity {np.trace(counts) / counts.sum():.3f}"
    for truth in truths:
        heading += (
            f"\naccuracy: teacher {np.mean(theirs == truth):.3f}, IDT {np.mean(ours == truth):.3f}"
        )
        their_hits = label_counts(theirs[theirs == truth], ours[theirs == truth], order)
        our_hits = label_counts(theirs[ours == truth], ours[ours == truth], order)
        for row, column in np.ndindex(counts.shape):
            if row == column:
                texts[row][column] += f"\nboth right {their_hits[row, column]}"
            elif counts[row, column]:
                texts[row][column] += (
                    f"\nteacher right {their_hits[row, column]}\nIDT right {our_hits[row, column]}"
                )
    axes_names = ("teacher", "IDT")
    return _heat_map(ax, counts, texts, list(names.values()), axes_names, title or heading)


def _label_arrays(given: Mapping[str, npt.ArrayLike]) -> list[npt.NDArray[Any]]:
    """Return arrays of labels of one kind and one length, or say which one is not."""
    arrays: list[npt.NDArray[Any]] = []
    for name, values in given.items():
        read: Any = to_numpy(values)
        if not hasattr(read, "__len__") or isinstance(read, str):
            raise LabelError(
                f"{name} must be an array of labels. Got {type(values).__name__} instead."
            )
        try:
            arrays.append(check_labels(read, len(read), of="row"))
        except LabelError as error:
            raise LabelError(f"{name}: {error}") from error
    first = next(iter(given))
    for name, array in zip(given, arrays, strict=True):
        if len(array) != len(arrays[0]):
            raise LabelError(
                f"{first} and {name} must have one label for each row. "
                f"Got {len(arrays[0])} and {len(array)} labels."
            )
        if (array.dtype.kind in "US") != (arrays[0].dtype.kind in "US"):
            raise LabelError(
                f"{first} and {name} must use the same names of classes. "
                f"Got {arrays[0][0]!r} and {array[0]!r}."
            )
    if not len(arrays[0]):
        raise LabelError(f"{first} must have at least one label. Got none.")
    return arrays


def _names_of_classes(class_names: Labels | None, *arrays: npt.NDArray[Any]) -> dict[Any, str]:
    present = sorted({label for array in arrays for label in array.tolist()})
    if class_names is None:
        return {label: str(label) for label in present}
    pairs = (
        class_names.items()
        if isinstance(class_names, Mapping)
        else ((label, label) for label in class_names)
    )
    names = {
        label.item() if isinstance(label, np.generic) else label: str(name) for label, name in pairs
    }
    missing = [label for label in present if label not in names]
    if missing:
        raise LabelError(
            f"class_names must name every class. Got none for {missing[0]!r} in {list(names)!r}."
        )
    return names


def label_counts(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], order: Sequence[Any]
) -> npt.NDArray[np.int64]:
    """Return how often each label of `rows` meets each label of `columns`.

    As ``sklearn.metrics.confusion_matrix``, which warns where there is one class alone.

    >>> label_counts(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]), ["a", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    number_of = {label: number for number, label in enumerate(order)}
    counts = np.zeros((len(order), len(order)), dtype=np.int64)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        counts[number_of[row], number_of[column]] += 1
    return counts


def _cell_texts(counts: npt.NDArray[np.int64]) -> list[list[str]]:
    return [
        [f"{count}\n{percent(count / row.sum())}" if row.sum() else "0" for count in row]
        for row in counts
    ]


def _heat_map(
    ax: Any,
    counts: npt.NDArray[np.int64],
    texts: Sequence[Sequence[str]],
    names: Sequence[str],
    axes_names: tuple[str, str],
    title: str,
) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    lines = [text.split("\n") for row in texts for text in row]
    longest = max(len(line) for text in lines for line in text)
    # In inches; texts of nine points are about that wide and high.
    width = max(0.9, 0.085 * longest)
    height = max(0.7, 0.17 * max(len(text) for text in lines) + 0.15)
    if ax is None:
        ax = new_axes((len(names) * width + 1.7, len(names) * height + 1.3))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    colours = LinearSegmentedColormap.from_list("shares", [PAPER, BLUE])
    ax.imshow(shares, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in np.ndindex(counts.shape):
        dark = shares[row, column] > 0.5
        ax.text(
            column,
            row,
            texts[row][column],
            ha="center",
            va="center",
            fontsize=9,
            color=PAPER if dark else INK,
            parse_math=False,
            usetex=False,
        )
    below = [_in_lines(name, int(width / 0.085)) for name in names]
    beside = [_in_lines(name, _NAME_WIDTH) for name in names]
    ax.set_xticks(range(len(names)), below)
    ax.set_yticks(range(len(names)), beside)
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set(parse_math=False, usetex=False, fontsize=9)
    # White lines between the cells.
    edges = np.arange(len(names) - 1) + 0.5
    ax.hlines(edges, -0.5, len(names) - 0.5, color=PAPER, lw=2)
    ax.vlines(edges, -0.5, len(names) - 0.5, color=PAPER, lw=2)
    ax.tick_params(length=0)
    ax.set_ylabel(axes_names[0])
    ax.set_xlabel(axes_names[1])
    ax.set_title(title, fontsize=10, parse_math=False, usetex=False)
    return ax


def _in_lines(name: str, width: int) -> str:
    return "\n".join(wrapped(one_line(name), width, _NAME_LINES))
