"""Walks over C2 formulas that visit a shared part once and never recurse."""

from __future__ import annotations

from collections.abc import Callable

from gnn2logic.logic.c2.build import at_least, conjunction, disjunction, edge, negation, predicate
from gnn2logic.logic.c2.syntax import OTHER, And, C2Formula, Edge, Exists, Not, Or, Predicate

__all__ = ["Swapper", "connect", "parts"]


def parts(
    *formulas: C2Formula, into: Callable[[C2Formula], bool] = lambda node: True
) -> list[C2Formula]:
    """Return every distinct subformula once, children before parents.

    Where `into` says no, the node is listed but not what is inside of it.
    """
    done: dict[C2Formula, None] = {}
    stack: list[tuple[C2Formula, bool]] = [(formula, False) for formula in reversed(formulas)]
    while stack:
        node, children_done = stack.pop()
        if children_done:
            done[node] = None
        elif node not in done:
            stack.append((node, True))
            if into(node):
                stack.extend((child, False) for child in reversed(node.children))
    return list(done)


def connect(node: C2Formula, children: tuple[C2Formula, ...]) -> C2Formula:
    """Return the connective of `node` over other children."""
    if isinstance(node, Not):
        return negation(children[0])
    if isinstance(node, And):
        return conjunction(children)
    assert isinstance(node, Or)
    return disjunction(children)


class Swapper:
    """Exchanges x and y everywhere in formulas, free or bound, and remembers what it did.

    >>> from gnn2logic.logic.c2 import parse_c2
    >>> print(Swapper()(parse_c2("exists y E(x,y)")))
    exists x E(y,x)
    """

    def __init__(self) -> None:
        self._swapped: dict[C2Formula, C2Formula] = {}

    def __call__(self, formula: C2Formula) -> C2Formula:
        """Return the formula with x and y exchanged."""
        known = self._swapped
        if formula not in known:
            for node in parts(formula, into=lambda node: node not in known):
                if node not in known:
                    swapped = self._swap(node)
                    known[node], known[swapped] = swapped, node
        return known[formula]

    def _swap(self, node: C2Formula) -> C2Formula:
        if isinstance(node, Predicate):
            return predicate(node.name, OTHER[node.variable])
        if isinstance(node, Edge):
            return edge(OTHER[node.source], OTHER[node.target], node.relation)
        if not node.children:
            return node
        children = tuple(self._swapped[child] for child in node.children)
        if isinstance(node, Exists):
            return at_least(node.count, OTHER[node.variable], children[0])
        return connect(node, children)
