"""Walks over formulas that visit a shared subformula once and never recurse."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TypeVar

from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.logic.nodes import post_order
from gnn2logic.logic.syntax import (
    And,
    Formula,
    Modal,
    Not,
    Or,
    Predicate,
    conjunction,
    disjunction,
    modal,
    negation,
)

__all__ = ["fold", "predicate_names", "rebuild", "relation_names", "subformulas", "substitute"]

Value = TypeVar("Value")


def subformulas(*formulas: Formula, stop: Container[Formula] = ()) -> list[Formula]:
    """Return every distinct subformula once, children before parents.

    What is inside of a formula in `stop` is left out.

    >>> from gnn2logic.logic import parse
    >>> [str(part) for part in subformulas(parse("U0 & A U0 > 6"))]
    ['U0', 'A U0 > 6', 'U0 & A U0 > 6']
    """
    for formula in formulas:
        if not isinstance(formula, Formula):
            raise UnsupportedInputError(
                f"A formula was expected. Got {type(formula).__name__} instead; parse(text) makes "
                "one from text."
            )
    return post_order(formulas, lambda node: () if node in stop else node.children)


def fold(formula: Formula, combine: Callable[[Formula, tuple[Value, ...]], Value]) -> Value:
    """Compute a value bottom-up: ``combine(node, values of its children)``, once per node."""
    values: dict[Formula, Value] = {}
    for node in subformulas(formula):
        values[node] = combine(node, tuple(values[child] for child in node.children))
    return values[formula]


def rebuild(node: Formula, children: Iterable[Formula]) -> Formula:
    """Return `node` with other children."""
    new_children = tuple(children)
    if new_children == node.children:
        return node
    if isinstance(node, Not):
        return negation(new_children[0])
    if isinstance(node, And):
        return conjunction(new_children)
    if isinstance(node, Or):
        return disjunction(new_children)
    assert isinstance(node, Modal)
    return modal(node.modality, new_children[0], node.threshold)


def substitute(
    formula: Formula, replacements: Mapping[Formula, Formula], *, stop: Container[Formula] = ()
) -> Formula:
    """Replace subformulas; what was put in is not searched again, nor what is inside of `stop`.

    >>> from gnn2logic.logic import parse, predicate
    >>> print(substitute(parse("A U0 > 6"), {predicate("U0"): parse("true")}))
    A true > 6
    """
    new: dict[Formula, Formula] = {}
    for node in subformulas(formula, stop=stop):
        replacement = replacements.get(node)
        if replacement is None:
            replacement = (
                node if node in stop else rebuild(node, [new[child] for child in node.children])
            )
        new[node] = replacement
    return new[formula]


def predicate_names(*formulas: Formula) -> tuple[str, ...]:
    """Return the names of all predicates in use, sorted."""
    nodes = subformulas(*formulas)
    return tuple(sorted({node.name for node in nodes if isinstance(node, Predicate)}))


def relation_names(*formulas: Formula) -> tuple[str, ...]:
    """Return the names of all typed edge relations in use, sorted."""
    names = {
        node.modality.edges.relation for node in subformulas(*formulas) if isinstance(node, Modal)
    }
    return tuple(sorted(name for name in names if name is not None))
