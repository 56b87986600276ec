"""Recognising comparisons: bounds of one count that people read together.

``S phi > 2`` and ``!(S phi > 11)`` in one conjunction are the interval ``3 <= S phi <= 11``. All
printers see formulas through these views; the parser turns every view back into the same formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import And, Formula, Modal, Not, Threshold

__all__ = ["Bounds", "as_bounds", "group_alternatives", "group_bounds", "reading_size"]


@dataclass(frozen=True)
class Bounds:
    """``lower < S phi <= upper``; None where there is no bound.

    With `excluded` it is the negation: any other value.
    """

    modality: Modality
    counted: Formula
    lower: Threshold | None = None
    upper: Threshold | None = None
    excluded: bool = False

    @property
    def is_count(self) -> bool:
        """Whether the bounds are numbers of nodes, not shares."""
        return isinstance(self.lower if self.upper is None else self.upper, int)

    @property
    def exactly(self) -> int | None:
        """The one count that is allowed, if there is just one."""
        if self.is_count and isinstance(self.upper, int):
            lower = -1 if self.lower is None else self.lower
            if self.upper == lower + 1:
                return self.upper
        return None


def as_bounds(formula: Formula) -> Bounds | None:
    """Return the view of a formula that is one comparison, else None."""
    if isinstance(formula, Modal):
        return Bounds(formula.modality, formula.child, lower=formula.threshold)
    if isinstance(formula, Not):
        inner = formula.child
        if isinstance(inner, Modal):
            return Bounds(inner.modality, inner.child, upper=inner.threshold)
        value = as_bounds(inner) if isinstance(inner, And) else None
        if value is not None and value.exactly is not None:
            return Bounds(value.modality, value.counted, value.lower, value.upper, excluded=True)
    if isinstance(formula, And) and len(formula.children) == 2:
        grouped = group_bounds(formula.children)
        if len(grouped) == 1 and isinstance(grouped[0], Bounds):
            return grouped[0]
    return None


def group_bounds(formulas: tuple[Formula, ...]) -> list[Formula | Bounds]:
    """Return the parts of a conjunction with each pair of bounds of one count as an interval."""
    lower: dict[tuple[Modality, Formula, bool], list[Modal]] = {}
    upper: dict[tuple[Modality, Formula, bool], list[Modal]] = {}
    for formula in formulas:
        inner = formula.child if isinstance(formula, Not) else formula
        if isinstance(inner, Modal):
            side = upper if isinstance(formula, Not) else lower
            side.setdefault((inner.modality, inner.child, inner.is_ratio), []).append(inner)
    result: list[Formula | Bounds] = []
    used: set[Formula] = set()
    for formula in formulas:
        if formula in used:
            continue
        inner = formula.child if isinstance(formula, Not) else formula
        if isinstance(inner, Modal):
            term = (inner.modality, inner.child, inner.is_ratio)
            below, above = lower.get(term, []), upper.get(term, [])
            if len(below) == len(above) == 1 and below[0].threshold < above[0].threshold:
                used.update((below[0], ~above[0]))
                result.append(Bounds(*term[:2], below[0].threshold, above[0].threshold))
                continue
        result.append(formula)
    return result


def group_alternatives(formulas: tuple[Formula, ...]) -> list[Formula | Bounds]:
    """Return the parts of a disjunction with "few or many" of one count as an interval denied.

    >>> from gnn2logic.logic import parse
    >>> [bounds] = group_alternatives(parse("A U0 < 2 | A U0 > 5").children)
    >>> bounds.lower, bounds.upper, bounds.excluded
    (1, 5, True)
    """
    denied = group_bounds(tuple(~formula for formula in formulas))
    if len(denied) == len(formulas):
        return list(formulas)
    return [
        replace(member, excluded=True) if isinstance(member, Bounds) else ~member
        for member in denied
    ]


def reading_size(formula: Formula) -> int:
    """Return how much there is to read: like the size, but an interval counts as one comparison.

    What is counted inside of a comparison goes in with its plain size.

    >>> from gnn2logic.logic import parse
    >>> reading_size(parse("A U1 != 1")), reading_size(parse("A U1 = 0 | A U1 > 1"))
    (2, 5)
    """
    total = 0
    stack: list[Formula | Bounds] = [formula]
    while stack:
        operand = stack.pop()
        bounds = operand if isinstance(operand, Bounds) else as_bounds(operand)
        if bounds is not None:
            total += bounds.counted.size + 1
        elif isinstance(operand, Formula):
            operands: Sequence[Formula | Bounds] = operand.children
            if isinstance(operand, And):
                operands = group_bounds(operand.children)
            total += max(len(operands) - 1, 1)
            stack.extend(operands)
    return total
