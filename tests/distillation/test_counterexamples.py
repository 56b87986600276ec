"""New small graphs where model and teacher differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gnn2logic.distillation import Teacher, as_teacher
from gnn2logic.distillation.counterexamples import find_disagreements
from gnn2logic.exceptions import ParameterError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, random_graphs, to_pyg
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier, IDTNodeClassifier
from gnn2logic.logic import parse
from gnn2logic.models.formula_network import to_gnn

GRAPHS = random_graphs(80, sizes=np.arange(80) % 9 + 4, density=0.4, random_state=0)


def model_of(text: str, graphs: GraphBatch = GRAPHS) -> Any:
    labels = parse(text).evaluate(graphs).astype(int)
    return IDTClassifier(n_layers=1, algorithm="layers", ccp_alpha=0, random_state=0).fit(
        graphs, labels
    )


def test_the_smallest_possible_graph_is_found() -> None:
    """A node with more than 2 neighbours but not more than 3 needs 4 nodes and 3 edges."""
    model, net = model_of("1(A true > 3) > 0"), to_gnn(parse("1(A true > 2) > 0"))
    found = find_disagreements(model, net, GRAPHS, n_disagreements=3, random_state=0)
    first = found[0].graph
    assert (first.n_nodes, first.n_edges) == (4, 6)
    assert sorted(first.edges().degrees.tolist()) == [1, 1, 1, 3]
    sizes = [(own.graph.n_nodes, own.graph.n_edges) for own in found]
    assert sizes == sorted(sizes)


def test_nodes_are_searched_down_to_graphs_of_one_node() -> None:
    labels = GRAPHS.column("U0").astype(int)
    model = IDTNodeClassifier(n_layers=0, random_state=0).fit(GRAPHS, labels)
    net = to_gnn(parse("U1"), level="node")
    for graphs in (GRAPHS, random_graphs(9, sizes=1, random_state=0)):
        found = find_disagreements(model, net, graphs, n_disagreements=2, random_state=0)
        assert [(own.graph.n_nodes, own.node) for own in found] == [(1, 0), (1, 0)]


def test_edges_that_do_not_matter_are_taken_away() -> None:
    dense = random_graphs(40, sizes=5, density=0.95, random_state=0)
    model, net = model_of("1 true > 5"), to_gnn(parse("1 true > 3"))
    found = find_disagreements(model, net, dense, n_disagreements=1, random_state=0)
    assert (found[0].graph.n_nodes, found[0].graph.n_edges) == (4, 0)


def test_edges_are_added_where_the_data_has_none() -> None:
    lonely = random_graphs(20, sizes=5, density=0.0, random_state=0)
    model = from_formulas({1: "1 true > 100"}, otherwise=0, names=["U0", "U1"])
    net = to_gnn(parse("1(A true > 0) > 0"))
    found = find_disagreements(model, net, lonely, n_disagreements=1, random_state=0)
    assert (found[0].graph.n_nodes, found[0].graph.n_edges) == (2, 2)


def test_answers_are_true_and_graphs_are_new_and_different() -> None:
    model, net = model_of("1(A U0 > 1) > 1"), to_gnn(parse("1(A U0 > 1) > 2"))
    found = find_disagreements(model, net, GRAPHS, n_disagreements=4, random_state=1)
    assert len(found) == 4
    assert 4 <= found.n_compared <= 10_000
    for own in found:
        assert model.predict([own.data])[0] == own.model != own.teacher
        assert as_teacher(net).predict([own.data])[0] == own.teacher
        assert own.graph.is_simple
        assert 0 <= own.index < 80
    assert len({(o.graph.n_nodes, o.graph.n_edges, str(o.data.x.tolist())) for o in found}) > 1


def test_the_same_seed_finds_the_same() -> None:
    model, net = model_of("1(A U0 > 1) > 1"), to_gnn(parse("1(A U1 > 1) > 1"))
    runs = [
        find_disagreements(model, net, GRAPHS, n_disagreements=3, random_state=seed)
        for seed in (5, 5)
    ]
    assert [own.graph for own in runs[0]] == [own.graph for own in runs[1]]
    assert runs[0].n_compared == runs[1].n_compared


def test_honest_when_there_are_none_and_the_budget_holds() -> None:
    model = model_of("1(A U0 > 1) > 1")
    calls = []

    def forward(module: Any, batch: Any) -> torch.Tensor:
        calls.append(batch.num_graphs)
        result: torch.Tensor = module(batch.x, batch.edge_index, batch.batch)
        return result

    teacher = Teacher(to_gnn(model.formula(1)), forward=forward)
    found = find_disagreements(model, teacher, GRAPHS, budget=700, random_state=0)
    assert len(found) == 0
    assert found.n_compared == sum(calls) == 700


def test_large_graphs_are_cut_and_never_grow() -> None:
    large = random_graphs(5, sizes=60, density=0.05, random_state=0)
    never = from_formulas({1: "1 true > 100"}, otherwise=0, names=["U0", "U1"])
    sizes_asked: set[int] = set()

    def forward(module: Any, batch: Any) -> torch.Tensor:
        sizes_asked.update(torch.bincount(batch.batch).tolist())
        result: torch.Tensor = module(batch.x, batch.edge_index, batch.batch)
        return result

    options: dict[str, Any] = {
        "n_disagreements": 2,
        "max_nodes": 8,
        "budget": 600,
        "random_state": 0,
    }
    eight = Teacher(to_gnn(parse("1 true > 7")), forward=forward)
    found = find_disagreements(never, eight, large, **options)
    assert [one.graph.n_nodes for one in found] == [8, 8]
    nine = Teacher(to_gnn(parse("1 true > 8")), forward=forward)
    assert len(find_disagreements(never, nine, large, **options)) == 0
    assert max(sizes_asked) == 8


def test_features_and_edge_attributes_come_from_the_data() -> None:
    """One-hot rows stay one-hot, numbers are numbers that occur, directed graphs stay directed."""
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(40):
        size = int(rng.integers(3, 8))
        kind = rng.integers(3, size=size)
        x = torch.zeros(size, 4)
        x[torch.arange(size), torch.from_numpy(kind)] = 1
        x[:, 3] = torch.from_numpy(rng.choice([0.25, 0.5, 1.5], size=size))
        ends = torch.from_numpy(rng.integers(size, size=(2, 2 * size)))
        edge_type = torch.from_numpy(rng.integers(2, size=2 * size))
        graphs.append(Data(x=x, edge_index=ends, edge_type=edge_type, y=torch.tensor([1])))

    class Net(torch.nn.Module):
        def forward(self, x: Any, edge_index: Any, batch: Any, edge_type: Any) -> Any:
            first = torch.zeros(int(batch.max()) + 1).index_add(0, batch, x[:, 0])
            ones = (edge_type == 1).float()
            typed = torch.zeros(len(first)).index_add(0, batch[edge_index[0]], ones)
            return torch.stack([typed, first], dim=1)

    labels = [int(data.x[:, 0].sum() > 2) for data in graphs]
    model = IDTClassifier(n_layers=1, random_state=0).fit(graphs, labels)
    found = find_disagreements(model, Teacher(Net()), graphs, n_disagreements=3, random_state=0)
    assert len(found) == 3
    for own in found:
        assert (own.data.x[:, :3].sum(dim=1) == 1).all()
        assert set(own.data.x[:, 3].tolist()) <= {0.25, 0.5, 1.5}
        assert len(own.data.edge_type) == own.data.edge_index.shape[1] == own.graph.n_edges
        assert "y" not in own.data


def test_nodes() -> None:
    labels = parse("A U0 > 1").evaluate(GRAPHS, level="node").astype(int)
    model = IDTNodeClassifier(n_layers=0, algorithm="layers", ccp_alpha=0, random_state=0).fit(
        GRAPHS, labels
    )
    teacher = Teacher(to_gnn(parse("A U0 > 0"), level="node"), level="node")
    found = find_disagreements(model, teacher, GRAPHS, n_disagreements=1, random_state=0)
    assert found.level == "node"
    graph, node = found[0].graph, found[0].node
    assert (graph.n_nodes, graph.n_edges) == (2, 2)
    assert node is not None
    assert graph.column("U0")[1 - node]


def test_graphs_without_predicates() -> None:
    bare = random_graphs(60, sizes=6, names=(), random_state=0)
    net = to_gnn(parse("1(A true > 1) > 0"))
    model = model_of("1(A true > 2) > 2", bare)
    found = find_disagreements(model, net, bare, n_disagreements=1, random_state=0)
    assert (found[0].graph.n_nodes, found[0].graph.n_edges) == (3, 4)


def test_bad_inputs() -> None:
    model, net = model_of("1 U0 > 2"), to_gnn(parse("1 U0 > 1"))
    for name in ("n_disagreements", "max_nodes", "budget"):
        options: dict[str, Any] = {name: 0}
        with pytest.raises(ParameterError, match=f"{name} must be a whole number >= 1"):
            find_disagreements(model, net, GRAPHS, **options)
    other = [Data(x=torch.ones(2, 5), edge_index=torch.zeros(2, 0, dtype=torch.long))]
    with pytest.raises(UnsupportedInputError, match="features that the model was fitted on"):
        find_disagreements(model, net, other)


def test_the_given_graphs_are_left_as_they_are() -> None:
    model, net = model_of("1(A U0 > 1) > 1"), to_gnn(parse("1(A U1 > 1) > 1"))
    given = to_pyg(GRAPHS)
    before = [data.clone() for data in given]
    assert find_disagreements(model, net, given, n_disagreements=3, random_state=0)
    for data, old in zip(given, before, strict=True):
        assert data.keys() == old.keys()
        assert torch.equal(data.x, old.x)
        assert torch.equal(data.edge_index, old.edge_index)
