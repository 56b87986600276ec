"""Hyper-parameters of training: what users write, checked."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import torch

from gnn2logic.exceptions import ParameterError

__all__ = ["check_device", "check_number"]


def check_number(
    name: str, value: object, *, above: float | None = None, below: float | None = None
) -> float:
    """Return a finite number that is at least 0, or above `above`, and below `below` if given."""
    is_truth = isinstance(value, bool | np.bool_)
    number = float(value) if isinstance(value, numbers.Real) and not is_truth else math.nan
    enough = number >= 0 if above is None else number > above
    if not enough or not math.isfinite(number) or (below is not None and number >= below):
        least = ">= 0" if above is None else f"> {above}"
        most = "" if below is None else f" and < {below}"
        raise ParameterError(f"{name} must be a number {least}{most}. Got {value!r} instead.")
    return number


def check_device(device: Any) -> torch.device:
    """Return the device with a name; ``"auto"`` is the GPU if there is one."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found: torch.device = torch.device(device)
        # A device can have a good name and still not be there.
        torch.empty(0, device=found)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ParameterError(
            f"device must be 'auto' or a device that torch can use. Got {device!r} instead: "
            f"{reason}"
        ) from None
    return found
