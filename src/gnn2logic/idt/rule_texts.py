"""The table of rules as text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from gnn2logic._text import one_line
from gnn2logic.idt.rule_figures import shown_labels
from gnn2logic.idt.target import Target
from gnn2logic.logic.syntax import FALSE

if TYPE_CHECKING:
    from gnn2logic.idt.rules import Rule, RuleTable

__all__ = ["rules_to_text", "shown_classes"]

# In the table, longer formulas are cut; the chosen ones follow below it, up to the second limit.
# Lines fit a terminal, but something of every formula is seen.
_WIDTH = 80
_LEAST = 30
_SHOWN_BELOW = 3000


def rules_to_text(table: RuleTable, max_leaves: int) -> str:
    """Return the rules with few leaves, and the chosen one; a single one as it is."""
    chosen = table.chosen
    if len(table) == 1:  # nothing to weigh up
        return "\n".join(_in_full(table, list(chosen.formulas)))
    tried = any(rule.held_out is not None for rule in table)
    is_number = chosen.mae is not None
    measures = f"{'R2':>8}  {'MAE':>8}" if is_number else f"{'accuracy':>8}"
    answer = f"number{_in_unit(table)}" if is_number else "class"
    lines = [
        f"rules from small to large, > marks the chosen one; figures on the {table.data} data",
        f"{'':2}{'index':>5} {'size':>5}  {measures}  "
        f"{'held out  ' if tried else ''}{answer} (share): formula",
    ]
    in_full = False
    shown = [rule for rule in table if rule.chosen or rule.n_leaves <= max_leaves]
    for rule in shown:
        head = (
            f"{'>' if rule.chosen else ' ':2}{rule.index:>5} {rule.size:>5}  "
            f"{rule.accuracy:>8.4f}{'' if rule.mae is None else f'  {rule.mae:>8.4g}'}  "
        )
        if tried:
            head += f"{'' if rule.held_out is None else f'{rule.held_out:.4f}':>8}  "
        for number, label in enumerate(shown_classes(rule)):
            start = head if number == 0 else " " * len(head)
            # The unit is in the heading.
            name = Target().with_unit(label) if is_number else table.name_of(label)
            start += f"{name} ({rule.support[label]:.0%}): "
            line, is_cut = _cut(start, str(rule.formulas[label]))
            lines.append(line)
            in_full |= is_cut and rule.chosen
        if never := _never_answered(rule):
            lines.append(_cut(f"{' ' * len(head)}never: ", ", ".join(never))[0])
    if hidden := len(table) - len(shown):
        lines.append(f"larger rules that are not shown: {hidden}")
    if in_full:
        lines += ["the chosen rule in full", *_in_full(table, shown_classes(chosen))]
    if table.reason:
        lines += wrap(f"chosen: {table.reason}", _WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def shown_classes(rule: Rule) -> list[Any]:
    """Return the classes whose formulas are shown: see `shown_labels`.

    All numbers of a rule that predicts numbers: what the last one is would not be known.
    """
    return list(rule.formulas) if rule.mae is not None else shown_labels(rule.formulas)


def _in_unit(table: RuleTable) -> str:
    if table.target is None or table.target.unit is None:
        return ""
    return f" in {one_line(table.target.unit)}"


def _never_answered(rule: Rule) -> list[str]:
    """Return the classes that a rule never answers; of two classes the other one says it."""
    if rule.mae is not None or len(rule.formulas) == 2:
        return []
    return [one_line(str(label)) for label, phi in rule.formulas.items() if phi is FALSE]


def _in_full(table: RuleTable, labels: Sequence[Any]) -> list[str]:
    """Return one line or more for each class, cut only where nobody would read on."""
    lines = []
    for label in labels:
        formula = table.chosen.formulas[label]
        text = str(formula)
        if len(text) > _SHOWN_BELOW:
            text = f"{text[:_SHOWN_BELOW]}... (size {formula.size})"
        first, *more = text.split("\n")
        lines.extend([f"  {table.name_of(label)}: {first}", *(f"    {line}" for line in more)])
    return lines


def _cut(start: str, text: str) -> tuple[str, bool]:
    """Return a line of a terminal, and whether something of it had to be left out."""
    line, room = text.replace("\n", " "), max(_WIDTH - len(start), _LEAST)
    is_cut = len(line) > room
    return f"{start}{line[: room - 3]}..." if is_cut else f"{start}{line}", is_cut
