from __future__ import annotations

import json
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest

from counted_calls import calls
from gnn2logic import GraphBatch, parse, random_graphs, to_networkx
from gnn2logic.datasets import (
    Dataset,
    ba_2motifs,
    ba_multi_shapes,
    barabasi_albert_graphs,
    formula_dataset,
    load,
)
from gnn2logic.exceptions import Gnn2LogicError, ParameterError
from oracle import PlainGraph, truth

Variant = Literal["text", "original"]


def plain(batch: GraphBatch) -> PlainGraph:
    rows, columns = batch.adjacency.nonzero()
    edges: list[tuple[int, int, str | None]] = [
        (int(row), int(column), None) for row, column in zip(rows, columns, strict=True)
    ]
    predicates = {name: batch.column(name).tolist() for name in batch.names}
    return PlainGraph(batch.n_nodes, predicates, edges)


# Formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["psi_0", "psi_1", "psi_2"])
def test_the_paper_s_formulas(name: str) -> None:
    data = load(name)
    assert len(data) == 1000
    assert (data.graphs.sizes == 13).all()
    assert data.graphs.is_simple
    assert data.graphs.names == ("U0", "U1")
    assert data.graphs.column("U0").all()
    assert abs(data.graphs.column("U1").mean() - 0.5) < 0.02
    assert abs(data.n_edges / 1000 / 78 - 0.5) < 0.01
    assert data.class_names == ("false", "true")
    assert 0.05 < data.y.mean() < 0.95


def test_labels_by_hand() -> None:
    """The definitions in the paper, counted with numpy and nothing else."""
    for name in ("psi_0", "psi_1", "psi_2"):
        data = load(name, n_graphs=100, random_state=3)
        for graph, label in zip(data.graphs, data.y.tolist(), strict=True):
            adjacency = graph.adjacency.toarray()
            degree = adjacency.sum(axis=1)
            if name == "psi_0":
                expected = 2 * graph.column("U1").sum() > 13
            elif name == "psi_1":
                expected = ((degree < 4) | (degree > 9)).any()
            else:
                busy = adjacency @ (degree > 6)
                expected = 2 * (2 * busy > degree).sum() > 13
            assert label == int(expected)


def test_labels_are_what_the_oracle_says() -> None:
    text = "1(A(!U1 & red) >= 1/3 | I U1 > 0) > 2"
    data = formula_dataset(text, 60, sizes=np.arange(60) % 7 + 1, density=0.4)
    assert data.truth is parse(text)
    document = json.loads(parse(text).to_json())
    found = [all(truth(document, plain(graph))) for graph in data.graphs]
    assert data.y.tolist() == [int(value) for value in found]
    assert 0 < data.y.sum() < 60


def test_generators_for_formulas() -> None:
    given = random_graphs(20, sizes=5, random_state=0)
    assert formula_dataset("1 U0 > 1", generator=given).graphs is given

    def paths(count: int, rng: np.random.Generator) -> list[Any]:
        return [nx.path_graph(int(size)) for size in rng.integers(1, 6, size=count)]

    data = formula_dataset("1(A true > 1) > 0", 30, generator=paths)
    assert data.y.tolist() == [int(size > 2) for size in data.graphs.sizes]
    again = formula_dataset("1(A true > 1) > 0", 30, generator=paths)
    assert again.graphs == data.graphs
    with pytest.raises(ParameterError, match="must return n_graphs=30 graphs. Got 29"):
        formula_dataset("1 true > 0", 30, generator=lambda n, rng: paths(n - 1, rng))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"generator": "grid"}, "generator must be 'erdos-renyi', .*Got 'grid'"),
        ({"n_graphs": 0}, "n_graphs must be a whole number >= 1. Got 0"),
        ({"n_graphs": True}, "n_graphs must be"),
        ({"sizes": 0}, "sizes must be"),
        ({"density": 1.5}, "density must be between 0 and 1"),
        ({"random_state": -1}, "random_state must be a whole number >= 0. Got -1"),
        ({"random_state": "x"}, "random_state must be"),
        ({"probability": [0.5]}, "probability must be"),
        ({"generator": "barabasi-albert", "sizes": 3, "attachment": 3}, "attachment must be .*3"),
        ({"generator": "barabasi-albert", "attachment": 0}, "attachment must be"),
        ({"generator": "barabasi-albert", "attachment": 1.5}, "attachment must be"),
        ({"generator": "barabasi-albert", "sizes": 2.5}, "sizes must be"),
        ({"generator": "barabasi-albert", "sizes": [3, 4]}, "sizes must be"),
        ({"generator": "barabasi-albert", "probability": 2}, "probability must be"),
    ],
)
def test_bad_options_of_formula_data(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Gnn2LogicError, match=message):
        formula_dataset("1 U1 > 0", **options)


def test_only_formulas_label() -> None:
    with pytest.raises(ParameterError, match="formula must be a Formula or its text. Got int"):
        formula_dataset(3)  # type: ignore[arg-type]


# Barabasi-Albert -------------------------------------------------------------------------------


@pytest.mark.parametrize("attachment", [1, 2, 4])
def test_barabasi_albert_structure(attachment: int) -> None:
    sizes = [attachment + 1, attachment + 2, 12, 30]
    batch = barabasi_albert_graphs(4, sizes=sizes, attachment=attachment, random_state=1)
    assert batch.is_simple
    for graph, size in zip(to_networkx(batch), sizes, strict=True):
        # networkx starts from the same star and adds as many edges.
        same = nx.barabasi_albert_graph(size, attachment, seed=0)
        assert graph.number_of_nodes() == same.number_of_nodes()
        assert graph.number_of_edges() == same.number_of_edges() == attachment * (size - attachment)
        assert nx.is_connected(graph)
        assert sorted(dict(graph.subgraph(range(attachment + 1)).degree()).values()) == sorted(
            dict(nx.star_graph(attachment).degree()).values()
        )
        for node in range(attachment + 1, size):
            assert sum(other < node for other in graph[node]) == attachment


@pytest.mark.parametrize("attachment", [1, 3])
def test_barabasi_albert_degrees_are_those_of_networkx(attachment: int) -> None:
    """Means of the degree of node 0, of the largest, and of squares: within five errors."""
    count, size = 400, 25
    ours = barabasi_albert_graphs(count, sizes=size, attachment=attachment, random_state=0)
    degrees = np.asarray(ours.adjacency.sum(axis=1)).reshape(count, size)
    theirs = np.array(
        [
            [degree for _, degree in nx.barabasi_albert_graph(size, attachment, seed=seed).degree()]
            for seed in range(count)
        ]
    )
    pairs = [
        (degrees[:, 0], theirs[:, 0]),
        (degrees.max(axis=1), theirs.max(axis=1)),
        ((degrees**2).mean(axis=1), (theirs**2).mean(axis=1)),
    ]
    for a, b in pairs:
        error = np.sqrt(a.var() / count + b.var() / count)
        assert abs(a.mean() - b.mean()) < 5 * error


# Planted motifs --------------------------------------------------------------------------------

SHAPES = {
    "house": nx.house_graph(),
    "grid": nx.grid_2d_graph(3, 3),
    "wheel": nx.wheel_graph(6),
    "cycle": nx.cycle_graph(5),
}


def planted_in(data: Dataset, number: int) -> dict[str, list[int]]:
    """The motifs of a graph with the numbers of their nodes inside it."""
    start, stop = data.graphs.ptr[number : number + 2]
    assert data.motifs is not None
    found = {name: np.flatnonzero(mask[start:stop]).tolist() for name, mask in data.motifs.items()}
    return {name: nodes for name, nodes in found.items() if nodes}


def check_planting(data: Dataset, *, attachment: int, on_base: bool) -> list[frozenset[str]]:
    """Every mask is its motif, the rest is a Barabasi-Albert graph, one edge joins each motif."""
    kinds = []
    for number, graph in enumerate(to_networkx(data.graphs)):
        motifs = planted_in(data, number)
        taken = [node for nodes in motifs.values() for node in nodes]
        assert len(taken) == len(set(taken))
        base = sorted(set(graph) - set(taken))
        assert base == list(range(len(base)))
        inner = graph.subgraph(base)
        assert nx.is_connected(inner)
        assert inner.number_of_edges() == attachment * (len(base) - attachment)
        between = graph.number_of_edges() - inner.number_of_edges()
        for name, nodes in motifs.items():
            shape = graph.subgraph(nodes)
            assert nx.is_isomorphic(shape, SHAPES[name])
            between -= shape.number_of_edges()
            outside = [other for node in nodes for other in graph[node] if other not in nodes]
            if on_base:
                assert len(outside) == 1
                assert outside[0] in base
        assert between == len(motifs)
        assert nx.is_connected(graph)
        kinds.append(frozenset(motifs))
    return kinds


@pytest.mark.parametrize("variant", ["text", "original"])
@pytest.mark.parametrize("attachment", [1, 2])
def test_ba_multi_shapes_is_what_it_says(variant: Variant, attachment: int) -> None:
    data = ba_multi_shapes(200, variant=variant, attachment=attachment, random_state=5)
    assert (data.graphs.sizes == 40).all()
    assert data.graphs.names == ("U0",)
    assert data.graphs.column("U0").all()
    assert data.graphs.is_simple
    kinds = check_planting(data, attachment=attachment, on_base=variant == "text")
    assert data.y.tolist() == [int(len(kind) != 2) for kind in kinds]
    assert data.y.sum() == 100
    assert {len(kind) for kind in kinds} == {0, 1, 2, 3}
    assert len(set(kinds)) == 8
    assert data.mask is not None
    assert data.motifs is not None
    assert data.mask.sum() == sum(mask.sum() for mask in data.motifs.values())


@pytest.mark.parametrize(("variant", "bare"), [("text", 0.2), ("original", 0.6)])
def test_how_often_each_kind_is_drawn(variant: Variant, bare: float) -> None:
    data = ba_multi_shapes(6000, variant=variant, random_state=0)
    kinds = [frozenset(planted_in(data, number)) for number in range(len(data))]
    shares = {kind: kinds.count(kind) / 3000 for kind in set(kinds)}
    others = (1 - bare) / 4
    for kind, share in shares.items():
        expected = 1 / 3 if len(kind) == 2 else bare if not kind else others
        assert abs(share - expected) < 0.05, kind


def test_original_shapes_may_hang_on_shapes() -> None:
    data = ba_multi_shapes(300, variant="original", random_state=0)
    hanging = 0
    for number, graph in enumerate(to_networkx(data.graphs)):
        motifs = planted_in(data, number)
        owner = {node: name for name, nodes in motifs.items() for node in nodes}
        hanging += any(
            first in owner and second in owner and owner[first] != owner[second]
            for first, second in graph.edges
        )
    assert hanging > 0


def test_ba_multi_shapes_has_the_size_of_the_published_data() -> None:
    """The published data has about 87.0 directed edges per graph."""
    data = ba_multi_shapes(5000, variant="original", random_state=0)
    assert abs(data.graphs.n_edges / len(data) - 87.5) < 0.5


def test_ba_2motifs_is_what_it_says() -> None:
    data = ba_2motifs(100, random_state=2)
    assert (data.graphs.sizes == 25).all()
    kinds = check_planting(data, attachment=1, on_base=True)
    assert [{"house": 0, "cycle": 1}[next(iter(kind))] for kind in kinds] == data.y.tolist()
    assert data.y.sum() == 50
    assert data.class_names == ("house", "cycle")
    assert load("BA-2Motifs").graphs.n_edges == 51000


def test_balance_and_size() -> None:
    data = ba_multi_shapes(40, n_nodes=30, balance=0.25)
    assert np.bincount(data.y).tolist() == [10, 30]
    assert (data.graphs.sizes == 30).all()
    assert ba_2motifs(10, balance=1).y.tolist() == [0] * 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "other"}, "variant must be one of 'text', 'original'. Got 'other'"),
        ({"n_nodes": 21}, "n_nodes must be a whole number >= 22. Got 21"),
        ({"n_graphs": 1.5}, "n_graphs must be"),
        ({"balance": 2}, "balance must be a number in .0, 1.. Got 2"),
        ({"balance": "half"}, "balance must be"),
        ({"balance": float("nan")}, "balance must be"),
        ({"attachment": 20}, "attachment must be"),
    ],
)
def test_bad_options_of_shapes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ba_multi_shapes(**options)


# All of them -----------------------------------------------------------------------------------

GENERATED = ["psi_0", "psi_1", "psi_2", "BAMultiShapes", "BA-2Motifs"]


@pytest.mark.parametrize("name", GENERATED)
def test_the_seed_decides(name: str) -> None:
    state = np.random.get_state()[1].tolist()  # type: ignore[index]
    first, same, other = (load(name, n_graphs=50, random_state=seed) for seed in (7, 7, 8))
    assert first.graphs == same.graphs
    assert first.y.tolist() == same.y.tolist()
    assert first.graphs != other.graphs
    assert state == np.random.get_state()[1].tolist()  # type: ignore[index]
    drawn = load(name, n_graphs=50, random_state=np.random.default_rng(7))
    assert drawn.graphs == first.graphs
    assert load(name, n_graphs=5, random_state=None).graphs.n_graphs == 5


@pytest.mark.parametrize("name", GENERATED)
def test_there_is_no_loop_over_graphs(name: str) -> None:
    def work(n_graphs: int) -> int:
        return calls(lambda: load(name, n_graphs=n_graphs, random_state=0))

    load(name, n_graphs=10)
    # Some steps are only needed for some graphs, and more graphs have more of these.
    assert work(1000) < 2 * work(100)
