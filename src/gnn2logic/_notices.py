"""Warnings that point to the line of the user's program that led to them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["telling_caller", "warn_caller"]

Result = TypeVar("Result")

_PACKAGE = str(Path(__file__).parent)


def warn_caller(message: str | Warning, category: type[Warning]) -> None:
    """Warn at the nearest line outside of this package."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def telling_caller(function: Callable[[], Result], about: str = "") -> Result:
    """Call a function, and hand on the warnings of this package in it by `warn_caller`.

    What they are `about` is said before them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    for warning in caught:
        if warning.category.__module__.startswith("gnn2logic"):
            message = f"{about}{warning.message}" if about else warning.message
            warn_caller(message, warning.category)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return result
