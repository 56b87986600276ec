"""The formulas that a report shows, each once, with its texts; the rules of every size."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnn2logic.idt.formulas import column_formulas
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.rules import Rule
from gnn2logic.idt.tree import Split
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.steps import SHORT, ShortNames
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Constant, Formula
from gnn2logic.logic.walk import subformulas
from gnn2logic.plotting.legend import READABLE, formula_text
from gnn2logic.reporting.number_comparison import NumberComparison
from gnn2logic.reporting.subject import ReportLimits, ReportSubject

__all__ = [
    "ROLES",
    "answer_figures",
    "class_formulas",
    "class_rules",
    "cut_text",
    "formula_texts",
    "logic_text",
    "measured_row",
    "short_names_in",
    "short_text",
    "short_words",
    "shown_formulas",
    "split_formulas",
    "trade_off",
]

ROLES = {
    "counted": "What the final tree counts",
    "named": "Groups of nodes",
    "rule": "Rules",
    "decision": "Decisions of the final tree",
    "inner": "Inside of the inner trees",
    "part": "Other parts of the rules",
}
"""The roles of formulas in the order in which they are shown."""


def logic_text(formula: Formula) -> str:
    """Return a formula in mathematical Unicode; shared parts of long ones have lines of their own.

    >>> from gnn2logic.logic import parse
    >>> print(logic_text(parse("!U0 & 3 <= A true <= 11")))
    ¬U0 ∧ 3 ≤ A true ≤ 11
    """
    return formula_text(formula, "\n")


def short_text(formula: Formula, short_names: ShortNames) -> str:
    """Return a formula in mathematical Unicode, with the names of its long parts."""
    if not short_names.fit(formula):
        return logic_text(formula).replace("\n", " ")
    return short_names.logic(formula, READABLE)


def short_words(formula: Formula, short_names: ShortNames) -> str:
    """Return a formula in English, with the names of its long parts."""
    return (
        short_names.words(formula)
        if short_names.fit(formula)
        else formula.to_english(short_names.vocabulary).replace("\n", " ")
    )


def formula_texts(formula: Formula, vocabulary: Names | None = None) -> dict[str, Any]:
    """Return a formula in words, in logic and as LaTeX, with its size."""
    return {
        "words": formula.to_english(vocabulary),
        "logic": logic_text(formula),
        "text": str(formula),
        "latex": formula.to_latex(),
        "size": formula.size,
        "modal_depth": formula.modal_depth,
    }


def cut_text(text: str, limit: int) -> str:
    """Return a text in full, or its beginning with "…" at the end."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def split_formulas(model: IDT) -> dict[Split, tuple[Formula, Formula]]:
    """Return what every decision of a model says, and what it counts, the final tree first."""
    trees = [model.final, *(tree for layer in reversed(model.layers) for tree in layer.trees)]
    splits = [split for tree in trees for split in tree.splits if split is not None]
    columns = column_formulas(model, {split.column for split in splits})
    return {
        split: (
            fold_modal(split.modality, columns[split.column], split.threshold, simple=False),
            columns[split.column],
        )
        for split in splits
    }


def short_names_in(
    classes: dict[str, Formula],
    splits: dict[Split, tuple[Formula, Formula]],
    final: set[Split],
    vocabulary: Names | None = None,
) -> ShortNames:
    """Return names for the long parts of all that is said, in the order of reading."""
    decisions = (splits[split][0] for split in splits if split in final)
    return ShortNames.of([*classes.values(), *decisions], short=SHORT, vocabulary=vocabulary)


def shown_formulas(
    classes: dict[str, Formula],
    splits: dict[Split, tuple[Formula, Formula]],
    final: set[Split],
    short_names: ShortNames,
) -> dict[Formula, list[tuple[str, str]]]:
    """Return all formulas to choose from, with their roles; the most telling come first.

    A role is a key of `ROLES` and what it is in words.

    Parameters
    ----------
    classes : dict of class name to formula
    splits : dict of split to (decision, what it counts)
    final : set of split
        The decisions of the final tree.
    short_names : ShortNames
        The names of long parts.
    """
    roles_of: dict[Formula, list[tuple[str, str]]] = {}

    def add(formula: Formula, group: str, role: str) -> None:
        if not isinstance(formula, Constant):
            roles = roles_of.setdefault(formula, [])
            if (group, role) not in roles:
                roles.append((group, role))

    ours = [(split in final, decision, counted) for split, (decision, counted) in splits.items()]
    for is_final, _, counted in ours:
        if is_final:
            add(counted, "counted", "counted by the final tree")
    for subformula, name in short_names.names.items():
        add(subformula, "named", f"group ({name})")
    for name, formula in classes.items():
        add(formula, "rule", f"rule for {name}")
    for is_final, decision, _ in ours:
        if is_final:
            add(decision, "decision", "decision of the final tree")
    for is_final, decision, counted in ours:
        if not is_final:
            add(decision, "inner", "decision of an inner tree")
            add(counted, "inner", "counted by an inner tree")
    for name, formula in classes.items():
        # Parents before their parts, as one reads.
        for subformula in reversed(subformulas(formula)):
            if subformula is not formula:
                add(subformula, "part", f"part of the rule for {name}")
    return roles_of


def class_formulas(subject: ReportSubject) -> dict[str, Formula]:
    """Return the formula of every class by its name; the largest is the last."""
    formulas = {
        subject.class_names[label]: subject.predictor.formula(label) for label in subject.labels
    }
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
    label_of = {subject.class_names[label]: label for label in subject.labels}
    rules: list[dict[str, Any]] = []
    for name, formula in formulas.items():
        figures = answer_figures(subject, label_of[name])
        texts = formula_texts(formula, short_names.vocabulary) | {
            "short_words": short_words(formula, short_names),
            "short_logic": short_text(formula, short_names),
        }
        rules.append(
            {
                "class": name,
                "is_rest": len(formulas) > 1 and len(rules) == len(formulas) - 1,
                **figures,
                **{
                    key: cut_text(text, limits.max_text) if isinstance(text, str) else text
                    for key, text in texts.items()
                },
            }
        )
    return rules


def answer_figures(subject: ReportSubject, label: Any) -> dict[str, Any]:
    """Return how often an answer is given, and how right it is then."""
    comparison = subject.comparison
    given = comparison.predicted == label
    if isinstance(comparison, NumberComparison):
        right = np.zeros(0) if comparison.truth is None else comparison.truth[given]
        # The mean of what is true there is what a leaf should say.
        mean = subject.said(float(right.mean())) if len(right) else None
        return {"n_predicted": int(given.sum()), "n_right": None, "n_true": None, "mean": mean}
    true = None if comparison.truth is None else comparison.truth == label
    return {
        "n_predicted": int(given.sum()),
        "n_right": None if true is None else int((given & true).sum()),
        "n_true": None if true is None else int(true.sum()),
        "mean": None,
    }


def trade_off(subject: ReportSubject, idt: IDTPredictor, limits: ReportLimits) -> dict[str, Any]:
    """Return the rules that are small enough, the smallest first, and why one was chosen."""
    comparison = subject.comparison
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
    is_number = subject.target is not None
    for rule in rules:
        shown = _shown_class(rule)
        alike_rule = None if alike is None else alike[rule.index]
        rows.append(
            {
                "index": rule.index,
                "chosen": rule.chosen,
                "n_leaves": rule.n_leaves,
                "size": rule.size,
                "modal_depth": rule.modal_depth,
                **measured_row(is_number, None if right is None else rule, alike_rule),
                "held_out": rule.held_out,
                "class": subject.said(shown),
                "logic": cut_text(logic_text(rule.formulas[shown]).replace("\n", " "), 400),
            }
        )
    return {
        "rows": rows,
        "n_rules": len(table),
        "max_leaves": limits.max_leaves,
        "reason": idt.rules_.reason,
    }


def measured_row(is_number: bool, right: Any, alike: Any) -> dict[str, float | None]:
    """Return how a row of the trade-off does against truth and teacher, by the task's measures.

    Both have ``accuracy`` (R2 for numbers) and ``mae``, or are None.
    """
    against = {"": right, "fidelity_": alike}
    if is_number:
        return {
            f"{of}{measure}": None if row is None else getattr(row, name)
            for of, row in against.items()
            for measure, name in (("r2", "accuracy"), ("mae", "mae"))
        }
    return {
        "accuracy": None if right is None else right.accuracy,
        "fidelity": None if alike is None else alike.accuracy,
    }


def _shown_class(rule: Rule) -> Any:
    """Return the class whose formula stands for a rule: the smallest."""
    return min(
        rule.formulas,
        key=lambda label: (rule.formulas[label].size, rule.formulas[label].key),
    )
