"""How C2 formulas look on paper: derived quantifiers and few brackets.

``!exists y !phi`` reads ``forall y phi``, and ``exists>=n`` together with ``!exists>=n+1`` reads
``exists=n``. A view is a list of pieces, texts and subformulas in turn; it is the same for every
notation, and the parser turns it back into the same formula.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from gnn2logic.logic.c2.syntax import (
    C2And,
    C2Constant,
    C2Formula,
    C2Not,
    C2Or,
    C2Predicate,
    Edge,
    Equal,
    Exists,
    Variable,
)

__all__ = ["Operand", "Piece", "Quantifier", "Symbol", "Tightness", "View", "view"]


class Tightness(enum.IntEnum):
    """How tightly a text holds together; a part looser than its place needs brackets."""

    OR = 0
    AND = 1
    EQUALITY = 2
    UNIT = 3


class Symbol(enum.Enum):
    """The fixed words of a notation."""

    TRUE = "true"
    FALSE = "false"
    NOT = "not"
    AND = "and"
    OR = "or"
    EQUAL = "equal"
    UNEQUAL = "unequal"


@dataclass(frozen=True)
class Quantifier:
    """``exists`` or ``forall``, or with a relation ``exists>=n``."""

    universal: bool
    relation: str
    count: int
    variable: Variable


@dataclass(frozen=True)
class Operand:
    """A subformula and the level that its place asks for."""

    formula: C2Formula
    level: Tightness


Piece = Symbol | Quantifier | C2Predicate | Edge | Operand


@dataclass(frozen=True)
class View:
    """What to write for one formula."""

    level: Tightness
    pieces: tuple[Piece, ...]

    @property
    def formulas(self) -> tuple[C2Formula, ...]:
        """The subformulas that stand in the text."""
        return tuple(piece.formula for piece in self.pieces if isinstance(piece, Operand))


def view(node: C2Formula) -> View:
    """Return how `node` is written."""
    if isinstance(node, C2Constant):
        return View(Tightness.UNIT, (Symbol.TRUE if node.value else Symbol.FALSE,))
    if isinstance(node, C2Predicate | Edge):
        return View(Tightness.UNIT, (node,))
    if isinstance(node, Equal):
        return View(Tightness.EQUALITY, (Symbol.EQUAL,))
    if isinstance(node, C2Not):
        return _negated(node.child)
    if isinstance(node, Exists):
        return _quantified(">=", node.count, node)
    if isinstance(node, C2And):
        return _conjunction(node)
    assert isinstance(node, C2Or)
    return _joined(
        [Operand(child, Tightness.AND) for child in node.children], Symbol.OR, Tightness.OR
    )


def _quantified(relation: str, count: int, node: Exists, *, universal: bool = False) -> View:
    body = node.body
    if universal:
        assert isinstance(body, C2Not)
        body = body.child
    quantifier = Quantifier(universal, relation, count, node.variable)
    return View(Tightness.UNIT, (quantifier, Operand(body, Tightness.UNIT)))


def _negated(child: C2Formula) -> View:
    if isinstance(child, Equal):
        return View(Tightness.EQUALITY, (Symbol.UNEQUAL,))
    if isinstance(child, Exists):
        if child.count > 1:
            return _quantified("<=", child.count - 1, child)
        if isinstance(child.body, C2Not):
            return _quantified("", 0, child, universal=True)
    return View(Tightness.UNIT, (Symbol.NOT, Operand(child, Tightness.UNIT)))


def _conjunction(node: C2And) -> View:
    upper_bounds = {
        (conjunct.child.variable, conjunct.child.body, conjunct.child.count): conjunct
        for conjunct in node.children
        if isinstance(conjunct, C2Not) and isinstance(conjunct.child, Exists)
    }
    items: list[Operand | View] = []
    absorbed: set[C2Formula] = set()
    for conjunct in node.children:
        if isinstance(conjunct, Exists):
            upper = upper_bounds.get((conjunct.variable, conjunct.body, conjunct.count + 1))
            if upper is not None:
                absorbed.add(upper)
                items.append(_quantified("=", conjunct.count, conjunct))
                continue
        items.append(Operand(conjunct, Tightness.EQUALITY))
    # A bound may come before its partner in the order of parts, so they are left out only now.
    kept = [item for item in items if isinstance(item, View) or item.formula not in absorbed]
    if len(kept) == 1 and isinstance(kept[0], View):
        return kept[0]
    return _joined(kept, Symbol.AND, Tightness.AND)


def _joined(items: Sequence[Operand | View], symbol: Symbol, level: Tightness) -> View:
    pieces: list[Piece] = []
    for item in items:
        if pieces:
            pieces.append(symbol)
        pieces.extend(item.pieces if isinstance(item, View) else (item,))
    return View(level, tuple(pieces))
