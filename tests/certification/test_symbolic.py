"""Proofs by z3, against networks that are run on every graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import gnn2logic as gl
from gnn2logic.certification import certify
from gnn2logic.exceptions import ParameterError, TeacherError, UnsupportedInputError
from gnn2logic.models.network import GraphNetwork, NetworkShape

pytest.importorskip("z3", reason="needs the extra 'verify'")

FORMULAS = [
    "1 U0 > 1",
    "1(A U0 > 1) > 0",
    "1(A true > 1/2 & U1) > 1",
    "1(1-A U0 > 1 | 1-I-A U1 > 0) > 0",
    "1(I+A !U0 > 1/3) > 1/2",
]


def rule_of(text: str, level: Any = "graph") -> gl.IDTPredictor:
    return gl.from_formulas({1: text}, otherwise=0, names=["U0", "U1"], level=level)


def drawn_network(seed: int, **shape: Any) -> gl.Teacher:
    """Return a network with weights that nobody has trained."""
    torch.manual_seed(seed)
    module = GraphNetwork(NetworkShape(2, 2, norm=None, **shape))
    level = "node" if module.shape.pooling is None else "graph"
    return gl.Teacher(module.eval(), classes=[0, 1], level=level)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", FORMULAS)
def test_networks_of_formulas_are_proven(text: str) -> None:
    network = gl.to_gnn(gl.parse(text), names=["U0", "U1"])
    certificate = certify(rule_of(text), network, grade="symbolic", max_nodes=3)
    assert certificate
    assert certificate.max_nodes == 3
    assert "proven by z3" in str(certificate)
    other = certify(rule_of("1 U1 > 0"), network, grade="symbolic", max_nodes=3)
    wanted = certify(rule_of("1 U1 > 0"), network, grade="exhaustive", max_nodes=3)
    assert other.holds is wanted.holds is False
    found = other.counterexamples[0]
    assert found.graph.n_nodes == wanted.counterexamples[0].graph.n_nodes
    assert gl.as_teacher(network).predict(found.data)[0] == found.teacher != found.model


@pytest.mark.parametrize("text", ["A^T U0 > 0", "A|A^T U0 > 0", "A U0 > 0 & !U1"])
def test_directed_graphs_and_nodes(text: str) -> None:
    network = gl.to_gnn(gl.parse(text), names=["U0", "U1"], level="node")
    options: dict[str, Any] = {"grade": "symbolic", "graph_class": "directed", "max_nodes": 3}
    assert certify(rule_of(text, "node"), network, **options)
    assert certify(rule_of("A true > 1", "node"), network, **options).holds is False


@pytest.mark.parametrize("text", FORMULAS[:3])
def test_one_changed_weight_is_found(text: str) -> None:
    network = gl.to_gnn(gl.parse(text), names=["U0", "U1"])
    number = next(k for k, channel in enumerate(network.channels) if "> 1" in str(channel))
    with torch.no_grad():
        network.layer.bias[number] += 1
    changed = certify(rule_of(text), network, grade="symbolic", max_nodes=3)
    assert changed.holds is False
    found = changed.counterexamples[0]
    assert rule_of(text).predict(found.data)[0] == found.model != found.teacher


@pytest.mark.parametrize("conv", ["gin", "sage"])
@pytest.mark.parametrize("pooling", ["mean", "sum", None])
@pytest.mark.parametrize("seed", [0, 1])
def test_trained_forms_are_like_running_them(conv: str, pooling: Any, seed: int) -> None:
    network = drawn_network(seed, conv=conv, pooling=pooling, hidden=2, n_layers=1)
    level = "node" if pooling is None else "graph"
    for text in ("true", "A U0 > 0" if pooling is None else "1 U0 > 0"):
        rule = rule_of(text, level)
        said = certify(rule, network, grade="symbolic", max_nodes=2, max_graphs=1)
        wanted = certify(rule, network, grade="exhaustive", max_nodes=2)
        assert said.holds is wanted.holds
        if not wanted:
            sizes = [c.counterexamples[0].graph.n_nodes for c in (said, wanted)]
            assert sizes[0] == sizes[1]


def test_a_network_that_always_says_the_same_is_proven() -> None:
    network = drawn_network(0, conv="gin", hidden=2, n_layers=1)
    with torch.no_grad():
        network.module.head[-1].bias.copy_(torch.tensor([-1000.0, 1000.0]))  # type: ignore[index, union-attr]
    rule, options = rule_of("true"), {"grade": "symbolic", "max_nodes": 3}
    by_z3 = certify(rule, network, max_graphs=1, **options)  # type: ignore[arg-type]
    assert by_z3
    assert by_z3.n_compared == 0
    both = certify(rule, network, max_graphs=30, **options)  # type: ignore[arg-type]
    assert both
    assert both.n_compared == 24
    assert "those with at most 2 nodes were run, the others proven by z3" in str(both)


def test_small_graphs_of_trained_networks_are_run() -> None:
    """z3 alone does not get beyond one node in a minute."""
    graphs = gl.random_graphs(200, sizes=[1 + k % 4 for k in range(200)], random_state=0)
    labels = gl.parse("1 U0 > 1").evaluate(graphs)
    network = gl.models.GNNClassifier(
        "gin", 1, hidden=4, norm=None, max_epochs=40, lr=0.05, random_state=0
    ).fit(graphs, labels)
    held = []
    for text in ("1 U0 > 1", "!(1 U0 > 0)"):
        for given in (None, graphs):
            options: dict[str, Any] = {"graphs": given, "max_nodes": 4, "time_limit": None}
            said = certify(rule_of(text), network, grade="symbolic", **options)
            wanted = certify(rule_of(text), network, grade="exhaustive", **options)
            assert said.holds is wanted.holds
            assert said.max_nodes == wanted.max_nodes
            assert (said.n_compared, said.n_disagreements) == (
                wanted.n_compared,
                wanted.n_disagreements,
            )
            held.append(said.holds)
    assert False in held


def test_close_scores_are_settled_by_running() -> None:
    """Equal scores give the first class; no margin tells that from the second."""
    network = drawn_network(0, conv="gin", hidden=2, n_layers=1)
    with torch.no_grad():
        for parameter in network.module.head.parameters():  # type: ignore[union-attr]
            parameter.zero_()
    rule = gl.from_formulas({0: "true"}, otherwise=1, names=["U0", "U1"])
    certificate = certify(rule, network, grade="symbolic", max_nodes=1, max_graphs=1)
    assert certificate
    assert certificate.n_compared == 4
    assert "4 graphs with closer scores were run" in str(certificate)


def test_what_cannot_be_proven_is_refused() -> None:
    rule = rule_of("1 U0 > 1")
    with pytest.raises(UnsupportedInputError, match="norm=None"):
        certify(rule, drawn_network(0, conv="gcn", hidden=2, n_layers=1), grade="symbolic")
    with pytest.raises(UnsupportedInputError, match="reads networks of to_gnn"):
        certify(rule, torch.nn.Linear(2, 2), grade="symbolic")
    network = gl.to_gnn(gl.parse("1 U0 > 1"), names=["U0", "U1"])
    with pytest.raises(ParameterError, match="margin"):
        certify(rule, network, grade="symbolic", margin=-1)
    for broken in (float("nan"), float("inf")):
        changed = gl.to_gnn(gl.parse("1 U0 > 1"), names=["U0", "U1"])
        with torch.no_grad():
            changed.layer.bias[0] = broken
        with pytest.raises(TeacherError, match="must be finite"):
            certify(rule, changed, grade="symbolic")
    stopped = certify(rule, network, grade="symbolic", max_nodes=6, time_limit=1e-6)
    assert stopped.holds is None
    assert "time ran out" in str(stopped)


def test_sorts_of_nodes_come_from_the_data() -> None:
    graphs = gl.random_graphs(20, sizes=4, random_state=0)
    first = graphs.column("U0")
    one_hot = graphs.with_predicates(np.column_stack([first, ~first]), ["U0", "U1"])
    rule = rule_of("1(U0 & U1) > 0")
    network = gl.to_gnn(gl.parse("1(U0 & U1) > 1"), names=["U0", "U1"])
    among_these = certify(rule, network, one_hot, grade="symbolic", max_nodes=3)
    assert among_these
    assert "of the 2 sorts of nodes in the data" in str(among_these)
    assert certify(rule, network, grade="symbolic", max_nodes=3).holds is False


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_units_hold_on_every_graph(seed: int) -> None:
    """With every graph given, z3 must still find a value for each unit."""
    network = drawn_network(seed, conv="sage" if seed % 2 else "gin", hidden=3, n_layers=2)
    graphs = gl.random_graphs(3, sizes=3, random_state=seed)
    for rule in (rule_of("true"), rule_of("false")):
        wanted = certify(rule, network, graphs, grade="exhaustive", max_nodes=1)
        assert certify(rule, network, graphs, grade="symbolic", max_nodes=1).holds is wanted.holds
