"""Hyper-parameters of the estimators as plain data for files, and back."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnn2logic._validation import is_unicode
from gnn2logic.exceptions import FormulaError, ModelFileError, ParameterError
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.syntax import Modal

__all__ = [
    "PARAMETERS",
    "current_parameters",
    "modalities_from",
    "parameters_from_document",
    "parameters_to_document",
]

_Scalar = bool | int | float | str | None

# Those of the estimators; the encoder is fitted, and written whole. Who did the work and where it
# was noted down is no part of the model.
PARAMETERS = (
    "n_layers",
    "algorithm",
    "max_size",
    "max_time",
    "width",
    "layer_depth",
    "modalities",
    "absolute",
    "relative",
    "max_features",
    "max_samples",
    "random_thresholds",
    "leaf_sets",
    "min_samples_leaf",
    "max_depth",
    "ccp_alpha",
    "projection",
    "class_weight",
    "loss",
    "target_name",
    "unit",
    "n_shards",
    "n_jobs",
    "random_state",
    "verbose",
)

# Files may have names that are no longer used.
_EARLIER_NAMES = {"max_graphs": "max_samples"}

# What files mean that do not say it: the default was another one when they were written.
_EARLIER_DEFAULTS = {"algorithm": "layers"}

# What has no place in a file; None is a value like any other.
_UNWRITABLE = object()


def parameters_to_document(estimator: Any, names: Sequence[str] = PARAMETERS) -> dict[str, Any]:
    """Return all hyper-parameters as plain data: defaults may change, what was used must not.

    Left out is what a file cannot hold; it is not needed to predict.
    """
    plain = {name: _plain(name, getattr(estimator, name)) for name in names}
    return {name: value for name, value in plain.items() if value is not _UNWRITABLE}


def _plain(name: str, value: object) -> Any:
    if value is None:
        return value
    if isinstance(value, str):
        return value if is_unicode(value) else _UNWRITABLE
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if np.isfinite(float(value)) else _UNWRITABLE
    if name == "modalities" and isinstance(value, Sequence):
        return _plain_modalities(value)
    if name == "class_weight" and isinstance(value, Mapping):
        # The keys of a JSON object are texts, but classes may be numbers.
        pairs = [[_plain(name, label), float(weight)] for label, weight in value.items()]
        return _UNWRITABLE if any(label is _UNWRITABLE for label, _ in pairs) else pairs
    # A random generator was used up by the fit.
    return None if name == "random_state" else _UNWRITABLE


def _plain_modalities(values: Sequence[Any]) -> Any:
    try:
        if any(isinstance(entry, Sequence) and not isinstance(entry, str) for entry in values):
            return [[str(each) for each in modalities_from("modalities", few)] for few in values]
        return [str(each) for each in modalities_from("modalities", values)]
    except ParameterError:
        # They were changed after the fit; the model does not depend on them.
        return _UNWRITABLE


def current_parameters(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a file under the names that they have today.

    A file with both names stays as it is, and is refused for the one that is not known.
    """
    current = {earlier: name for earlier, name in _EARLIER_NAMES.items() if name not in plain}
    return {current.get(name, name): value for name, value in plain.items()}


def parameters_from_document(
    plain: Mapping[str, Any], names: Sequence[str] = PARAMETERS
) -> dict[str, Any]:
    """Return hyper-parameters from plain data, or raise `ModelFileError`.

    Their form is checked here; their values are checked by `fit`, as always.
    """
    unknown = sorted(set(plain) - set(names))
    if unknown:
        raise ModelFileError(f"The model has an unknown parameter {unknown[0]!r}.")
    given = {name: _from_plain(name, value) for name, value in plain.items()}
    earlier = {name: value for name, value in _EARLIER_DEFAULTS.items() if name in names}
    return {**earlier, **given}


def _from_plain(name: str, value: object) -> Any:
    if isinstance(value, _Scalar):
        return value
    if name == "modalities" and isinstance(value, list) and _plain_modalities(value) == value:
        return value
    if name == "class_weight" and isinstance(value, list):
        return dict(_label_and_weight(pair) for pair in value)
    raise ModelFileError(f"The parameter {name!r} of the model has a value that cannot be read.")


def _label_and_weight(pair: object) -> tuple[Any, float]:
    if isinstance(pair, list) and len(pair) == 2:
        label, weight = pair
        if isinstance(label, int | str) and isinstance(weight, float):
            return label, weight
    raise ModelFileError(
        "The parameter 'class_weight' of the model must hold pairs of a class and a number."
    )


def modalities_from(name: str, values: object) -> tuple[Modality, ...]:
    """Return modal parameters from texts such as ``["I", "A", "I+A^T"]``."""
    if isinstance(values, str | Modality) or not isinstance(values, Sequence) or not values:
        raise ParameterError(
            f"{name} must be a non-empty list of modal parameters such as ['I', 'A', 'I+A']. "
            f"Got {values!r} instead."
        )
    modalities: dict[Modality, None] = {}
    for value in values:
        modalities[_modality(name, value)] = None
    return tuple(modalities)


def _modality(name: str, value: object) -> Modality:
    if isinstance(value, Modality):
        return value
    inner = getattr(value, "modality", None)
    if isinstance(inner, Modality):
        return inner
    if isinstance(value, str):
        try:
            formula = parse(f"{value} true > 0")
        except FormulaError:
            formula = None
        if isinstance(formula, Modal):
            return formula.modality
    raise ParameterError(
        f"{name} must hold modal parameters: 0, 1, I, A, 1-I, 1-A, I+A, 1-I-A, with A^T, A|A^T or "
        f"A[relation] in place of A. Got {value!r} instead."
    )
