"""Reports of scorecards: the same facts in HTML, Markdown and JSON, and sums that add up."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gnn2logic import (
    ScorecardClassifier,
    ScorecardNodeClassifier,
    parse,
    random_graphs,
    report,
)
from gnn2logic.graphs import GraphBatch

GRAPHS = random_graphs(200, sizes=9, density=0.3, random_state=0)
TRUTH = np.where(
    2 * parse("1 U0 > 4").evaluate(GRAPHS).astype(int)
    + parse("1 U1 > 5").evaluate(GRAPHS)
    - parse("1(A true > 4) > 0").evaluate(GRAPHS)
    > 0,
    "<active>",
    "inactive",
)


@pytest.fixture(scope="module")
def model() -> ScorecardClassifier:
    return ScorecardClassifier(max_lines=4, n_layers=1, random_state=0).fit(GRAPHS, TRUTH)


def test_the_document_says_what_the_card_says(model: ScorecardClassifier) -> None:
    teacher = np.where(GRAPHS.column("U0").reshape(200, 9).sum(axis=1) > 4, "<active>", "inactive")
    page = report(model, GRAPHS, TRUTH, teacher=teacher, n_examples=3, n_disagreements=2)
    document = page.to_dict()
    assert json.loads(page.to_json()) == json.loads(json.dumps(document))
    card = document["card"]
    assert [line["points"] for line in card["lines"]] == [
        list(points) for line in model.lines_ for _, points in line.cases
    ]
    assert document["model"]["n_lines"] == len(model.lines_)
    assert document["title"] == "A network as a scorecard"
    rows = document["trade_off"]["rows"]
    assert [row["n_lines"] for row in rows] == [row.n_lines for row in model.path_]
    for row in rows:
        other = model.pick(row["index"])
        assert row["accuracy"] == pytest.approx(other.score(GRAPHS, TRUTH))
        assert row["fidelity"] == pytest.approx(np.mean(other.predict(GRAPHS) == teacher))
        assert row["chosen"] == (row["index"] == model.path_.chosen)
    scores = model.decision_function(GRAPHS)
    points = model.points(GRAPHS)
    for example in document["examples"]:
        number = example["graph"]
        assert example["score"]["scores"] == [scores[number]]
        fired = {decision["line"] for decision in example["decisions"]}
        assert fired == set((np.flatnonzero(points[number]) + 1).tolist())
        assert example["predicted"] == model.predict(GRAPHS)[number]


def test_pages_have_the_table_and_escape_names(model: ScorecardClassifier) -> None:
    page = report(model, GRAPHS, TRUTH, n_examples=2)
    html, markdown = page.to_html(), page.to_markdown()
    assert "<active>" not in html
    assert "&lt;active&gt;" in html
    assert "The Iterated Decision Tree" not in html
    assert "The Iterated Decision Tree" not in markdown
    for line in page.to_dict()["card"]["lines"]:
        assert f"{line['points'][0]:+d}" in html
        assert f"| {line['points'][0]:+d} |" in markdown
    assert html.count('class="bar"') >= len(model.lines_)
    assert "Scorecard against truth" in markdown


def test_nodes_with_many_classes() -> None:
    degree = np.asarray(GRAPHS.adjacency.sum(axis=1)).ravel()
    labels = np.where(degree > 3, 2, GRAPHS.column("U0").astype(int))
    model = ScorecardNodeClassifier(max_lines=3, n_layers=0, random_state=0).fit(GRAPHS, labels)
    few: GraphBatch = GRAPHS[:10]
    page = report(model, few, labels[: few.n_nodes], n_examples=1, class_names=["a", "b", "c"])
    document = page.to_dict()
    assert document["card"]["columns"] == ["a", "b", "c"]
    assert document["card"]["meanings"] == []
    for example in document["examples"]:
        row = int(few.ptr[example["graph"]]) + example["node"]
        assert example["score"]["scores"] == model.decision_function(few)[row].tolist()
    assert "the class with the most points" in page.to_markdown()


def test_one_line_is_told_as_one_rule(model: ScorecardClassifier) -> None:
    page = report(model.pick(n_lines=1), GRAPHS, TRUTH, n_examples=0)
    rule = page.to_dict()["card"]["one_rule"]
    assert rule["text"] == str(model.pick(n_lines=1).formula(rule["class"]))
    assert "One line is one rule" in page.to_html()
    assert "One line is one rule" in page.to_markdown()
    assert report(model.pick(n_lines=2), GRAPHS, n_examples=0).to_dict()["card"]["one_rule"] is None


def test_a_card_without_lines(model: ScorecardClassifier) -> None:
    page = report(model.pick(n_lines=0), GRAPHS, TRUTH, n_examples=1)
    assert "no lines: the score is always the same" in page.to_html()
    assert "from a score of" not in page.to_html()
