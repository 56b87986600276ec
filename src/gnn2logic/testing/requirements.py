"""What checks say when they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnn2logic.testing.samples import Sample

__all__ = ["require", "require_error", "require_same", "require_same_model"]


def require(condition: bool, message: str) -> None:
    """Raise an AssertionError unless the condition holds, also where ``assert`` is switched off."""
    if not condition:
        raise AssertionError(message)


def require_same(expected: Any, got: Any, message: str) -> None:
    """Require two arrays to be equal; the message is followed by the first difference."""
    first, second = np.asarray(expected), np.asarray(got)
    require(
        first.shape == second.shape,
        f"{message} Got shape {second.shape}, expected {first.shape}.",
    )
    for place in np.argwhere(first != second)[:1]:
        at = tuple(place.tolist())
        require(False, f"{message} Got {second[at]!r} at {at}, expected {first[at]!r}.")


def require_same_model(first: Any, second: Any, data: Sample, message: str) -> None:
    """Require two fitted estimators to have equal classes, predictions and formulas."""
    require_same(first.classes_, second.classes_, f"{message} The classes differ.")
    expected, got = first.predict(data.graphs), second.predict(data.graphs)
    require_same(expected, got, f"{message} The predictions differ.")
    if hasattr(first, "predict_proba"):
        expected, got = first.predict_proba(data.graphs), second.predict_proba(data.graphs)
        require_same(expected, got, f"{message} The probabilities differ.")
    if hasattr(first, "formula"):
        for label in first.classes_.tolist():
            old, new = first.formula(label), second.formula(label)
            require(old == new, f"{message} The formulas of {label!r} differ: {old}; {new}.")


def require_error(kind: type[BaseException], action: Callable[[], object], message: str) -> None:
    """Require an action to raise an error of the given kind."""
    try:
        action()
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{message} Got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{message} Got no error.")
