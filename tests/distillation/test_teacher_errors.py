"""Bad arguments, bad layers and bad outputs of teachers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn
from torch_geometric.nn import GCNConv, SAGPooling, global_mean_pool

from distill_networks import WIDTH, data, graphs, node_model, seeded, zoo
from gnn2logic import IDTClassifier, random_graphs
from gnn2logic.distillation import Teacher, as_teacher
from gnn2logic.exceptions import (
    ActivationError,
    FeatureError,
    GraphError,
    TeacherError,
)
from gnn2logic.models import GNNClassifier


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forward": "x"}, r"forward must be a function of \(module, batch\). Got 'x' instead"),
        ({"layers": "encoder"}, "layers must be None, a list of names.*Got 'encoder' instead"),
        ({"layers": []}, r"layers must be None, a list of names.*Got \[\] instead"),
        ({"layers": 3}, "layers must be None, a list of names.*Got 3 instead"),
        ({"layers": ["encoder", "nope"]}, "names of modules of Pooled: 'encoder'.*Got 'nope'"),
        ({"layers": ["head", "head"]}, "layers must hold distinct names"),
        ({"classes": "ab"}, "classes must list one label for each class. Got 'ab' instead"),
        ({"classes": 3}, "classes must list one label for each class. Got 3 instead"),
        ({"classes": []}, "classes must list one label for each class"),
        ({"classes": [0, 0, 1]}, r"classes must be distinct. Got \[0, 0, 1\]"),
        ({"classes": [0.5, 1]}, "classes cannot be read.*Got 0.5 at position 0"),
        ({"level": "edge"}, "level must be one of 'auto', 'graph', 'node'. Got 'edge' instead"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1. Got 0 instead"),
        ({"max_nodes": 2.5}, "max_nodes must be a whole number >= 1. Got 2.5 instead"),
        ({"device": "gpu!"}, "device must be .* a device that torch can use. Got 'gpu!' instead"),
        ({"device": "cuda:77"}, "device must be .* a device that torch can use. Got 'cuda:77'"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Teacher(zoo("GCN"), **options)


def test_what_is_no_network() -> None:
    with pytest.raises(TypeError, match="module must be a torch.nn.Module. Got str instead"):
        Teacher("network")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="A teacher must be a Teacher.*Got IDTClassifier instead"):
        as_teacher(IDTClassifier())
    with pytest.raises(NotFittedError):
        as_teacher(GNNClassifier())


def test_graphs_are_checked() -> None:
    teacher = Teacher(zoo("GCN"))
    with pytest.raises(GraphError, match="At least one graph is needed"):
        teacher.predict([])
    empty = data()[0].clone()
    empty.x, empty.num_nodes, empty.edge_index = torch.zeros(0, 2), 0, torch.zeros(2, 0).long()
    with pytest.raises(GraphError, match="Every graph must have at least one node. Graph 1"):
        teacher.predict([data()[0], empty])
    wide = random_graphs(20, sizes=3, names=("a", "b", "c"), random_state=0)
    gnn = GNNClassifier(n_layers=1, hidden=WIDTH, max_epochs=1, random_state=0)
    gnn.fit(graphs(20), np.arange(20) % 2)
    with pytest.raises(FeatureError, match="2 feature columns seen at fit. Got 3"):
        as_teacher(gnn).predict(wide)


# How to call ----------------------------------------------------------------------------------


class Asks(nn.Module):
    """A network whose forward is replaced."""

    def __init__(self, forward: Any) -> None:
        super().__init__()
        self.conv = GCNConv(2, 2)
        self.forward = forward


def test_what_forward_asks_for() -> None:
    seen: dict[str, Any] = {}

    def everything(x: Any, edge_index: Any, batch: Any, num_graphs: Any, edge_weight: Any) -> Any:
        seen.update(num_graphs=num_graphs, edge_weight=edge_weight)
        return x

    def optional(x: Any, /, edge_weight: Any = 7, *, edge_attr: Any = 8, batch: Any = None) -> Any:
        seen.update(edge_weight=edge_weight, edge_attr=edge_attr, batch=batch)
        return x

    def whole(anything: Any, factor: float = 1.0) -> Any:
        seen.update(whole=anything)
        return anything.x * factor

    def features(x: Any) -> Any:
        seen.update(x=x)
        return x

    weighted = data()
    for item in weighted:
        item.edge_weight = torch.ones(item.num_edges)
    Teacher(Asks(everything)).predict(weighted)
    assert seen["num_graphs"] == 12
    assert len(seen["edge_weight"]) == graphs().n_edges
    Teacher(Asks(optional)).predict(data())
    assert (seen["edge_weight"], seen["edge_attr"], len(seen["batch"])) == (7, 8, graphs().n_nodes)
    Teacher(Asks(whole)).predict(data())
    assert seen["whole"].num_graphs == 12
    Teacher(Asks(lambda batch: batch.x)).predict(data())
    Teacher(Asks(features)).predict(data())
    assert seen["x"].shape == (graphs().n_nodes, 2)


def test_what_forward_asks_for_in_vain() -> None:
    with pytest.raises(
        TeacherError, match="parameter 'adj' of Asks.forward.*'batch', 'edge_index'"
    ):
        Teacher(Asks(lambda x, adj: x)).predict(data())
    with pytest.raises(TeacherError, match="must have names that can be read. Say how to call it"):
        Teacher(Asks(lambda *args: args[0])).predict(data())
    bare = data()
    for item in bare:
        del item.x
    with pytest.raises(TeacherError, match="parameter 'x' of Pooled.forward must be an attribute"):
        Teacher(zoo("GCN")).predict(bare)


# Outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda b: (b.x, b.x), "must return one tensor. Got tuple instead"),
        (lambda b: b.x[:5], "each of the 12 graphs or each of the .* nodes.*Got shape .5, 2."),
        (lambda b: b.x[:, None], "one row of real numbers.*Got shape .*, 1, 2."),
        (lambda b: b.x[:, :0], "one row of real numbers"),
        (lambda b: b.x.to(torch.complex64), "real numbers.*dtype torch.complex64"),
        (lambda b: b.x.to_sparse(), "must return one tensor"),
        (lambda b: b.batch, "must return scores.*whole numbers up to 11"),
        (lambda b: b.x.index_fill(0, torch.tensor([3]), torch.nan), "NaN for node 3"),
    ],
)
def test_bad_outputs(output: Any, message: str) -> None:
    with pytest.raises(TeacherError, match=message):
        Teacher(zoo("GCN"), forward=lambda _m, b: output(b)).predict(graphs())


def test_bad_outputs_while_checking() -> None:
    def forward(_module: nn.Module, batch: Any) -> Any:
        return batch.x, batch.x

    with pytest.raises(TeacherError, match="must return one tensor. Got tuple instead"):
        Teacher(zoo("GCN"), forward=forward).check(graphs())


def test_rows_of_the_other_task() -> None:
    with pytest.raises(TeacherError, match="one row for each of the 12 graphs of a mini-batch"):
        Teacher(node_model(), level="graph").predict(graphs())
    with pytest.raises(TeacherError, match="one row for each of the .* nodes of a mini-batch"):
        Teacher(zoo("GCN"), level="node").predict(graphs())


def test_outputs_that_change_their_form() -> None:
    calls: list[int] = []

    def forward(_module: nn.Module, batch: Any) -> Any:
        calls.append(0)
        return torch.zeros(batch.num_graphs, 1 + len(calls))

    with pytest.raises(
        TeacherError, match="as many columns for every mini-batch. Got 2 and then 3"
    ):
        Teacher(zoo("GCN"), forward=forward, batch_size=6).predict(graphs())


def test_another_number_of_classes() -> None:
    with pytest.raises(TeacherError, match=r"each of the 3 classes.*Got 2: \['a', 'b'\]"):
        Teacher(zoo("GCN"), classes=["a", "b"]).predict(graphs())
    with pytest.raises(TeacherError, match="each of the 2 classes.*Got 3"):
        Teacher(zoo("GCN", 1), classes=["a", "b", "c"]).predict(graphs())


def test_the_only_class() -> None:
    teacher = Teacher(zoo("GCN", 1), classes=["a"])
    assert set(teacher.predict(graphs())) == {"a"}
    assert np.array_equal(teacher.predict_proba(graphs()), np.ones((12, 1)))


# Layers ---------------------------------------------------------------------------------------


class Returns(nn.Module):
    """A part that returns anything."""

    def __init__(self, output: Any) -> None:
        super().__init__()
        self.output = output

    def forward(self, x: Any) -> Any:
        return self.output(x)


def with_part(output: Any) -> Teacher:
    module = zoo("GCN")
    module.part = Returns(output)

    def forward(own: Any, batch: Any) -> Any:
        own.part(batch.x)
        return own(batch.x, batch.edge_index, batch.batch)

    return Teacher(module, forward=forward, layers=["part"])


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda x: x.index_fill(0, torch.tensor([3]), torch.inf), "finite.*Got inf at node 3"),
        (lambda x: x * torch.nan, "finite numbers. Got nan at node 0, column 0"),
        (lambda x: x[:4], r"one row for each of the \d+ nodes.*Got shape \(4, 2\)"),
        (lambda x: x[0, 0], r"Got shape \(\) instead; choose layers before any pooling"),
        (lambda x: x[:, :0], "one row for each"),
        (lambda x: {"x": x}, "dense tensor. Got dict instead"),
        (lambda x: ("a", x), "dense tensor. Got a tuple of str, Tensor instead"),
        (lambda _x: (), "dense tensor. Got a tuple of nothing instead"),
        (lambda x: x.to_sparse(), "dense tensor. Got a tensor of layout torch.sparse_coo instead"),
        (lambda x: x.to(torch.complex64), "real numbers. Got torch.complex64"),
    ],
)
def test_bad_layers_are_named(output: Any, message: str) -> None:
    with pytest.raises(ActivationError, match=f"Layer 'part' must.*{message}"):
        with_part(output).run(graphs())
    # Who does not ask for activations is not bothered.
    assert len(with_part(output).predict(graphs())) == 12


def test_large_numbers_are_finite() -> None:
    found = with_part(lambda x: torch.full_like(x, 3e38)).activations(graphs())
    assert np.isfinite(found[0]).all()


def test_nan_in_a_later_mini_batch_names_the_node() -> None:
    teacher = with_part(lambda x: x)

    def forward(own: Any, batch: Any) -> Any:
        bad = torch.nan if forward.calls == 1 else 0.0  # type: ignore[attr-defined]
        forward.calls += 1  # type: ignore[attr-defined]
        own.part(batch.x + bad)
        return own(batch.x, batch.edge_index, batch.batch)

    forward.calls = 0  # type: ignore[attr-defined]
    first = int(graphs().ptr[6])
    with pytest.raises(ActivationError, match=f"Got nan at node {first}, column 0"):
        Teacher(teacher.module, forward=forward, layers=["part"], batch_size=6).run(graphs())


def test_layers_that_change_between_mini_batches() -> None:
    sizes: list[int] = []

    def wider(x: Any) -> Any:
        sizes.append(len(x))
        return torch.zeros(len(x), len(sizes))

    teacher = with_part(wider)
    with pytest.raises(
        ActivationError, match=r"layers of width \[1\]; got layer 'part' of width 2"
    ):
        Teacher(teacher.module, teacher.forward, ["part"], batch_size=6).run(graphs())

    def repeat(least: int, most: int) -> Teacher:
        calls: list[int] = []

        def forward(own: Any, batch: Any) -> Any:
            calls.append(0)
            for _ in range(least if len(calls) == 1 else most):
                own.part(batch.x)
            return batch.x

        return Teacher(with_part(lambda x: x).module, forward, ["part"], batch_size=6)

    with pytest.raises(ActivationError, match=r"widths? \[2\]; got layer .*\(call 2\).* number 1"):
        repeat(1, 2).run(graphs())
    with pytest.raises(ActivationError, match="The first had 2, a later one 1"):
        repeat(2, 1).run(graphs())


def test_layers_that_are_not_called_or_not_there() -> None:
    teacher = Teacher(with_part(lambda x: x).module, layers=["part", "encoder"])
    with pytest.raises(
        ActivationError, match="Pooled must call its layers. It did not call 'part'"
    ):
        teacher.run(graphs())
    linear = nn.Linear(2, 2)
    with pytest.raises(TeacherError, match="Linear must have MessagePassing modules"):
        Teacher(linear, forward=lambda m, b: m(b.x)).run(graphs())
    unused = Asks(lambda x: x)
    with pytest.raises(ActivationError, match="Asks must call its layers. It did not call 'conv'"):
        Teacher(unused).run(graphs())


def test_a_bad_layers_function() -> None:
    for returned, kind in ((torch.ones(2), "Tensor"), ([], "list"), (None, "NoneType")):
        teacher = Teacher(zoo("GCN"), layers=lambda _m, _b, own=returned: own)  # type: ignore[misc]
        with pytest.raises(ActivationError, match=f"must return a list of tensors.*Got {kind}"):
            teacher.run(graphs())


def test_layers_after_pooling_are_refused() -> None:
    class Shrinking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = GCNConv(2, WIDTH), GCNConv(WIDTH, WIDTH)
            self.pool = SAGPooling(WIDTH, 0.5)

        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            x = self.first(x, edge_index)
            x, edge_index, _, batch, _, _ = self.pool(x, edge_index, batch=batch)
            return global_mean_pool(self.last(x, edge_index), batch)

    module = seeded(Shrinking)
    with pytest.raises(ActivationError, match="choose layers before any pooling"):
        Teacher(module).run(graphs())
    assert len(Teacher(module, layers=["first"]).activations(graphs())) == 1


def test_a_network_without_parameters() -> None:
    teacher = Teacher(Returns(lambda x: x), layers=lambda _m, b: [b.x])
    assert np.array_equal(teacher.run(graphs()).scores, graphs().predicates)
