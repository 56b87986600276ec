"""The formulas that a report shows, each once, with its texts and where it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gnn2logic.explanation.parts import SHORT, Kinds
from gnn2logic.idt.formulas import column_formulas
from gnn2logic.idt.model import IDT
from gnn2logic.idt.tree import Split
from gnn2logic.logic.printing.infix import write_infix
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.printing.text import UNICODE
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Constant, Formula
from gnn2logic.logic.walk import subformulas

__all__ = [
    "ROLES",
    "cut_text",
    "formula_texts",
    "kinds_in",
    "logic_text",
    "short_text",
    "short_words",
    "shown_formulas",
    "split_formulas",
]

ROLES = {
    "counted": "What the final tree counts",
    "named": "Kinds of nodes",
    "rule": "Rules",
    "decision": "Decisions of the final tree",
    "inner": "Inside of the inner trees",
    "part": "Other parts of the rules",
}
"""The kinds of formulas in the order in which they are shown."""

# "A ⊤" is too easily read as a transposed A.
_STYLE = replace(UNICODE, true="true", false="false")


def logic_text(formula: Formula) -> str:
    """Return a formula in mathematical Unicode; shared parts of long ones have lines of their own.

    >>> from gnn2logic.logic import parse
    >>> print(logic_text(parse("!U0 & 3 <= A true <= 11")))
    ¬U0 ∧ 3 ≤ A true ≤ 11
    """
    printed = print_named(
        formula,
        lambda node, references: write_infix(node, references, _STYLE),
        lambda number: f"${number}",
    )
    return "\n".join([*(f"${n} := {text};" for n, text in printed.definitions), printed.body])


def short_text(formula: Formula, kinds: Kinds) -> str:
    """Return a formula in mathematical Unicode, with the names of its long parts."""
    if not kinds.fit(formula):
        return logic_text(formula).replace("\n", " ")
    return kinds.logic(formula, _STYLE)


def short_words(formula: Formula, kinds: Kinds) -> str:
    """Return a formula in English, with the names of its long parts."""
    return kinds.words(formula) if kinds.fit(formula) else formula.to_english().replace("\n", " ")


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


def kinds_in(
    classes: dict[str, Formula], splits: dict[Split, tuple[Formula, Formula]], final: set[Split]
) -> Kinds:
    """Return names for the long parts of all that is said, in the order of reading."""
    decisions = (splits[split][0] for split in splits if split in final)
    return Kinds.of([*classes.values(), *decisions], short=SHORT)


def shown_formulas(
    classes: dict[str, Formula],
    splits: dict[Split, tuple[Formula, Formula]],
    final: set[Split],
    kinds: Kinds,
) -> dict[Formula, list[tuple[str, str]]]:
    """Return all formulas to choose from, with their roles; the most telling come first.

    A role is its kind (a key of `ROLES`) and what it is in words.

    Parameters
    ----------
    classes : dict of class name to formula
    splits : dict of split to (decision, what it counts)
    final : set of split
        The decisions of the final tree.
    kinds : Kinds
        The names of long parts.
    """
    found: dict[Formula, list[tuple[str, str]]] = {}

    def add(formula: Formula, kind: str, role: str) -> None:
        if not isinstance(formula, Constant):
            roles = found.setdefault(formula, [])
            if (kind, role) not in roles:
                roles.append((kind, role))

    ours = [(split in final, decision, counted) for split, (decision, counted) in splits.items()]
    for is_final, _, counted in ours:
        if is_final:
            add(counted, "counted", "counted by the final tree")
    for part, name in kinds.names.items():
        add(part, "named", f"kind ({name})")
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
        for part in reversed(subformulas(formula)):
            if part is not formula:
                add(part, "part", f"part of the rule for {name}")
    return found
