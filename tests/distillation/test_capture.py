"""A teacher's answers, kept in a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn.models import GCN

import gnn2logic as gl
from distill_networks import MixedUp, Pooled, seeded
from gnn2logic import GraphBatch, ShardStore, Teacher, capture, random_graphs, write_shards
from gnn2logic.exceptions import BatchDependenceWarning, GraphError, StoreError


@pytest.fixture
def batch() -> GraphBatch:
    return random_graphs(30, sizes=[2 + number % 7 for number in range(30)], random_state=0)


@pytest.fixture
def store(tmp_path: Path, batch: GraphBatch) -> ShardStore:
    return write_shards(tmp_path / "store", batch, shard_nodes=30)


def network(seed: int = 0) -> Any:
    return seeded(lambda: GCN(2, 6, num_layers=2, out_channels=3), seed)


def times(store: ShardStore) -> list[int]:
    paths = sorted(store.path.glob("activations/*.bin"))
    return [path.stat().st_mtime_ns for path in paths]


def test_what_is_captured_is_what_the_teacher_says(store: ShardStore, batch: GraphBatch) -> None:
    teacher = Teacher(network(), classes=["a", "b", "c"])
    assert capture(teacher, store) is store
    expected = teacher.run(batch)
    assert store.activation_widths == (6, 3)
    for number, layer in enumerate(expected.activations):
        found = np.concatenate([shard.activations(number) for shard in store.shards])
        assert np.allclose(found, layer, atol=1e-6)
    assert store.teacher_label_level == "node"
    assert store.teacher_classes == ["a", "b", "c"]
    assert store.teacher_labels is not None
    assert store.teacher_labels.tolist() == expected.labels.tolist()


def test_other_graphs_beside_the_store_are_asked_about(tmp_path: Path) -> None:
    """One graph of many: the few that are always asked again need not be among them."""
    batch = random_graphs(300, sizes=6, random_state=0)
    store = write_shards(tmp_path / "store", batch)
    net, given = network(), gl.to_pyg(batch)
    capture(net, store, given)
    before = times(store)
    capture(net, store, given)
    assert times(store) == before
    for changed in (7, 150, 299):
        other = [graph.clone() for graph in given]
        other[changed].x = torch.full((6, 2), 50.0)
        capture(net, store, other)
        expected = Teacher(net).run(other).activations[0]
        kept = np.concatenate([shard.activations(0) for shard in store.shards])
        assert np.allclose(kept, expected, atol=1e-2)


def test_only_what_is_missing_is_captured(store: ShardStore) -> None:
    capture(network(), store)
    before = times(store)
    assert len(before) == store.n_shards > 2
    capture(network(), store)
    assert times(store) == before
    paths = sorted(store.path.glob("activations/*.bin"))
    paths[0].unlink()
    data = bytearray(paths[1].read_bytes())
    data[-1] ^= 1
    paths[1].write_bytes(data)
    capture(network(), store)
    after = times(store)
    assert after[2:] == before[2:]
    assert after[0] != before[0]
    assert after[1] != before[1]
    assert np.isfinite(store.shard(1).activations(0)).all()


def test_another_teacher_replaces_the_first(store: ShardStore, batch: GraphBatch) -> None:
    capture(network(0), store)
    other = network(1)
    capture(other, store)
    found = np.concatenate([shard.activations(1) for shard in store.shards])
    assert np.allclose(found, Teacher(other).activations(batch)[1], atol=1e-6)
    with torch.no_grad():
        next(other.parameters()).add_(1.0)
    before = times(store)
    capture(other, store)
    assert not set(times(store)) & set(before)


class Signed(nn.Module):
    """A network with something that no weight shows."""

    def __init__(self, sign: Any) -> None:
        super().__init__()
        self.inside = network()
        self.sign = sign

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.inside(x, edge_index) * self.sign


class Hidden:
    """A sign that cannot be looked into."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def __rmul__(self, other: Any) -> Any:
        return other * self.value


def second_forward(module: Any, batch: Any) -> Any:
    return -module(batch.x, batch.edge_index)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda: Teacher(Signed(1)), lambda: Teacher(Signed(-1))),
        (lambda: Teacher(Signed(Hidden(1))), lambda: Teacher(Signed(Hidden(-1)))),
        (
            lambda: Teacher(network(), classes=["a", "b", "c"]),
            lambda: Teacher(network(), classes=["c", "b", "a"]),
        ),
        (
            lambda: Teacher(network(), forward=lambda m, b: m(b.x, b.edge_index)),
            lambda: Teacher(network(), forward=lambda m, b: -m(b.x, b.edge_index)),
        ),
        (lambda: Teacher(network()), lambda: Teacher(network(), forward=second_forward)),
    ],
)
@pytest.mark.parametrize("given", [False, True])
def test_what_no_weight_shows_is_seen(
    first: Any, second: Any, given: bool, store: ShardStore, batch: GraphBatch
) -> None:
    graphs = gl.to_pyg(batch) if given else None
    capture(first(), store, graphs)
    teacher = second()
    capture(teacher, store, graphs)
    assert store.teacher_labels is not None
    assert store.teacher_labels.tolist() == teacher.predict(batch).tolist()
    assert store.teacher_labels.tolist() != first().predict(batch).tolist()
    # Now that is what is kept.
    before = times(store)
    capture(second(), store, graphs)
    assert times(store) == before


def test_a_tree_learns_from_the_network_that_is_given(store: ShardStore, batch: GraphBatch) -> None:
    parameters: dict[str, Any] = {"width": 2, "random_state": 0, "ccp_alpha": 0}
    for sign in (1, -1):
        teacher = Teacher(Signed(Hidden(sign)))
        tree = gl.distill(teacher, store, algorithm="layers", **parameters)
        assert gl.fidelity(tree, teacher, batch) > 0.8


def test_graphs_that_can_be_read_once_are_asked_for_again(
    store: ShardStore, batch: GraphBatch
) -> None:
    data = gl.to_pyg(batch)
    capture(Teacher(Signed(Hidden(1))), store, iter(data))
    other = Teacher(Signed(Hidden(-1)))
    with pytest.raises(StoreError, match="answers of another network.*call capture again"):
        capture(other, store, iter(data))
    assert store.activation_widths == ()
    capture(other, store, iter(data))
    assert store.teacher_labels is not None
    assert store.teacher_labels.tolist() == other.predict(batch).tolist()


def test_answers_that_depend_on_the_mini_batch_are_kept(tmp_path: Path) -> None:
    graphs = random_graphs(30, sizes=5, density=0.4, random_state=0)
    store = write_shards(tmp_path / "store", graphs, shard_nodes=80)
    with pytest.warns(BatchDependenceWarning):
        capture(seeded(MixedUp), store)
    before = times(store)
    capture(seeded(MixedUp), store)
    assert times(store) == before


@pytest.mark.parametrize("single", [slice(0, 10), slice(10, 20)])
def test_shards_of_one_node_graphs_are_what_the_others_are(single: Any, tmp_path: Path) -> None:
    sizes = np.full(20, 5)
    sizes[single] = 1
    graphs = random_graphs(20, sizes=sizes, random_state=0)
    store = write_shards(tmp_path / "store", graphs, shard_nodes=10)
    assert any(shard.n_nodes == shard.n_graphs for shard in store.shards)
    teacher = Teacher(network())
    for _ in range(2):
        capture(teacher, store)
        assert store.teacher_label_level == "node"
        assert store.teacher_labels is not None
        assert store.teacher_labels.tolist() == teacher.predict(graphs).tolist()
    before = times(store)
    capture(teacher, store)
    assert times(store) == before


def test_graphs_as_the_network_wants_them(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    graphs = []
    for size in (3, 4, 5, 3, 6):
        adjacency = nx.to_numpy_array(nx.path_graph(size), dtype=int)
        graphs.append((adjacency, random.random((size, 2))))
    store = write_shards(tmp_path, graphs, shard_nodes=8)
    data = []
    from torch_geometric.data import Data

    for adjacency, features in graphs:
        edges = torch.from_numpy(np.stack(np.nonzero(adjacency)))
        data.append(Data(x=torch.from_numpy(features).float(), edge_index=edges))
    teacher = Teacher(seeded(lambda: Pooled(GCN(2, 6, num_layers=2), 2)))
    capture(teacher, store, iter(data))
    expected = teacher.run(data)
    assert store.teacher_label_level == "graph"
    assert store.teacher_labels is not None
    assert store.teacher_labels.tolist() == expected.labels.tolist()
    found = np.concatenate([shard.activations(0) for shard in store.shards])
    assert np.allclose(found, expected.activations[0], atol=1e-6)
    for wrong in (data[:3], data[::-1], [*data, data[0]]):
        with pytest.raises(GraphError, match="graphs must be those of the store"):
            capture(teacher, store, wrong)
    assert gl.open_shards(tmp_path).n_activation_layers == 2


@pytest.mark.parametrize("variant", ["gnn", "gnn+true", "true"])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_distilling_from_a_store(variant: str, level: Any, tmp_path: Path) -> None:
    graphs = random_graphs(60, sizes=[3 + number % 5 for number in range(60)], random_state=1)
    rule = gl.parse("1 U0 > 2" if level == "graph" else "A U0 > 1")
    y = rule.evaluate(graphs, level=level)
    store = write_shards(tmp_path / "store", graphs, y, level=level, shard_nodes=80)
    module = seeded(lambda: GCN(2, 6, num_layers=2, out_channels=2))
    teacher = Teacher(module if level == "node" else seeded(lambda: Pooled(GCN(2, 6, 2), 2), 9))
    params: dict[str, Any] = {"width": 3, "random_state": 0, "projection": None}
    found = gl.distill(teacher, store, algorithm="layers", variant=variant, **params)
    plain = gl.distill(
        teacher,
        graphs,
        None if variant == "gnn" else y,
        algorithm="layers",
        variant=variant,
        **params,
    )
    assert found.n_layers_ == plain.n_layers_
    assert found.classes_.tolist() == plain.classes_.tolist()
    # Sums in a network are rounded in other ways in other batches, so layers may differ a little.
    assert np.mean(found.predict(graphs) == plain.predict(graphs)) > 0.9
