"""How a foreign module is called: by its signature, for one of its outputs, and left as it was."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import MessagePassing, Sequential

from gnn2logic._validation import some_of
from gnn2logic.distillation.node_types import attribute, count_of, stored
from gnn2logic.distillation.outputs import NO_LINKS
from gnn2logic.exceptions import Gnn2LogicError, TeacherError

__all__ = [
    "Heads",
    "at_rest",
    "call_by_signature",
    "call_on_one_graph",
    "called",
    "takes_graphs_for_one",
]

# How networks for link prediction call the pairs that they are asked about.
_PAIRS = (
    *("edge_label_index", "pos_edge_index", "neg_edge_index", "edge_pairs", "src", "dst"),
    *("edge_label", "pairs"),
)
# A single graph that is larger is one whose nodes are classified.
_LARGE = 2000
_HINT = "Say how to call it: Teacher(module, forward=lambda m, b: m(b.x, b.edge_index, b.batch))."


def call_by_signature(module: nn.Module, batch: Batch) -> Any:
    """Call a module with what the names of its parameters ask for.

    A single parameter that is no attribute of the batch (``data``, or ``batch`` alone) is the
    whole mini-batch. Every other one is the attribute of that name: ``x``, ``edge_index``,
    ``batch``, ``edge_weight`` and so on. A parameter with a default is left out where the graphs
    have no such attribute.
    """
    if isinstance(module, Sequential):
        names = module.signature.param_dict
        return module(*(_needed(module, batch, name) for name in names))
    parameters = _parameters(module)
    needed = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    if len(needed) == 1 and (needed[0].name == "batch" or stored(batch, needed[0].name) is None):
        return module(batch)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in parameters:
        if parameter in needed:
            value = _needed(module, batch, parameter.name)
        elif (value := stored(batch, parameter.name)) is None:
            continue
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
    return module(*positional, **named)


def call_on_one_graph(module: nn.Module, batch: Batch) -> Any:
    """Call a module that knows of no mini-batches on one graph, and return one row for it."""
    output = call_by_signature(module, batch)
    return output.reshape(1, -1) if isinstance(output, torch.Tensor) else output


def takes_graphs_for_one(
    module: nn.Module, graphs: Sequence[Data], device: torch.device | None
) -> bool:
    """Whether a module does not ask which graph a node is in, and yet returns one row for all.

    It is tried out: networks that classify nodes need not know of graphs either.
    """
    if not _ignores_graphs(module, graphs[0]):
        return False
    # Small ones are tried out quickly; a single one is taken twice.
    order = sorted(range(len(graphs)), key=lambda number: int(graphs[number].num_nodes))
    chosen = [graphs[number] for number in (*order, *order)[:2]]
    if len(graphs) == 1 and chosen[0].num_nodes > _LARGE:
        return False

    def ask(some: list[Data]) -> Any:
        return called(call_by_signature, module, Batch.from_data_list(some).to(device))

    output = ask(chosen)
    together = Batch.from_data_list(chosen)
    # Rows of nodes or edges, of all of them or of one type.
    sizes = {together.num_nodes, together.num_edges}
    sizes |= {count_of(together, name) for name in getattr(together, "node_types", ())}
    if not isinstance(output, torch.Tensor) or output.dim() > 2:
        return False
    if output.dim() != 1:
        return output.dim() == 0 or len(output) == 1
    # Numbers in a row are those of nodes or edges, unless one graph alone has as many.
    if len(output) in sizes:
        alone = ask(chosen[:1])
        return isinstance(alone, torch.Tensor) and alone.shape == output.shape
    return True


def _ignores_graphs(module: nn.Module, data: Data) -> bool:
    """Whether a module is given tensors of its graphs, and nothing that tells graphs apart."""
    if isinstance(module, Sequential):
        names = [*module.signature.param_dict]
    else:
        names = [parameter.name for parameter in _parameters(module)]
    telling = {"batch", "ptr", "num_graphs", "batch_size"}
    asked = {name.removesuffix("_dict") for name in names}
    return not telling & asked and (len(names) > 1 or stored(data, names[0]) is not None)


def called(function: Callable[[nn.Module, Batch], Any], module: nn.Module, batch: Batch) -> Any:
    """Return what a function of a network and a mini-batch returns; say what it got if it fails."""
    try:
        return function(module, batch)
    except Gnn2LogicError:
        raise
    except Exception as error:
        features = _described(attribute(batch, "x"))
        types = sorted({str(weights.dtype) for weights in module.parameters()})
        raise TeacherError(
            f"The network must run on the graphs. It was given {features} for {batch.num_graphs} "
            f"graphs, its weights are {', '.join(types) or 'none'}, and it failed with "
            f"{type(error).__name__}: {str(error).rstrip('.')}. Give graphs like those it was "
            "trained on, or say how to call it with Teacher(module, forward=...)."
        ) from error


def _described(x: Any) -> str:
    if isinstance(x, dict):
        return "; ".join(f"{_described(part)} at {name!r}" for name, part in x.items())
    return "no x" if x is None else f"x of shape {tuple(x.shape)} and {x.dtype}"


def _parameters(module: nn.Module) -> list[inspect.Parameter]:
    collected = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        listed = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        listed = {}.values()
    known = [parameter for parameter in listed if parameter.kind not in collected]
    if not known:
        links = f" {NO_LINKS}" if hasattr(module, "decode") else ""
        raise TeacherError(
            f"The parameters of {type(module).__name__}.forward must have names that can be read. "
            f"{_HINT}{links}"
        )
    return known


def _needed(module: nn.Module, batch: Batch, name: str) -> Any:
    # Not only what is stored: num_graphs and the like are properties of a batch.
    value = attribute(batch, name)
    if value is None:
        links = f" {NO_LINKS}" if name in _PAIRS else ""
        raise TeacherError(
            f"The parameter {name!r} of {type(module).__name__}.forward must be an attribute of "
            f"the graphs. They have {some_of(sorted(batch.keys()))}. {_HINT}{links}"
        )
    return value


@contextlib.contextmanager
def at_rest(module: nn.Module, device: torch.device | None) -> Iterator[torch.device]:
    """Put a module into evaluation mode on a device, without gradients; yield the device.

    Afterwards, whatever happens inside, each submodule has its own mode again, the module is where
    it was, and the random state of torch is what it was, even if the module draws numbers. Layers
    that keep what they computed for one graph, such as ``GCNConv(cached=True)``, compute it anew.
    """
    home = _home(module, device)
    target = home if device is None else device
    modes = [(submodule, submodule.training) for submodule in module.modules()]
    caches = [(submodule, _cache_of(submodule)) for submodule in module.modules()]
    cuda = [target] if target.type == "cuda" else []
    try:
        if target != home:
            module.to(target)
        module.eval()
        for submodule, cache in caches:
            for name in cache:
                setattr(submodule, name, None)
        with torch.random.fork_rng(devices=cuda), torch.no_grad():
            yield target
    finally:
        for submodule, training in modes:
            submodule.training = training
        for submodule, cache in caches:
            for name, value in cache.items():
                setattr(submodule, name, value)
        if target != home:
            module.to(home)


def _cache_of(module: nn.Module) -> dict[str, Any]:
    """Return what a layer of PyG keeps of the graph that it saw first."""
    if not isinstance(module, MessagePassing) or not getattr(module, "cached", False):
        return {}
    kept = {name: value for name, value in vars(module).items() if name.startswith("_cached")}
    return {"cached": True, **kept}


def _home(module: nn.Module, device: torch.device | None) -> torch.device:
    homes = {tensor.device for tensor in chain(module.parameters(), module.buffers())}
    if len(homes) <= 1:
        return homes.pop() if homes else torch.device("cpu")
    if device is not None:
        raise TeacherError(
            "A module must be on one device to be moved to another. Its parameters are on "
            f"{', '.join(sorted(map(str, homes)))}; leave device out."
        )
    return next(module.parameters()).device


@dataclass(frozen=True)
class Heads:
    """Some of the outputs of a network: columns of a tensor, or a list or dictionary of tensors.

    Parameters
    ----------
    numbers : tuple of int
    names : tuple of str or None
        What they are called where a network returns outputs by name.
    n_outputs : int or None
        How many outputs without names there must be, if that is known.
    """

    numbers: tuple[int, ...]
    names: tuple[str, ...] | None
    n_outputs: int | None

    def of(self, forward: Callable[[nn.Module, Batch], Any]) -> Callable[[nn.Module, Batch], Any]:
        """Return how to call a module for these outputs."""

        def call(module: nn.Module, batch: Batch) -> Any:
            output = forward(module, batch)
            if isinstance(output, Mapping):
                return self._of_mapping(output)
            if isinstance(output, list | tuple):
                output = _side_by_side(enumerate(output))
            if not isinstance(output, torch.Tensor) or output.dim() != 2:
                shape = tuple(getattr(output, "shape", ())) or type(output).__name__
                wanted = "several" if self.n_outputs is None else str(self.n_outputs)
                raise TeacherError(
                    f"The network must return {wanted} numbers for each graph or node, one for "
                    f"each target. Got {shape} instead; choose them with Teacher(module, "
                    "forward=...)."
                )
            return self._columns(output)

        return call

    def _columns(self, output: torch.Tensor) -> torch.Tensor:
        n_columns = output.shape[1]
        if n_columns <= max(self.numbers) or self.n_outputs not in (None, n_columns):
            raise TeacherError(
                f"The network must return one number for each target. Got {n_columns} numbers "
                f"for {self.n_outputs or f'target number {max(self.numbers)}'} targets."
            )
        return output[:, list(self.numbers)]

    def _of_mapping(self, outputs: Mapping[Any, Any]) -> torch.Tensor:
        if self.names is None:
            return self._columns(_side_by_side(outputs.items()))
        for name in self.names:
            if name not in outputs:
                raise TeacherError(
                    f"The network answers by the names {some_of([*map(str, outputs)])}, and "
                    f"targets must be of these. Got {name!r}."
                )
        return _side_by_side((name, outputs[name]) for name in self.names)


def _side_by_side(outputs: Iterable[tuple[Any, Any]]) -> torch.Tensor:
    """Return several outputs with one number in each row as the columns of one tensor."""
    columns = []
    for name, output in outputs:
        shape = tuple(getattr(output, "shape", ()))
        if not isinstance(output, torch.Tensor) or (len(shape) != 1 and shape[1:] != (1,)):
            raise TeacherError(
                "Each of several outputs must be one number for each graph or node. Got "
                f"{shape or type(output).__name__} for output {name!r}. Classes of one output "
                "alone are distilled with Teacher(module, forward=...), which chooses it."
            )
        columns.append(output.reshape(-1))
    if len({len(column) for column in columns}) != 1:
        raise TeacherError(
            "All outputs must have a number for the same graphs or nodes. Got "
            f"{', '.join(str(len(column)) for column in columns) or 'no output'}."
        )
    return torch.stack(columns, dim=1)
