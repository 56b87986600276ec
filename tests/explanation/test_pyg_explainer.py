"""`IDTExplainer` inside of PyTorch Geometric's ``Explainer``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer

from gnn2logic.distillation import IDTDistiller, ScorecardDistiller, Teacher, distill, fidelity
from gnn2logic.exceptions import GraphError, LabelError, ParameterError, UnsupportedInputError
from gnn2logic.explanation import IDTExplainer, witnesses
from gnn2logic.graphs import from_edges, random_graphs, to_pyg
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier
from gnn2logic.logic import parse
from gnn2logic.models import GNNClassifier
from gnn2logic.models.formula_network import to_gnn

GRAPHS = random_graphs(30, sizes=8, density=0.3, random_state=0)


def explainer(network: Any, idt: Any, teacher: Any = None, **options: Any) -> Any:
    model = {"mode": "binary_classification", "task_level": "graph", "return_type": "raw"}
    settings: dict[str, Any] = {
        "explanation_type": "model",
        "node_mask_type": "object",
        "edge_mask_type": "object",
    }
    for key, value in options.items():
        (model if key in model else settings)[key] = value
    return Explainer(network, IDTExplainer(idt, teacher), model_config=model, **settings)


def test_masks_are_the_parts_of_the_rule_by_depth() -> None:
    formula = parse("1(A U0 > 1) > 2")
    idt = from_formulas({1: formula}, otherwise=0, names=["U0", "U1"])
    explain = explainer(to_gnn(formula), idt)
    for graph, data in zip(GRAPHS, to_pyg(GRAPHS), strict=True):
        found = explain(data.x, data.edge_index)
        centres = parse("A U0 > 1").evaluate(graph, level="node")
        u0 = graph.column("U0")
        counted = u0 & (graph.adjacency @ centres.astype(int) > 0)
        expected = np.where(centres, 1.0, np.where(counted, 0.5, 0.0))
        assert found.node_mask.flatten().tolist() == expected.tolist()
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
        assert inside.num_nodes == int((found.node_mask > 0).sum())
        assert inside.num_edges == int(found.edge_mask.sum())
        assert inside.rule == found.rule
        assert found.get_complement_subgraph().num_nodes == 8 - inside.num_nodes


def test_masks_rank_where_every_node_is_a_witness() -> None:
    """The rule counts one node of a wheel; all others only decide that it is counted."""
    spokes = [(0, rim) for rim in range(1, 7)]
    wheel = from_edges([*spokes, *((a, a % 6 + 1) for a in range(1, 7))], 7).symmetrize()
    formula = parse("1(A(A true = 3) > 5) > 0")
    idt = from_formulas({1: formula}, otherwise=0, names=[])
    (data,) = to_pyg(wheel)
    found = explainer(to_gnn(formula), idt)(torch.ones(7, 1), data.edge_index)
    assert found.node_mask.flatten().tolist() == [1.0] + [0.5] * 6
    is_spoke = (data.edge_index == 0).any(dim=0)
    assert found.edge_mask.tolist() == [1.0 if spoke else 0.5 for spoke in is_spoke]


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


def agreement(network: Any, idt: Any, teacher: Any, graphs: Any, mode: str) -> list[bool]:
    explain = explainer(network, idt, teacher, mode=mode)
    return [explain(data.x, data.edge_index).agrees for data in to_pyg(graphs)]


def test_answers_are_compared_by_the_labels_of_the_teacher() -> None:
    """The classes of a model are sorted, those of a network are in the order of its outputs."""
    many = random_graphs(200, sizes=8, density=0.3, random_state=1)
    network, binary = to_gnn(parse("1 U0 > 3")), "binary_classification"
    teacher = Teacher(network, classes=["zz", "aa"])
    idt = distill(teacher, many, random_state=0)
    assert fidelity(idt, teacher, GRAPHS) == 1.0
    assert idt.classes_.tolist() == ["aa", "zz"]
    assert all(agreement(network, idt, teacher, GRAPHS, binary))
    wrong = Teacher(network, classes=["aa", "zz"])
    assert not any(agreement(network, idt, wrong, GRAPHS, binary))
    distiller = IDTDistiller(teacher, IDTClassifier(random_state=0)).fit(many)
    assert all(agreement(network, distiller, None, GRAPHS, binary))


def test_true_labels_that_miss_a_class_of_the_network() -> None:
    several = "multiclass_classification"
    network = to_gnn([parse("1 true > 9"), parse("1 U0 < 4"), parse("1 U0 >= 4")])
    many = random_graphs(200, sizes=8, density=0.3, random_state=1)
    labels = np.where(parse("1 U0 < 4").evaluate(many), 1, 2)
    idt = distill(network, many, labels, random_state=0)
    assert idt.classes_.tolist() == [1, 2]
    assert all(agreement(network, idt, Teacher(network), GRAPHS, several))
    # Two outputs of a network trained on 1 and 2, or three of another: nobody can tell.
    with pytest.raises(ParameterError, match=r"those of the model are \[1, 2\] and not 0, 1"):
        IDTExplainer(idt)


def test_our_own_classifiers_know_their_classes() -> None:
    many = random_graphs(200, sizes=8, density=0.3, random_state=1)
    labels = np.where(parse("1 U0 > 3").evaluate(many), 7, 5)
    gnn = GNNClassifier(n_layers=1, hidden=8, lr=0.02, max_epochs=30, random_state=0)
    idt = distill(gnn.fit(many, labels), many, random_state=0)
    agrees = agreement(gnn.module_, idt, gnn, GRAPHS, "multiclass_classification")
    assert agrees == (idt.predict(GRAPHS) == gnn.predict(GRAPHS)).tolist()
    assert np.mean(agrees) > 0.9


def test_teachers_that_cannot_be_compared() -> None:
    network = to_gnn(parse("1 U0 > 3"))
    texts = from_formulas({"yes": "1 U0 > 3"}, otherwise="no", names=["U0", "U1"])
    for teacher in (None, network):
        with pytest.raises(ParameterError, match="teacher must be given, with names"):
            IDTExplainer(texts, teacher)
    with pytest.raises(LabelError, match="the same names of classes"):
        IDTExplainer(texts, Teacher(network, classes=[0, 1]))
    two = Teacher(to_gnn([parse("1 U0 > 3")] * 3), classes=["no", "yes"])
    three = to_gnn([parse("1 true > 9"), parse("1 true > 9"), parse("1 true > 0")])
    explain = explainer(three, texts, two, mode="multiclass_classification")
    data = to_pyg(GRAPHS)[0]
    with pytest.raises(ParameterError, match="an answer of the class number 2"):
        explain(data.x, data.edge_index)


def test_of_parallel_edges_only_those_of_the_relation_are_marked() -> None:
    idt = from_formulas({1: "1(A[1] U0 > 0) > 0"}, otherwise=0, names=["U0"], relations=["0", "1"])
    explain = explainer(to_gnn(parse("1(A[1] U0 > 0) > 0")), idt)
    ends = torch.tensor([[0, 0, 1], [1, 1, 0]])
    found = explain(torch.ones(2, 1), ends, edge_type=torch.tensor([0, 1, 0]))
    assert found.edge_mask.tolist() == [0.0, 1.0, 0.0]
    # There and back in one relation, the edge is one.
    found = explain(torch.ones(2, 1), ends, edge_type=torch.tensor([0, 1, 1]))
    assert found.edge_mask.tolist() == [0.0, 1.0, 1.0]
    found = explain(torch.ones(2, 1), ends, edge_type=torch.tensor([0, 0, 0]))
    assert found.edge_mask.tolist() == [0.0, 0.0, 0.0]


def test_the_way_back_may_be_of_another_relation() -> None:
    idt = from_formulas({1: "1(A[1] U0 > 0) > 0"}, otherwise=0, names=["U0"], relations=["0", "1"])
    ends, kinds = torch.tensor([[0, 1], [1, 0]]), torch.tensor([1, 0])
    found = witnesses(idt, Data(x=torch.ones(2, 1), edge_index=ends, edge_type=kinds))
    assert found.edges.tolist() == [[0, 1]]
    assert {name: own.tolist() for name, own in found.edges_by_relation.items()} == {"1": [[0, 1]]}


def test_edges_are_marked_in_their_direction() -> None:
    formula = parse("1(A U0 > 0) > 0")
    idt = from_formulas({1: formula}, otherwise=0, names=["U0"])
    x, ends = torch.tensor([[0.0], [1.0], [0.0]]), torch.tensor([[0, 1, 2], [1, 2, 1]])
    found = explainer(to_gnn(formula), idt)(x, ends)
    assert found.edge_mask.tolist() == [1.0, 0.0, 1.0]


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


def test_a_scorecard_ranks_nodes_by_the_points_of_its_lines() -> None:
    own = random_graphs(200, sizes=8, density=0.4, random_state=1)
    network = to_gnn(parse("1 U0 > 4"))
    card = distill(network, own, into="scorecard", max_lines=1, n_layers=0, random_state=0)
    explain = explainer(network, card)
    for data in to_pyg(own)[:10]:
        found = explain(data.x, data.edge_index)
        fired = witnesses(card, data)
        assert found.node_mask.flatten().numpy() == pytest.approx(fired.node_scores)
        assert found.agrees
        assert found.label == int(data.x[:, 0].sum() > 4)
        assert (found.formula.evaluate(own) == (card.predict(own) == found.label)).all()
    distiller = ScorecardDistiller(Teacher(network, classes=["few", "many"])).fit(own)
    named = explainer(network, distiller)
    data = to_pyg(own)[0]
    assert named(data.x, data.edge_index).label in ("few", "many")
