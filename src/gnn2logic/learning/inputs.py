"""Checking what `fit` is given: labels, weights, masks and activations."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels
from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import (
    ActivationError,
    LabelError,
    ParameterError,
    SingleClassWarning,
)

__all__ = [
    "check_activations",
    "check_classes",
    "check_scores",
    "check_target_texts",
    "class_factors",
    "row_weights",
    "warn_if_constant",
]

FloatArray = npt.NDArray[np.float64]

# Numbers between 2**-300 and 2**300 can be squared and summed without care.
_ORDINARY = 300
# Weights that are smaller in relation to the largest are all the same to a fit.
_LEAST = 2.0**-100


def check_target_texts(estimator: Any) -> None:
    """Refuse a name or a unit of a target that is no text."""
    for name in ("target_name", "unit"):
        if not isinstance(text := getattr(estimator, name), str | None):
            raise ParameterError(f"{name} must be a text or None. Got {text!r} instead.")


def check_classes(every: object, present: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return all classes there are, sorted; those that are present must be among them."""
    listed: Any = to_numpy(every)
    if not isinstance(listed, Sequence | np.ndarray) or isinstance(listed, str):
        raise LabelError(f"classes must be a list of labels. Got {every!r} instead.")
    classes = np.unique(check_labels(listed, len(listed), of="class"))
    known = set(classes.tolist())
    unknown = [label for label in present.tolist() if label not in known]
    if unknown:
        raise LabelError(
            f"y must hold labels that are in classes, {classes.tolist()}. Got {unknown[0]!r}."
        )
    return classes


def row_weights(
    weights: FloatArray, factors: FloatArray, codes: npt.NDArray[np.int64]
) -> FloatArray:
    """Return the weight of every row times the factor of its class; only proportions matter."""
    return _relative(weights) * _relative(factors)[codes]


def _relative(values: FloatArray) -> FloatArray:
    """Return the values in relation to the largest, so that no product is too large or nothing."""
    relative = values / values.max()
    return np.where(values > 0, np.maximum(relative, _LEAST), 0.0)


def class_factors(
    class_weight: object,
    classes: npt.NDArray[Any],
    codes: npt.NDArray[np.int64],
    weights: FloatArray,
) -> FloatArray:
    """Return the factor of every class: 1, balanced, or what the user's mapping says."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(codes, weights=(weights > 0).astype(float), minlength=len(classes))
        return np.asarray(counts.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1)))
    if isinstance(class_weight, Mapping):
        known = {label: number for number, label in enumerate(classes.tolist())}
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ParameterError(
                f"class_weight names {unknown[0]!r}, which is not a class. "
                f"The classes are {list(known)}."
            )
        given: list[Any] = [class_weight.get(label, 1.0) for label in known]
        fine = all(isinstance(one, numbers.Real) and 0 <= float(one) < math.inf for one in given)
        factors = np.array(given, dtype=np.float64) if fine else np.zeros(len(given))
        if not (factors[codes] * weights).any():
            raise ParameterError(
                "class_weight must hold finite numbers >= 0, not all 0. "
                f"Got {class_weight} instead."
            )
        return factors
    raise ParameterError(
        "class_weight must be None, 'balanced' or a mapping from class to weight. "
        f"Got {class_weight!r} instead."
    )


def check_activations(activations: object, kept: npt.NDArray[np.bool_]) -> list[npt.NDArray[Any]]:
    """Return per-layer node representations as finite 2-D arrays, with one row per kept node.

    `kept` says, for every node that there are activations of, whether it is kept.
    """
    if isinstance(activations, np.ndarray) or not isinstance(activations, Sequence):
        raise ActivationError(
            "activations must be a list with one array per layer. "
            f"Got {type(activations).__name__} instead."
        )
    layers = []
    for layer, values in enumerate(activations):
        array = np.asarray(to_numpy(values))
        if array.dtype.kind not in "fiub":
            raise ActivationError(
                f"activations of layer {layer} must be numbers. Got dtype {array.dtype} instead."
            )
        if array.ndim != 2 or array.shape[0] != len(kept) or array.shape[1] == 0:
            raise ActivationError(
                f"activations of layer {layer} must have one row for each of the {len(kept)} "
                f"nodes and at least one column. Got shape {array.shape} instead."
            )
        if array.dtype.kind != "f":
            array = array.astype(np.float64)
        bad = ~np.isfinite(array)
        if bad.any():
            node, column = np.argwhere(bad)[0]
            raise ActivationError(
                f"activations of layer {layer} must be finite. Got {array[node, column]} at node "
                f"{node}, column {column}."
            )
        layers.append(_of_ordinary_size(array if kept.all() else array[kept]))
    if not layers:
        raise ActivationError("activations must hold at least one layer. Got an empty list.")
    return layers


def _of_ordinary_size(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return very large or very small numbers times a power of two, so that squares are exact.

    The scale of a layer does not matter to what is learned from it.
    """
    largest = float(np.abs(array).max())
    exponent = math.frexp(largest)[1]
    if largest == 0.0 or abs(exponent) < _ORDINARY:
        return array
    return np.asarray(np.ldexp(array.astype(np.float64), -exponent))


def check_scores(scores: object, kept: npt.NDArray[np.bool_]) -> FloatArray:
    """Return what a network says about every kept row, as columns of finite numbers.

    `kept` says, for every row that there are scores of, whether it is kept.
    """
    try:
        values = np.asarray(to_numpy(scores), dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"scores must be an array of numbers. Got {scores!r} instead."
        ) from None
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != len(kept) or values.shape[1] == 0:
        raise ParameterError(
            f"scores must have one row for each of the {len(kept)} graphs or nodes. "
            f"Got an array of shape {values.shape} instead."
        )
    if not np.isfinite(values[kept]).all():
        raise ParameterError("scores must be finite. Got infinite numbers or NaN.")
    return values[kept]


def warn_if_constant(targets: npt.NDArray[np.float64]) -> None:
    """Tell the caller of an estimator's ``fit`` that all of its targets are one number."""
    if len(values := np.unique(targets)) == 1:
        warnings.warn(
            f"All targets are {values[0]:g}; the model is constant.",
            SingleClassWarning,
            stacklevel=4,
        )
