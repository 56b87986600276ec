"""`IDTExplainer` inside of PyTorch Geometric's ``Explainer``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.explain import Explainer

from gnn2logic.distillation import distill
from gnn2logic.exceptions import GraphError, ParameterError, UnsupportedInputError
from gnn2logic.explanation import IDTExplainer
from gnn2logic.graphs import random_graphs, to_pyg
from gnn2logic.idt.formula_models import from_formulas
from gnn2logic.logic import parse
from gnn2logic.models.formula_network import to_gnn

GRAPHS = random_graphs(30, sizes=8, density=0.3, random_state=0)


def explainer(network: Any, idt: Any, **options: Any) -> Any:
    model = {"mode": "binary_classification", "task_level": "graph", "return_type": "raw"}
    settings: dict[str, Any] = {
        "explanation_type": "model",
        "node_mask_type": "object",
        "edge_mask_type": "object",
    }
    for key, value in options.items():
        (model if key in model else settings)[key] = value
    return Explainer(network, IDTExplainer(idt), model_config=model, **settings)


def test_masks_are_the_truth_of_the_parts_of_the_rule() -> None:
    formula = parse("1(A U0 > 1) > 2")
    idt = from_formulas({1: formula}, otherwise=0, names=["U0", "U1"])
    explain = explainer(to_gnn(formula), idt)
    for graph, data in zip(GRAPHS, to_pyg(GRAPHS), strict=True):
        found = explain(data.x, data.edge_index)
        centres = parse("A U0 > 1").evaluate(graph, level="node")
        u0 = graph.column("U0")
        counted = u0 & (graph.adjacency @ centres.astype(int) > 0)
        assert found.node_mask.flatten().tolist() == (centres | counted).astype(float).tolist()
        sources, targets = data.edge_index.numpy()
        along = centres[sources] & u0[targets] | centres[targets] & u0[sources]
        assert found.edge_mask.tolist() == along.astype(float).tolist()
        assert found.validate()
        assert set(found.available_explanations) == {"node_mask", "edge_mask"}
        assert found.label == int(formula.evaluate(graph)[0])
        assert found.agrees
        assert found.formula == (formula if found.label else ~formula)
        assert found.rule == str(found.formula)
        inside = found.get_explanation_subgraph()
        assert inside.num_nodes == int(found.node_mask.sum())
        assert inside.num_edges == int(found.edge_mask.sum())
        assert inside.rule == found.rule
        assert found.get_complement_subgraph().num_nodes == 8 - inside.num_nodes


def test_a_distilled_network_with_several_classes() -> None:
    classes = [parse("1 U0 < 3"), parse("3 <= 1 U0 <= 4"), parse("1 U0 > 4")]
    network = to_gnn(classes)
    many = random_graphs(300, sizes=8, density=0.3, random_state=1)
    idt = distill(network, many, random_state=0)
    explain = explainer(network, idt, mode="multiclass_classification")
    for graph, data in zip(GRAPHS[:10], to_pyg(GRAPHS[:10]), strict=True):
        found = explain(data.x, data.edge_index, batch=torch.zeros(8, dtype=torch.long))
        assert found.label == [bool(one.evaluate(graph)[0]) for one in classes].index(True)
        assert found.agrees
        assert parse(found.rule).evaluate(graph)[0]
        assert found.formula == idt.formula(found.label)


def test_a_rule_that_is_not_the_networks_is_told() -> None:
    idt = from_formulas({1: "1 U0 > 100"}, otherwise=0, names=["U0", "U1"])
    data = to_pyg(GRAPHS)[0]
    found = explainer(to_gnn(parse("1 true > 0")), idt)(data.x, data.edge_index)
    assert found.label == 0
    assert found.agrees is False


def test_nodes() -> None:
    formula = parse("A U0 > 1")
    idt = from_formulas({1: formula}, otherwise=0, names=["U0", "U1"], level="node")
    explain = explainer(to_gnn(formula, level="node"), idt, task_level="node")
    graph, data = GRAPHS[0], to_pyg(GRAPHS)[0]
    near = graph.adjacency.toarray() > 0
    for node in range(8):
        for index in (node, torch.tensor([node])):
            found = explain(data.x, data.edge_index, index=index)
            expected = near[node] & graph.column("U0")
            expected[node] = True
            assert found.node_mask.flatten().tolist() == expected.astype(float).tolist()
            assert found.label == int(formula.evaluate(graph, level="node")[node])
            assert found.agrees
    bad: Any
    for bad in (None, torch.tensor([0, 1])):
        with pytest.raises(ParameterError, match="one at a time"):
            explain(data.x, data.edge_index, index=bad)


def test_typed_edges_and_thresholds() -> None:
    graphs = random_graphs(5, sizes=6, relations=("r", "s"), random_state=0)
    formula = parse("1(A[s] U0 > 0) > 0")
    idt = from_formulas({1: formula}, otherwise=0, names=["U0", "U1"], relations=["r", "s"])
    network = to_gnn(formula, relations=["r", "s"])
    explain = explainer(network, idt, node_mask_type=None, threshold_config=("hard", 0.5))
    marked = 0
    for graph, data in zip(graphs, to_pyg(graphs), strict=True):
        found = explain(data.x, data.edge_index, edge_type=data.edge_type)
        assert found.get("node_mask") is None
        assert found.label == int(formula.evaluate(graph)[0])
        kinds = data.edge_type[found.edge_mask > 0]
        assert (kinds == 1).all()
        marked += len(kinds)
    assert marked


def test_graphs_without_predicates() -> None:
    bare = random_graphs(3, sizes=6, names=(), random_state=0)
    idt = from_formulas({1: "1(A true > 2) > 0"}, otherwise=0)
    explain = explainer(to_gnn(parse("1(A true > 2) > 0")), idt)
    data = to_pyg(bare)[0]
    assert explain(torch.ones(6, 1), data.edge_index).validate()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"explanation_type": "phenomenon"}, "'explanation_type' must be 'model'"),
        ({"mode": "regression"}, "must not be 'regression'"),
        ({"task_level": "node"}, "'task_level' must be 'graph'"),
        ({"task_level": "edge"}, "'task_level' must be 'graph'"),
        ({"node_mask_type": "attributes"}, "'node_mask_type' must be 'object'"),
        ({"node_mask_type": "common_attributes"}, "'node_mask_type' must be 'object'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    options: Any, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    idt = from_formulas({1: "1 U0 > 1"}, otherwise=0)
    with pytest.raises(ValueError, match="does not support the given explanation settings"):
        explainer(to_gnn(parse("1 U0 > 1")), idt, **options)
    assert message in caplog.text


def test_bad_inputs() -> None:
    idt = from_formulas({1: "1 U0 > 1"}, otherwise=0, names=["U0", "U1"])
    bad: Any = to_gnn(parse("U0"))
    with pytest.raises(UnsupportedInputError, match="Got FormulaNetwork"):
        IDTExplainer(bad)
    two: Any = Batch.from_data_list(to_pyg(GRAPHS[:2]))
    with pytest.raises(GraphError, match="Got a batch of 2"):
        explainer(to_gnn(parse("1 U0 > 1")), idt)(two.x, two.edge_index, batch=two.batch)
    assert np.array_equal(GRAPHS[0].predicates, to_pyg(GRAPHS)[0].x.numpy() > 0)
