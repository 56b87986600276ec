"""Graphs for teachers: bad ones are named, and any kind of them is read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from distill_networks import balanced_zoo, data, graphs, zoo
from gnn2logic.distillation import Teacher, disagreements, distill, fidelity, find_disagreements
from gnn2logic.exceptions import (
    FeatureError,
    Gnn2LogicError,
    GraphError,
    TeacherError,
    UnsupportedInputError,
)
from gnn2logic.models import GNNClassifier


def broken(number: int, **changes: Any) -> list[Data]:
    """Return graphs of which one is not as it should be."""
    own = [Data(x=item.x, edge_index=item.edge_index) for item in data()]
    for name, value in changes.items():
        if value is None:
            del own[number][name]
        else:
            own[number][name] = value
    return own


SIZE = data()[3].num_nodes
LAST = data()[11].num_nodes
BAD: list[tuple[int, dict[str, Any], type[Gnn2LogicError], str]] = [
    (3, {"edge_index": torch.tensor([[0], [SIZE]])}, GraphError, f"graph 3.*0 to {SIZE - 1}. Got"),
    (11, {"edge_index": torch.tensor([[LAST], [0]])}, GraphError, f"graph 11.*0 to {LAST - 1}"),
    (3, {"edge_index": torch.tensor([[0], [-1]])}, GraphError, "edge_index of graph 3 must hold"),
    (3, {"edge_index": torch.zeros(5, 2).long()}, GraphError, "graph 3.*Transpose it"),
    (3, {"edge_index": torch.zeros(2, 3)}, GraphError, "graph 3 must hold whole numbers"),
    (3, {"edge_index": None}, GraphError, "'edge_index' in graph 0 and none in graph 3"),
    (3, {"x": torch.ones(SIZE, 5)}, FeatureError, "Got 2 in graph 0 and 5 in graph 3"),
    (3, {"x": torch.ones(SIZE)}, FeatureError, "x of graph 3 must be a matrix.*reshape"),
    (3, {"x": torch.full((SIZE, 2), torch.nan)}, FeatureError, "nan at node 0 of graph 3"),
    (3, {"x": torch.ones(SIZE, 2).to_sparse()}, UnsupportedInputError, "x of graph 3 must be"),
    (3, {"num_nodes": SIZE}, GraphError, "Got 'num_nodes' in graph 3 and none in graph 0"),
    (0, {"num_nodes": data()[0].num_nodes}, GraphError, "'num_nodes' in graph 0 and none in gra"),
    (3, {"num_nodes": SIZE + 1}, GraphError, "'num_nodes' in graph 3"),
    (3, {"edge_attr": torch.ones(4, 1)}, GraphError, "'edge_attr' in graph 3 and none in graph 0"),
    (0, {"edge_attr": torch.ones(4, 1)}, GraphError, "set it in all graphs or remove it"),
]


@pytest.mark.parametrize(("number", "changes", "kind", "message"), BAD)
def test_the_bad_graph_is_named(
    number: int, changes: dict[str, Any], kind: type[Gnn2LogicError], message: str
) -> None:
    own = broken(number, **changes)
    teacher = Teacher(zoo("GCN"))
    for use in (teacher.predict, teacher.run, teacher.check, lambda g: distill(teacher, g)):
        with pytest.raises(kind, match=message):
            use(own)


def test_edges_never_reach_another_graph() -> None:
    """In the mini-batch there is a node with that number, in the next graph."""
    one = [Data(x=torch.ones(2, 2), edge_index=torch.tensor([[0], [2]])), *broken(0)]
    with pytest.raises(GraphError, match=r"graph 0 must hold node numbers from 0 to 1. Got .*0, 2"):
        fidelity(np.zeros(13, dtype=int), zoo("GCN"), one)


def test_attributes_that_cannot_be_put_together() -> None:
    own = broken(3)
    for number, item in enumerate(own):
        item.edge_attr = torch.ones(item.num_edges, 2 if number == 3 else 1)
    with pytest.raises(GraphError, match="equally wide.*Graphs 0 to 11 cannot: RuntimeError"):
        Teacher(zoo("GCN")).predict(own)


def test_our_own_classifiers_read_nothing_but_features_and_edges() -> None:
    gnn = GNNClassifier(n_layers=1, hidden=4, max_epochs=1, random_state=0)
    gnn.fit(graphs(), np.arange(12) % 2)
    own = broken(3, num_nodes=SIZE, y=torch.ones(1), edge_index=torch.zeros(2, 0).long())
    expected = gnn.predict(own)
    own[3].edge_index = None
    assert fidelity(gnn.predict(own), gnn, own) == 1.0
    assert np.array_equal(gnn.predict(own), expected)
    own[3].edge_index = torch.tensor([[0], [SIZE]])
    with pytest.raises(GraphError, match="graph 3"):
        fidelity(expected, gnn, own)


# Networks that cannot be given the graphs ----------------------------------------------------


def integers() -> list[Data]:
    return [Data(x=item.x.long(), edge_index=item.edge_index) for item in data()]


@pytest.mark.parametrize(
    ("module", "own", "message"),
    [
        (
            zoo("GCN"),
            integers(),
            r"x of shape \(\d+, 2\) and torch.int64.*weights are torch.float32",
        ),
        (
            zoo("GCN").double(),
            data(),
            r"torch.float32 for \d+ graphs, its weights are torch.float64",
        ),
        (zoo("GCN").to(torch.bfloat16), data(), "its weights are torch.bfloat16"),
        (
            zoo("GCN"),
            [Data(x=torch.ones(item.num_nodes, 7), edge_index=item.edge_index) for item in data()],
            r"x of shape \(\d+, 7\).*failed with RuntimeError: mat1 and mat2.*Give graphs",
        ),
    ],
)
def test_networks_that_cannot_be_given_the_graphs(
    module: nn.Module, own: list[Data], message: str
) -> None:
    for use in (Teacher(module).run, Teacher(module).predict, Teacher(module).check):
        with pytest.raises(TeacherError, match=message):
            use(own)


def test_a_layers_function_that_fails() -> None:
    def layers(_module: nn.Module, batch: Any) -> Any:
        return [batch.nowhere]

    with pytest.raises(TeacherError, match="failed with AttributeError") as caught:
        Teacher(zoo("GCN"), layers=layers).run(data())
    assert isinstance(caught.value.__cause__, AttributeError)


def test_data_parallel_is_unwrapped() -> None:
    wrapped = nn.DataParallel(zoo("GCN"))
    with pytest.raises(
        UnsupportedInputError, match=r"give the network inside: Teacher\(module.mod"
    ):
        Teacher(wrapped)
    assert len(Teacher(wrapped.module).predict(data())) == 12


# Read once ------------------------------------------------------------------------------------


def shuffled(count: int = 60) -> Any:
    return DataLoader(data(count), batch_size=8, shuffle=True)


def test_a_shuffled_loader_is_read_once() -> None:
    """Read twice, its graphs would come in two orders, and answers would not belong together."""
    own, module = data(60), balanced_zoo("GIN")
    idt = distill(module, own, algorithm="layers", width=2, random_state=0)
    agreement = fidelity(idt, module, own)
    assert agreement > 0.8
    differing = len(disagreements(idt, module, own))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        orders = {tuple(next(iter(shuffled())).ptr.tolist()) for _ in range(3)}
        assert len(orders) > 1
        for _ in range(3):
            assert fidelity(idt, module, shuffled()) == agreement
            assert len(disagreements(idt, module, shuffled())) == differing
        again = distill(module, shuffled(), algorithm="layers", width=2, random_state=0)
        assert fidelity(again, module, own) == pytest.approx(agreement, abs=0.1)
        find_disagreements(idt, module, shuffled(), budget=50, random_state=0)


def test_loaders_of_numbers_that_are_no_predicates() -> None:
    own = [Data(x=item.x + 0.5, edge_index=item.edge_index) for item in data(60)]
    loader = DataLoader(own, batch_size=7)
    labels = (graphs(60).sizes > 4).astype(int)
    gnn = GNNClassifier(n_layers=1, hidden=4, max_epochs=1, random_state=0).fit(loader, labels)
    assert np.array_equal(gnn.predict(loader), gnn.predict(own))
