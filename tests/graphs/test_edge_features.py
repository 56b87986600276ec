"""Numbers on edges as relations by thresholds: read, learned, saved, in words, and in rules."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.exceptions import (
    FeatureError,
    GraphError,
    UnseenCategoryWarning,
    UnsupportedInputError,
)


def data(rng: np.random.Generator, size: int = 7) -> Any:
    ends = np.argwhere(rng.random((size, size)) < 0.3).T
    return SimpleNamespace(
        x=None, num_nodes=size, edge_index=ends, edge_attr=rng.uniform(1, 2, (ends.shape[1], 2))
    )


def slow_counts(graph: Any, threshold: float) -> list[int]:
    """Return for every node how many edges leave it whose first feature is above a threshold."""
    counts = [0] * graph.num_nodes
    for (source, _), row in zip(graph.edge_index.T, graph.edge_attr, strict=True):
        counts[source] += row[0] > threshold
    return counts


def same(first: Any, second: Any) -> bool:
    return bool((first.toarray() == second.toarray()).all())


NAMES = {"edge_attr": ["distance", "angle"]}


def test_a_planted_rule_about_edge_features_is_recovered_and_saved(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    graphs = [data(rng) for _ in range(200)]
    labels = np.array([max(slow_counts(graph, 1.5)) > 2 for graph in graphs])
    encoder = gl.PredicateEncoder(edge_features=NAMES, n_thresholds=1)
    model = gl.IDTClassifier(n_layers=1, max_size=8, encoder=encoder, random_state=0)
    model.fit(graphs, labels)
    assert str(model.formula(True)) == '1(A["distance > 1.5"] true > 2) > 0'
    assert "along edges with distance above 1.5" in model.formula(True).to_english()
    model.save(tmp_path / "model.json")
    loaded = gl.load(tmp_path / "model.json")
    fresh = [data(rng) for _ in range(50)]
    expected = [max(slow_counts(graph, 1.5)) > 2 for graph in fresh]
    assert loaded.predict(fresh).tolist() == expected
    encoded = loaded.encoder_.transform(fresh)
    assert loaded.formula(True).evaluate(encoded).tolist() == expected


def test_relations_are_those_of_a_slow_count() -> None:
    rng = np.random.default_rng(1)
    graphs = [data(rng) for _ in range(20)]
    encoder = gl.PredicateEncoder(edge_features=NAMES).fit(graphs)
    batch = encoder.transform(graphs)
    for threshold in encoder.edge_columns_[0].thresholds:
        matrix = batch.relations[f"distance > {threshold:g}"]
        expected = [count for graph in graphs for count in slow_counts(graph, threshold)]
        assert matrix.sum(axis=1).tolist() == expected


def test_the_document_and_chosen_graphs() -> None:
    rng = np.random.default_rng(2)
    graphs = [data(rng) for _ in range(10)]
    chosen = np.arange(10) < 6
    encoder = gl.PredicateEncoder(edge_features="edge_attr")
    some = encoder.fit_transform_some(tuple(graphs), chosen)
    document = encoder.to_document()
    assert document["version"] == 3
    again = gl.PredicateEncoder.from_document(json.loads(json.dumps(document)))
    assert again.relations_ == encoder.relations_
    assert encoder.relations_[0].startswith("edge_attr.0 > ")
    whole = again.transform(graphs[:6])
    for name in encoder.relations_:
        assert same(some.relations[name], whole.relations[name])
    taken = encoder._read(graphs).take(chosen)
    for name, matrix in encoder._encode(taken)[0].relations.items():
        assert same(matrix, whole.relations[name])


def test_networkx_edges_count_in_both_directions_and_categories_stay() -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, length=1.2, bond="single", order=1)
    graph.add_edge(1, 2, length=1.6, bond="double", order=2)
    encoder = gl.PredicateEncoder(edge_features=["length", "order"])
    batch = encoder.fit_transform([graph])
    assert batch.relation_names == (
        *("bond=double", "bond=single", "length > 1.4", "order=1", "order=2"),
    )
    assert batch.relations["length > 1.4"].toarray().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Graphs that were encoded before have their relations already.
        again = encoder.transform(batch)
    assert same(again.relations["length > 1.4"], batch.relations["length > 1.4"])


def test_errors_say_what_to_do() -> None:
    rng = np.random.default_rng(3)
    graphs = [data(rng), data(rng)]
    encoder = gl.PredicateEncoder(edge_features=NAMES).fit(graphs)
    bare = SimpleNamespace(x=None, num_nodes=7, edge_index=graphs[0].edge_index)
    with pytest.raises(GraphError, match="must have the edge feature 'edge_attr'"):
        encoder.transform([bare])
    with pytest.raises(FeatureError, match="must have the features .*distance"):
        encoder.transform(gl.as_batch([bare]))
    with pytest.raises(FeatureError, match="Got 1 names for 2 columns"):
        gl.PredicateEncoder(edge_features={"edge_attr": ["distance"]}).fit(graphs)
    graphs[1].edge_attr[0, 0] = np.nan
    with pytest.raises(FeatureError, match=r"nan at edge \(\d, \d\) of graph 1"):
        gl.PredicateEncoder(edge_features=NAMES).fit(graphs)
    with pytest.raises(UnsupportedInputError, match="edge_features is only for PyTorch"):
        gl.PredicateEncoder(edge_features=NAMES).fit([np.eye(3)])
    weighted = nx.Graph()
    weighted.add_edge(0, 1, length=1.5)
    with pytest.raises(GraphError, match=r"PredicateEncoder\(edge_features=\['length'\]\)"):
        gl.as_batch([weighted])


def test_a_new_category_on_an_edge_is_told() -> None:
    graph, other = nx.path_graph(3), nx.path_graph(3)
    nx.set_edge_attributes(graph, {(0, 1): 2, (1, 2): 5}, "order")
    nx.set_edge_attributes(other, {(0, 1): 2, (1, 2): 7}, "order")
    encoder = gl.PredicateEncoder(edge_features="order").fit([graph])
    message = r"'order' has values .* 7, first at edge \(1, 2\) of graph 0"
    with pytest.warns(UnseenCategoryWarning, match=message):
        batch = encoder.transform([other])
    assert batch.relations["order=2"].nnz == 2
    assert batch.relations["order=5"].nnz == 0
