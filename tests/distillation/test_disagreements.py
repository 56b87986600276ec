"""The table of graphs and nodes about which model and teacher differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gnn2logic.distillation import IDTDistiller, Teacher
from gnn2logic.distillation.disagreements import disagreements
from gnn2logic.exceptions import LabelError, ParameterError, UnsupportedInputError
from gnn2logic.graphs import random_graphs, to_pyg
from gnn2logic.learning import IDTClassifier, IDTNodeClassifier
from gnn2logic.logic import parse
from gnn2logic.models.formula_network import to_gnn

GRAPHS = random_graphs(60, sizes=np.arange(60) % 7 + 1, random_state=0)


def graph_model(text: str) -> Any:
    labels = parse(text).evaluate(GRAPHS).astype(int)
    return IDTClassifier(n_layers=1, algorithm="layers", ccp_alpha=0, random_state=0).fit(
        GRAPHS, labels
    )


def test_graphs_that_differ_are_those_where_the_formulas_do() -> None:
    model = graph_model("1 U0 > 2")
    teacher = to_gnn(parse("1 U0 > 1"))
    ours, theirs = model.predict(GRAPHS) == 1, parse("1 U0 > 1").evaluate(GRAPHS)
    for graphs in (GRAPHS, to_pyg(GRAPHS), iter(to_pyg(GRAPHS))):
        found = disagreements(model, teacher, graphs)
        assert [own.index for own in found] == np.flatnonzero(ours != theirs).tolist()
        assert found.n_compared == 60
        assert found.level == "graph"
        for own in found:
            assert own.graph == GRAPHS[own.index]
            assert own.node is None
            assert own.data.num_nodes == own.graph.n_nodes
            assert (own.model, own.teacher) == (int(ours[own.index]), int(theirs[own.index]))
    assert len(found) > 3


def test_nodes_that_differ() -> None:
    labels = parse("A U0 > 1").evaluate(GRAPHS, level="node").astype(int)
    model = IDTNodeClassifier(n_layers=0, algorithm="layers", ccp_alpha=0, random_state=0).fit(
        GRAPHS, labels
    )
    other = parse("A U0 > 2")
    found = disagreements(model, Teacher(to_gnn(other, level="node"), level="node"), GRAPHS)
    truth = other.evaluate(GRAPHS, level="node")
    expected = np.flatnonzero((labels == 1) != truth)
    assert [GRAPHS.ptr[own.index] + own.node for own in found] == expected.tolist()
    assert len(found) > 3
    assert str(found).splitlines()[1].split() == [
        "graph", "node", "nodes", "edges", "IDT", "teacher",
    ]  # fmt: skip


def test_nodes_that_differ_in_graphs_of_one_node() -> None:
    """There rows may be graphs or nodes; the model says which."""
    labels = GRAPHS.column("U0").astype(int)
    model = IDTNodeClassifier(n_layers=0, random_state=0).fit(GRAPHS, labels)
    single = random_graphs(12, sizes=1, random_state=1)
    found = disagreements(model, to_gnn(parse("U1"), level="node"), single)
    expected = np.flatnonzero(single.column("U0") != single.column("U1"))
    assert [own.index for own in found] == expected.tolist()
    assert {own.node for own in found} == {0}
    # Who says that the rows are graphs is taken at their word.
    with pytest.raises(ParameterError, match="The IDT classifies nodes and the teacher graphs"):
        disagreements(model, Teacher(to_gnn(parse("U1")), level="graph"), single)


def test_printed_as_a_table_of_one_line_each() -> None:
    found = disagreements(graph_model("1 U0 > 2"), to_gnn(parse("1 U0 > 1")), GRAPHS)
    lines = str(found).splitlines()
    assert lines[0] == f"{len(found)} disagreements, 60 graphs compared"
    assert len(lines) == len(found) + 2
    assert len({len(line) for line in lines[1:]}) == 1
    first = found[0]
    assert lines[2].split() == [
        str(cell) for cell in (first.index, first.graph.n_nodes, first.graph.n_edges, 0, 1)
    ]


def test_none_where_both_agree() -> None:
    model = graph_model("1 U0 > 2")
    found = disagreements(model, to_gnn(model.formula(1)), GRAPHS)
    assert len(found) == 0
    assert str(found) == "0 disagreements, 60 graphs compared"


def test_a_distiller_is_asked_for_its_model() -> None:
    distiller = IDTDistiller(to_gnn(parse("1 U0 > 2")), IDTClassifier(random_state=0))
    with pytest.raises(NotFittedError):
        disagreements(distiller, to_gnn(parse("1 U0 > 1")), GRAPHS)
    distiller.fit(GRAPHS)
    found = disagreements(distiller, to_gnn(parse("1 U0 > 1")), GRAPHS)
    assert len(found) > 3


def test_bad_inputs() -> None:
    model, net = graph_model("1 U0 > 2"), to_gnn(parse("1 U0 > 1"))
    bad: Any = "model"
    with pytest.raises(UnsupportedInputError, match="Got str"):
        disagreements(bad, net, GRAPHS)
    with pytest.raises(NotFittedError):
        disagreements(IDTClassifier(), net, GRAPHS)
    node_teacher = Teacher(to_gnn(parse("U0"), level="node"), level="node")
    with pytest.raises(ParameterError, match="IDT classifies graphs and the teacher nodes"):
        disagreements(model, node_teacher, GRAPHS)
    with pytest.raises(LabelError, match="same names of classes"):
        disagreements(model, Teacher(net, classes=["no", "yes"]), GRAPHS)
