"""Node representations of all layers, filled in mini-batch by mini-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch_geometric.data import Batch

from gnn2logic._validation import some_of
from gnn2logic.distillation.layers import LayerFunction, Layers, layers_of, node_rows, recording
from gnn2logic.distillation.module_calls import called
from gnn2logic.distillation.node_types import NodeNumbers, typed_layers
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
    node_types : sequence of str
        The types of the nodes in their order; none for graphs with one type.
    """

    def __init__(
        self, module: nn.Module, layers: Layers, n_nodes: int, node_types: Sequence[str] = ()
    ) -> None:
        self.arrays: list[npt.NDArray[np.float32]] = []
        self.names: list[str] = []
        self._module = module
        self._layers = layers
        self._n_nodes = n_nodes
        self._node_types = node_types
        self._filled = 0

    def fill(self, forward: Callable[[nn.Module, Batch], Any], batch: Batch) -> Any:
        """Run a mini-batch, keep what the layers return, and return what the network returns."""
        if callable(self._layers):
            output = called(forward, self._module, batch)
            n_layers = self._fill_by_function(self._layers, batch)
        elif self._node_types:
            output, n_layers = self._fill_by_types(self._layers, forward, batch)
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
            self._put(number, name, self._rows(output, name, batch))

        with recording(modules, record) as calls:
            output = called(forward, self._module, batch)
        self._check_calls(list(modules), names, calls)
        return output, calls.total()

    def _fill_by_types(
        self,
        names: Sequence[str] | None,
        forward: Callable[[nn.Module, Batch], Any],
        batch: Batch,
    ) -> tuple[Any, int]:
        """Fill in layers that have a module for each type of edges, or return dictionaries."""
        layer_of = typed_layers(self._module, names)
        every = dict(self._module.named_modules(remove_duplicate=False))
        made: dict[str, dict[str, torch.Tensor]] = {}

        def record(_number: int, name: str, output: Any) -> None:
            module, _, again = name.partition(" (call")
            layer, key = layer_of[module]
            # Copies: the network may change them in place afterwards.
            rows = {
                node_type: tensor.detach().clone()
                for node_type, tensor in _by_type(output, key, name).items()
            }
            made.setdefault(layer + (again and f" (call{again}"), {}).update(rows)

        with recording({name: every[name] for name in layer_of}, record) as calls:
            output = called(forward, self._module, batch)
        self._check_calls(list(layer_of), names, calls)
        numbers = NodeNumbers.of_batch(batch, self._node_types)
        for number, (name, blocks) in enumerate(made.items()):
            self._put(number, name, numbers.side_by_side(blocks, batch.edge_types, name))
        return output, len(made)

    def _check_calls(
        self, modules: list[str], names: Sequence[str] | None, calls: Counter[str]
    ) -> None:
        silent = [name for name in modules if not calls[name]]
        # Those that were found but not named may be spare parts.
        if silent and (names is not None or not calls):
            raise ActivationError(
                f"{type(self._module).__name__} must call its layers. It did not call "
                f"{some_of(silent)}; choose others with Teacher(module, layers=...)."
            )

    def _fill_by_function(self, function: LayerFunction, batch: Batch) -> int:
        outputs: object = called(function, self._module, batch)
        if isinstance(outputs, torch.Tensor) or not isinstance(outputs, Sequence) or not outputs:
            raise ActivationError(
                "The layers function must return a list of tensors, one for each layer. "
                f"Got {type(outputs).__name__} instead."
            )
        for number, output in enumerate(outputs):
            self._put(number, str(number), self._rows(output, str(number), batch))
        return len(outputs)

    def _rows(self, output: Any, name: str, batch: Batch) -> npt.NDArray[np.float32]:
        """Return the output of a layer as a matrix with one row for each node."""
        if self._node_types and isinstance(output, Mapping):
            numbers = NodeNumbers.of_batch(batch, self._node_types)
            return numbers.side_by_side(_by_type(output, "", name), batch.edge_types, name)
        rows: npt.NDArray[np.float32] = (
            node_rows(output, name, batch.num_nodes).to("cpu", torch.float32).numpy()
        )
        return rows

    def _put(self, number: int, name: str, rows: npt.NDArray[np.float32]) -> None:
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
        self.arrays[number][self._filled : self._filled + len(rows)] = rows


def _by_type(output: Any, key: str, layer: str) -> dict[str, torch.Tensor]:
    """Return what a layer returns by types; one tensor is about the type that `key` tells."""
    first = output[0] if isinstance(output, tuple) and output else output
    blocks = dict(first) if isinstance(first, Mapping) else {key: first}
    blocks = {str(name): block for name, block in blocks.items() if block is not None}
    wrong = [block for block in blocks.values() if not _is_matrix(block)]
    if wrong or not blocks:
        raise ActivationError(
            f"Layer {layer!r} must return tensors with a row for each node of a type. Got "
            f"{type(wrong[0] if wrong else first).__name__} instead; choose other layers with "
            "Teacher(module, layers=...)."
        )
    return blocks


def _is_matrix(block: object) -> bool:
    return isinstance(block, torch.Tensor) and block.layout is torch.strided and block.dim() > 0
