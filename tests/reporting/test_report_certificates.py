"""Certificates in reports: what each grade proves, in HTML and Markdown."""

from __future__ import annotations

import html
from typing import Any

import pytest

import gnn2logic as gl
from gnn2logic.exceptions import ParameterError
from report_samples import graph_report

PLAIN = {"grade": "statistical", "holds": None, "statement": "Both agree on 98 % of <these>."}


def certificates() -> list[Any]:
    rule = gl.from_formulas({1: "1 U0 > 1"}, otherwise=0, names=["U0"])
    network = gl.to_gnn(gl.parse("1 U0 > 1"), names=["U0"])
    graphs = gl.random_graphs(30, sizes=4, names=["U0"], random_state=0)
    other = gl.to_gnn(gl.parse("1 U0 > 2"), names=["U0"])
    return [
        gl.certify(rule, network, graphs),
        gl.certify(rule, network, grade="exhaustive", max_nodes=2),
        gl.certify(rule, other, grade="exhaustive", max_nodes=3),
    ]


def test_every_grade_is_repeated_word_by_word() -> None:
    shown = certificates()
    page = graph_report(certificates=shown)
    text, markup = page.to_markdown(), html.unescape(page.to_html())
    for certificate in shown:
        assert certificate.statement in markup
        assert certificate.statement.split(":")[0] in text.replace("\\", "")
    for words in (
        "A sample: no difference was seen",
        "Every small graph: they agree",
        "Every small graph: they differ",
    ):
        assert words in text
        assert words in markup
    entries = page.to_dict()["certificates"]
    assert [entry["grade"] for entry in entries] == ["statistical", "exhaustive", "exhaustive"]


def test_plain_data_is_enough_and_is_escaped() -> None:
    page = graph_report(certificates=[PLAIN])
    assert "of &lt;these&gt;." in page.to_html()
    assert "How sure it is" not in graph_report().to_html()


@pytest.mark.parametrize(
    "wrong", ["yes", PLAIN, 3, [3], [{"grade": "best"}], [{**PLAIN, "holds": "yes"}]]
)
def test_other_things_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="certificates must"):
        graph_report(certificates=wrong)
