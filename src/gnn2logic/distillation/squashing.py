"""Seeing whether the numbers that a network returns come straight from a sigmoid or softmax.

Their range does not tell: logits may lie between 0 and 1 as well.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

__all__ = ["Squashing"]

_SQUASHING = frozenset(
    {"sigmoid", "sigmoid_", "special_expit", "hardsigmoid", "softmax", "_softmax"}
)
# These copy numbers and do not change them; views need not be listed, for they share memory.
_COPYING = frozenset(
    {
        *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "column_stack"),
        *("clone", "contiguous", "to", "float", "double", "half", "cpu", "cuda"),
        *("__getitem__", "index_select", "reshape", "flatten"),
    }
)


class Squashing(TorchFunctionMode):
    """Watches what torch is asked to do inside of ``with``, and changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        # Tensors are kept, for the memory of one that is gone would be given to another.
        self._squashed: dict[int, torch.Tensor] = {}

    @staticmethod
    def can_watch(module: nn.Module) -> bool:
        """Whether a module runs as it is written; compiled ones do not, and must not be watched."""
        return not any(
            type(submodule).__name__ == "OptimizedModule" for submodule in module.modules()
        )

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call the function of torch, and remember its result if it is squashed."""
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if isinstance(result, torch.Tensor) and (
            name in _SQUASHING or (name in _COPYING and args and self._all_squashed(args[0]))
        ):
            self._squashed[_memory(result)] = result
        return result

    def _all_squashed(self, given: Any) -> bool:
        tensors = given if isinstance(given, list | tuple) else [given]
        return len(tensors) > 0 and all(
            isinstance(tensor, torch.Tensor) and _memory(tensor) in self._squashed
            for tensor in tensors
        )

    def made(self, output: Any) -> bool:
        """Whether an output holds squashed numbers and nothing was done to them in place."""
        if not isinstance(output, torch.Tensor) or output.layout is not torch.strided:
            return False
        known = _memory(output) in self._squashed
        return known and bool(((output >= 0) & (output <= 1)).all())


def _memory(tensor: torch.Tensor) -> int:
    """Return what tells one piece of memory from others; that of tensors without any is none."""
    if tensor.layout is not torch.strided or not tensor.numel():
        return -1
    return tensor.untyped_storage().data_ptr()
