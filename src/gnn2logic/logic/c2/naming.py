"""Deciding which parts of a C2 formula get a name, so that shared formulas print in linear space.

A part and the same part with x and y exchanged share one name: ``$1(x)`` and ``$1(y)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from gnn2logic.logic.c2.build import Swapper
from gnn2logic.logic.c2.syntax import OTHER, C2Formula, Variable
from gnn2logic.logic.c2.views import view
from gnn2logic.logic.nodes import post_order

__all__ = ["INLINE_LIMIT", "Named", "named_subformulas"]

INLINE_LIMIT = 200
"""Formulas up to this size are printed whole; larger ones name what they share."""

_WORTH_A_NAME = 7  # smaller parts are about as short as "$12(x)"
_TOO_LONG = 12


@dataclass(frozen=True)
class Named:
    """A use of a named part: its number and the variables it is used with."""

    number: int
    variables: tuple[Variable, ...]


def named_subformulas(formula: C2Formula) -> tuple[dict[C2Formula, Named], list[C2Formula]]:
    """Return how to refer to every part that has a name, and the parts to define, in order."""
    if formula.size <= INLINE_LIMIT:
        return {}, []
    representative = _Representatives()
    root = representative(formula)
    order, below = _written_subformulas(root, representative)
    named = _shared_units(root, order, below)
    named |= _shared_pairs(order, below, named)
    references: dict[C2Formula, Named] = {}
    definitions = [node for node in order if node in named]
    for number, node in enumerate(definitions, start=1):
        references[node] = Named(number, node.free_variables)
        if node.free_variables:
            exchanged = tuple(OTHER[variable] for variable in node.free_variables)
            references.setdefault(representative.swap(node), Named(number, exchanged))
    return references, definitions


_Below = dict[C2Formula, list[C2Formula]]


def _shared_units(root: C2Formula, order: list[C2Formula], below: _Below) -> set[C2Formula]:
    """Return the shared parts with at most one free variable: these make readable definitions."""
    # From the top down: how often each part would stand in the text, given the names so far.
    occurrences = dict.fromkeys(order, 0)
    occurrences[root] = 1
    named = set()
    for node in reversed(order):
        is_unit = len(node.free_variables) < 2
        if occurrences[node] > 1 and is_unit and node.size >= _WORTH_A_NAME:
            named.add(node)
            occurrences[node] = 1
        for child in below[node]:
            occurrences[child] += occurrences[node]
    return named


def _shared_pairs(order: list[C2Formula], below: _Below, named: set[C2Formula]) -> set[C2Formula]:
    """Return the shared parts about x and y that are long although their own parts have names."""
    uses = dict.fromkeys(order, 0)
    for node in order:
        for child in below[node]:
            uses[child] += 1
    pairs: set[C2Formula] = set()
    length: dict[C2Formula, int] = {}
    for node in order:
        length[node] = 1 + sum(length[child] for child in below[node])
        if len(node.free_variables) == 2 and uses[node] > 1 and length[node] > _TOO_LONG:
            pairs.add(node)
        if node in named or node in pairs:
            length[node] = 1
    return pairs


def _written_subformulas(
    root: C2Formula, representative: _Representatives
) -> tuple[list[C2Formula], _Below]:
    """Return the parts that stand in the text, inner ones first, and what stands in each."""
    below: _Below = {}

    def written_in(node: C2Formula) -> list[C2Formula]:
        below[node] = [representative(subformula) for subformula in view(node).formulas]
        return below[node]

    return post_order([root], written_in), below


class _Representatives:
    """Picks one of a formula and its twin with x and y exchanged; a sentence is its own."""

    def __init__(self) -> None:
        self.swap = Swapper()

    def __call__(self, formula: C2Formula) -> C2Formula:
        free = formula.free_variables
        if not free or free == ("x",):
            return formula
        twin = self.swap(formula)
        return twin if free == ("y",) else min(formula, twin)
