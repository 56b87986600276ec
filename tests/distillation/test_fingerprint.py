"""What makes two teachers different, and what does not."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, MessagePassing
from torch_geometric.nn.models import GCN

from distill_networks import data, seeded, zoo
from gnn2logic import Teacher, parse, to_gnn
from gnn2logic.distillation.fingerprint import fingerprint

SCALE = 1.0


def scaled(x: Any) -> Any:
    return x * SCALE


class Plain(nn.Module):
    """A network with one attribute of any kind."""

    def __init__(self, thing: Any = None) -> None:
        super().__init__()
        self.conv = seeded(lambda: GCNConv(2, 3))
        self.thing = thing

    def forward(self, x: Any, edge_index: Any) -> Any:
        return scaled(self.conv(x, edge_index))


class Settings:
    def __init__(self, k: int) -> None:
        self.k = k


class Again(Plain):
    """The same, but for the body of a method."""

    def forward(self, x: Any, edge_index: Any) -> Any:
        return scaled(-self.conv(x, edge_index))


def scaling(factor: float) -> Callable[..., Any]:
    return lambda m, b: m(b.x, b.edge_index) * factor


def defaulted(factor: float) -> Callable[..., Any]:
    def forward(module: Any, batch: Any, k: float = factor) -> Any:
        return k * module(batch.x, batch.edge_index)

    return forward


def looped(k: int) -> Any:
    inside: dict[str, Any] = {"k": k}
    inside["self"] = inside
    return inside


def script(factor: float) -> Any:
    class Small(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2.0

    class Large(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 3.0

    return torch.jit.script(Small() if factor == 2 else Large())


DIFFERENT: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "class names": (
        lambda: Teacher(Plain(), classes=["a", "b", "c"]),
        lambda: Teacher(Plain(), classes=["c", "b", "a"]),
    ),
    "level": (lambda: Teacher(Plain(), level="node"), lambda: Teacher(Plain(), level="graph")),
    "layers": (lambda: Teacher(Plain(), layers=["conv"]), lambda: Teacher(Plain())),
    "layer function": (
        lambda: Teacher(Plain(), layers=lambda _m, b: [b.x]),
        lambda: Teacher(Plain(), layers=lambda _m, b: [b.x * 2]),
    ),
    "plain attribute": (lambda: Teacher(Plain(1)), lambda: Teacher(Plain(-1))),
    "attribute of a part": (
        lambda: Teacher(nn.Sequential(Plain(1))),
        lambda: Teacher(nn.Sequential(Plain(2))),
    ),
    "number or text": (lambda: Teacher(Plain(1)), lambda: Teacher(Plain("1"))),
    "inside a list": (lambda: Teacher(Plain([1, [2]])), lambda: Teacher(Plain([1, [3]]))),
    "nesting": (lambda: Teacher(Plain([[1], 2])), lambda: Teacher(Plain([[1, 2]]))),
    "inside itself": (lambda: Teacher(Plain(looped(1))), lambda: Teacher(Plain(looped(2)))),
    "set": (lambda: Teacher(Plain({"a", "b"})), lambda: Teacher(Plain({"a", "c"}))),
    "array": (lambda: Teacher(Plain(np.arange(3))), lambda: Teacher(Plain(np.arange(3) * 2))),
    "object array": (
        lambda: Teacher(Plain(np.array(["a", 1], dtype=object))),
        lambda: Teacher(Plain(np.array(["a", 2], dtype=object))),
    ),
    "tensor": (
        lambda: Teacher(Plain([torch.zeros(2)])),
        lambda: Teacher(Plain([torch.ones(2)])),
    ),
    "shape": (
        lambda: Teacher(Plain([torch.zeros(2, 3)])),
        lambda: Teacher(Plain([torch.zeros(3, 2)])),
    ),
    "sparse tensor": (
        lambda: Teacher(Plain([torch.eye(2).to_sparse()])),
        lambda: Teacher(Plain([torch.ones(2, 2).to_sparse()])),
    ),
    "own object": (lambda: Teacher(Plain(Settings(1))), lambda: Teacher(Plain(Settings(2)))),
    "namespace": (
        lambda: Teacher(Plain(SimpleNamespace(k=1))),
        lambda: Teacher(Plain(argparse.Namespace(k=1))),
    ),
    "arguments": (
        lambda: Teacher(Plain(argparse.Namespace(k=1))),
        lambda: Teacher(Plain(argparse.Namespace(k=2))),
    ),
    "function": (lambda: Teacher(Plain(torch.relu)), lambda: Teacher(Plain(torch.tanh))),
    "function of numpy": (lambda: Teacher(Plain(np.sin)), lambda: Teacher(Plain(np.cos))),
    "partial": (
        lambda: Teacher(Plain(partial(torch.mul, 2))),
        lambda: Teacher(Plain(partial(torch.mul, 3))),
    ),
    "bound method": (
        lambda: Teacher(Plain(Settings(1).__eq__)),
        lambda: Teacher(Plain(Settings(1).__ne__)),
    ),
    "forward": (lambda: Teacher(Plain()), lambda: Teacher(Again())),
    "closure": (
        lambda: Teacher(Plain(), forward=scaling(1.0)),
        lambda: Teacher(Plain(), forward=scaling(-1.0)),
    ),
    "second lambda": (
        lambda: Teacher(Plain(), forward=lambda m, b: m(b.x, b.edge_index)),
        lambda: Teacher(Plain(), forward=lambda m, b: -m(b.x, b.edge_index)),
    ),
    "default": (
        lambda: Teacher(Plain(), forward=defaulted(1)),
        lambda: Teacher(Plain(), forward=defaulted(2)),
    ),
    "setting of PyG": (
        lambda: Teacher(seeded(lambda: GCNConv(2, 3))),
        lambda: Teacher(seeded(lambda: GCNConv(2, 3, add_self_loops=False))),
    ),
    "formula": (lambda: Teacher(to_gnn(parse("U0"))), lambda: Teacher(to_gnn(parse("U1")))),
    "script": (lambda: Teacher(script(2)), lambda: Teacher(script(3))),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_teachers_have_other_fingerprints(name: str) -> None:
    first, second = DIFFERENT[name]
    assert fingerprint(first()) != fingerprint(second())
    # Made again, they have the same ones.
    assert fingerprint(first()) == fingerprint(first())
    assert fingerprint(second()) == fingerprint(second())


def test_what_is_changed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = Plain()
    teacher = Teacher(module)
    seen = [fingerprint(teacher)]

    def differs() -> None:
        seen.append(fingerprint(teacher))
        assert len(set(seen)) == len(seen)

    module.register_buffer("hidden", torch.zeros(1), persistent=False)
    differs()
    module.hidden += 1
    differs()
    handle = module.register_forward_hook(lambda _m, _i, out: -out)
    differs()
    handle.remove()
    monkeypatch.setattr(Plain, "forward", lambda self, x, edge_index: self.conv(x, edge_index) - 1)
    differs()
    monkeypatch.undo()
    # A global that a function names, and the function that the network calls.
    monkeypatch.setitem(globals(), "SCALE", -1.0)
    differs()
    monkeypatch.setitem(globals(), "scaled", lambda x: x + 1)
    differs()


def test_what_changes_nothing() -> None:
    module = zoo("GCN")
    expected = fingerprint(Teacher(module))
    assert fingerprint(Teacher(module, batch_size=3, max_nodes=17, device="cpu")) == expected
    Teacher(module).run(data())
    module.eval()
    assert fingerprint(Teacher(module)) == expected
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    assert fingerprint(Teacher(module)) == expected
    cached: Any = seeded(lambda: GCN(2, 3, num_layers=2, out_channels=2, cached=True))
    before = fingerprint(Teacher(cached))
    cached(data()[0].x, data()[0].edge_index)
    assert fingerprint(Teacher(cached)) == before


def test_weights_without_values() -> None:
    assert len(fingerprint(Teacher(GCNConv(-1, 2)))) == 64


_PROGRAM = """
import torch
from torch_geometric.nn import MessagePassing
import gnn2logic as gl
from gnn2logic.distillation.fingerprint import fingerprint

class Conv(MessagePassing):
    words = {"many", "words", "in", "some", "order"}

    def __init__(self):
        super().__init__(aggr="mean")
        self.named = {"one", "two", "three", "four"}
        self.thing = object()

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x) if x.sum() in {1, 2, 3} else torch.relu(x)

    def message(self, x_j):
        return x_j

torch.manual_seed(0)
networks = [Conv(), torch.nn.Sequential(torch.nn.Linear(2, 2)), gl.to_gnn(gl.parse("A U0 > 1"))]
for network in networks:
    print(fingerprint(gl.Teacher(network, forward=lambda m, b: m(b.x, b.edge_index))))
"""


def test_every_process_says_the_same() -> None:
    """An interrupted capture goes on in another process, which orders sets in another way."""
    said = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert len(set(said.pop().split())) == 3


def test_messages_of_own_layers_count(monkeypatch: pytest.MonkeyPatch) -> None:
    class Doubling(MessagePassing):  # type: ignore[misc]
        def forward(self, x: Any, edge_index: Any) -> Any:
            return self.propagate(edge_index, x=x)

        def message(self, x_j: Any) -> Any:
            return 2 * x_j

    teacher = Teacher(Doubling())
    before = fingerprint(teacher)
    monkeypatch.setattr(Doubling, "message", lambda _self, x_j: 3 * x_j)
    assert fingerprint(teacher) != before
