"""Hyper-parameters of training: what users write, checked."""

from __future__ import annotations

from typing import Any

import torch

from gnn2logic.exceptions import ParameterError

__all__ = ["check_device"]


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
