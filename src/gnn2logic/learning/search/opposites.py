"""The shortest ways to say a formula and its opposite, by the laws of De Morgan."""

from __future__ import annotations

from functools import lru_cache

from gnn2logic.logic.syntax import (
    And,
    Constant,
    Formula,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)

__all__ = ["opposite", "opposite_size", "shortened"]


@lru_cache(maxsize=1 << 15)
def opposite(formula: Formula) -> Formula:
    """Return the negation of a formula, with the signs inside where that is shorter.

    >>> from gnn2logic.logic import parse
    >>> str(opposite(parse("!U0 | !U1"))), str(opposite(parse("U0 | U1")))
    ('U0 & U1', '!(U0 | U1)')
    """
    outside = negation(formula)
    if not isinstance(formula, And | Or):
        return outside
    join = disjunction if isinstance(formula, And) else conjunction
    inside = join(opposite(child) for child in formula.children)
    return inside if inside.size < outside.size else outside


def opposite_size(formula: Formula) -> int:
    """Return the size of the opposite, without making it where that is a matter of one sign."""
    if isinstance(formula, And | Or | Not | Constant):
        return opposite(formula).size
    return formula.size + 1


def shortened(formula: Formula) -> Formula:
    """Return a formula, or the negation of its opposite where that is shorter.

    >>> from gnn2logic.logic import parse
    >>> str(shortened(parse("!U0 | !U1"))), str(shortened(parse("!(!U0 | !U1)")))
    ('!(U0 & U1)', 'U0 & U1')
    """
    if isinstance(formula, Not):
        return opposite(formula.child)
    if not isinstance(formula, And | Or):
        return formula
    twice = negation(opposite(formula))
    return twice if twice.size < formula.size else formula
