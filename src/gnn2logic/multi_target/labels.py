"""A matrix of labels, one column for each target; gaps are NaN or None."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_names, to_numpy
from gnn2logic.exceptions import FeatureError, LabelError, ParameterError

__all__ = ["TargetColumn", "check_target_names", "target_columns"]


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """What is known of one target.

    Parameters
    ----------
    name : str
    values : array
        A label for every row; where none is known, that of some other row.
    known : array of bool
    """

    name: str
    values: npt.NDArray[Any]
    known: npt.NDArray[np.bool_]


def check_target_names(names: object, n_targets: int | None = None) -> tuple[str, ...]:
    """Return names of targets, distinct and as many as there are."""
    given: Any = names
    try:
        checked = check_names(given, what="Target")
    except FeatureError as error:
        raise ParameterError(str(error)) from None
    if not checked or (n_targets is not None and len(checked) != n_targets):
        wanted = "at least one name" if n_targets is None else f"{n_targets} names"
        raise ParameterError(
            f"There must be {wanted}, one for each target. Got {len(checked)}: {list(checked)}."
        )
    return checked


def target_columns(
    y: object,
    count: int,
    *,
    of: str,
    names: object = None,
    skip_missing: bool,
    among: npt.NDArray[np.bool_] | None = None,
) -> list[TargetColumn]:
    """Return the columns of a matrix of labels, checked.

    Parameters
    ----------
    y : array, list of rows, or data frame
    count : int
        How many rows there must be.
    of : {"graph", "node"}
        What the rows are.
    names : sequence of str, optional
        By default the columns of a data frame, else ``target_0``, ``target_1``, ...
    skip_missing : bool
        Whether labels may be missing.
    among : array of bool, optional
        The rows that are looked at; by default all.
    """
    labels = _matrix(y, count, of)
    if names is None and hasattr(y, "columns"):
        names = [str(name) for name in y.columns]
    if names is None:
        names = [f"target_{number}" for number in range(labels.shape[1])]
    looked_at = np.ones(count, dtype=bool) if among is None else among
    columns = []
    for name, column in zip(check_target_names(names, labels.shape[1]), labels.T, strict=True):
        known = ~_missing(column)
        if not (known & looked_at).any():
            where = "" if looked_at.all() else f" among the {of}s of the mask that have any weight"
            raise LabelError(
                f"y must hold a label of target {name!r}. All of them are missing{where}; leave "
                "the target out."
            )
        n_missing = int((looked_at & ~known).sum())
        if n_missing and not skip_missing:
            raise LabelError(
                f"y must hold a label for every {of}. {n_missing} of {int(looked_at.sum())} labels "
                f"of target {name!r} are missing (NaN or None); missing='skip' learns every target "
                f"from the {of}s whose label is known."
            )
        columns.append(TargetColumn(name, np.where(known, column, column[known][0]), known))
    return columns


def _matrix(y: object, count: int, of: str) -> npt.NDArray[Any]:
    if y is None:
        raise LabelError(f"y must hold one row of labels for each of the {count} {of}s. Got None.")
    try:
        labels = np.asarray(to_numpy(y))
    except ValueError:
        raise LabelError(
            "y must have rows of the same length, one label for each target. Got rows of "
            "different lengths instead."
        ) from None
    if labels.dtype.kind in "US" and isinstance(y, Sequence):
        # numpy would turn the numbers and gaps of a mixed list into texts.
        labels = np.array(y, dtype=object)
    if labels.ndim != 2 or labels.shape[0] != count or not labels.shape[1]:
        advice = ""
        if labels.shape == (count,):
            advice = " For one target fit the estimator itself, or give y.reshape(-1, 1)."
        raise LabelError(
            f"y must have one row for each of the {count} {of}s and one column for each target. "
            f"Got shape {labels.shape} instead.{advice}"
        )
    return labels


def _missing(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    # Only NaN differs from itself; that of data frames gives no answer at all.
    return np.array([value is None or _differs_from_itself(value) for value in column.tolist()])


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:
        return True
