"""The rules of a report: the formula of every class, and all prunings of the final tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnn2logic.explanation.parts import ShortNames
from gnn2logic.idt.rules import Rule
from gnn2logic.logic.syntax import Formula
from gnn2logic.reporting.formulas import (
    cut_text,
    formula_texts,
    logic_text,
    short_text,
    short_words,
)
from gnn2logic.reporting.subject import ReportLimits, ReportSubject

__all__ = ["class_formulas", "class_rules", "trade_off"]


def class_formulas(subject: ReportSubject) -> dict[str, Formula]:
    """Return the formula of every class by its name; the largest is the last."""
    formulas = {subject.class_names[label]: subject.idt.formula(label) for label in subject.labels}
    largest = max(formulas, key=lambda name: (formulas[name].size, formulas[name].key))
    # What is left over reads best after the others.
    return {name: formulas[name] for name in sorted(formulas, key=lambda name: name == largest)}


def class_rules(
    subject: ReportSubject,
    formulas: dict[str, Formula],
    short_names: ShortNames,
    limits: ReportLimits,
) -> list[dict[str, Any]]:
    """Return what is to say about the formula of every class; the last is what is left over."""
    comparison = subject.comparison
    label_of = {subject.class_names[label]: label for label in subject.labels}
    rules: list[dict[str, Any]] = []
    for name, formula in formulas.items():
        given = comparison.predicted == label_of[name]
        right = None if comparison.truth is None else comparison.truth == label_of[name]
        texts = formula_texts(formula) | {
            "short_words": short_words(formula, short_names),
            "short_logic": short_text(formula, short_names),
        }
        rules.append(
            {
                "class": name,
                "is_rest": len(formulas) > 1 and len(rules) == len(formulas) - 1,
                "n_predicted": int(given.sum()),
                "n_right": None if right is None else int((given & right).sum()),
                "n_true": None if right is None else int(right.sum()),
                **{
                    key: cut_text(text, limits.max_text) if isinstance(text, str) else text
                    for key, text in texts.items()
                },
            }
        )
    return rules


def trade_off(subject: ReportSubject, limits: ReportLimits) -> dict[str, Any]:
    """Return all prunings of the final tree that are small enough, the smallest first."""
    idt, comparison = subject.idt, subject.comparison
    weights = np.zeros(subject.n_rows)
    weights[comparison.rows] = 1.0

    def measured(labels: Any) -> dict[int, Rule] | None:
        if labels is None:
            return None
        every = np.zeros(len(weights), dtype=labels.dtype)
        every[comparison.rows] = labels
        return {rule.index: rule for rule in idt.rules(subject.graphs, every, weights)}

    right, alike = measured(comparison.truth), measured(comparison.teacher)
    table = idt.rules_ if right is None else list(right.values())
    rules = [rule for rule in table if rule.n_leaves <= limits.max_leaves or rule.chosen]
    rows = []
    for rule in rules:
        shown = _shown_class(rule)
        rows.append(
            {
                "index": rule.index,
                "chosen": rule.chosen,
                "n_leaves": rule.n_leaves,
                "size": rule.size,
                "modal_depth": rule.modal_depth,
                "accuracy": None if right is None else rule.accuracy,
                "fidelity": None if alike is None else alike[rule.index].accuracy,
                "class": subject.class_names[shown],
                "logic": cut_text(logic_text(rule.formulas[shown]).replace("\n", " "), 400),
            }
        )
    return {"rows": rows, "n_rules": len(table), "max_leaves": limits.max_leaves}


def _shown_class(rule: Rule) -> Any:
    """Return the class whose formula stands for a rule: the smallest."""
    return min(
        rule.formulas,
        key=lambda label: (rule.formulas[label].size, rule.formulas[label].key),
    )
