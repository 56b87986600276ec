"""What goes into a store comes out of it, whatever it was."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gnn2logic as gl
from gnn2logic import GraphBatch, PredicateEncoder, open_shards, random_graphs, write_shards
from gnn2logic.exceptions import (
    FeatureError,
    GraphError,
    LabelError,
    ParameterError,
    UnseenCategoryWarning,
    UnsupportedInputError,
)
from gnn2logic.storage.sources import cuts
from oracle import PlainGraph
from strategies import KINDS, plain_graphs, to_batch


def whole(store: gl.ShardStore) -> GraphBatch:
    return GraphBatch.concat(store)


def plain(batch: GraphBatch) -> tuple[Any, ...]:
    """All there is in a batch, as dense lists."""
    return (
        batch.names,
        batch.predicates.tolist(),
        batch.ptr.tolist(),
        batch.adjacency.toarray().tolist(),
        {name: matrix.toarray().tolist() for name, matrix in batch.relations.items()},
    )


# Graphs of one kind: in a batch all have the same relations.
same_kind_graphs = st.sampled_from(KINDS).flatmap(
    lambda kind: st.lists(plain_graphs(kind), min_size=1, max_size=6)
)


def batch_of(graphs: list[PlainGraph]) -> GraphBatch:
    singles = [to_batch(graph) for graph in graphs]
    names = {name for batch in singles for name in batch.relations}
    if names:
        # A graph without edges is drawn without relations.
        singles = [
            GraphBatch(
                batch.predicates,
                batch.adjacency,
                relations={
                    name: batch.relations.get(name, sp.csr_array(batch.adjacency.shape))
                    for name in sorted(names)
                },
            )
            for batch in singles
        ]
    return GraphBatch.concat(singles)


@settings(max_examples=60, deadline=None)
@given(same_kind_graphs, st.integers(1, 12), st.data())
def test_batches_come_back(graphs: list[PlainGraph], shard_nodes: int, data: st.DataObject) -> None:
    batch = batch_of(graphs)
    labels = st.tuples(*[st.integers(-2, 2) for _ in graphs]).map(list)
    y = data.draw(st.none() | labels)
    with tempfile.TemporaryDirectory() as folder:
        store = write_shards(folder, batch, y, shard_nodes=shard_nodes)
        assert plain(whole(store)) == plain(batch)
        assert whole(store) == batch
        again = whole(open_shards(folder))
        assert plain(again) == plain(batch)
        assert (store.n_graphs, store.n_nodes, store.n_edges) == (
            batch.n_graphs,
            batch.n_nodes,
            batch.n_edges,
        )
        assert store.is_symmetric == batch.is_symmetric
        assert store.relation_names == tuple(batch.relations)
        assert (None if store.y is None else store.y.tolist()) == y
        for shard in store.shards:
            own = shard.load()
            assert own.n_nodes <= shard_nodes or own.n_graphs == 1
            assert own == batch[shard.first_graph : shard.first_graph + shard.n_graphs]
            assert shard.first_node == batch.ptr[shard.first_graph]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 12))
def test_cuts_are_greedy(sizes: list[int], most: int) -> None:
    parts: list[list[int]] = []
    for size in sizes:
        if parts and sum(parts[-1]) + size <= most:
            parts[-1].append(size)
        else:
            parts.append([size])
    expected = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).tolist()
    assert cuts(np.concatenate([[0], np.cumsum(sizes)]), most) == expected


def test_shards_do_not_depend_on_how_graphs_arrive(tmp_path: Path) -> None:
    batch = random_graphs(40, sizes=[1 + n % 19 for n in range(40)], random_state=0)
    stores = [
        write_shards(tmp_path / "batch", batch, shard_nodes=60),
        write_shards(tmp_path / "singles", (one for one in batch), shard_nodes=60),
        write_shards(tmp_path / "threes", batch.split(3), shard_nodes=60),
    ]
    assert len({store.digest for store in stores}) == 1
    assert stores[0].n_shards > 3


def test_every_kind_of_graph_can_be_written(tmp_path: Path) -> None:
    triangle = 1 - np.eye(3, dtype=int)
    features = np.array([[1, 0], [0, 1], [1, 1]])
    expected = gl.as_batch([(triangle, features)] * 4)
    from torch_geometric.data import Batch

    data = gl.to_pyg(expected)
    kinds: dict[str, Any] = {
        "pairs": [(triangle, features)] * 4,
        "sparse": [(sp.csr_array(triangle), features.tolist())] * 4,
        "pyg": data,
        "pyg_batches": [Batch.from_data_list(data[:3]), data[3]],
        "networkx": gl.to_networkx(expected),
    }
    for kind, graphs in kinds.items():
        store = write_shards(tmp_path / kind, iter(graphs), shard_nodes=6)
        assert [batch.n_graphs for batch in store] == [2, 2]
        assert whole(store) == expected
    bare = write_shards(tmp_path / "tuple", (triangle, triangle))
    assert whole(bare) == gl.as_batch([triangle, triangle])
    single = write_shards(tmp_path / "one", nx.path_graph(3))
    assert single.n_graphs == 1
    assert single.names == ()


def test_graphs_are_read_lazily(tmp_path: Path) -> None:
    alive: list[int] = []

    def stream() -> Iterator[GraphBatch]:
        for number in range(30):
            done = len(list(tmp_path.glob("s/shard-*.bin")))
            alive.append(number - done)
            yield random_graphs(1, sizes=10, random_state=number)

    store = write_shards(tmp_path / "s", stream(), shard_nodes=10)
    assert store.n_shards == 30
    assert max(alive) <= 3


# Labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        [3, -1, 3, 0, 7, 7],
        ["ä", "b", "b", "ä", "long label", ""],
        [True, False, True, True, False, False],
        np.array([0, 1, 0, 1, 0, 1], dtype=np.uint8),
        np.array([0.0, 1.0, 0.0, 2.0, 0.0, 1.0]),
    ],
)
def test_labels_of_every_kind(tmp_path: Path, labels: Any) -> None:
    batch = random_graphs(6, sizes=4, random_state=0)
    store = write_shards(tmp_path / "array", batch, labels, shard_nodes=8)
    pairs = zip(batch, list(labels), strict=True)
    paired = write_shards(tmp_path / "pairs", pairs, shard_nodes=8)
    for own in (store, paired):
        assert own.y is not None
        assert own.y.tolist() == np.asarray(labels).tolist()
        assert own.y.dtype.kind in "ibU"
        assert own.label_level == "graph"
    assert store.digest == paired.digest


def test_labels_of_nodes(tmp_path: Path) -> None:
    batch = random_graphs(6, sizes=range(1, 7), random_state=0)
    labels = np.arange(batch.n_nodes) % 3
    store = write_shards(tmp_path / "array", batch, labels, level="node", shard_nodes=8)
    assert store.label_level == "node"
    assert store.y is not None
    assert store.y.tolist() == labels.tolist()
    pairs = [(batch[:2], labels[: batch.ptr[2]]), (batch[2:], labels[batch.ptr[2] :])]
    assert write_shards(tmp_path / "b", pairs, level="node", shard_nodes=8).digest == store.digest


def test_a_label_beside_a_matrix_is_no_feature(tmp_path: Path) -> None:
    triangle = 1 - np.eye(3, dtype=int)
    store = write_shards(tmp_path, [(triangle, 1), (triangle, 0)])
    assert store.names == ()
    assert store.y is not None
    assert store.y.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("graphs", "y", "match"),
    [
        (5, [1, 2, 3], "3 labels, and at least"),
        (5, [1] * 7, "7 labels for 5 graphs"),
        (5, 3, "y must hold one label per graph. Got int"),
        (5, [1, 2, 3, "a", "b"], "labels of one kind"),
        (5, [0.5] * 5, "whole numbers, not continuous"),
        (5, ["\ud800"] * 5, "valid Unicode"),
        ("paired", [1] * 5, "not both"),
        ("half", None, "All graphs must have labels, or none|or all graphs without"),
        ("mixed", None, "labels of one kind|All labels must be of one kind"),
        ("long", None, "2 labels for 1 graphs"),
    ],
)
def test_labels_that_do_not_fit(tmp_path: Path, graphs: Any, y: Any, match: str) -> None:
    batch = random_graphs(5, sizes=4, random_state=0)
    sources: dict[Any, Any] = {
        5: batch,
        "paired": [(one, 1) for one in batch],
        "half": [(batch[:2], [0, 1]), batch[2:]],
        "mixed": [(batch[:2], [0, 1]), (batch[2:], ["a", "b", "c"])],
        "long": [(batch[0], [1, 1])],
    }
    for shard_nodes in (1, 100):
        with pytest.raises(LabelError, match=match):
            write_shards(tmp_path / str(shard_nodes), sources[graphs], y, shard_nodes=shard_nodes)
        with pytest.raises(gl.exceptions.StoreError):
            open_shards(tmp_path / str(shard_nodes))


# Encoders -------------------------------------------------------------------------------------


def attributed(values: list[float], name: str = "x") -> Any:
    graph = nx.path_graph(len(values))
    for node, value in enumerate(values):
        graph.nodes[node][name] = value
    return graph


def test_the_encoder_is_fitted_on_the_first_shard(tmp_path: Path) -> None:
    graphs = [attributed([0.0, 0.25, 1.0, 0.75]) for _ in range(6)]
    store = write_shards(tmp_path, graphs, shard_nodes=8)
    expected = PredicateEncoder().fit(graphs[:2])
    assert store.encoder.to_document() == expected.to_document()
    assert whole(store) == expected.transform(graphs)
    assert store.names == expected.names_


def test_a_fitted_encoder_is_used_as_it_is(tmp_path: Path) -> None:
    graphs = [attributed([1, 2, 3]), attributed([4, 5, 6])]
    encoder = PredicateEncoder().fit(graphs)
    store = write_shards(tmp_path / "fitted", graphs, encoder=encoder, shard_nodes=3)
    assert whole(store) == encoder.transform(graphs)
    other = PredicateEncoder().fit(graphs[:1])
    with pytest.warns(UnseenCategoryWarning, match="graphs from number 1 on"):
        write_shards(tmp_path / "few", graphs, encoder=other, shard_nodes=3)
    settings_only = PredicateEncoder(feature_types={"x": "continuous"})
    cut = write_shards(tmp_path / "cut", graphs, encoder=settings_only, shard_nodes=3)
    assert cut.names[0].startswith("x > ")
    assert not hasattr(settings_only, "columns_")


@pytest.mark.parametrize(
    "later", [attributed([3, 4]), attributed([0.5, 1.5], "z"), attributed([float("nan"), 1])]
)
def test_later_surprises_say_what_to_do(tmp_path: Path, later: Any) -> None:
    graphs = [attributed([1, 2]), attributed([2, 1]), later]
    with pytest.raises(FeatureError, match=r"graphs from number 2 on: .*encoder=\.\.\."):
        write_shards(tmp_path, graphs, shard_nodes=2)


def test_unseen_relations_are_refused(tmp_path: Path) -> None:
    shape = np.array([[0, 1], [1, 0]])
    first = GraphBatch(None, {"r": shape, "s": shape})
    second = GraphBatch(None, {"r": shape, "t": shape})
    with pytest.raises(FeatureError, match=r"edge relations.*'t'.*encoder="):
        write_shards(tmp_path, [first, second], shard_nodes=2)


# Odd input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graphs", "error", "match"),
    [
        ([], GraphError, "At least one graph"),
        (iter(()), GraphError, "At least one graph"),
        ("text", UnsupportedInputError, "Got str"),
        (7, UnsupportedInputError, "Got int"),
        ([random_graphs(1, random_state=0), "text"], UnsupportedInputError, "str at position 1"),
        ([np.zeros((0, 0))], GraphError, "at least one node"),
        ([np.zeros((2, 3))], GraphError, "square"),
    ],
)
def test_things_that_are_no_graphs(
    tmp_path: Path, graphs: Any, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        write_shards(tmp_path / "new", graphs)


@pytest.mark.parametrize(
    "options",
    [
        {"shard_nodes": 0},
        {"shard_nodes": 1.5},
        {"shard_nodes": True},
        {"level": "edge"},
        {"encoder": "yes"},
    ],
)
def test_bad_settings(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        write_shards(tmp_path / "new", random_graphs(2, random_state=0), **options)


def test_many_multi_edges_keep_their_counts(tmp_path: Path) -> None:
    heavy = GraphBatch(None, [[0, 2**31 - 1], [3, 0]])
    light = GraphBatch(None, [[0, 7], [1, 2]])
    store = write_shards(tmp_path, [heavy, light], shard_nodes=2)
    assert [batch.adjacency.toarray().tolist() for batch in store] == [
        [[0, 2**31 - 1], [3, 0]],
        [[0, 7], [1, 2]],
    ]
    assert store.shard(0).load().adjacency.dtype == np.int64
    assert gl.parse("A true > 6").evaluate(store, level="node").tolist() == [True, False] * 2


def test_paths_of_any_letters_and_pickles(tmp_path: Path) -> None:
    batch = random_graphs(6, sizes=5, random_state=0)
    store = write_shards(tmp_path / "größe 数 '\"" / "in ner", batch, shard_nodes=10)
    copy = pickle.loads(pickle.dumps(store))
    assert whole(copy) == batch
    assert copy.digest == store.digest
    shard = pickle.dumps(store.shard(1))
    assert len(shard) < 1000
    assert pickle.loads(shard).load() == batch[2:4]


def test_loaded_batches_are_read_only_and_mapped(tmp_path: Path) -> None:
    batch = random_graphs(6, sizes=5, random_state=0)
    loaded = write_shards(tmp_path, batch).shard(0).load()
    for array in (loaded.adjacency.indices, loaded.adjacency.indptr, loaded.ptr, loaded.predicates):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert not loaded.adjacency.indices.flags.owndata
    assert loaded.predicates.flags.f_contiguous
    assert loaded.symmetrize() == batch.symmetrize()


def test_shards_are_counted_from_0(tmp_path: Path) -> None:
    store = write_shards(tmp_path, random_graphs(3, sizes=5, random_state=0), shard_nodes=5)
    assert len(store) == store.n_shards == 3
    with pytest.raises(IndexError, match="shard 3 is out of range"):
        store.shard(3)
    with pytest.raises(IndexError):
        store.shard(-1)
