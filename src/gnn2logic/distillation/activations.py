"""Node representations of all layers, filled in mini-batch by mini-batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch_geometric.data import Batch

from gnn2logic._validation import some_of
from gnn2logic.distillation.layers import LayerFunction, Layers, layers_of, node_rows, recording
from gnn2logic.distillation.module_calls import called
from gnn2logic.exceptions import ActivationError

__all__ = ["Activations"]


class Activations:
    """One array per layer with a row for each node, and the names of the layers.

    The arrays are made once, when the first mini-batch shows how wide they are.

    Parameters
    ----------
    module : torch.nn.Module
    layers : None, list of str or function
        As in `Teacher`.
    n_nodes : int
        The number of nodes of all mini-batches together.
    """

    def __init__(self, module: nn.Module, layers: Layers, n_nodes: int) -> None:
        self.arrays: list[npt.NDArray[np.float32]] = []
        self.names: list[str] = []
        self._module = module
        self._layers = layers
        self._n_nodes = n_nodes
        self._filled = 0

    def fill(self, forward: Callable[[nn.Module, Batch], Any], batch: Batch) -> Any:
        """Run a mini-batch, keep what the layers return, and return what the network returns."""
        if callable(self._layers):
            output = called(forward, self._module, batch)
            n_layers = self._fill_by_function(self._layers, batch)
        else:
            output, n_layers = self._fill_by_hooks(self._layers, forward, batch)
        if n_layers != len(self.arrays):
            raise ActivationError(
                "The layers must be as many in every mini-batch. The first had "
                f"{len(self.arrays)}, a later one {n_layers}."
            )
        self._filled += batch.num_nodes
        return output

    def _fill_by_hooks(
        self,
        names: Sequence[str] | None,
        forward: Callable[[nn.Module, Batch], Any],
        batch: Batch,
    ) -> tuple[Any, int]:
        modules = layers_of(self._module, names)

        def record(number: int, name: str, output: Any) -> None:
            self._put(number, name, output, batch.num_nodes)

        with recording(modules, record) as calls:
            output = called(forward, self._module, batch)
        silent = [name for name in modules if not calls[name]]
        # Those that were found but not named may be spare parts.
        if silent and (names is not None or not calls):
            raise ActivationError(
                f"{type(self._module).__name__} must call its layers. It did not call "
                f"{some_of(silent)}; choose others with Teacher(module, layers=...)."
            )
        return output, calls.total()

    def _fill_by_function(self, function: LayerFunction, batch: Batch) -> int:
        outputs: object = called(function, self._module, batch)
        if isinstance(outputs, torch.Tensor) or not isinstance(outputs, Sequence) or not outputs:
            raise ActivationError(
                "The layers function must return a list of tensors, one for each layer. "
                f"Got {type(outputs).__name__} instead."
            )
        for number, output in enumerate(outputs):
            self._put(number, str(number), output, batch.num_nodes)
        return len(outputs)

    def _put(self, number: int, name: str, output: Any, n_rows: int) -> None:
        rows = node_rows(output, name, n_rows).to("cpu", torch.float32).numpy()
        if not self._filled and number == len(self.arrays):
            self.arrays.append(np.empty((self._n_nodes, rows.shape[1]), dtype=np.float32))
            self.names.append(name)
        if number >= len(self.arrays) or rows.shape[1] != self.arrays[number].shape[1]:
            expected = [array.shape[1] for array in self.arrays]
            raise ActivationError(
                "The layers must be as many and as wide in every mini-batch. The first had "
                f"layers of width {expected}; got layer {name!r} of width {rows.shape[1]} as "
                f"number {number}."
            )
        # The sum is finite unless an entry is not, or, rarely, it overflows: then look closer.
        if not np.isfinite(rows.sum(dtype=np.float64)):
            bad = np.argwhere(~np.isfinite(rows))
            if len(bad):
                node, column = bad[0].tolist()
                raise ActivationError(
                    f"Layer {name!r} must return finite numbers. Got {rows[node, column]} at node "
                    f"{self._filled + node}, column {column}."
                )
        self.arrays[number][self._filled : self._filled + n_rows] = rows
