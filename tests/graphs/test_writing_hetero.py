"""Batches as ``HeteroData``, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
data = pytest.importorskip("torch_geometric.data")

import gnn2logic as gl  # noqa: E402
from gnn2logic.exceptions import FeatureError, GraphError  # noqa: E402


def drawn(seed: int) -> gl.GraphBatch:
    """Return graphs with three types of nodes, in any order, and relations between some of them."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 8))
    type_of = rng.integers(3, size=n_nodes)
    type_of[:1] = 0
    types = np.eye(3, dtype=bool)[type_of]
    features = (rng.random((n_nodes, 2)) < 0.5) & types[:, :2]
    pairs = [(a, b) for a in range(n_nodes) for b in range(n_nodes) if rng.random() < 0.4]
    relations = [
        "likes" if type_of[a] == type_of[b] == 0 else f"{'abc'[type_of[a]]}.to.{'abc'[type_of[b]]}"
        for a, b in pairs
    ]
    return gl.from_edges(
        pairs,
        n_nodes,
        np.concatenate([types, features], axis=1),
        names=["a", "b", "c", "a.x", "b.y"],
        relations=relations or None,
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_types_features_and_relations_come_back(seed: int) -> None:
    batch = drawn(seed)
    (graph,) = gl.to_hetero_data(batch)
    again = gl.as_batch(graph)
    type_of = batch.predicates[:, :3].argmax(axis=1)
    order = np.argsort(type_of, kind="stable")
    for name in batch.names:
        assert (again.column(name) == batch.column(name)[order]).all()
    assert (again.adjacency.toarray() == batch.adjacency.toarray()[np.ix_(order, order)]).all()
    for name, matrix in again.relations.items():
        # Where only one relation has the middle name, it is called by it alone.
        (old,) = [
            each for each in batch.relations if each == name or each.split(".")[1:2] == [name]
        ]
        assert (matrix.toarray() == batch.relations[old].toarray()[np.ix_(order, order)]).all()
    # From HeteroData and back nothing changes at all.
    assert gl.as_batch(gl.to_hetero_data(again)) == again


def test_several_graphs_and_features_that_have_names() -> None:
    first = data.HeteroData()
    first["author"].num_nodes = 2
    first["paper"].x = torch.tensor([[0.0], [1.0], [1.0]])
    first["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 2]])
    batch = gl.as_batch([first, first], feature_names={"paper": ["open"]})
    written = gl.to_hetero_data(batch)
    assert written[1]["paper"].x.tolist() == [[0.0], [1.0], [1.0]]
    assert written[1]["paper"].predicate_names == ["open"]
    assert written[0].edge_types == [("author", "writes", "paper")]
    assert gl.as_batch(written) == batch
    assert gl.as_batch(gl.to_hetero_data(batch, node_types=["author", "paper"])) == batch


def test_relations_by_thresholds_come_back() -> None:
    rng = np.random.default_rng(0)
    shops = []
    for _ in range(12):
        shop = data.HeteroData()
        shop["user"].num_nodes, shop["item"].num_nodes = 3, 4
        for relation in (
            ("user", "buys", "item"),
            ("item", "like", "item"),
            ("user", "like", "user"),
        ):
            edges = rng.integers(3, size=(2, 5))
            shop[relation].edge_index = torch.tensor(np.unique(edges, axis=1))
            shop[relation].weight = torch.tensor(rng.uniform(0, 3, shop[relation].num_edges))
        shops.append(shop)
    batch = gl.PredicateEncoder(edge_features="weight", n_thresholds=2).fit_transform(shops)
    assert len(batch.relations) == 9
    written = gl.to_hetero_data(batch)
    assert gl.as_batch(written) == batch
    # What some graphs lack altogether, and what is not as it was written.
    del written[0]["user", "buys", "item"]
    assert set(gl.as_batch(written).relation_names) == set(batch.relation_names)
    written[1]["user", "buys", "item"].edge_relations = torch.zeros(1, 2)
    with pytest.raises(GraphError, match="edge_relations of .*'buys'.* must be Boolean"):
        gl.as_batch(written)


def test_what_has_no_types_is_refused() -> None:
    edges = [(0, 1), (1, 0)]
    with pytest.raises(FeatureError, match="Every node must be of one of the types"):
        gl.to_hetero_data(gl.from_edges(edges, 2, [[1], [0]], names=["red"]))
    with pytest.raises(FeatureError, match=r"named after one, such as red\.big"):
        gl.to_hetero_data(
            gl.from_edges(edges, 2, [[1, 0], [1, 1]], names=["red", "big"]), node_types=["red"]
        )
    with pytest.raises(FeatureError, match="node_types must list"):
        gl.to_hetero_data(gl.from_edges(edges, 2, [[1], [1]], names=["red"]), node_types=["blue"])
    names = ["red", "blue", "red.big"]
    with pytest.raises(FeatureError, match="false at nodes that are no red"):
        gl.to_hetero_data(gl.from_edges(edges, 2, [[1, 0, 0], [0, 1, 1]], names=names))
    batch = gl.from_edges(edges, 2, [[1], [1]], names=["red"])
    none = gl.GraphBatch(
        batch.predicates, batch.adjacency, names=["red"], relations={"likes": np.zeros((2, 2), int)}
    )
    with pytest.raises(GraphError, match="Every edge must be in one relation"):
        gl.to_hetero_data(none)
    (plain,) = gl.to_hetero_data(batch)
    assert plain.edge_types == [("red", "to", "red")]
