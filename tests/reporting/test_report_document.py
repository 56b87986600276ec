"""What reports say, against figures that are worked out in other ways."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

import oracle
from gnn2logic import datasets
from gnn2logic.exceptions import GraphError, LabelError, ParameterError, UnsupportedInputError
from gnn2logic.explanation import explain, witnesses
from gnn2logic.graphs import from_edges, random_graphs
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier
from gnn2logic.logic import parse
from gnn2logic.logic.documents import formula_to_document
from gnn2logic.reporting import report
from report_samples import graph_report, graph_task, long_report, node_task
from strategies import KINDS, NAMES, RELATIONS, formulas, plain_graphs, to_batch


def lit(example: dict[str, Any], number: int) -> list[int]:
    """Return the nodes at which a formula is true."""
    nodes, bits = example["drawing"]["nodes"], example["truth"][number]
    return [node for node, bit in zip(nodes, bits, strict=True) if bit == "1"]


def test_figures_are_those_of_scikit_learn() -> None:
    idt, graphs, truth, teacher = graph_task()
    found = graph_report().to_dict()
    predicted = idt.predict(graphs)
    common = np.full(90, Counter(truth.tolist()).most_common(1)[0][0])
    assert found["baseline"] == {"class": common[0], "of": "truth"}
    for row, labels in zip(found["scores"], (predicted, teacher, common), strict=True):
        assert row["accuracy"] == pytest.approx(accuracy_score(truth, labels))
        assert row["macro_f1"] == pytest.approx(
            f1_score(truth, labels, average="macro", zero_division=0)
        )
        assert row["fidelity"] == pytest.approx(accuracy_score(teacher, labels))
        assert row["n_right"] == round(row["accuracy"] * 90)
    assert [row["who"] for row in found["scores"]] == ["rule", "teacher", "baseline"]
    order = ["busy", "calm"]
    assert found["confusion"] == {
        "classes": order,
        "counts": confusion_matrix(truth, predicted, labels=order).tolist(),
    }
    assert found["agreement"]["counts"] == (
        confusion_matrix(teacher, predicted, labels=order).tolist()
    )
    # All three differ, so that no figure can stand in for another.
    assert len({row["accuracy"] for row in found["scores"]}) == 3


def test_rules_are_those_of_the_model() -> None:
    idt, graphs, truth, teacher = graph_task()
    found = graph_report().to_dict()
    predicted = idt.predict(graphs)
    assert {rule["class"] for rule in found["rules"]} == {"busy", "calm"}
    assert [rule["is_rest"] for rule in found["rules"]] == [False, True]
    for rule in found["rules"]:
        formula = idt.formula(rule["class"])
        assert parse(rule["text"]) is formula
        assert parse(rule["logic"]) is formula
        assert rule["words"] == formula.to_english()
        assert rule["latex"] == formula.to_latex()
        assert rule["n_predicted"] == (predicted == rule["class"]).sum()
        assert rule["n_true"] == (truth == rule["class"]).sum()
        assert rule["n_right"] == ((predicted == rule["class"]) & (truth == predicted)).sum()
    table = found["trade_off"]
    assert table["n_rules"] == len(idt.rules_)
    assert [row["index"] for row in table["rows"] if row["chosen"]] == [idt.chosen_]
    for row in table["rows"]:
        other = idt.pick(row["index"])
        assert row["accuracy"] == pytest.approx(other.score(graphs, truth))
        assert row["fidelity"] == pytest.approx(np.mean(other.predict(graphs) == teacher))
        assert row["n_leaves"] == other.model_.final.n_leaves


def test_what_was_distilled() -> None:
    idt, graphs, truth, teacher = graph_task()
    data = graph_report(dataset_name="busy").to_dict()["data"]
    assert (data["name"], data["n_graphs"], data["n_nodes"]) == ("busy", 90, 720)
    assert data["n_edges"] == graphs.n_edges // 2
    assert data["nodes_per_graph"] == {"smallest": 8, "mean": 8.0, "largest": 8}
    assert data["predicates"] == ["U0", "U1"]
    predicted = idt.predict(graphs)
    assert data["classes"] == [
        {
            "name": name,
            "n_true": int((truth == name).sum()),
            "n_predicted": int((predicted == name).sum()),
            "n_teacher": int((teacher == name).sum()),
        }
        for name in ("busy", "calm")
    ]
    assert graph_report().to_dict()["model"]["settings"]["width"] == 4


def test_examples_are_of_every_class_and_show_disagreements() -> None:
    idt, graphs, truth, teacher = graph_task()
    found = graph_report(n_examples=3, n_disagreements=4).to_dict()
    predicted = idt.predict(graphs)
    examples = found["examples"]
    assert len({example["graph"] for example in examples}) == len(examples)
    for name in ("busy", "calm"):
        assert sum(example["true"] == name for example in examples) >= 3
    differing = [example for example in examples if example["differs"]]
    assert len(differing) >= 4
    assert len(examples) <= 2 * 3 + 4
    for example in examples:
        graph = example["graph"]
        answers = (example["true"], example["predicted"], example["teacher"])
        assert answers == (truth[graph], predicted[graph], teacher[graph])
        assert example["differs"] == (predicted[graph] != teacher[graph])
    total = int((predicted != teacher).sum())
    assert f"{len(differing)} of the {total} on which rule and teacher differ" in found["notes"][0]
    same = graph_report(n_examples=3, n_disagreements=4).to_dict()
    assert same == found
    other = graph_report(n_examples=3, n_disagreements=4, random_state=1).to_dict()
    assert other["examples"] != examples
    assert {**other, "examples": 0, "notes": 0} == {**found, "examples": 0, "notes": 0}


def test_decisions_are_those_of_the_path() -> None:
    idt, graphs, _, _ = graph_task()
    small = idt.prune()
    document = graph_report().to_dict()
    for example in document["examples"]:
        path = witnesses(small, graphs[example["graph"]]).conditions
        assert len(example["decisions"]) == len(path)
        for decision, condition in zip(example["decisions"], path, strict=True):
            assert decision["count"] == condition.count
            assert decision["size"] == condition.size
            assert decision["met"] == condition.met
            assert decision["threshold"] == str(condition.threshold)
            text = document["formulas"][decision["counted"]]["text"]
            assert parse(text) is condition.inner


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_formulas_light_up_where_the_oracle_says(kind: str, data: st.DataObject) -> None:
    plain = data.draw(plain_graphs(kind))
    if kind == "typed" and not plain.edges:
        return
    relations = RELATIONS if kind == "typed" else ()
    formula = data.draw(formulas(relations=relations, max_steps=6))
    level: Any = data.draw(st.sampled_from(["graph", "node"]))
    idt = from_formulas(
        {"yes": formula}, otherwise="no", names=NAMES, relations=relations, level=level
    )
    graphs = to_batch(plain)
    found = report(idt, graphs, n_examples=1).to_dict()
    texts = [own["text"] for own in found["formulas"]]
    assert len(set(texts)) == len(texts)
    for example in found["examples"]:
        row = 0 if level == "graph" else example["node"]
        assert example["predicted"] == idt.predict(graphs)[row]
        for number, text in enumerate(texts):
            truth = oracle.truth(formula_to_document(parse(text)), plain)
            assert lit(example, number) == [node for node, on in enumerate(truth) if on]
            assert example["counts"][number] == sum(truth)
    drawn = {tuple(edge[:2]) for edge in found["examples"][0]["drawing"]["edges"]}
    edges = {(source, target) for source, target, _ in plain.edges}
    if not graphs.is_symmetric:
        assert drawn == edges
    else:
        assert drawn == {(a, b) for a, b in edges if a <= b}


def test_nodes_are_examples_of_a_node_model() -> None:
    idt, graphs, labels = node_task()
    mask = np.arange(graphs.n_nodes) % 3 > 0
    found = report(idt, graphs, labels, mask=mask, n_examples=2).to_dict()
    predicted = idt.predict(graphs)
    assert found["level"] == "node"
    assert found["data"]["n_rows"] == mask.sum() == 72
    rule = found["scores"][0]
    assert rule["accuracy"] == pytest.approx(np.mean(predicted[mask] == labels[mask]))
    chosen = next(row for row in found["trade_off"]["rows"] if row["chosen"])
    assert chosen["accuracy"] == pytest.approx(rule["accuracy"])
    assert Counter(example["true"] for example in found["examples"]) >= Counter(
        ["far", "hub", "near"] * 2
    )
    for example in found["examples"]:
        row = graphs.ptr[example["graph"]] + example["node"]
        assert mask[row]
        assert (example["true"], example["predicted"]) == (labels[row], predicted[row])
        assert example["name"] == f"Graph {example['graph']}, node {example['node']}"
        for number, own in enumerate(found["formulas"]):
            truth = parse(own["text"]).evaluate(graphs[example["graph"]], level="node")
            assert lit(example, number) == np.flatnonzero(truth).tolist()
    assert any("one node" in note for note in found["notes"])


def test_large_graphs_are_cut_but_counted_whole() -> None:
    graphs = random_graphs(3, sizes=80, density=0.05, random_state=0)
    idt = from_formulas({"yes": "1(A U0 > 1) > 9"}, otherwise="no", names=["U0", "U1"])
    found = report(idt, graphs, max_nodes=20).to_dict()
    inner = parse("A U0 > 1")
    number = [own["text"] for own in found["formulas"]].index("A U0 > 1")
    assert found["examples"]
    for example in found["examples"]:
        drawing = example["drawing"]
        assert len(drawing["nodes"]) == len(drawing["x"]) == 20
        truth = inner.evaluate(graphs[example["graph"]], level="node")
        assert example["counts"][number] == truth.sum()
        assert lit(example, number) == [node for node in drawing["nodes"] if truth[node]]
        degrees = np.diff(graphs[example["graph"]].adjacency.indptr)
        assert int(np.argmax(degrees)) in drawing["nodes"]
    assert any("20 nodes nearest" in note for note in found["notes"])


def test_nothing_is_claimed_without_labels() -> None:
    idt, graphs, truth, teacher = graph_task()
    bare = report(idt, graphs).to_dict()
    assert bare["confusion"] is bare["agreement"] is bare["baseline"] is bare["teacher"] is None
    assert [row["who"] for row in bare["scores"]] == ["rule"]
    assert bare["scores"][0]["accuracy"] is bare["scores"][0]["fidelity"] is None
    assert all(row["accuracy"] is row["fidelity"] is None for row in bare["trade_off"]["rows"])
    assert not any(example["differs"] for example in bare["examples"])
    only_teacher = report(idt, graphs, teacher=teacher).to_dict()
    assert only_teacher["confusion"] is None
    assert only_teacher["baseline"]["of"] == "teacher"
    only_truth = report(idt, graphs, truth, n_disagreements=2).to_dict()
    wrong = [own for own in only_truth["examples"] if own["differs"]]
    assert wrong
    assert all(own["true"] != own["predicted"] for own in wrong)


def test_data_sets_bring_their_names() -> None:
    data = datasets.load("psi_1", n_graphs=40)
    idt = IDTClassifier(n_layers=1, random_state=0).fit(data.graphs, data.y)
    found = report(idt, data, n_examples=1).to_dict()
    assert found["title"] == "Rules for graphs: psi_1"
    assert [own["name"] for own in found["data"]["classes"]] == ["false", "true"]
    assert found["scores"][0]["accuracy"] == idt.score(data.graphs, data.y)
    renamed = report(idt, data, class_names={0: "nay"}, graph_names=range(100, 140), n_examples=1)
    assert [own["name"] for own in renamed.to_dict()["data"]["classes"]] == ["nay", "1"]
    example = renamed.to_dict()["examples"][0]
    assert example["name"] == str(example["graph"] + 100)


def test_labels_that_the_model_does_not_know_are_shown() -> None:
    idt = from_formulas({1: "1 U0 > 0"}, otherwise=0, names=["U0"])
    graphs = from_edges([(0, 1)], 2, [[1], [0]], names=["U0"])
    found = report(idt, graphs, [7]).to_dict()
    assert found["confusion"]["classes"] == ["0", "1", "7"]
    assert found["confusion"]["counts"] == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert found["scores"][0]["accuracy"] == 0


def test_wrong_arguments_are_refused() -> None:
    idt, graphs, truth, _ = graph_task()
    with pytest.raises(UnsupportedInputError, match="model must be a fitted"):
        report("model", graphs)
    with pytest.raises(NotFittedError):
        report(IDTClassifier(), graphs)
    with pytest.raises(LabelError, match="Got 3 labels for 90 graphs"):
        report(idt, graphs, truth[:3])
    with pytest.raises(LabelError, match="y must use the names of the classes"):
        report(idt, graphs, np.zeros(90, dtype=int))
    with pytest.raises(LabelError, match="The labels of the teacher"):
        report(idt, graphs, truth, teacher=truth[:4])
    with pytest.raises(UnsupportedInputError, match="A teacher must be"):
        report(idt, graphs, truth, teacher=3)
    with pytest.raises(ParameterError, match="n_examples must be a whole number"):
        report(idt, graphs, truth, n_examples=-1)
    with pytest.raises(ParameterError, match="mask is for models that classify nodes"):
        report(idt, graphs, truth, mask=np.ones(90, dtype=bool))
    with pytest.raises(GraphError, match="one name for each of the 90 graphs"):
        report(idt, graphs, truth, graph_names=["a"])
    with pytest.raises(LabelError, match="class_names must be distinct"):
        report(idt, graphs, truth, class_names=["same", "same"])
    with pytest.raises(LabelError, match="one name for each of the 2 classes"):
        report(idt, graphs, truth, class_names=["one"])


def test_a_teacher_may_be_a_network() -> None:
    pytest.importorskip("torch_geometric", reason="networks need the extra 'torch'")
    from gnn2logic.distillation import IDTDistiller
    from gnn2logic.models.formula_network import to_gnn

    idt, graphs, _, _ = graph_task()
    numbered = from_formulas({1: idt.formula("busy")}, otherwise=0, names=["U0", "U1"])
    network = to_gnn(parse("1(A U0 > 2) > 4"))
    found = report(numbered, graphs, teacher=network, n_examples=1).to_dict()
    expected = parse("1(A U0 > 2) > 4").evaluate(graphs)
    assert found["scores"][0]["fidelity"] == np.mean(numbered.predict(graphs) == expected)
    assert found["teacher"]["name"] == type(network).__name__
    distiller = IDTDistiller(
        network, IDTClassifier(algorithm="layers", width=2, random_state=0)
    ).fit(graphs)
    own = report(distiller, graphs, teacher=network, n_examples=1).to_dict()
    assert own["scores"][0]["fidelity"] == distiller.score(graphs)


def test_reports_need_no_torch() -> None:
    code = (
        "import sys\n"
        "from gnn2logic import from_formulas, random_graphs\n"
        "from gnn2logic.reporting import report\n"
        "idt = from_formulas({1: '1(A U0 > 1) > 2'}, otherwise=0, names=['U0', 'U1'])\n"
        "graphs = random_graphs(4, sizes=5, random_state=0)\n"
        "report(idt, graphs, [0, 1, 0, 1], teacher=[0, 0, 0, 1]).to_html()\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_long_parts_have_names() -> None:
    found, _ = long_report()
    document = found.to_dict()
    names = {group["name"]: group for group in document["groups"]}
    assert list(names) == list("abcdefgh")[: len(names)]
    rule = document["rules"][0]
    assert len(rule["short_words"]) < len(rule["words"]) / 2

    def written_out(text: str) -> str:
        meaning = lambda match: f"({written_out(names[match[1]]['logic'])})"  # noqa: E731
        return re.sub(r"\(([a-z])\)", meaning, text)

    # The names stand for what they say they do.
    signs = str.maketrans({"∧": "&", "∨": "|", "¬": "!", "≤": "<=", "≠": "!="})
    assert parse(written_out(rule["short_logic"]).translate(signs)) is parse(rule["text"])
    for group in document["groups"]:
        own = document["formulas"][group["formula"]]
        assert own["name"] == group["name"]
        assert parse(written_out(group["logic"]).translate(signs)) is parse(own["text"])
    for text in (found.to_html(), found.to_markdown()):
        for group in document["groups"]:
            assert group["words"] in text


@pytest.mark.parametrize("level", ["graph", "node"])
def test_decisions_and_changes_are_those_of_explain(level: str) -> None:
    if level == "graph":
        idt, graphs, truth, teacher = graph_task()
        found = report(idt, graphs, truth, teacher=teacher).to_dict()
    else:
        idt, graphs, truth = node_task()
        found = report(idt, graphs, truth).to_dict()
    for example in found["examples"]:
        why = explain(idt, graphs[example["graph"]], node=example["node"])
        assert example["predicted"] == why.label
        said = [
            (own["count"], own["size"], own["threshold"], own["met"], own["margin"])
            for own in example["decisions"]
        ]
        assert said == [
            (own.count, own.size, str(own.threshold), own.met, own.margin) for own in why.conditions
        ]
        assert [(own["class"], own["total"]) for own in example["flips"]] == [
            (own.label, own.total) for own in why.flips
        ]
        for ours, theirs in zip(example["flips"], why.flips, strict=True):
            assert [(own["before"], own["after"]) for own in ours["changes"]] == [
                (own.before, own.after) for own in theirs.changes
            ]


def test_rules_of_a_search_say_how_they_did_on_held_out_data_and_why_one_was_chosen() -> None:
    graphs = random_graphs(120, sizes=8, density=0.4, random_state=0)
    labels = parse("1 U0 > 4 & 1 U1 > 2").evaluate(graphs)
    idt = IDTClassifier(0, random_state=0).fit(graphs, labels)
    page = report(idt, graphs, labels)
    table = page.to_dict()["trade_off"]
    assert [row["held_out"] for row in table["rows"]] == [rule.held_out for rule in idt.rules_]
    assert table["reason"] == idt.rules_.reason != ""
    for text in (page.to_markdown(), page.to_html()):
        assert f"The chosen one is {idt.rules_.reason}" in text
        assert "Held out" in text
