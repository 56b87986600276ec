"""A network is left as it was found, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn
from torch_geometric.nn import GCNConv

from distill_networks import Functional, data, graphs, seeded, zoo
from gnn2logic.distillation import Teacher, distill
from gnn2logic.exceptions import TeacherError


def hooks_of(module: nn.Module) -> list[int]:
    return [
        len(own._forward_hooks) + len(own._forward_pre_hooks) + len(own._backward_hooks)
        for own in module.modules()
    ]


def state_of(module: nn.Module) -> Any:
    return (
        hooks_of(module),
        [own.training for own in module.modules()],
        [(own.requires_grad, own.grad, own.device) for own in module.parameters()],
        torch.random.get_rng_state().tolist(),
        np.random.get_state(legacy=True)[1].tolist(),  # type: ignore[index]
        torch.is_grad_enabled(),
    )


@pytest.fixture
def mixed() -> nn.Module:
    """A network in training mode with one frozen part and a hook of its owner."""
    module = zoo("GIN").train()
    module.head.eval()
    module.head.weight.requires_grad_(False)
    module.head.register_forward_hook(lambda *_: None)
    return module


@pytest.fixture
def unchanged(mixed: nn.Module) -> Iterator[nn.Module]:
    before = state_of(mixed)
    weights = [own.clone() for own in mixed.state_dict().values()]
    yield mixed
    assert state_of(mixed) == before
    after = mixed.state_dict().values()
    assert all(torch.equal(a, b) for a, b in zip(weights, after, strict=True))


def test_asking(unchanged: nn.Module) -> None:
    teacher = Teacher(unchanged, max_nodes=20)
    teacher.run(graphs())
    teacher.predict(graphs())
    teacher.check(graphs())
    own = data()
    before = [item.clone() for item in own]
    teacher.run(own)
    for item, old in zip(own, before, strict=True):
        assert item.keys() == old.keys()
        assert all(torch.equal(item[key], old[key]) for key in ("x", "edge_index"))


def test_distilling(unchanged: nn.Module) -> None:
    labels = np.arange(12) % 2
    distill(unchanged, graphs(), labels, algorithm="layers", width=1, random_state=0)


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt()])
def test_an_error_in_the_middle(unchanged: nn.Module, error: BaseException) -> None:
    calls = 0

    def forward(module: nn.Module, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        result = module(batch.x, batch.edge_index, batch.batch)
        assert sum(hooks_of(module)) > 1
        if calls == 2:
            raise error
        return result

    kind = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else TeacherError
    with pytest.raises(kind) as caught:
        Teacher(unchanged, forward=forward, max_nodes=20).run(graphs())
    assert error in (caught.value, caught.value.__cause__)
    assert calls == 2


def test_no_gradients_are_made(unchanged: nn.Module) -> None:
    enabled: list[bool] = []

    def forward(module: nn.Module, batch: Any) -> Any:
        enabled.append(torch.is_grad_enabled())
        return module(batch.x, batch.edge_index, batch.batch)

    teacher = Teacher(unchanged, forward=forward)
    teacher.run(graphs())
    teacher.predict(graphs())
    teacher.check(graphs())
    assert len(enabled) > 2
    assert not any(enabled)


def test_caches_of_layers_are_left_alone() -> None:
    """A cached convolution would use the edges of the graph that it saw first for all others."""
    own = data()

    def network(cached: bool) -> Any:
        return seeded(lambda: GCNConv(2, 2, cached=cached))

    plain, cached = network(False), network(True)
    cached(own[0].x, own[0].edge_index)
    kept = cached._cached_edge_index
    assert kept is not None
    expected, found = Teacher(plain, level="node").run(own), Teacher(cached, level="node").run(own)
    assert np.array_equal(found.scores, expected.scores)
    Teacher(cached, max_nodes=20, level="node").check(own)
    assert cached.cached is True
    assert cached._cached_edge_index is kept


def test_an_error_inside_a_layer(unchanged: nn.Module) -> None:
    wrong = [item.clone() for item in data()]
    for item in wrong:
        item.x = torch.cat([item.x, item.x], dim=1)
    with pytest.raises(TeacherError, match=r"x of shape \(\d+, 4\).*RuntimeError"):
        Teacher(unchanged).run(wrong)


def test_random_numbers_that_the_network_draws_do_not_move_the_seed() -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = zoo("GCN")

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> Any:
            return self.inner(x + torch.randn_like(x), edge_index, batch)

    module = seeded(Noisy)
    before = torch.random.get_rng_state()
    first = Teacher(module).run(graphs()).scores
    assert torch.equal(torch.random.get_rng_state(), before)
    # Random they are all the same: another seed gives other answers.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(12345)
        assert not np.allclose(Teacher(module).run(graphs()).scores, first)


def test_the_device_is_restored() -> None:
    class Movable(Functional):
        def __init__(self) -> None:
            super().__init__()
            self.moves: list[str] = []

        def to(self, *args: Any, **_: Any) -> Any:
            self.moves.append(str(args[0]))
            return self

    module = seeded(Movable)
    teacher = Teacher(module, device="cpu")
    teacher.run(graphs())
    assert module.moves == []

    def fail(_module: nn.Module, _batch: Any) -> Any:
        raise KeyboardInterrupt

    # Nothing is computed on the meta device; it only has to be moved there and back.
    with pytest.raises(KeyboardInterrupt):
        Teacher(module, forward=fail, device="meta").run(graphs())
    assert module.moves == ["meta", "cpu"]


def test_a_network_on_two_devices_is_not_moved() -> None:
    module = zoo("GCN")
    module.head.to("meta")
    with pytest.raises(TeacherError, match="must be on one device.*on cpu, meta; leave device out"):
        Teacher(module, device="cpu").run(graphs())


def test_activations_have_no_gradients_and_their_own_memory() -> None:
    kept: list[torch.Tensor] = []

    def layers(_module: nn.Module, batch: Any) -> list[torch.Tensor]:
        kept.append(batch.x)
        return [batch.x]

    found = Teacher(zoo("GCN"), layers=layers).activations(graphs())[0]
    expected = found.copy()
    kept[0].zero_()
    assert np.array_equal(found, expected)


def test_clone_shares_the_teacher() -> None:
    teacher = Teacher(zoo("GCN"))
    assert clone(teacher) is teacher
    assert clone([teacher], safe=False)[0] is teacher
    assert repr(teacher) == "Teacher(Pooled)"


def test_fitting_an_idt_leaves_the_threads_of_torch_alone() -> None:
    """The first fit of a process starts the threads of numba, so this needs a new process."""
    program = """
import torch
from gnn2logic import IDTClassifier, random_graphs
graphs = random_graphs(20, sizes=4, random_state=0)
before = torch.get_num_threads()
IDTClassifier(1).fit(graphs, [0, 1] * 10)
assert (before, torch.get_num_threads()) == (1, 1), torch.get_num_threads()
"""
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | threads)
