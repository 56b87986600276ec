"""Writing a fitted estimator to a file, and its hyper-parameters as plain data and back."""

from __future__ import annotations

import numbers
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from gnn2logic._files import write_atomically
from gnn2logic.exceptions import ModelFileError, ParameterError
from gnn2logic.idt.documents import Contents, to_bytes
from gnn2logic.idt.settings import modalities_from

__all__ = ["parameters_from_document", "parameters_to_document", "save_estimator"]

_Scalar = bool | int | float | str | None

# What has no place in a file; None is a value like any other.
_UNWRITABLE = object()


def save_estimator(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator as one JSON document, or leave an old file as it was."""
    contents = Contents(
        estimator.model_,
        estimator.prunings_,
        estimator.chosen_,
        estimator.classes_.tolist(),
        estimator.encoder_.to_document(),
        parameters_to_document(estimator),
    )
    write_atomically(path, to_bytes(contents))


def parameters_to_document(estimator: Any) -> dict[str, Any]:
    """Return the hyper-parameters that are not the defaults, as plain data.

    Left out are the encoder, which is fitted and written whole, and what a file cannot hold, such
    as a random generator; neither is needed to predict.
    """
    defaults = type(estimator)().get_params(deep=False)
    plain: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if name == "encoder":
            continue
        written = _plain(name, value)
        if written is not _UNWRITABLE and written != _plain(name, defaults[name]):
            plain[name] = written
    return plain


def _plain(name: str, value: object) -> Any:
    if value is None or isinstance(value, str):
        return value
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
        return [[_plain(name, label), float(weight)] for label, weight in value.items()]
    return _UNWRITABLE


def _plain_modalities(values: Sequence[Any]) -> Any:
    try:
        if any(isinstance(entry, Sequence) and not isinstance(entry, str) for entry in values):
            return [[str(own) for own in modalities_from("modalities", few)] for few in values]
        return [str(own) for own in modalities_from("modalities", values)]
    except ParameterError:
        # They were changed after the fit; the model does not depend on them.
        return _UNWRITABLE


def parameters_from_document(plain: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return hyper-parameters from plain data, or raise `ModelFileError`.

    Their form is checked here; their values are checked by `fit`, as always.
    """
    unknown = sorted(set(plain) - (set(known) - {"encoder"}))
    if unknown:
        raise ModelFileError(f"The model has an unknown parameter {unknown[0]!r}.")
    return {name: _from_plain(name, value) for name, value in plain.items()}


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
