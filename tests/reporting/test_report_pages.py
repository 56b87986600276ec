"""The three forms of a report: the same content, nothing from outside, nothing unescaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gnn2logic.graphs import random_graphs
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.logic import predicate
from gnn2logic.logic.build import ALL
from gnn2logic.reporting import Report, report
from report_samples import graph_report, node_task

HOSTILE = "</script><script>alert(1)</script><!-- {{ 7 * 7 }} \u2028 & \"'`"


class Page(HTMLParser):
    """What a page holds: elements, attributes, texts of scripts, and all other text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.scripts: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        where = self.inside[-1] if self.inside else ""
        if where == "script":
            self.scripts.append(data)
        self.texts.setdefault(where, []).append(data)


@pytest.fixture(scope="module")
def usual() -> Report:
    return graph_report(n_examples=2, n_disagreements=2, dataset_name="busy")


@pytest.fixture(scope="module")
def hostile() -> Report:
    names = [HOSTILE, "U1"]
    formula = ALL(predicate(HOSTILE)) > 2
    idt = from_formulas({HOSTILE: formula}, otherwise="no", names=names)
    graphs = random_graphs(6, sizes=5, names=names, random_state=0)
    labels = [HOSTILE, "no"] * 3
    page: Report = report(
        idt,
        graphs,
        labels,
        teacher=labels[::-1],
        title=HOSTILE,
        dataset_name=HOSTILE,
        graph_names=[f"{HOSTILE}{number}" for number in range(6)],
    )
    return page


def test_a_page_needs_nothing_else(usual: Report) -> None:
    html = usual.to_html()
    page = Page(html)
    assert "http:" not in html
    assert "https:" not in html
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        for name, value in attributes.items():
            assert name not in {"src", "srcset", "action", "data"}
            assert not name.startswith("on")
            if name in {"href", "xlink:href"}:
                assert value is not None
                assert value.startswith("#")
    assert "@import" not in html
    assert not re.search(r"url\((?!['\"]?#)", html)


def test_the_policy_allows_our_script_alone(usual: Report) -> None:
    page = Page(usual.to_html())
    policy = next(
        attributes["content"] or ""
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    data, script = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert json.loads(data)["level"] == "graph"


def test_ids_are_unique_and_references_lead_somewhere(usual: Report) -> None:
    elements = Page(usual.to_html()).elements
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in elements:
        for name in ("href", "xlink:href"):
            if name in attributes:
                assert str(attributes[name])[1:] in ids
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(str(attributes.get(name) or "").split()) <= set(ids)


def test_texts_of_users_are_only_texts(hostile: Report) -> None:
    html = hostile.to_html()
    page = Page(html)
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert len(page.scripts) == 2
    shown = HOSTILE.replace("\u2028", "\\u2028")
    assert "".join(page.texts["title"]) == shown
    assert "".join(page.texts["h1"]) == shown
    payload = json.loads(page.scripts[0])
    assert payload["predicates"][0] == shown
    assert payload["examples"][0]["name"].startswith(shown)
    assert "\u2028" not in page.scripts[0]
    assert "<" not in page.scripts[0]
    options = {
        attributes["data-predicted"]
        for _, attributes in page.elements
        if "data-predicted" in attributes
    }
    assert shown in options
    assert "<!--" not in html
    # The template is not run twice.
    assert "49" not in "".join(page.texts["h1"])


def test_markdown_shows_texts_of_users_as_they_are(hostile: Report) -> None:
    text = hostile.to_markdown()
    outside = re.sub(r"(?ms)^(`{3,})[^\n]*\n.*?^\1$", "", text)
    assert "<script>" not in outside
    assert r"\<script\>" in outside
    heading = text.split("\n")[0]
    assert heading.startswith(r"# \</script\>\<script\>alert(1)\</script\>\<!-- \{\{ 7 \* 7")
    # A table has as many cells in every row, whatever names there are.
    for block in re.findall(r"(?m)(?:^\|.*\|$\n?)+", outside):
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in block.strip().split("\n")}
        assert len(cells) == 1


def test_json_is_the_document(usual: Report, hostile: Report, tmp_path: Path) -> None:
    for own in (usual, hostile):
        own.write_json(tmp_path / "report.json")
        text = (tmp_path / "report.json").read_text(encoding="utf-8")
        assert json.loads(text) == own.to_dict()
    assert usual.to_dict() is not usual.to_dict()


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\\", ""))


def test_all_forms_say_the_same(usual: Report) -> None:
    document = usual.to_dict()
    page = Page(usual.to_html())
    html = _words(" ".join(part for parts in page.texts.values() for part in parts))
    markdown = _words(usual.to_markdown())
    figures: list[Any] = []
    for row in document["scores"]:
        figures += [f"{row['accuracy']:.1%}", f"{row['macro_f1']:.1%}"]
    for rule in document["rules"]:
        figures += [rule["words"], rule["logic"], rule["latex"], f"of {rule['n_true']} of"][:3]
        figures.append(f"right for {rule['n_right']} of them")
    for row in document["trade_off"]["rows"]:
        figures += [f"{row['fidelity']:.1%}".replace("100.0%", "100%"), row["logic"]]
    for own in document["formulas"]:
        figures.append(own["logic"])
    for example in document["examples"]:
        figures += [example["name"], f"{example['n_nodes']} nodes, {example['n_edges']} edges"]
    figures += [*document["notes"], document["tree"], "busy", "90 graphs"]
    least = math.floor(document["scores"][0]["fidelity_at_least"] * 1000) / 10
    figures.append(f"at least {least:.1f}% on graphs like these, 95 % sure if they are fresh")
    for text in figures:
        assert _words(str(text)) in html, text
        assert _words(str(text)) in markdown, text


def test_files_are_written_whole_and_alike(usual: Report, tmp_path: Path) -> None:
    usual.write_html(tmp_path / "a.html")
    usual.write_markdown(tmp_path / "a.md")
    again = graph_report(n_examples=2, n_disagreements=2, dataset_name="busy")
    assert (tmp_path / "a.html").read_bytes().decode() == usual.to_html() == again.to_html()
    assert (tmp_path / "a.md").read_bytes().decode() == usual.to_markdown() == again.to_markdown()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md"]
    assert "Busy graphs" in repr(usual)


def test_size_is_bounded() -> None:
    idt, graphs, labels = node_task()
    small = report(idt, graphs, labels, n_examples=1, n_disagreements=0).to_html()
    large = report(idt, graphs, labels, n_examples=3, n_disagreements=0).to_html()
    assert len(small) < len(large) < 300_000


def test_pages_of_all_kinds_can_be_made() -> None:
    """Without labels, with directed and typed edges, with a constant rule, without examples."""
    graphs = random_graphs(4, sizes=5, random_state=0)
    constant = from_formulas({"yes": "true"}, otherwise="no", names=["U0", "U1"])
    for own in (report(constant, graphs), report(constant, graphs, n_examples=0)):
        assert "nothing can be compared" in own.to_html()
        assert "nothing can be compared" in own.to_markdown()


def test_half_characters_do_not_stop_a_report(tmp_path: Path) -> None:
    # Python makes them of names of files that are not UTF-8.
    found = graph_report(dataset_name="odd \udcff", graph_names=["\ud800"] * 90)
    found.write_html(tmp_path / "a.html")
    found.write_markdown(tmp_path / "a.md")
    found.write_json(tmp_path / "a.json")
    json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert "odd ?" in (tmp_path / "a.json").read_text("utf-8")
    assert "odd \\udcff" in (tmp_path / "a.html").read_text("utf-8")
    # Markdown reads two backslashes as one.
    assert "odd \\\\udcff" in (tmp_path / "a.md").read_text("utf-8")
