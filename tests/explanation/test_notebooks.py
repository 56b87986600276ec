"""What notebooks show of formulas, rules, models and explanations."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sklearn import config_context

from gnn2logic import load
from gnn2logic.explanation import explain
from gnn2logic.graphs import from_edges, random_graphs
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier
from gnn2logic.logic import parse, predicate

EVIL = "<script>alert('x')</script>"


class Tags(HTMLParser):
    """Collects tags, texts and texts in attributes, and checks that tags are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.rows: list[dict[str, str | None]] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append(dict(attrs))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def small_model() -> IDTClassifier:
    graphs = random_graphs(120, random_state=0)
    y = parse("1 U0 > 5").evaluate(graphs)
    return IDTClassifier(n_layers=0, relative=False, random_state=0).fit(graphs, y)


def test_formulas() -> None:
    formula = parse("1(A U0 > 6) > 1/2 & 1 U1 < 3")
    shown = Tags(formula._repr_html_())
    assert formula.to_unicode() in shown.text
    assert formula.to_english() in shown.text
    assert formula._repr_latex_() == f"${formula.to_latex()}$"


def test_names_are_escaped_everywhere() -> None:
    formula = predicate(EVIL)
    html = formula._repr_html_()
    assert "script" not in Tags(html).tags
    assert EVIL in Tags(html).text
    model = from_formulas({EVIL: f'1 "{EVIL}" > 1'}, otherwise="</p>&", names=[EVIL])
    graph = from_edges([(0, 1)], 2, [[1], [1]], names=[EVIL])
    shown: Any
    for shown in (model, model.rules_, explain(model, graph, model)):
        tags = Tags(shown._repr_html_())
        assert "script" not in tags.tags
        assert EVIL in tags.text
        assert "<script" not in shown._repr_html_()


def test_the_chosen_rule_is_marked() -> None:
    model = small_model()
    rules = model.rules_
    assert len(rules) > 1
    tags = Tags(rules._repr_html_())
    chosen = [row for row in tags.rows if row.get("aria-current") == "true"]
    assert len(chosen) == 1
    assert rules.chosen.formulas[True].to_unicode() in tags.text
    other = Tags(model.pick(rules[0].index).rules_._repr_html_())
    marked = [row.get("aria-current") for row in other.rows]
    assert marked.index("true") == 1


def test_many_leaves_are_left_out() -> None:
    from gnn2logic.idt.export.html import rules_to_html

    rules = small_model().rules_
    html = rules_to_html(rules, max_leaves=1)
    larger = sum(rule.n_leaves > 1 and not rule.chosen for rule in rules)
    assert (f"{larger} larger rules are not shown." in html) == (larger > 0)
    assert len(Tags(html).rows) == 1 + len(rules) - larger


def test_estimators_show_settings_before_and_rules_after_fit(tmp_path: Path) -> None:
    before = IDTClassifier(n_layers=0, algorithm="layers", width=7)
    theirs: Any = before
    assert "sk-" in theirs._repr_html_()
    assert "sk-" in theirs._repr_mimebundle_()["text/html"]
    model = small_model()
    shown = Tags(model._repr_html_())
    assert "IDT for graphs: 2 classes, 0 inner layers" in shown.text
    assert "table" in shown.tags
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json")._repr_html_() == model._repr_html_()


def test_explanations_say_the_same_as_their_text() -> None:
    model = small_model()
    found = explain(model, random_graphs(1, random_state=3))
    tags = Tags(found._repr_html_())
    for line in found.to_text().split("\n"):
        words = line.strip(" -").removeprefix("1. ")
        if words and "by" not in words.split():
            assert words in tags.text


def test_a_deep_formula_is_quick() -> None:
    formula = parse("U0")
    for _ in range(60):
        formula = parse("A U0 > 1") & (predicate("U1") | ~formula)
    assert len(formula._repr_html_()) < 100_000
