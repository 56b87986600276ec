"""What users say about rows, graphs or nodes: labels, weights and masks as clean arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import LabelError

__all__ = ["check_labels", "check_mask", "check_numbers", "check_weights"]

FloatArray = npt.NDArray[np.float64]
# Squares of larger numbers, added up, might not be finite.
_LARGEST_NUMBER = 1e100


def check_labels(
    y: object, count: int, *, of: str, among: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[Any]:
    """Return labels as a 1-D array of whole numbers, strings or Booleans, one for each row.

    With `among`, only the labels of these rows are looked at and returned.
    """
    if y is None:
        raise LabelError(f"y must hold one label for each of the {count} {of}s. Got None instead.")
    try:
        labels = _label_array(y)
    except ValueError:
        # Parts of different lengths, such as one array for each graph.
        raise LabelError(
            f"y must be one-dimensional, one label per {of}. Got parts of different lengths "
            "instead; join them, for example with numpy.concatenate."
        ) from None
    if labels.ndim != 1:
        raise LabelError(
            f"y must be one-dimensional, one label per {of}. Got shape {labels.shape} instead."
        )
    if len(labels) != count:
        raise LabelError(
            f"y must hold one label per {of}. Got {len(labels)} labels for {count} {of}s."
        )
    if among is not None:
        labels = labels[among]
    if labels.dtype == object:
        labels = _of_one_type(labels)
    if labels.dtype.kind == "f":
        return _whole_numbers(labels)
    if labels.dtype.kind not in "iubU":
        raise LabelError(f"y must hold whole numbers or strings. Got dtype {labels.dtype} instead.")
    if labels.dtype.kind == "u" and (labels > np.iinfo(np.int64).max).any():
        raise LabelError(f"y must hold numbers below 2**63. Got {labels.max()}.")
    return labels


def _label_array(y: object) -> npt.NDArray[Any]:
    labels = np.asarray(to_numpy(y))
    if labels.dtype.kind in "US" and isinstance(y, list | tuple):
        # numpy would turn the numbers of a mixed list into texts.
        return np.array(y, dtype=object)
    return labels


def _of_one_type(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of objects as an array of strings, numbers or Booleans."""
    given = labels.tolist()
    for label_type in (str, bool | np.bool_, int | np.integer, float | np.floating):
        if all(isinstance(label, label_type) for label in given):
            return np.array(given)
    names = sorted({type(label).__name__ for label in given})
    raise LabelError(
        f"y must hold labels of one kind, whole numbers or strings. Got {', '.join(names)} instead."
    )


def _whole_numbers(labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return floating labels as the whole numbers that they are."""
    fine = np.isfinite(labels) & (np.abs(labels) < 2**53)
    fine &= np.where(fine, labels, 0.5) == np.rint(np.where(fine, labels, 0.0))
    if not fine.all():
        at = int(np.argmin(fine))
        raise LabelError(
            "y must hold class labels: whole numbers, not continuous values, NaN or infinity. "
            f"Got {labels[at]} at position {at}. IDTRegressor and ScorecardRegressor learn numbers."
        )
    return labels.astype(np.int64)


def _no_number(y: object, of: str) -> str:
    """Return what stands in the place of the first number that is none."""
    for row, value in enumerate(y if isinstance(y, list | tuple | np.ndarray) else ()):
        try:
            fits = np.asarray(value).dtype.kind != "c" and np.asarray(value, np.float64).ndim == 0
        except (TypeError, ValueError):
            fits = False
        if not fits:
            return f"Got {value!r:.60} for {of} {row}."
    return f"Got {type(y).__name__} instead."


def check_numbers(
    y: object, count: int, *, of: str, among: npt.NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return one finite number for each row, 0 outside of the rows that are looked at."""
    if y is None:
        raise LabelError(f"y must hold one number for each of the {count} {of}s. Got None instead.")
    try:
        given = np.asarray(to_numpy(y))
        # numpy would leave out what is imaginary.
        numbers = None if given.dtype.kind == "c" else given.astype(np.float64)
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise LabelError(f"y must hold one number for each {of}. {_no_number(y, of)}")
    if numbers.shape == (count, 1):
        # As the targets of networks often are.
        numbers = numbers[:, 0]
    if numbers.shape != (count,):
        raise LabelError(
            f"y must hold one number for each of the {count} {of}s. Got shape {numbers.shape}. For "
            "several targets, one in each column, see MultiTargetEstimator."
        )
    if among is not None:
        numbers = np.where(among, numbers, 0.0)
    if (np.abs(numbers[np.isfinite(numbers)]) > _LARGEST_NUMBER).any():
        raise LabelError(
            f"y must hold numbers of at most {_LARGEST_NUMBER:g}, without their sign. "
            f"Got {np.nanmax(np.abs(numbers)):g}; use another unit, or logarithms."
        )
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise LabelError(
            f"y must hold finite numbers. Got {numbers[row]} for {of} {row}; leave out {of}s whose "
            "number is not known, or give them weight 0 by sample_weight."
        )
    return numbers


def check_weights(
    sample_weight: object, count: int, *, of: str, among: npt.NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return one weight per row, 1 where none are given; some row `among` those has weight."""
    if sample_weight is None:
        return np.ones(count)
    try:
        weights = _as_doubles(np.asarray(to_numpy(sample_weight)))
    except (TypeError, ValueError):
        raise LabelError(
            f"sample_weight must hold one number per {of}. Got {sample_weight!r:.60} instead."
        ) from None
    if weights.shape != (count,):
        raise LabelError(
            f"sample_weight must hold one number per {of}. Got shape {weights.shape} for {count} "
            f"{of}s."
        )
    of_interest = weights if among is None else weights[among]
    if not np.isfinite(weights).all() or (weights < 0).any() or not of_interest.any():
        raise LabelError(
            "sample_weight must be finite, at least 0, and not 0 everywhere. "
            f"Got values from {of_interest.min()} to {of_interest.max()}."
        )
    return weights


def _as_doubles(given: npt.NDArray[Any]) -> FloatArray:
    """Return numbers in double precision: what was meant by 0.1, also where fewer bits hold it."""
    if given.dtype in (np.float16, np.float32):
        given = given.astype(str)
    return given.astype(np.float64)


def check_mask(mask: object, count: int) -> npt.NDArray[np.bool_]:
    """Return which nodes to learn from, all by default."""
    if mask is None:
        return np.ones(count, dtype=bool)
    chosen = np.asarray(to_numpy(mask))
    if chosen.dtype != bool or chosen.shape != (count,):
        raise LabelError(
            f"mask must hold one truth value for each of the {count} nodes. "
            f"Got shape {chosen.shape}, dtype {chosen.dtype} instead."
        )
    if not chosen.any():
        raise LabelError("mask must choose at least one node. Got none.")
    return chosen
