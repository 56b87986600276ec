"""Which tensors of a network are its layers, and reading them while it runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import MessagePassing

from gnn2logic._validation import some_of
from gnn2logic.exceptions import ActivationError, ParameterError, TeacherError

__all__ = ["LayerFunction", "Layers", "check_layers", "layers_of", "node_rows", "recording"]

LayerFunction = Callable[[nn.Module, Batch], Sequence[torch.Tensor]]
Layers = None | Sequence[str] | LayerFunction

# Receives the place in call order, the name and the output of a layer, as soon as it is there.
Record = Callable[[int, str, Any], None]


def check_layers(module: nn.Module, layers: object) -> Layers:
    """Return `layers` if it is None, a function, or a list of names of submodules."""
    if layers is None or callable(layers):
        return layers
    if isinstance(layers, str) or not isinstance(layers, Sequence) or not layers:
        raise ParameterError(
            "layers must be None, a list of names of modules, or a function of (module, batch). "
            f"Got {layers!r} instead."
        )
    names = [name for name, _ in module.named_modules(remove_duplicate=False) if name]
    for name in layers:
        if name not in names:
            raise ParameterError(
                f"layers must hold names of modules of {type(module).__name__}: {some_of(names)}. "
                f"Got {name!r} instead."
            )
    if len(set(layers)) != len(layers):
        raise ParameterError(f"layers must hold distinct names. Got {list(layers)}.")
    return tuple(layers)


def layers_of(module: nn.Module, layers: Sequence[str] | None) -> dict[str, nn.Module]:
    """Return the modules whose outputs are the layers: those named, or all message passing.

    Message passing inside message passing is part of the outer layer. The module itself is a layer
    only where it has none inside.
    """
    if layers is not None:
        every = dict(module.named_modules(remove_duplicate=False))
        return {name: every[name] for name in layers}
    convolutions = {
        name: layer
        for name, layer in module.named_modules()
        if isinstance(layer, MessagePassing) and name
    }
    outer = {
        name: layer
        for name, layer in convolutions.items()
        if not any(name.startswith(f"{other}.") for other in convolutions)
    }
    if outer:
        return outer
    if isinstance(module, MessagePassing):
        return {type(module).__name__: module}
    raise TeacherError(
        f"{type(module).__name__} must have MessagePassing modules to find its layers. It has "
        "none; say which outputs to use: Teacher(module, layers=['name', ...]), or a function of "
        "(module, batch) that returns the list of tensors."
    )


@contextlib.contextmanager
def recording(modules: dict[str, nn.Module], record: Record) -> Iterator[Counter[str]]:
    """Hand over the outputs of the modules in the order in which they are made; count the calls.

    They are handed over at once and not kept: the network may change them in place afterwards.
    """
    calls: Counter[str] = Counter()
    handles = []

    def hook_for(name: str) -> Any:
        def hook(_module: nn.Module, _inputs: Any, output: Any) -> None:
            number = calls.total()
            calls[name] += 1
            called = name if calls[name] == 1 else f"{name} (call {calls[name]})"
            record(number, called, output)

        return hook

    try:
        for name, layer in modules.items():
            handles.append(layer.register_forward_hook(hook_for(name)))
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def node_rows(output: Any, name: str, n_nodes: int) -> torch.Tensor:
    """Return the output of a layer as a matrix with one row for each node.

    Of a tuple the first entry is taken, as attention layers return (output, weights) and recurrent
    ones (output, state).
    """
    tensor = output[0] if isinstance(output, tuple) and output else output
    if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
        raise ActivationError(
            f"Layer {name!r} must return a dense tensor. Got {_described(output)} instead; choose "
            "other layers with Teacher(module, layers=...)."
        )
    if tensor.is_complex():
        raise ActivationError(f"Layer {name!r} must return real numbers. Got {tensor.dtype}.")
    if tensor.dim() == 0 or tensor.shape[0] != n_nodes or not tensor.numel():
        raise ActivationError(
            f"Layer {name!r} must return one row for each of the {n_nodes} nodes of a mini-batch. "
            f"Got shape {tuple(tensor.shape)} instead; choose layers before any pooling with "
            "Teacher(module, layers=...)."
        )
    return tensor.detach().reshape(n_nodes, -1)


def _described(output: object) -> str:
    if isinstance(output, torch.Tensor):
        return f"a tensor of layout {output.layout}"
    if isinstance(output, tuple):
        return f"a tuple of {', '.join(type(element).__name__ for element in output) or 'nothing'}"
    return type(output).__name__
