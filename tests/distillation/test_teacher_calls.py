"""Networks that do not know of mini-batches, and networks that are about edges."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GAE, GCNConv, InnerProductDecoder, Sequential
from torch_geometric.nn.models import GCN

import gnn2logic as gl
from distill_networks import WIDTH, data, graphs, node_model, seeded
from gnn2logic import Teacher, random_graphs
from gnn2logic.exceptions import TeacherError


class Alone(nn.Module):
    """One graph in, one answer out."""

    def __init__(self, answer: Any, n_outputs: int = 3) -> None:
        super().__init__()
        self.conv = GCNConv(2, WIDTH)
        self.head = nn.Linear(WIDTH, n_outputs)
        self.answer = answer
        # So that no class wins always.
        nn.init.normal_(self.head.weight, std=5)

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.answer(self.head(self.conv(x, edge_index).mean(dim=0, keepdim=True)))


SHAPES = {
    "one row": (lambda row: row, 3),
    "no row": (lambda row: row[0], 3),
    "one number": (lambda row: row, 1),
    "no dimension": (lambda row: row[0, 0], 1),
}


def by_hand(module: nn.Module, items: list[Any]) -> Any:
    with torch.no_grad():
        found = [module(item.x, item.edge_index).reshape(-1).numpy() for item in items]
    return np.stack(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_graphs_are_asked_one_by_one(shape: str) -> None:
    answer, n_outputs = SHAPES[shape]
    module = seeded(lambda: Alone(answer, n_outputs))
    teacher = Teacher(module, outputs="auto" if n_outputs > 1 else "logit")
    # Also where a graph has as many nodes or edges as there are classes, and in any order.
    for own in (graphs(30), graphs(30)[::-1], random_graphs(9, sizes=3, random_state=0)):
        answers = teacher.run(own)
        items = gl.to_pyg(own)
        assert answers.level == "graph"
        np.testing.assert_allclose(answers.scores, by_hand(module, items), atol=1e-5)
        assert answers.activations[0].shape == (own.n_nodes, WIDTH)
        for item, label in zip(items[:5], answers.labels, strict=False):
            assert teacher.predict(item).tolist() == [label]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        teacher.check(graphs(30))
    tree = gl.distill(teacher, graphs(60), algorithm="layers", width=2, random_state=0)
    assert isinstance(tree, gl.IDTClassifier)
    assert gl.fidelity(tree, teacher, graphs(60)) > 0.7


def test_a_sequence_of_steps_without_batch() -> None:
    steps = [(GCNConv(2, 3), "x, edge_index -> x"), (lambda x: x.mean(0, keepdim=True), "x -> x")]
    module: Any = seeded(lambda: Sequential("x, edge_index", steps))
    expected = by_hand(module, data())
    np.testing.assert_allclose(Teacher(module).run(data()).scores, expected, atol=1e-5)


def test_nodes_need_no_batch() -> None:
    calls: list[int] = []
    module: Any = Sequential("x, edge_index", [(node_model(), "x, edge_index -> x")])
    module.register_forward_pre_hook(lambda _m, args: calls.append(1))
    assert Teacher(module).run(graphs()).level == "node"
    # One try, and one mini-batch.
    assert len(calls) == 2
    calls.clear()
    assert Teacher(module, level="node").run(graphs()).level == "node"
    assert len(calls) == 1
    # One number for each node, as many as there are edges.
    one: Any = seeded(lambda: GCN(2, 4, num_layers=2, out_channels=1))
    squeezed = Sequential("x, edge_index", [(one, "x, edge_index -> x"), (torch.flatten, "x -> x")])
    ring = [
        Data(x=torch.eye(2)[torch.arange(size) % 2], edge_index=_ring(size)) for size in (3, 4, 5)
    ]
    assert Teacher(squeezed, outputs="logit").run(ring).level == "node"


def _ring(size: int) -> torch.Tensor:
    start = torch.arange(size)
    return torch.stack([start, (start + 1) % size])


def test_a_given_forward_is_called_as_it_is() -> None:
    module = seeded(lambda: Alone(lambda row: row))
    teacher = Teacher(module, forward=lambda m, b: m(b.x, b.edge_index))
    with pytest.raises(TeacherError, match=r"Got shape \(1, 3\).*takes all graphs.*batch_size=1"):
        teacher.predict(data())
    one_by_one = Teacher(module, forward=lambda m, b: m(b.x, b.edge_index), batch_size=1)
    assert np.array_equal(one_by_one.predict(data()), by_hand(module, data()).argmax(1))


# Links ----------------------------------------------------------------------------------------


class Links(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(2, WIDTH)

    def forward(self, x: Any, edge_index: Any) -> Any:
        z = self.conv(x, edge_index)
        return (z[edge_index[0]] * z[edge_index[1]]).sum(dim=1)


class LabelledLinks(Links):
    def forward(self, x: Any, edge_index: Any, edge_label_index: Any = None) -> Any:
        return super().forward(x, edge_index if edge_label_index is None else edge_label_index)


class NeededLinks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(2, WIDTH)

    def forward(self, x: Any, edge_index: Any, edge_label_index: Any) -> Any:
        raise AssertionError("nothing to call it with")


class EveryPair(Links):
    def forward(self, x: Any, edge_index: Any) -> Any:
        return InnerProductDecoder().forward_all(self.conv(x, edge_index))


class Parts(nn.Module):
    """As in the examples of PyG: no forward at all."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(2, WIDTH)

    def encode(self, x: Any, edge_index: Any) -> Any:
        return self.conv(x, edge_index)

    def decode(self, z: Any, edge_label_index: Any) -> Any:
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Links, "as many as there are edges"),
        (LabelledLinks, "as many as there are edges"),
        (NeededLinks, "parameter 'edge_label_index' of NeededLinks.forward"),
        (EveryPair, "for each of .* pairs of nodes"),
        (Parts, "Parts.forward must have names that can be read"),
        (lambda: GAE(GCNConv(2, WIDTH)), "GAE.forward must have names that can be read"),
    ],
)
def test_networks_about_links_are_refused(make: Any, message: str) -> None:
    module: Any = seeded(make)
    for batch_size in (12, 1):
        with pytest.raises(TeacherError, match=f"{message}.*link prediction.* cannot be distilled"):
            Teacher(module, batch_size=batch_size).run(random_graphs(12, sizes=7, random_state=0))


def test_as_many_classes_as_nodes_are_no_pairs() -> None:
    module: Any = seeded(lambda: GCN(2, WIDTH, num_layers=2, out_channels=7))
    assert Teacher(module).run(random_graphs(1, sizes=7, random_state=0)).level == "node"
