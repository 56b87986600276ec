"""Only the proportions of weights matter, and weight 0 is removal: the same model bit for bit."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from torch_geometric.data import Batch

from gnn2logic import (
    GraphBatch,
    IDTClassifier,
    IDTNodeClassifier,
    parse,
    random_graphs,
    to_pyg,
    write_shards,
)
from gnn2logic.engines import LocalEngine
from gnn2logic.idt.documents import Contents, to_bytes

SCALES = (0.1, 1e-300, 1e300 / 3)
SETTINGS: list[dict[str, Any]] = [
    {"n_layers": 2, "width": 4},
    {"n_layers": 1, "width": 4, "max_samples": 0.5, "min_samples_leaf": 3},
    {"n_layers": 1, "width": 4, "random_thresholds": True, "leaf_sets": "merge"},
    {"n_layers": 1, "width": 4, "class_weight": "balanced", "n_shards": 4},
    {"n_layers": 1, "width": 4, "class_weight": {0: 0.3, 1: 0.7, 2: 1.1}, "ccp_alpha": 0.0},
]


def document(model: Any) -> bytes:
    """Everything that is saved of a model but its settings."""
    contents = Contents(
        model.model_,
        model.prunings_,
        model.front_,
        model.chosen_,
        model.classes_.tolist(),
        model.encoder_.to_document(),
        {},
    )
    return to_bytes(contents)


def some_graphs(seed: int, count: int = 45, **options: Any) -> GraphBatch:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, size=count)
    return random_graphs(count, sizes=sizes, density=0.4, random_state=rng, **options)


def three_classes(count: int, truth: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return truth.astype(int) + (rng.random(count) < 0.3)


def graph_labels(graphs: GraphBatch) -> Any:
    return three_classes(graphs.n_graphs, parse("1(A U0 > 1) > 1/3").evaluate(graphs), 0)


def node_labels(graphs: GraphBatch) -> Any:
    return three_classes(graphs.n_nodes, parse("A U0 > 1").evaluate(graphs, level="node"), 0)


# Proportions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_scale_of_weights_does_not_matter(settings: dict[str, Any]) -> None:
    graphs = some_graphs(0)
    rng = np.random.default_rng(1)
    learners: list[tuple[Any, Any]] = [
        (IDTClassifier, graph_labels(graphs)),
        (IDTNodeClassifier, node_labels(graphs)),
    ]
    for learner, y in learners:
        fits = [
            learner(algorithm="layers", random_state=0, **settings).fit(
                graphs, y, sample_weight=weights * scale
            )
            for weights in (rng.integers(1, 6, size=len(y)), rng.lognormal(size=len(y)))
            for scale in (1.0, *SCALES)
        ]
        models = [document(model) for model in fits]
        assert len({*models[:4]}) == len({*models[4:]}) == 1
        assert models[0] != models[4]


def test_tenths_are_whole_weights_in_single_precision_too() -> None:
    graphs = some_graphs(0)
    y = graph_labels(graphs)
    whole = np.arange(graphs.n_graphs) % 3 + 1
    single = np.array([0.1, 0.2, 0.3], dtype=np.float32)[whole - 1]
    models = [
        IDTClassifier(1, algorithm="layers", width=4, random_state=0).fit(
            graphs, y, sample_weight=weights
        )
        for weights in (whole, whole / 10, single)
    ]
    assert len({document(model) for model in models}) == 1


def test_weights_that_differ_beyond_all_measure() -> None:
    graphs = some_graphs(0)
    y = graph_labels(graphs)
    weights = np.where(np.arange(graphs.n_graphs) % 2, 1e308, 5e-324)
    model = IDTClassifier(1, algorithm="layers", width=4, class_weight="balanced", random_state=0)
    model.fit(graphs, y, sample_weight=weights)
    assert model.prunings_.full.weights[0] > graphs.n_graphs // 2


# Weight 0 -------------------------------------------------------------------------------------


def check_removal(
    graphs: Any, y: Any, weights: Any, kept: Any, rest: Any, options: dict[str, Any]
) -> Any:
    """Compare weight 0 with what is left without those graphs; labels must not matter either."""
    wrong = np.where(weights > 0, y, 9)
    model = IDTClassifier(algorithm="layers", random_state=0, **options).fit(
        graphs, wrong, sample_weight=weights
    )
    expected = IDTClassifier(algorithm="layers", random_state=0, **options)
    expected.fit(rest, y[kept], sample_weight=weights[kept])
    assert document(model) == document(expected)
    return model


@pytest.mark.parametrize("settings", SETTINGS)
def test_graphs_of_weight_0_are_not_there(settings: dict[str, Any]) -> None:
    graphs = some_graphs(3)
    y = graph_labels(graphs)
    # Those that are left out are larger than all others, and the only ones where P holds somewhere.
    kept = graphs.sizes < 7
    names = (*graphs.names, "P")
    extra = np.repeat(~kept, graphs.sizes)
    graphs = graphs.with_predicates(np.column_stack([graphs.predicates, extra]), names)
    rng = np.random.default_rng(0)
    for weights in (kept.astype(float), kept * rng.lognormal(size=len(y))):
        check_removal(graphs, y, weights, kept, graphs[kept], settings)


def test_features_of_graphs_of_weight_0_are_not_encoded() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for number in range(60):
        n = int(rng.integers(2, 8))
        adjacency = np.triu(rng.random((n, n)) < 0.4, 1)
        odd = number % 3 == 0
        features = np.column_stack([rng.normal(size=n) + 9 * odd, rng.integers(0, 3 + odd, size=n)])
        pairs.append(((adjacency | adjacency.T).astype(int), features))
    y = np.array([features[:, 0].max() > 0.7 for _, features in pairs]).astype(int)
    kept = np.arange(60) % 3 != 0
    rest = [pair for pair, is_kept in zip(pairs, kept, strict=True) if is_kept]
    model = check_removal(pairs, y, kept * 0.1, kept, rest, {"n_layers": 1, "width": 4})
    assert "U1=3" not in model.encoder_.names_
    again = IDTClassifier(1, algorithm="layers", width=4, random_state=0)
    again.fit(iter(pairs), y, sample_weight=kept.astype(float))
    assert document(again) == document(model)


def test_relations_of_graphs_of_weight_0_are_not_known() -> None:
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(40):
        graph = nx.gnp_random_graph(int(rng.integers(3, 7)), 0.5, seed=number)
        for _, _, data in graph.edges(data=True):
            data["bond"] = int(rng.integers(1, 3 if number % 4 else 4))
        graphs.append(graph)
    y = np.array([graph.number_of_edges() > 5 for graph in graphs]).astype(int)
    kept = np.arange(40) % 4 != 0
    rest = [graph for graph, is_kept in zip(graphs, kept, strict=True) if is_kept]
    model = check_removal(graphs, y, kept * 1.0, kept, rest, {"n_layers": 1, "width": 4})
    assert set(model.encoder_.relations_) == {"bond=1", "bond=2"}


def test_a_pyg_batch_with_graphs_of_weight_0() -> None:
    graphs = some_graphs(3)
    y = graph_labels(graphs)
    kept = np.arange(graphs.n_graphs) % 3 != 0
    given = Batch.from_data_list(to_pyg(graphs))
    check_removal(given, y, kept * 2.0, kept, to_pyg(graphs[kept]), {"n_layers": 1, "width": 4})


@pytest.mark.parametrize("projection", [2, None])
def test_activations_of_graphs_of_weight_0_are_not_looked_at(projection: int | None) -> None:
    graphs = some_graphs(3)
    y = graph_labels(graphs)
    kept = graphs.sizes < 7
    nodes = np.repeat(kept, graphs.sizes)
    rng = np.random.default_rng(0)
    layers = [rng.normal(size=(graphs.n_nodes, 6)) * np.where(nodes, 1, 1e200)[:, None]]
    options: dict[str, Any] = {"width": 4, "projection": projection, "random_state": 0}
    model = IDTClassifier(algorithm="layers", **options)
    model.fit(graphs, y, activations=layers, sample_weight=kept.astype(float))
    rest = IDTClassifier(algorithm="layers", **options).fit(
        graphs[kept], y[kept], activations=[layers[0][nodes]]
    )
    assert document(model) == document(rest)


@pytest.mark.parametrize("level", ["graph", "node"])
def test_stores_with_graphs_of_weight_0(level: Any, tmp_path: Path) -> None:
    graphs = some_graphs(3)
    learner: Any = IDTClassifier if level == "graph" else IDTNodeClassifier
    y = graph_labels(graphs) if level == "graph" else node_labels(graphs)
    kept = np.arange(graphs.n_graphs) % 3 != 0
    # Of the first shards nothing is left.
    kept[:12] = False
    rows = kept if level == "graph" else np.repeat(kept, graphs.sizes)
    layers = [np.random.default_rng(0).normal(size=(graphs.n_nodes, 3)).astype(np.float32)]
    store = write_shards(tmp_path / "store", graphs, shard_nodes=30)
    first = 0
    for number, part in enumerate(store):
        own = [layer[first : first + part.n_nodes] for layer in layers]
        store.add_activations(number, own)
        first += part.n_nodes
    weights = rows * np.random.default_rng(1).lognormal(size=len(y))
    for activations in (None, "stored"):
        options: dict[str, Any] = {"width": 4, "random_state": 0}
        if activations is None:
            options["n_layers"] = 1
        model = learner(algorithm="layers", engine=LocalEngine(2, max_memory="1 GiB"), **options)
        model.fit(store, y, sample_weight=weights, activations=activations)
        left = [own[np.repeat(kept, graphs.sizes)] for own in layers]
        rest = learner(algorithm="layers", **options).fit(
            graphs[kept],
            y[rows],
            sample_weight=weights[rows],
            activations=None if activations is None else left,
        )
        assert document(model) == document(rest)


@pytest.mark.parametrize("settings", SETTINGS)
def test_nodes_of_weight_0_are_outside_of_the_mask(settings: dict[str, Any]) -> None:
    graphs = some_graphs(4)
    y = node_labels(graphs)
    rng = np.random.default_rng(0)
    mask, weights = rng.random(len(y)) < 0.7, rng.lognormal(size=len(y))
    # Every graph has a node that is learned from.
    mask[graphs.ptr[:-1]] = True
    options = {**settings, "random_state": 0}
    masked = IDTNodeClassifier(algorithm="layers", **options).fit(
        graphs, y, mask=mask, sample_weight=weights
    )
    wrong = np.where(mask, y, 9)
    zero = IDTNodeClassifier(algorithm="layers", **options).fit(
        graphs, wrong, sample_weight=weights * mask * 0.1
    )
    assert document(zero) == document(masked)


def test_graphs_whose_nodes_all_have_weight_0_are_not_there() -> None:
    graphs = some_graphs(4)
    y = node_labels(graphs)
    kept = graphs.sizes < 7
    nodes = np.repeat(kept, graphs.sizes)
    mask = np.random.default_rng(0).random(len(y)) < 0.8
    options: dict[str, Any] = {"n_layers": 1, "width": 4, "random_state": 0}
    zero = IDTNodeClassifier(algorithm="layers", **options).fit(
        graphs, y, mask=mask, sample_weight=nodes * 1.0
    )
    rest = IDTNodeClassifier(algorithm="layers", **options).fit(
        graphs[kept], y[nodes], mask=mask[nodes]
    )
    assert document(zero) == document(rest)


def test_classes_of_weight_0() -> None:
    graphs = some_graphs(0)
    y = graph_labels(graphs)
    kept = y != 1
    options: dict[str, Any] = {"n_layers": 1, "width": 4, "random_state": 0}
    model = IDTClassifier(algorithm="layers", **options).fit(
        graphs, y, sample_weight=kept.astype(float)
    )
    assert model.classes_.tolist() == [0, 2]
    # A class that is named by its weight, or in the list of classes, is one.
    by_class = IDTClassifier(algorithm="layers", class_weight={1: 0.0}, **options).fit(graphs, y)
    rest = IDTClassifier(algorithm="layers", **options).fit(
        graphs[kept], y[kept], classes=[0, 1, 2]
    )
    assert document(by_class) == document(rest)
    assert by_class.classes_.tolist() == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IDTClassifier(algorithm="layers", **options).fit(
            graphs, y, sample_weight=(y > 0).astype(float)
        )
