"""Pairs of nodes as graphs, against networkx and by hand."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import HeteroData

import gnn2logic as gl
from gnn2logic.exceptions import FeatureError, GraphError, ParameterError


def some_graph(seed: int, n_nodes: int = 12) -> gl.GraphBatch:
    rng = np.random.default_rng(seed)
    first, second = (np.triu(rng.random((n_nodes, n_nodes)) < 0.08).astype(int) for _ in range(2))
    return gl.GraphBatch(
        rng.random((n_nodes, 2)) < 0.5,
        {"cites": first + first.T * (seed % 2), "likes": 2 * second},
        names=["U0", "U1"],
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    pairs=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=6),
    hops=st.integers(0, 3),
    keep=st.booleans(),
)
def test_each_graph_is_what_is_near_to_its_pair(
    seed: int, pairs: list[tuple[int, int]], hops: int, keep: bool
) -> None:
    graph = some_graph(seed)
    links = gl.link_graphs(graph, np.array(pairs).reshape(-1, 2), hops=hops, keep_links=keep)
    assert links.names == ("source", "target", "U0", "U1")
    plain = nx.from_scipy_sparse_array(graph.adjacency, create_using=nx.DiGraph).to_undirected()
    for (source, target), one in zip(pairs, links, strict=True):
        near = {
            node
            for end in (source, target)
            for node in nx.single_source_shortest_path_length(plain, end, cutoff=hops)
        }
        nodes = sorted(near)
        assert one.n_nodes == len(nodes)
        assert [nodes[v] for v in np.flatnonzero(one.column("source"))] == [source]
        assert [nodes[v] for v in np.flatnonzero(one.column("target"))] == [target]
        assert (one.column("U1") == graph.column("U1")[nodes]).all()
        everything = {"": (one.adjacency, graph.adjacency)} | {
            name: (one.relations[name], graph.relations[name]) for name in graph.relation_names
        }
        for cut, whole in everything.values():
            expected = whole.toarray()[np.ix_(nodes, nodes)]
            if not keep:
                s, t = nodes.index(source), nodes.index(target)
                expected[s, t] = expected[t, s] = 0
            assert (cut.toarray() == expected).all()


def test_a_planted_rule_about_links_is_found() -> None:
    """A pair is linked if the two have a common neighbour that is U0."""
    graph = gl.random_graphs(1, sizes=80, density=0.05, random_state=0)
    rng = np.random.default_rng(1)
    pairs = np.array([rng.choice(80, 2, replace=False) for _ in range(400)])
    truth = gl.parse("1(U0 & A source > 0 & A target > 0) > 0")
    links = gl.link_graphs(graph, pairs, hops=1)
    y = truth.evaluate(links)
    near = graph.adjacency.toarray() > 0
    by_hand = [(near[s] & near[t] & graph.column("U0")).any() for s, t in pairs]
    assert (y == by_hand).all()
    assert 0.1 < y.mean() < 0.9
    model = gl.IDTClassifier(1, random_state=0).fit(links.take(np.arange(300)), y[:300])
    assert (model.predict(links.take(np.arange(300, 400))) == y[300:]).mean() > 0.97


def test_many_pairs_are_cut_out_in_parts_and_either_shape_is_read() -> None:
    graph = some_graph(3)
    pairs = np.random.default_rng(0).integers(0, 12, size=(600, 2))
    links = gl.link_graphs(graph, pairs)
    assert links.n_graphs == 600
    assert links.take([599]) == gl.link_graphs(graph, pairs[[599]])
    assert gl.link_graphs(graph, pairs.T) == links


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "at least one pair"),
        ([0, 1], "Got shape \\(2,\\)"),
        ([[0.5, 1]], "dtype float64"),
        ([[0, 3], [1, 12]], "nodes, from 0 to 11 for the target. Got numbers from 3 to 12"),
        ([[-1, 2]], "for the source. Got numbers from -1 to -1"),
    ],
)
def test_bad_pairs(pairs: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        gl.link_graphs(some_graph(0), pairs)


def test_bad_inputs() -> None:
    with pytest.raises(GraphError, match="one graph, in which pairs are numbered. Got 3"):
        gl.link_graphs(gl.random_graphs(3, sizes=4, random_state=0), [(0, 1)])
    named = some_graph(0).with_predicates(some_graph(0).predicates, ["source", "U1"])
    with pytest.raises(FeatureError, match="must have no predicate 'source'"):
        gl.link_graphs(named, [(0, 1)])
    with pytest.raises(ParameterError, match="hops"):
        gl.link_graphs(some_graph(0), [(0, 1)], hops=-1)


def test_pairs_between_types_are_numbered_as_in_their_edges() -> None:
    torch.manual_seed(0)
    shop = HeteroData()
    shop["user"].num_nodes, shop["item"].x = 5, torch.rand(7, 1).round()
    shop["user", "buys", "item"].edge_index = (torch.rand(5, 7) < 0.5).nonzero().T
    pairs = shop["user", "buys", "item"].edge_index
    typed = gl.link_graphs(shop, pairs, hops=1, node_types=("user", "item"))
    assert typed == gl.link_graphs(shop, pairs + torch.tensor([[0], [5]]), hops=1)
    assert (gl.parse("1(source & user) > 0 & 1(target & item) > 0").evaluate(typed)).all()
    back = gl.link_graphs(shop, pairs.flip(0), hops=0, node_types=("item", "user"))
    assert (gl.parse("1(source & item) > 0 & 1(target & user) > 0").evaluate(back)).all()
    with pytest.raises(GraphError, match="from 0 to 4 for the source. Got numbers from 5 to 5"):
        gl.link_graphs(shop, [(5, 0)], node_types=("user", "item"))
    for wrong in ("user", ["user"], ["user", "book"]):
        with pytest.raises(FeatureError, match="node_types must be the type of sources and that"):
            gl.link_graphs(shop, [(0, 0)], node_types=wrong)


def test_too_much_around_hubs_is_refused_before_memory_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    star = gl.from_edges([(0, node) for node in range(1, 200)], 200)
    pairs = [(node, node + 1) for node in range(1, 100)]
    assert gl.link_graphs(star, pairs, hops=1).n_nodes == 3 * 99
    monkeypatch.setattr("gnn2logic.graphs.links._MOST_NODES", 10_000)
    with pytest.raises(GraphError, match="19,800 for the first 99 of 99 pairs; take fewer hops"):
        gl.link_graphs(star, pairs, hops=2)
