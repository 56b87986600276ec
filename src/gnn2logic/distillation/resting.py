"""A module as it must be while it is asked, and put back as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch_geometric.nn import MessagePassing

from gnn2logic.exceptions import TeacherError

__all__ = ["at_rest"]


@contextlib.contextmanager
def at_rest(module: nn.Module, device: torch.device | None) -> Iterator[torch.device]:
    """Put a module into evaluation mode on a device, without gradients; yield the device.

    Afterwards, whatever happens inside, each submodule has its own mode again, the module is where
    it was, and the random state of torch is what it was, even if the module draws numbers. Layers
    that keep what they computed for one graph, such as ``GCNConv(cached=True)``, compute it anew.
    """
    home = _home(module, device)
    target = home if device is None else device
    modes = [(own, own.training) for own in module.modules()]
    caches = [(own, _cache_of(own)) for own in module.modules()]
    cuda = [target] if target.type == "cuda" else []
    try:
        if target != home:
            module.to(target)
        module.eval()
        for own, cache in caches:
            for name in cache:
                setattr(own, name, None)
        with torch.random.fork_rng(devices=cuda), torch.no_grad():
            yield target
    finally:
        for own, training in modes:
            own.training = training
        for own, cache in caches:
            for name, value in cache.items():
                setattr(own, name, value)
        if target != home:
            module.to(home)


def _cache_of(module: nn.Module) -> dict[str, Any]:
    """Return what a layer of PyG keeps of the graph that it saw first."""
    if not isinstance(module, MessagePassing) or not getattr(module, "cached", False):
        return {}
    kept = {name: value for name, value in vars(module).items() if name.startswith("_cached")}
    return {"cached": True, **kept}


def _home(module: nn.Module, device: torch.device | None) -> torch.device:
    homes = {own.device for own in chain(module.parameters(), module.buffers())}
    if len(homes) <= 1:
        return homes.pop() if homes else torch.device("cpu")
    if device is not None:
        raise TeacherError(
            "A module must be on one device to be moved to another. Its parameters are on "
            f"{', '.join(sorted(map(str, homes)))}; leave device out."
        )
    return next(module.parameters()).device
