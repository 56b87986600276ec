"""Networks with several outputs: one of them as a teacher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch

from gnn2logic.exceptions import TeacherError

__all__ = ["Head"]


@dataclass(frozen=True)
class Head:
    """One column of what a network returns.

    Parameters
    ----------
    number : int
    n_heads : int or None
        How many columns there must be, if that is known.
    """

    number: int
    n_heads: int | None

    def of(self, forward: Callable[[nn.Module, Batch], Any]) -> Callable[[nn.Module, Batch], Any]:
        """Return how to call a module for this column."""

        def call(module: nn.Module, batch: Batch) -> Any:
            output = forward(module, batch)
            wanted = "several" if self.n_heads is None else str(self.n_heads)
            if not isinstance(output, torch.Tensor) or output.dim() != 2:
                shape = tuple(getattr(output, "shape", ())) or type(output).__name__
                raise TeacherError(
                    f"The network must return {wanted} numbers for each graph or node, one for "
                    f"each target. Got {shape} instead."
                )
            n_columns = output.shape[1]
            if n_columns <= self.number or self.n_heads not in (None, n_columns):
                raise TeacherError(
                    f"The network must return one number for each target. Got {n_columns} numbers "
                    f"for {self.n_heads or f'target number {self.number}'} targets."
                )
            return output[:, self.number]

        return call
