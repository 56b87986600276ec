"""What teachers return, compared with calling the networks by hand."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch, Dataset
from torch_geometric.nn import GATConv, GCNConv, MessagePassing, Sequential, global_mean_pool

from distill_networks import (
    LAYERS,
    WIDTH,
    ZOO,
    Functional,
    OneLogit,
    data,
    graphs,
    node_model,
    seeded,
    zoo,
)
from gnn2logic import as_batch, random_graphs
from gnn2logic.distillation import Teacher, as_teacher
from gnn2logic.models import GNNClassifier, GNNNodeClassifier


def by_hand(module: nn.Module, items: list[Any]) -> Any:
    batch = Batch.from_data_list(items)
    module.eval()
    with torch.no_grad():
        return module(batch.x, batch.edge_index, batch.batch).numpy()


@pytest.mark.parametrize("name", ZOO)
def test_the_model_zoo(name: str) -> None:
    """One graph at a time by hand, and layer by layer for the representations."""
    module = zoo(name)
    answers = Teacher(module, max_nodes=20).run(graphs())
    alone = np.concatenate([by_hand(module, [item]) for item in data()])
    np.testing.assert_allclose(answers.scores, alone, atol=1e-5)
    assert answers.level == "graph"
    assert answers.classes.tolist() == [0, 1, 2]
    assert np.array_equal(answers.labels, alone.argmax(axis=1))
    softmax = torch.softmax(torch.from_numpy(alone).double(), dim=1).numpy()
    np.testing.assert_allclose(Teacher(module).predict_proba(graphs()), softmax, atol=1e-5)

    convolutions: Any = module.encoder.convs
    batch = Batch.from_data_list(data())
    x = batch.x
    assert len(answers.activations) == LAYERS
    with torch.no_grad():
        for number, found in enumerate(answers.activations):
            x = convolutions[number](x, batch.edge_index)
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, x.numpy(), atol=1e-5)
            x = torch.relu(x)
    assert answers.layer_names == tuple(f"encoder.convs.{number}" for number in range(LAYERS))


def test_train_mode_with_batch_norm_and_dropout() -> None:
    def make() -> nn.Module:
        steps = [
            (GCNConv(2, WIDTH), "x, edge_index -> x"),
            nn.BatchNorm1d(WIDTH),
            nn.Dropout(0.5),
            (global_mean_pool, "x, batch -> x"),
            nn.Linear(WIDTH, 2),
        ]
        made: nn.Module = Sequential("x, edge_index, batch", steps)
        return made

    module = seeded(make).train()
    statistics = [buffer.clone() for buffer in module.buffers()]
    first, second = Teacher(module).run(graphs()), Teacher(module).run(graphs())
    assert np.array_equal(first.scores, second.scores)
    assert module.training
    assert all(torch.equal(a, b) for a, b in zip(statistics, module.buffers(), strict=True))
    np.testing.assert_allclose(first.scores, by_hand(module, data()), atol=1e-6)


def test_functional_activations_and_a_shared_layer() -> None:
    """The output is kept as it was made, before ``relu_`` changes it in place."""
    module = seeded(Functional)
    answers = Teacher(module).run(graphs())
    assert answers.layer_names == ("first", "again", "again (call 2)")
    assert answers.activations[0].min() < 0
    batch = Batch.from_data_list(data())
    with torch.no_grad():
        first = module.first(batch.x, batch.edge_index)
        again = module.again(first.relu(), batch.edge_index)
        last = module.again(again.relu(), batch.edge_index)
    for found, expected in zip(answers.activations, (first, again, last), strict=True):
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-6)


def test_layers_by_name_are_in_call_order() -> None:
    module = seeded(Functional)
    answers = Teacher(module, layers=["act", "first"]).run(graphs())
    assert answers.layer_names == ("first", "act", "act (call 2)")
    plain = Teacher(module).activations(graphs())
    np.testing.assert_allclose(answers.activations[1], np.maximum(plain[1], 0), atol=1e-6)


def test_layers_by_function() -> None:
    module = seeded(Functional)

    def layers(own: nn.Module, batch: Any) -> list[torch.Tensor]:
        first: Any = own.get_submodule("first")
        return [first(batch.x, batch.edge_index).tanh(), batch.x[:, 0]]

    found = Teacher(module, layers=layers, max_nodes=10).activations(graphs())
    plain = Teacher(module, layers=["first"]).activations(graphs())[0]
    np.testing.assert_allclose(found[0], np.tanh(plain), atol=1e-6)
    assert np.array_equal(found[1][:, 0], graphs().column("U0").astype(np.float32))


@pytest.mark.parametrize("squeeze", [False, True])
def test_one_logit(squeeze: bool) -> None:
    module = seeded(lambda: OneLogit(squeeze=squeeze))
    with torch.no_grad():
        module.head.bias.sub_(float(by_hand(module, data()).mean()))
    teacher = Teacher(module, classes=["no", "yes"], batch_size=5)
    alone = np.array([float(by_hand(module, [item]).item()) for item in data()])
    assert (alone > 0).any()
    assert (alone <= 0).any()
    assert np.array_equal(teacher.predict(graphs()), np.where(alone > 0, "yes", "no"))
    shares = teacher.predict_proba(graphs())
    np.testing.assert_allclose(shares[:, 1], 1 / (1 + np.exp(-alone)), atol=1e-5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert teacher.predict(graphs()[0]).shape == (1,)


@pytest.mark.parametrize("make", [torch.softmax, torch.log_softmax])
def test_probabilities_and_their_logarithms(make: Any) -> None:
    module = zoo("GIN")
    plain = Teacher(module).predict_proba(graphs())
    teacher = Teacher(module, forward=lambda m, b: make(m(b.x, b.edge_index, b.batch), dim=1))
    np.testing.assert_allclose(teacher.predict_proba(graphs()), plain, atol=1e-5)
    assert np.array_equal(teacher.predict(graphs()), Teacher(module).predict(graphs()))


def test_nodes() -> None:
    module = node_model()
    answers = Teacher(module, max_nodes=10).run(graphs())
    assert answers.level == "node"
    expected = by_hand_nodes(module)
    np.testing.assert_allclose(answers.scores, expected, atol=1e-5)
    assert np.array_equal(Teacher(module).predict(graphs()), expected.argmax(axis=1))


def by_hand_nodes(module: nn.Module) -> Any:
    batch = Batch.from_data_list(data())
    module.eval()
    with torch.no_grad():
        return module(batch.x, batch.edge_index).numpy()


def test_graphs_of_one_node_are_graphs_unless_told() -> None:
    one_each = [item for item in data(40) if item.num_nodes == 1]
    assert len(one_each) > 1
    assert Teacher(zoo("GCN")).run(one_each).level == "graph"
    assert Teacher(node_model()).run(one_each).level == "graph"
    assert Teacher(node_model(), level="node").run(one_each).level == "node"
    # One larger graph anywhere settles it.
    assert Teacher(node_model(), batch_size=2).run([*one_each, *data()]).level == "node"


class Stored(Dataset):  # type: ignore[misc]
    def __init__(self, items: list[Any]) -> None:
        super().__init__()
        self.items = items

    def len(self) -> int:
        return len(self.items)

    def get(self, idx: int) -> Any:
        return self.items[idx]


def test_all_kinds_of_graphs_give_the_same() -> None:
    teacher = Teacher(zoo("GraphSAGE"))
    expected = teacher.run(graphs())
    kinds = [
        data(),
        iter(data()),
        Stored(data()),
        Batch.from_data_list(data()),
        [(own.adjacency, own.predicates) for own in graphs()],
    ]
    for kind in kinds:
        found = teacher.run(kind)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
        for own, other in zip(found.activations, expected.activations, strict=True):
            np.testing.assert_allclose(own, other, atol=1e-6)
    path = nx.path_graph(4)
    nx.set_node_attributes(path, True, "a")
    nx.set_node_attributes(path, {0: True, 1: False, 2: False, 3: True}, "b")
    assert np.array_equal(teacher.predict(path), teacher.predict(as_batch(path)))


def test_attention_weights_are_left_out() -> None:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GATConv(2, WIDTH, heads=2)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> Any:
            return self.conv(x, edge_index, return_attention_weights=True)[0]

    module = seeded(Attention)
    answers = Teacher(module).run(graphs())
    assert answers.level == "node"
    assert np.array_equal(answers.activations[0], answers.scores)


def test_nested_message_passing_is_one_layer() -> None:
    class Outer(MessagePassing):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = GCNConv(2, WIDTH)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> Any:
            return self.inner(x, edge_index).tanh()

    module: nn.Module = seeded(
        lambda: Sequential("x, edge_index", [(Outer(), "x, edge_index -> x")])
    )
    answers = Teacher(module).run(graphs())
    assert len(answers.activations) == 1
    assert np.array_equal(answers.activations[0], answers.scores)
    # The network itself is no layer of its own, unless there is nothing else.
    assert Teacher(seeded(Outer)).run(graphs()).layer_names == ("inner",)
    assert Teacher(seeded(lambda: GCNConv(2, 2))).run(graphs()).layer_names == ("GCNConv",)


def test_wide_and_narrow_layers_become_matrices() -> None:
    class Shapes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads, self.one = nn.Unflatten(1, (2, 1)), nn.Flatten(0)
            self.lstm = nn.LSTM(2, 3)
            self.low = nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.heads(x)
            self.one(x[:, 1])
            self.lstm(x)
            self.low(x.to(torch.bfloat16))
            return x

    layers = ["heads", "one", "lstm", "low"]
    found = Teacher(Shapes(), layers=layers).activations(graphs())
    assert [array.shape[1] for array in found] == [2, 1, 3, 2]
    assert np.array_equal(found[0], graphs().predicates)
    assert np.array_equal(found[3], graphs().predicates)


@settings(deadline=None, max_examples=25)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    max_nodes=st.integers(1, 15),
    batch_size=st.integers(1, 6),
)
def test_the_memory_bound_holds_and_changes_nothing(
    sizes: list[int], max_nodes: int, batch_size: int
) -> None:
    own = random_graphs(len(sizes), sizes=sizes, density=0.4, random_state=0)
    seen: list[list[int]] = []

    def forward(module: nn.Module, batch: Any) -> Any:
        seen.append(np.diff(batch.ptr.numpy()).tolist())
        return module(batch.x, batch.edge_index, batch.batch)

    module = zoo("GCN")
    answers = Teacher(module, forward=forward, max_nodes=max_nodes, batch_size=batch_size).run(own)
    assert [size for part in seen for size in part] == sizes
    for part in seen:
        assert len(part) <= batch_size
        assert sum(part) <= max_nodes or len(part) == 1
    whole = Teacher(module).run(own)
    np.testing.assert_allclose(answers.scores, whole.scores, atol=1e-5)
    for found, expected in zip(answers.activations, whole.activations, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_own_classifiers_give_their_activated_blocks() -> None:
    own = graphs(30)
    y = np.where(own.sizes > 4, "large", "small")
    gnn = GNNClassifier(n_layers=2, hidden=WIDTH, max_epochs=2, random_state=0).fit(own, y)
    teacher = as_teacher(gnn)
    assert as_teacher(teacher) is teacher
    answers = teacher.run(own)
    assert answers.classes.tolist() == ["large", "small"]
    assert np.array_equal(answers.labels, gnn.predict(own))
    np.testing.assert_allclose(answers.probabilities, gnn.predict_proba(own), atol=1e-5)
    assert answers.layer_names == ("blocks.0", "blocks.1")
    # A block only ever adds something that is not negative.
    assert (answers.activations[1] - answers.activations[0]).min() >= -1e-5

    labels = own.column("U1").astype(int)
    nodes = GNNNodeClassifier(n_layers=1, hidden=WIDTH, max_epochs=2, random_state=0)
    nodes.fit(own, labels)
    assert np.array_equal(as_teacher(nodes).predict(own), nodes.predict(own))
    # Graphs without features, and integer features, are read as the classifier reads them.
    plain = [item.adjacency for item in own]
    constant = GNNClassifier(n_layers=1, hidden=WIDTH, max_epochs=2, random_state=0).fit(plain, y)
    assert np.array_equal(as_teacher(constant).predict(plain), constant.predict(plain))
    whole_numbers = data(30)
    for item in whole_numbers:
        item.x = item.x.long()
    assert np.array_equal(teacher.predict(whole_numbers), gnn.predict(own))
