"""Formulas, models and teachers go through a store, one shard in memory at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic import GraphBatch, ShardStore, open_shards, random_graphs, write_shards
from gnn2logic.exceptions import (
    ActivationError,
    FeatureError,
    LabelError,
    UnknownPredicateError,
)

RULE = "1(A U1 > 1) > 3"


@pytest.fixture
def batch() -> GraphBatch:
    return random_graphs(50, sizes=[2 + number % 9 for number in range(50)], random_state=1)


@pytest.fixture
def store(tmp_path: Path, batch: GraphBatch) -> ShardStore:
    return write_shards(tmp_path / "store", batch, gl.parse(RULE).evaluate(batch), shard_nodes=40)


def test_formulas_are_evaluated(store: ShardStore, batch: GraphBatch) -> None:
    for text in (RULE, "A U1 > 1/2", "true", "U0 & A(A U1 > 0) > 1"):
        formula = gl.parse(text)
        for level in ("graph", "node"):
            expected = formula.evaluate(batch, level=level)
            assert formula.evaluate(store, level=level).tolist() == expected.tolist()
    with pytest.raises(UnknownPredicateError):
        gl.parse("nowhere").evaluate(store)


def test_models_predict(store: ShardStore, batch: GraphBatch) -> None:
    labels = gl.parse(RULE).evaluate(batch)
    for model in (
        gl.from_formulas({True: RULE}, otherwise=False, names=["U0", "U1"]),
        gl.IDTClassifier(n_layers=1, random_state=0).fit(batch, labels),
    ):
        assert model.predict(store).tolist() == model.predict(batch).tolist()
        assert model.predict_proba(store).tolist() == model.predict_proba(batch).tolist()
        assert model.score(store) == model.score(batch, labels)
        assert model.score(store, ~labels) == model.score(batch, ~labels)
        weights = np.arange(50)
        assert model.score(store, sample_weight=weights) == model.score(batch, labels, weights)
        assert str(model.rules(store)) == str(model.rules(batch, labels))


def test_models_of_nodes_predict(tmp_path: Path, batch: GraphBatch) -> None:
    labels = gl.parse("A U1 > 1").evaluate(batch, level="node").astype(int)
    store = write_shards(tmp_path, batch, labels, level="node", shard_nodes=30)
    model = gl.IDTNodeClassifier(n_layers=1, random_state=0).fit(batch, labels)
    assert model.predict(store).tolist() == model.predict(batch).tolist()
    assert model.score(store) == model.score(batch, labels) == 1.0
    of_graphs = gl.from_formulas({True: RULE}, otherwise=False, names=["U0", "U1"])
    with pytest.raises(LabelError, match="Got None"):
        of_graphs.score(store)
    assert of_graphs.predict(store).tolist() == gl.parse(RULE).evaluate(batch).tolist()


def test_a_store_without_labels_needs_them(tmp_path: Path, batch: GraphBatch) -> None:
    store = write_shards(tmp_path, batch)
    model = gl.from_formulas({True: RULE}, otherwise=False, names=["U0", "U1"])
    with pytest.raises(LabelError, match="Got None"):
        model.score(store)


def test_a_store_with_other_predicates_is_refused(store: ShardStore, tmp_path: Path) -> None:
    other = gl.from_formulas({True: "1 red > 1"}, otherwise=False, names=["red", "U0"])
    with pytest.raises(FeatureError, match=r"no 'red', only 'U0', 'U1'.*encoder=model.encoder_"):
        other.predict(store)
    shape = np.array([[0, 1], [1, 0]])
    typed = GraphBatch([[1], [0]], {"r": shape, "s": shape}, names=["U0"])
    model = gl.from_formulas({1: "1(A[r] U0 > 0) > 0"}, otherwise=0, names=["U0"], relations=["r"])
    with pytest.raises(FeatureError, match="no 'r', only none"):
        model.predict(store)
    assert model.predict(write_shards(tmp_path / "typed", typed)).tolist() == [1]


def test_a_model_of_encoded_graphs(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    graphs = []
    for _ in range(30):
        graph = nx.path_graph(4)
        nx.set_node_attributes(graph, dict(enumerate(random.random(4).tolist())), "x")
        graphs.append(graph)
    labels = [int(graph.nodes[0]["x"] > 0.5) for graph in graphs]
    model = gl.IDTClassifier(n_layers=1, random_state=0).fit(graphs, labels)
    store = write_shards(tmp_path, graphs, labels, encoder=model.encoder_, shard_nodes=20)
    assert model.predict(store).tolist() == model.predict(graphs).tolist()
    assert model.score(store) == model.score(graphs, labels)


# Node representations -------------------------------------------------------------------------


def test_activations_come_back(store: ShardStore) -> None:
    assert store.n_activation_layers == 0
    assert store.activation_widths == ()
    random = np.random.default_rng(0)
    layers = [random.normal(size=(store.n_nodes, width)) for width in (3, 1)]
    says = random.integers(0, 2, store.n_graphs)
    for shard in store.shards:
        assert not shard.has_activations
        rows = slice(shard.first_node, shard.first_node + shard.n_nodes)
        graphs = slice(shard.first_graph, shard.first_graph + shard.n_graphs)
        parts = [layer[rows] for layer in layers]
        store.add_activations(shard.number, parts, says[graphs], classes=[2, 1, 0])
    again = open_shards(store.path)
    assert again.activation_widths == (3, 1)
    assert again.n_activation_layers == 2
    assert again.teacher_label_level == "graph"
    assert again.teacher_classes == [2, 1, 0]
    assert again.teacher_labels is not None
    assert again.teacher_labels.tolist() == says.tolist()
    for number, layer in enumerate(layers):
        found = np.concatenate([shard.activations(number) for shard in again.shards])
        assert found.dtype == np.float32
        assert np.array_equal(found, layer.astype(np.float32))
    mapped = again.shard(0).activations(0)
    assert not mapped.flags.writeable
    assert not mapped.flags.owndata
    with pytest.raises(ActivationError, match="layer must be from 0 to 1"):
        again.shard(0).activations(2)


@pytest.mark.parametrize(
    ("layers", "options", "error", "match"),
    [
        ([], {}, ActivationError, "at least one"),
        (np.zeros((40, 2)), {}, ActivationError, "Got ndarray"),
        ([np.zeros((3, 2))], {}, ActivationError, "nodes of the shard. Got 3 rows"),
        ([np.zeros(40)], {}, ActivationError, "2-D"),
        ([np.full((0, 0), 1)], {}, ActivationError, "2-D"),
        (["nan"], {}, ActivationError, "Got nan at node 1 of the shard, column 0"),
        (["huge"], {}, ActivationError, "Got inf"),
        (["fine"], {"labels": [0]}, LabelError, "classes must be given"),
        (["fine"], {"labels": [0], "classes": [0]}, LabelError, "1 labels for"),
        (["fine"], {"labels": "all 0", "classes": [1]}, LabelError, "among the classes"),
    ],
)
def test_activations_that_do_not_fit(
    store: ShardStore, layers: Any, options: dict[str, Any], error: type[Exception], match: str
) -> None:
    shard = store.shard(0)
    fine = np.zeros((shard.n_nodes, 2))
    bad, huge = fine.copy(), fine.copy()
    bad[1, 0] = np.nan
    huge[0, 0] = 1e300
    if isinstance(layers, list):
        named = {"nan": bad, "huge": huge, "fine": fine}
        layers = [named[own] if isinstance(own, str) else own for own in layers]
    if options.get("labels") == "all 0":
        options = options | {"labels": [0] * shard.n_graphs}
    with pytest.raises(error, match=match):
        store.add_activations(0, layers, **options)
    assert not shard.has_activations


# Memory ---------------------------------------------------------------------------------------

_MEASURE = """
import re, sys, gnn2logic as gl
rule = gl.parse("1(A U1 > 3) > 1/2")
for shard in gl.open_shards(sys.argv[1]).shards[: int(sys.argv[2])]:
    rule.evaluate(shard.load())
print(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads its memory from /proc")
def test_memory_does_not_grow_with_the_number_of_shards(tmp_path: Path) -> None:
    parts = (random_graphs(400, sizes=50, random_state=seed) for seed in range(10))
    store = write_shards(tmp_path, parts, shard_nodes=20_000)
    assert store.n_shards == 10
    size = sum(path.stat().st_size for path in tmp_path.iterdir()) / 2**20

    def peak(few: int) -> float:
        code = [sys.executable, "-c", _MEASURE, str(tmp_path), str(few)]
        done = subprocess.run(code, capture_output=True, check=True, text=True)
        return int(done.stdout) / 1024

    # All shards after the first take no more than the noise of measuring, less than a shard.
    assert size > 15
    assert peak(10) - peak(1) < size / 8
