"""Checking what `fit` is given: labels, weights, masks and activations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import ActivationError, LabelError, ParameterError
from gnn2logic.graphs.batch import GraphBatch

__all__ = [
    "check_activations",
    "check_classes",
    "check_labels",
    "check_mask",
    "check_weights",
    "class_factors",
]

FloatArray = npt.NDArray[np.float64]


def check_labels(y: object, count: int, *, of: str) -> npt.NDArray[Any]:
    """Return labels as a 1-D array of whole numbers, strings or Booleans, one for each row."""
    if y is None:
        raise LabelError(f"y must hold one label for each of the {count} {of}s. Got None instead.")
    labels = np.asarray(to_numpy(y))
    if labels.ndim != 1:
        raise LabelError(
            f"y must be one-dimensional, one label per {of}. Got shape {labels.shape} instead."
        )
    if len(labels) != count:
        raise LabelError(
            f"y must hold one label per {of}. Got {len(labels)} labels for {count} {of}s."
        )
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise LabelError(
                f"y must not hold NaN. Got NaN at position {int(np.argmax(np.isnan(labels)))}."
            )
        fractional = labels != np.rint(labels)
        if fractional.any():
            at = int(np.argmax(fractional))
            raise LabelError(
                "y must hold class labels, not continuous values. "
                f"Got {labels[at]} at position {at}."
            )
        labels = labels.astype(np.int64)
    if labels.dtype == object or (labels.dtype.kind in "US" and isinstance(y, list | tuple)):
        # numpy would turn the number of a mixed list into its text.
        given: Any = y if isinstance(y, list | tuple) else labels.tolist()
        kinds = {str if isinstance(label, str) else type(label) for label in given}
        if kinds <= {str}:
            labels = labels.astype(str)
        elif kinds <= {bytes, np.bytes_}:
            labels = labels.astype(bytes)
        else:
            names = sorted(kind.__name__ for kind in kinds)
            raise LabelError(f"y must hold labels of one kind. Got {', '.join(names)}.")
    if labels.dtype.kind not in "iubUS":
        raise LabelError(f"y must hold whole numbers or strings. Got dtype {labels.dtype} instead.")
    return labels


def check_classes(every: object, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return all classes there are, sorted; those that were found must be among them."""
    listed: Any = to_numpy(every)
    classes = np.unique(check_labels(listed, len(listed), of="class"))
    known = set(classes.tolist())
    unknown = [label for label in found.tolist() if label not in known]
    if unknown:
        raise LabelError(
            f"y must hold labels that are in classes, {classes.tolist()}. Got {unknown[0]!r}."
        )
    return classes


def check_weights(sample_weight: object, count: int, *, of: str) -> FloatArray:
    """Return one weight per row, 1 where none are given."""
    if sample_weight is None:
        return np.ones(count)
    weights = np.asarray(to_numpy(sample_weight), dtype=np.float64)
    if weights.shape != (count,):
        raise LabelError(
            f"sample_weight must hold one number per {of}. Got shape {weights.shape} for {count} "
            f"{of}s."
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise LabelError(
            "sample_weight must be finite, at least 0, and not 0 everywhere. "
            f"Got values from {weights.min()} to {weights.max()}."
        )
    return weights


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
        factors = [float(class_weight.get(label, 1.0)) for label in known]
        if not all(np.isfinite(factor) and factor >= 0 for factor in factors):
            raise ParameterError(f"class_weight must be finite and at least 0. Got {class_weight}.")
        return np.array(factors)
    raise ParameterError(
        "class_weight must be None, 'balanced' or a mapping from class to weight. "
        f"Got {class_weight!r} instead."
    )


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


def check_activations(activations: object, batch: GraphBatch) -> list[npt.NDArray[Any]]:
    """Return per-layer node representations as finite 2-D arrays, one row per node."""
    if isinstance(activations, np.ndarray) or not isinstance(activations, Sequence):
        raise ActivationError(
            "activations must be a list with one array per layer. "
            f"Got {type(activations).__name__} instead."
        )
    found = []
    for layer, values in enumerate(activations):
        array = np.asarray(to_numpy(values))
        if array.dtype.kind not in "fiub":
            raise ActivationError(
                f"activations of layer {layer} must be numbers. Got dtype {array.dtype} instead."
            )
        if array.ndim != 2 or array.shape[0] != batch.n_nodes or array.shape[1] == 0:
            raise ActivationError(
                f"activations of layer {layer} must have one row for each of the {batch.n_nodes} "
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
        found.append(array)
    if not found:
        raise ActivationError("activations must hold at least one layer. Got an empty list.")
    return found
