"""A text that changes with a network: weights, code, settings, and what is asked of it.

What people write is described by its content: bytecode with constants, closures and the globals
that it names, classes, plain attributes. What is installed is described by name and version.
Objects that cannot be looked into count by their class alone, so that two networks with one text
may still differ; whoever relies on it must compare some answers as well.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping, Set
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import is_lazy

from gnn2logic.distillation.teacher import Teacher

__all__ = ["fingerprint"]

# How much is computed at a time changes nothing but rounding, and what labels of others tell
# decides only whether outputs are accepted.
_NO_SETTINGS_OF_THE_NETWORK = frozenset({"batch_size", "max_nodes", "device", "_n_classes"})
_NO_CONTENT_OF_A_CLASS = frozenset(
    {
        *("__doc__", "__dict__", "__weakref__", "__module__", "__annotations__", "__slotnames__"),
        *("__abstractmethods__", "_abc_impl", "__firstlineno__", "__static_attributes__"),
    }
)
# These are in every module; parameters, buffers, hooks and parts are described in their own way.
_OF_EVERY_MODULE = frozenset(vars(nn.Module()))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), Fraction, range, slice)
_PLAIN_OF_OTHERS = (PurePath, enum.Enum, torch.dtype, torch.device, torch.layout, np.dtype)
# What is deeper inside counts by its class.
_DEEPEST = 60


def fingerprint(teacher: Teacher) -> str:
    """Return the text for a teacher."""
    description = _Description()
    description.add(type(teacher))
    for name, value in sorted(vars(teacher).items()):
        if name not in _NO_SETTINGS_OF_THE_NETWORK:
            description.say(name)
            description.add(value)
    return description.digest.hexdigest()


class _Description:
    """What was seen so far, as a digest."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=32)
        # Objects are kept, for the number of one that is gone would be given to another.
        self._seen: dict[int, tuple[int, object]] = {}

    def say(self, *words: object) -> None:
        """Add words; their lengths keep them apart."""
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode(errors="surrogatepass")
            self.digest.update(f"{len(data)} ".encode())
            self.digest.update(data)

    def add(self, value: Any, depth: int = 0) -> None:
        """Add a value of any kind."""
        if isinstance(value, (*_PLAIN, *_PLAIN_OF_OTHERS, np.generic)):
            self.say(type(value).__name__, repr(value))
        elif id(value) in self._seen:
            self.say("again", self._seen[id(value)][0])
        elif depth > _DEEPEST:
            self.say("deep", type(value).__qualname__)
        else:
            self._seen[id(value)] = len(self._seen), value
            self._add_new(value, depth + 1)

    def _add_new(self, value: Any, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            self._add_tensor(value)
        elif isinstance(value, nn.Module):
            self._add_module(value, depth)
        elif isinstance(value, np.ndarray):
            self._add_array(value, depth)
        elif isinstance(value, types.CodeType):
            self._add_code(value, depth)
        elif isinstance(value, type):
            self._add_class(value, depth)
        elif isinstance(value, types.ModuleType):
            self.say("module", value.__name__)
        elif callable(value) and self._add_callable(value, depth):
            return
        elif isinstance(value, Mapping):
            self.say(type(value).__name__, len(value))
            for key, inner in value.items():
                self.add(key, depth)
                self.add(inner, depth)
        elif isinstance(value, Set):
            self.say("set", *sorted(_alone(inner, depth) for inner in value))
        elif isinstance(value, list | tuple):
            self.say(type(value).__name__, len(value))
            for inner in value:
                self.add(inner, depth)
        else:
            self._add_object(value, depth)

    # Numbers ----------------------------------------------------------------------------------

    def _add_tensor(self, tensor: torch.Tensor) -> None:
        if is_lazy(tensor):
            self.say("tensor without values")
            return
        dense = tensor.detach().to_dense() if tensor.layout is not torch.strided else tensor
        flat = dense.detach().cpu().resolve_conj().resolve_neg().contiguous().flatten()
        self.say("tensor", tensor.dtype, tuple(tensor.shape))
        self.digest.update(flat.view(torch.uint8).numpy().data)

    def _add_array(self, array: np.ndarray[Any, Any], depth: int) -> None:
        self.say("array", array.dtype.str, array.shape)
        if array.dtype.hasobject:
            self.add(array.tolist(), depth)
        else:
            self.digest.update(np.ascontiguousarray(array).tobytes())

    # Code -------------------------------------------------------------------------------------

    def _add_callable(self, value: Any, depth: int) -> bool:
        """Add a function of any kind; return whether it is one."""
        if isinstance(value, types.FunctionType):
            self._add_function(value, depth)
        elif isinstance(value, types.MethodType):
            self.add(value.__func__, depth)
            self.add(value.__self__, depth)
        elif isinstance(value, functools.partial):
            for inner in (value.func, value.args, value.keywords):
                self.add(inner, depth)
        elif isinstance(value, types.BuiltinFunctionType | types.MethodDescriptorType):
            self.say("built in", value.__qualname__)
        else:
            return False
        return True

    def _add_function(self, function: types.FunctionType, depth: int) -> None:
        library = _library(function.__module__)
        if library is not None:
            self.say("function", function.__module__, function.__qualname__, library)
            return
        self._add_code(function.__code__, depth)
        self.add(function.__defaults__, depth)
        self.add(function.__kwdefaults__, depth)
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:
                self.say("empty cell")
            else:
                self.add(content, depth)
        for name in dict.fromkeys(_names(function.__code__)):
            if name in function.__globals__:
                self.say(name)
                self.add(function.__globals__[name], depth)

    def _add_code(self, code: types.CodeType, depth: int) -> None:
        self.say("code", code.co_code, code.co_flags, code.co_argcount, code.co_kwonlyargcount)
        self.say(code.co_posonlyargcount, code.co_exceptiontable)
        for words in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self.say(*words)
        for constant in code.co_consts:
            self.add(constant, depth)

    def _add_class(self, cls: type, depth: int) -> None:
        self.say("class")
        for base in cls.__mro__:
            library = _library(base.__module__)
            self.say(base.__qualname__, library)
            if library is not None:
                continue
            for name, value in sorted(vars(base).items()):
                if name not in _NO_CONTENT_OF_A_CLASS:
                    self.say(name)
                    for inner in _unwrapped(value):
                        self.add(inner, depth)

    # Objects ----------------------------------------------------------------------------------

    def _add_module(self, module: nn.Module, depth: int) -> None:
        self.add(type(module), depth)
        if isinstance(module, torch.jit.ScriptModule):
            # Its attributes are not those of Python.
            self.say(getattr(module, "code", ""))
        else:
            for name, value in sorted(vars(module).items()):
                # What layers of PyG keep of the graph that they saw last.
                if name not in _OF_EVERY_MODULE and not name.startswith("_cached"):
                    self.say(name)
                    self.add(value, depth)
            for hooks in (module._forward_pre_hooks, module._forward_hooks):
                self.add(list(hooks.values()), depth)
        # Also the buffers that no state has.
        for name, tensor in (
            *module.named_parameters(recurse=False),
            *module.named_buffers(recurse=False),
        ):
            self.say(name)
            self.add(tensor, depth)
        for name, child in module.named_children():
            self.say(name)
            self.add(child, depth)

    def _add_object(self, value: Any, depth: int) -> None:
        self.add(type(value), depth)
        # Functions of other languages have nothing else.
        self.say(getattr(value, "__name__", ""))
        is_settings = dataclasses.is_dataclass(value) or isinstance(
            value, types.SimpleNamespace | argparse.Namespace
        )
        if is_settings or _library(type(value).__module__) is None:
            for name, inner in sorted(getattr(value, "__dict__", {}).items()):
                self.say(name)
                self.add(inner, depth)


def _alone(value: object, depth: int) -> str:
    description = _Description()
    description.add(value, depth)
    return description.digest.hexdigest()


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that code looks up, that of functions inside too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _unwrapped(value: object) -> tuple[object, ...]:
    """Return what the entry of a class is made of."""
    if isinstance(value, staticmethod | classmethod):
        inside: Callable[..., Any] = value.__func__
        return type(value).__name__, inside
    if isinstance(value, property):
        return value.fget, value.fset
    return (value,)


@functools.cache
def _library(module: str | None) -> str | None:
    """Return the version of the package that a module belongs to; None for what people write."""
    root = (module or "__main__").partition(".")[0]
    if root in sys.stdlib_module_names:
        return None if root == "__main__" else "Python"
    package = sys.modules.get(root)
    version = str(getattr(package, "__version__", ""))
    if root == "gnn2logic":
        return version
    file = getattr(package, "__file__", None) or next(iter(getattr(package, "__path__", [])), None)
    if file is None:
        return None
    homes = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")}
    return version if homes & {*Path(file).parents} else None
