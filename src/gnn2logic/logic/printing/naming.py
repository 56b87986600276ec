"""Deciding which subformulas get a name, so that shared formulas print in linear space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gnn2logic.logic.bounds import as_bounds
from gnn2logic.logic.syntax import And, Formula, Modal, Or
from gnn2logic.logic.walk import subformulas

__all__ = ["INLINE_LIMIT", "Printed", "named_subformulas", "print_named"]

_MAX_HEIGHT = 60

INLINE_LIMIT = 200
"""Formulas up to this size are printed whole; larger ones name what they share."""


@dataclass(frozen=True)
class Printed:
    """A formula in text: the definitions it needs, in order, and its own text."""

    definitions: tuple[tuple[int, str], ...]
    body: str


def named_subformulas(formula: Formula) -> dict[Formula, int]:
    """Return the subformulas to name, numbered from 1 in order of definition.

    >>> from gnn2logic.logic import parse
    >>> named_subformulas(parse("A U0 > 1"))
    {}
    """
    if formula.size <= INLINE_LIMIT:
        return {}
    nodes = subformulas(formula)
    shared = _shared(formula, nodes)
    named = shared | _breaks(formula, nodes, shared)
    return {node: number for number, node in enumerate((n for n in nodes if n in named), start=1)}


def _shared(formula: Formula, nodes: list[Formula]) -> set[Formula]:
    """Return what would stand in the text more than once."""
    # From the top down: how often each node would stand in the text, given the names so far.
    occurrences = dict.fromkeys(nodes, 0)
    occurrences[formula] = 1
    named: set[Formula] = set()
    for node in reversed(nodes):
        if occurrences[node] > 1 and _may_be_named(node):
            named.add(node)
            occurrences[node] = 1
        for child in node.children:
            occurrences[child] += occurrences[node]
    return named


def _breaks(formula: Formula, nodes: list[Formula], named: set[Formula]) -> set[Formula]:
    """Return where to break formulas that nest very deeply, for readers and for memory."""
    other_uses = {child for node in nodes if not isinstance(node, Modal) for child in node.children}
    heights: dict[Formula, int] = {}
    breaks: set[Formula] = set()
    for node in nodes:
        height = 1 + max((heights[child] for child in node.children), default=0)
        # A comparison may be named where it is counted, but not where it is one of several bounds.
        may_be = _may_be_named(node) or (isinstance(node, Modal) and node not in other_uses)
        if height >= _MAX_HEIGHT and may_be and node is not formula:
            breaks.add(node)
        heights[node] = 0 if node in breaks or node in named else height
    return breaks


def _may_be_named(node: Formula) -> bool:
    # Comparisons read best in place, next to their other bounds. They never branch, so naming the
    # conjunctions and disjunctions alone keeps the text linear in the number of nodes.
    return isinstance(node, And | Or) and as_bounds(node) is None and node.size > 3


def print_named(
    formula: Formula,
    write: Callable[[Formula, dict[Formula, str]], str],
    name: Callable[[int], str],
) -> Printed:
    """Print every named subformula and the formula itself.

    Parameters
    ----------
    write : callable
        Called with a node and the texts of the subformulas that have a name.
    name : callable
        The text that stands for the named subformula of a number.
    """
    numbers = named_subformulas(formula)
    references: dict[Formula, str] = {}
    definitions = []
    for node, number in numbers.items():
        definitions.append((number, write(node, references)))
        references[node] = name(number)
    return Printed(tuple(definitions), write(formula, references))
