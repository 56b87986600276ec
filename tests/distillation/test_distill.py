"""The variants of distillation, against fitting the estimators by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv

from distill_networks import LAYERS, balanced_zoo, data, graphs, node_model, zoo
from gnn2logic import IDTClassifier, IDTNodeClassifier, from_edges, load, random_graphs
from gnn2logic.distillation import Teacher, distill
from gnn2logic.exceptions import LabelError, ParameterError, SingleClassWarning

Options = dict[str, Any]
OPTIONS: Options = {"width": 2, "random_state": 0}


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    """A network that finds both classes in the graphs."""
    return Teacher(balanced_zoo("GIN"), classes=["neg", "pos"])


def same(first: Any, second: Any) -> bool:
    """Whether two models have the same columns, rules and predictions."""
    own = graphs(60, 1)
    return bool(
        first.model_.columns == second.model_.columns
        and str(first) == str(second)
        and np.array_equal(first.predict(own), second.predict(own))
    )


@pytest.mark.parametrize("name", [None, "gnn", "IDT(GNN)", "idt(gnn)"])
def test_idt_gnn_learns_the_predictions(teacher: Teacher, name: str | None) -> None:
    own = graphs(60)
    idt = distill(teacher, own, algorithm="layers", variant=name, **OPTIONS)
    answers = teacher.run(own)
    by_hand = IDTClassifier(algorithm="layers", **OPTIONS).fit(
        own, answers.labels, activations=answers.activations
    )
    assert same(idt, by_hand)
    assert idt.n_layers_ == LAYERS
    assert idt.classes_.tolist() == ["neg", "pos"]
    assert idt.score(own, answers.labels) > 0.7


@pytest.mark.parametrize("name", [None, "gnn+true", "IDT(GNN+True)"])
def test_idt_gnn_true_learns_the_labels(teacher: Teacher, name: str | None) -> None:
    own = graphs(60)
    labels = np.where(own.sizes > 4, 1, -1)
    idt = distill(teacher, own, labels, algorithm="layers", variant=name, **OPTIONS)
    activations = teacher.activations(own)
    assert same(
        idt, IDTClassifier(algorithm="layers", **OPTIONS).fit(own, labels, activations=activations)
    )
    assert str(idt.formula(1)) == "1 true > 4"
    assert idt.classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("name", ["true", "IDT(True)"])
def test_idt_true_has_as_many_layers(teacher: Teacher, name: str) -> None:
    own = graphs(60)
    labels = own.sizes > 4
    asked: list[int] = []

    def forward(module: nn.Module, batch: Any) -> Any:
        asked.append(batch.num_graphs)
        return teacher.forward(module, batch)

    counting = Teacher(teacher.module, forward=forward)
    idt = distill(counting, own, labels, algorithm="layers", variant=name, **OPTIONS)
    assert same(idt, IDTClassifier(LAYERS, algorithm="layers", **OPTIONS).fit(own, labels))
    # Only a few graphs were asked, to look at the network.
    assert max(asked) <= 8
    shallow = distill(teacher, own, labels, algorithm="layers", variant=name, n_layers=1, **OPTIONS)
    assert shallow.n_layers_ == 1


def test_all_kinds_of_graphs_give_the_same_model(teacher: Teacher) -> None:
    expected = distill(teacher, graphs(60), algorithm="layers", **OPTIONS)
    for own in (data(60), iter(data(60)), list(graphs(60))):
        assert same(distill(teacher, own, algorithm="layers", **OPTIONS), expected)


def test_classes_that_are_never_predicted(tmp_path: Path) -> None:
    module = balanced_zoo("GIN", 4)
    with torch.no_grad():
        module.head.bias[1] = -1e4
    own = graphs(60)
    teacher = Teacher(module, classes=["d", "c", "b", "a"])
    predicted = set(teacher.predict(own))
    assert "c" not in predicted
    assert len(predicted) > 1
    idt = distill(teacher, own, algorithm="layers", **OPTIONS)
    assert idt.classes_.tolist() == ["a", "b", "c", "d"]
    assert str(idt.formula("c")) == "false"
    assert idt.predict_proba(own).shape == (60, 4)
    assert not idt.predict_proba(own)[:, 2].any()
    assert np.array_equal(idt.predict(own), idt.classes_[idt.predict_proba(own).argmax(axis=1)])
    idt.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.classes_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(again.predict(own), idt.predict(own))
    assert np.array_equal(again.predict_proba(own), idt.predict_proba(own))
    assert str(again) == str(idt)
    assert idt.prune().classes_.tolist() == ["a", "b", "c", "d"]


def test_a_constant_teacher() -> None:
    module = zoo("GCN", 2)
    with torch.no_grad():
        module.head.bias[1] = 1e4
    with pytest.warns(SingleClassWarning, match="All labels are 1; the model is constant") as told:
        idt = distill(module, graphs(), algorithm="layers", **OPTIONS)
    # It points to the line above, not to one of ours.
    assert [own.filename for own in told] == [__file__]
    assert idt.classes_.tolist() == [0, 1]
    assert (idt.predict(graphs()) == 1).all()
    assert str(idt.formula(0)) == "false"
    assert str(idt.formula(1)) == "true"


def test_constant_activations_are_no_obstacle() -> None:
    module = zoo("GCN", 2)
    own = graphs(60)
    teacher = Teacher(module, layers=lambda _m, b: [torch.zeros(b.num_nodes, 3)])
    idt = distill(teacher, own, own.sizes > 4, algorithm="layers", **OPTIONS)
    assert str(idt.formula(True)) == "1 true > 4"


def test_nodes_and_masks() -> None:
    own = random_graphs(1, sizes=90, density=0.04, random_state=0)
    teacher = Teacher(node_model())
    labels = own.column("U1").astype(int)
    mask = np.arange(90) % 3 > 0
    idt = distill(teacher, own, algorithm="layers", **OPTIONS)
    assert isinstance(idt, IDTNodeClassifier)
    assert idt.classes_.tolist() == [0, 1, 2]
    assert len(idt.predict(own)) == 90
    wrong = np.where(mask, labels, 1 - labels)
    for variant in ("gnn+true", "true"):
        learned = distill(
            teacher, own, wrong, algorithm="layers", variant=variant, mask=mask, **OPTIONS
        )
        assert str(learned.formula(1)) == "U1"
        assert learned.n_layers_ == 2
    answers = teacher.run(own)
    by_hand = IDTNodeClassifier(algorithm="layers", **OPTIONS).fit(
        own, answers.labels, activations=answers.activations, mask=mask, classes=[0, 1, 2]
    )
    masked = distill(teacher, own, algorithm="layers", mask=mask, **OPTIONS)
    assert np.array_equal(masked.predict(own), by_hand.predict(own))


def test_directed_graphs_are_read_against_the_edges() -> None:
    """A message goes from source to target, so a sum over messages counts along ``A^T``."""

    class CountsRed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GraphConv(1, 1, bias=False)
            with torch.no_grad():
                self.conv.lin_rel.weight.fill_(1.0)
                self.conv.lin_root.weight.fill_(0.0)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            count: torch.Tensor = self.conv(x, edge_index)
            return count - 1.5

    rng = np.random.default_rng(0)
    edges = rng.integers(0, 80, size=(200, 2))
    graph = from_edges(edges[edges[:, 0] != edges[:, 1]], 80, rng.random((80, 1)) < 0.5)
    module = CountsRed()
    teacher = Teacher(module, outputs="logit")
    # The node 1 hears from node 0, not the other way round.
    path = Data(x=torch.tensor([[3.0], [0.0]]), edge_index=torch.tensor([[0], [1]]))
    assert teacher.run(path).activations[0].tolist() == [[0.0], [3.0]]
    idt = distill(teacher, graph, algorithm="layers", random_state=0, max_features=1.0)
    assert str(idt.formula(1)) == "A^T U0 > 1"
    assert (idt.predict(graph) == teacher.predict(graph)).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"variant": "both"}, ParameterError, "variant must be one of 'IDT.GNN.'.*Got 'both'"),
        ({"variant": 3}, ParameterError, "variant must be one of.*Got 3 instead"),
        ({"variant": "true"}, LabelError, r"IDT\(True\) learns from labels. Got None"),
        ({"variant": "gnn+true"}, LabelError, r"IDT\(GNN\+True\) learns from labels"),
        (
            {"variant": "gnn", "y": [0] * 12},
            ParameterError,
            r"labels must not be given for IDT\(GNN\)",
        ),
        ({"n_layers": 2}, ParameterError, "n_layers must be None.*Got 2 instead"),
        ({"mask": np.ones(12, dtype=bool)}, ParameterError, "mask is for teachers that classify"),
        ({"y": [0, 1]}, LabelError, "one label per graph. Got 2 labels for 12 graphs"),
        ({"width": 0}, ParameterError, "width must be a whole number >= 1. Got 0 instead"),
        ({"widht": 2}, ParameterError, "'widht' is not a parameter. Parameters: .*'width'"),
    ],
)
def test_bad_arguments_of_distill(options: Options, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        distill(balanced_zoo("GIN"), graphs(), algorithm="layers", **options)


def test_fit_with_all_classes() -> None:
    own, y = graphs(), np.arange(12) % 2
    idt = IDTClassifier(0).fit(own, y, classes=[2, 0, 1])
    assert idt.classes_.tolist() == [0, 1, 2]
    with pytest.raises(LabelError, match=r"labels that are in classes, \[1, 2\]. Got 0"):
        IDTClassifier(0).fit(own, y, classes=[1, 2])
    with pytest.raises(LabelError, match=r"labels that are in classes, \['0', '1'\]. Got 0"):
        IDTClassifier(0).fit(own, y, classes=["0", "1"])
    with pytest.raises(LabelError, match="class labels: whole numbers, not continuous"):
        IDTClassifier(0).fit(own, y, classes=[0.5, 1])
