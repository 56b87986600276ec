"""The formulas that a report shows, each once, with its texts and where it comes from."""

from __future__ import annotations

from typing import Any

from gnn2logic.explanation.parts import SHORT, ShortNames
from gnn2logic.idt.formulas import column_formulas
from gnn2logic.idt.model import IDT
from gnn2logic.idt.tree import Split
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Constant, Formula
from gnn2logic.logic.walk import subformulas
from gnn2logic.plotting.legend import READABLE, formula_text

__all__ = [
    "ROLES",
    "cut_text",
    "formula_texts",
    "logic_text",
    "short_names_in",
    "short_text",
    "short_words",
    "shown_formulas",
    "split_formulas",
]

ROLES = {
    "counted": "What the final tree counts",
    "named": "ShortNames of nodes",
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
        else formula.to_english().replace("\n", " ")
    )


def formula_texts(formula: Formula) -> dict[str, Any]:
    """Return a formula in words, in logic and as LaTeX, with its size."""
    return {
        "words": formula.to_english(),
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
    classes: dict[str, Formula], splits: dict[Split, tuple[Formula, Formula]], final: set[Split]
) -> ShortNames:
    """Return names for the long parts of all that is said, in the order of reading."""
    decisions = (splits[split][0] for split in splits if split in final)
    return ShortNames.of([*classes.values(), *decisions], short=SHORT)


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
        add(subformula, "named", f"kind ({name})")
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
