"""How a module is called on a mini-batch when nobody says how."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import Sequential

from gnn2logic._validation import some_of
from gnn2logic.exceptions import Gnn2LogicError, TeacherError

__all__ = ["call_by_signature", "called"]

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
    needed = [own for own in parameters if own.default is inspect.Parameter.empty]
    if len(needed) == 1 and (needed[0].name == "batch" or needed[0].name not in batch):
        return module(batch)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for own in parameters:
        if own in needed:
            value = _needed(module, batch, own.name)
        elif own.name in batch and batch[own.name] is not None:
            value = batch[own.name]
        else:
            continue
        if own.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[own.name] = value
    return module(*positional, **named)


def called(function: Callable[[nn.Module, Batch], Any], module: nn.Module, batch: Batch) -> Any:
    """Return what a function of a network and a mini-batch returns; say what it got if it fails."""
    try:
        return function(module, batch)
    except Gnn2LogicError:
        raise
    except Exception as error:
        x = batch.x
        features = "no x" if x is None else f"x of shape {tuple(x.shape)} and {x.dtype}"
        kinds = sorted({str(own.dtype) for own in module.parameters()})
        raise TeacherError(
            f"The network must run on the graphs. It was given {features} for {batch.num_graphs} "
            f"graphs, its weights are {', '.join(kinds) or 'none'}, and it failed with "
            f"{type(error).__name__}: {str(error).rstrip('.')}. Give graphs like those it was "
            "trained on, or say how to call it with Teacher(module, forward=...)."
        ) from error


def _parameters(module: nn.Module) -> list[inspect.Parameter]:
    collected = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        found = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        found = {}.values()
    known = [own for own in found if own.kind not in collected]
    if not known:
        raise TeacherError(
            f"The parameters of {type(module).__name__}.forward must have names that can be read. "
            f"{_HINT}"
        )
    return known


def _needed(module: nn.Module, batch: Batch, name: str) -> Any:
    # Not only what is stored: num_graphs and the like are properties of a batch.
    value = getattr(batch, name, None)
    if value is None:
        raise TeacherError(
            f"The parameter {name!r} of {type(module).__name__}.forward must be an attribute of "
            f"the graphs. They have {some_of(sorted(batch.keys()))}. {_HINT}"
        )
    return value
