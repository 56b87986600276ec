"""HTML for notebooks: the table of rules, and a fitted model."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gnn2logic.idt.rule_texts import shown_classes
from gnn2logic.idt.rules import Rule, RuleTable
from gnn2logic.logic.printing.english import to_english
from gnn2logic.logic.printing.molecules import molecule_names
from gnn2logic.logic.printing.steps import in_steps
from gnn2logic.logic.printing.text import to_unicode

if TYPE_CHECKING:
    from gnn2logic.idt.predictor import IDTPredictor

__all__ = ["model_to_html", "rules_to_html"]

# Colours are left to the page, so that dark pages stay dark.
_LEFT = "text-align:left;vertical-align:top"
_RIGHT = "text-align:right;vertical-align:top"
_LONGEST = 300


def rules_to_html(rules: RuleTable, max_leaves: int = 8) -> str:
    """Return the rules with few leaves, and the chosen one, as a table; all names are escaped.

    >>> from gnn2logic.idt.from_formulas import from_formulas
    >>> model = from_formulas({"large": "1 true > 12"}, otherwise="small", names=[])
    >>> "there are more than 12 nodes" in rules_to_html(model.rules_)
    True
    """
    shown = [rule for rule in rules if rule.chosen or rule.n_leaves <= max_leaves]
    measures = ("accuracy",) if rules.chosen.mae is None else ("R2", "MAE")
    tried = ("held out",) if any(rule.held_out is not None for rule in rules) else ()
    answer = "class" if rules.chosen.mae is None else "number"
    titles = ("", "index", "size", *measures, *tried, answer, "share", "formula")
    heads = "".join(f'<th style="{_LEFT}">{title}</th>' for title in titles)
    rows = "".join(_rows(rule, rules) for rule in shown)
    hidden = len(rules) - len(shown)
    note = f"<p>{hidden} larger rules are not shown.</p>" if hidden else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}"


def model_to_html(model: IDTPredictor) -> str:
    """Return a fitted model: what it is, the table of rules, and the chosen rule in words."""
    table = model.rules_
    chosen = table.chosen
    names = molecule_names(model.encoder_.names_)
    said = {label: in_steps(chosen.formulas[label], names) for label in shown_classes(chosen)}
    words = "".join(
        f"<p><b>{escape(table.name_of(label))}</b>: {_lines(text)}</p>"
        for label, text in said.items()
    )
    target = model.target
    answers = "classes" if target is None else "numbers"
    title = (
        f"IDT for {model.model_.level}s: {len(model.classes_)} {answers}, "
        f"{model.n_layers_} inner layers"
    )
    if target is not None:
        title += f", {escape(str(target))}"
    return f"<div><p>{title}</p>{rules_to_html(table)}{words}</div>"


def _rows(rule: Rule, rules: RuleTable) -> str:
    labels = shown_classes(rule)
    start = ' style="font-weight:bold" aria-current="true"' if rule.chosen else ""
    mark = '<span title="the chosen rule">&#9654;</span>' if rule.chosen else ""
    measured = [f"{rule.accuracy:.4f}", *([] if rule.mae is None else [f"{rule.mae:.4g}"])]
    if any(other.held_out is not None for other in rules):
        measured.append("" if rule.held_out is None else f"{rule.held_out:.4f}")
    numbers = (rule.index, rule.size, *measured)
    span = f' rowspan="{len(labels)}"'
    head = f'<td{span} style="{_LEFT}">{mark}</td>' + "".join(
        f'<td{span} style="{_RIGHT}">{number}</td>' for number in numbers
    )
    rows = []
    for number, label in enumerate(labels):
        formula = rule.formulas[label]
        rows.append(
            f"<tr{start}>{head if number == 0 else ''}"
            f'<td style="{_LEFT}">{escape(rules.name_of(label))}</td>'
            f'<td style="{_RIGHT}">{rule.support[label]:.0%}</td>'
            f'<td style="{_LEFT}" title="{_cut(to_english(formula))}">'
            f"<code>{_lines(_short(to_unicode(formula)))}</code></td></tr>"
        )
    return "".join(rows)


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _cut(text: str) -> str:
    return escape(_short(text))
