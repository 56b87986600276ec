"""Writing a fitted estimator to a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gnn2logic._files import write_atomically
from gnn2logic.idt.documents import Contents, to_bytes

__all__ = ["save_estimator"]


def save_estimator(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator as one JSON document, or leave an old file as it was."""
    contents = Contents(
        estimator.model_,
        estimator.prunings_,
        estimator.chosen_,
        estimator.classes_.tolist(),
        estimator.encoder_.to_document(),
        _plain(estimator.get_params(deep=False)),
    )
    write_atomically(path, to_bytes(contents))


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the hyper-parameters that JSON can hold; the others are not needed to predict."""
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        if value is None or isinstance(value, bool | int | str):
            plain[name] = value
        elif isinstance(value, float) and np.isfinite(value):
            plain[name] = float(value)
    return plain
