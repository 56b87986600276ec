"""Graphs with several types of nodes and edges, against matrices by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
from torch_geometric.data import Batch, HeteroData  # noqa: E402

import gnn2logic as gl  # noqa: E402
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError  # noqa: E402


def library(seed: int, *, numbers: bool = False) -> Any:
    """Return authors who write papers with a Boolean feature, and papers that cite papers."""
    rng = np.random.default_rng(seed)
    n_authors, n_papers = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    data = HeteroData()
    data["author"].num_nodes = n_authors
    if numbers:
        data["paper"].x = torch.tensor(rng.normal(size=(n_papers, 1)) - 10)
    else:
        data["paper"].x = torch.tensor(rng.random((n_papers, 1)) < 0.5)
    writes = rng.random((n_authors, n_papers)) < 0.4
    cites = rng.random((n_papers, n_papers)) < 0.3
    data["author", "writes", "paper"].edge_index = torch.tensor(np.array(np.nonzero(writes)))
    data["paper", "cites", "paper"].edge_index = torch.tensor(np.array(np.nonzero(cites)))
    return data


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4))
def test_types_are_predicates_and_relations(seeds: list[int]) -> None:
    graphs = [library(seed) for seed in seeds]
    batch = gl.as_batch(graphs)
    assert batch.names == ("author", "paper", "paper.U0")
    assert set(batch.relation_names) == {"writes", "cites"}
    for data, one in zip(graphs, batch, strict=True):
        n_authors, n_papers = data["author"].num_nodes, data["paper"].num_nodes
        assert one.column("author").tolist() == [True] * n_authors + [False] * n_papers
        assert (one.column("paper") == ~one.column("author")).all()
        values = data["paper"].x[:, 0].numpy()
        assert one.column("paper.U0").tolist() == [False] * n_authors + values.tolist()
        whole = np.zeros((one.n_nodes, one.n_nodes), dtype=int)
        for name, start in (("writes", 0), ("cites", n_authors)):
            edge_type = next(each for each in data.edge_types if each[1] == name)
            expected = np.zeros_like(whole)
            sources, targets = data[edge_type].edge_index.numpy()
            expected[sources + start, targets + n_authors] = 1
            assert (one.relations[name].toarray() == expected).all()
            whole += expected
        assert (one.adjacency.toarray() == whole).all()


def test_numbers_of_one_type_are_cut_by_its_own_values_alone() -> None:
    graphs = [library(seed, numbers=True) for seed in range(40)]
    encoder = gl.PredicateEncoder(n_thresholds=3)
    batch = encoder.fit_transform(graphs)
    thresholds = [name for name in batch.names if name.startswith("paper.U0 >")]
    assert len(thresholds) == 3
    values = np.concatenate([data["paper"].x[:, 0].numpy() for data in graphs])
    for name in thresholds:
        cut = float(name.partition(">")[2])
        # Authors have no such number: 0 would be above all of these thresholds.
        assert cut < -8
        assert batch.column(name).sum() == (values > cut).sum()
        assert not (batch.column(name) & batch.column("author")).any()
    again = gl.PredicateEncoder.from_document(encoder.to_document())
    assert again.transform(graphs) == batch


def test_a_planted_rule_is_found_and_saved(tmp_path: Path) -> None:
    graphs = [library(seed) for seed in range(300)]
    batch = gl.as_batch(graphs)
    truth = gl.parse("1(author & A[writes] paper.U0 > 1) > 0")
    y = truth.evaluate(batch)
    assert 0.1 < y.mean() < 0.9
    model = gl.IDTClassifier(1, random_state=0).fit(graphs[:200], y[:200])
    assert model.score(graphs[200:], y[200:]) > 0.97
    encoder = gl.PredicateEncoder(feature_names={"paper": ["open"]})
    named = gl.IDTClassifier(0, encoder=encoder, random_state=0).fit(graphs[:50], y[:50])
    named.save(tmp_path / "named.json")
    loaded: Any = gl.load(tmp_path / "named.json")
    assert (loaded.predict(graphs) == named.predict(graphs)).all()
    assert gl.IDTClassifier.load(tmp_path / "named.json").encoder.get_params() == (  # type: ignore[attr-defined]
        encoder.get_params()
    )
    nodes = gl.IDTNodeClassifier(0, random_state=0)
    labels = gl.parse("paper & A[writes]^T author > 1").evaluate(batch, level="node")
    nodes.fit(graphs, labels, mask=batch.column("paper"))
    assert nodes.score(graphs, labels) > 0.97


def test_relations_of_one_name_are_told_apart_by_their_types() -> None:
    data = HeteroData()
    for name in ("user", "item", "shop"):
        data[name].num_nodes = 2
    data["user", "to", "item"].edge_index = torch.tensor([[0], [1]])
    data["item", "to", "shop"].edge_index = torch.tensor([[0], [1]])
    assert set(gl.as_batch(data).relation_names) == {"user.to.item", "item.to.shop"}
    assert gl.as_batch(data, edge_types=False).relation_names == ()


def test_names_of_features() -> None:
    batch = gl.as_batch(library(0), feature_names={"paper": ["open"]})
    assert batch.names == ("author", "paper", "paper.open")
    with pytest.raises(FeatureError, match="mapping from node type to names"):
        gl.as_batch(library(0), feature_names=["open"])
    with pytest.raises(FeatureError, match="have one type of nodes; give one list of names"):
        gl.as_batch(np.eye(2), feature_names={"paper": ["open"]})
    with pytest.raises(FeatureError, match="node types .* Got 'book'"):
        gl.as_batch(library(0), feature_names={"book": ["open"]})


def test_batches() -> None:
    graphs = [library(seed) for seed in range(4)]
    with pytest.raises(UnsupportedInputError, match="none for 'author'; give the list of graphs"):
        gl.as_batch(Batch.from_data_list(graphs))
    for data in graphs:
        data["author"].x = torch.ones(data["author"].num_nodes, 1)
    assert gl.as_batch(Batch.from_data_list(graphs)) == gl.as_batch(graphs)


def test_bad_graphs() -> None:
    data = library(0)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0], [50]])
    with pytest.raises(GraphError, match="nodes of type 'paper'. Got numbers from 50 to 50"):
        gl.as_batch(data)
    with pytest.raises(UnsupportedInputError, match="edge_types is for graphs with one type"):
        gl.as_batch(library(0), edge_types="edge_attr")
    with pytest.raises(GraphError, match="at least one node|0 nodes"):
        gl.as_batch(HeteroData())
