"""Two-level minimisation: from a Boolean formula to few large boxes, as Espresso does.

1. Split on atoms until every path ends in true or false: on-boxes and off-boxes.
2. EXPAND each on-box: drop a bound when the larger box meets no off-box.
3. IRREDUNDANT: choose the cheapest set of expanded boxes that covers the on-boxes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from gnn2logic.logic.simplification.boxes import Box, Theory
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    Constant,
    Formula,
    Modal,
    Not,
    Predicate,
    disjunction,
)
from gnn2logic.logic.walk import substitute

__all__ = ["assume", "atoms_of", "minimal_cover", "split_into_boxes"]

MAX_BOXES = 128
"""Formulas with more paths than this are left as they are."""

_MAX_STEPS = 2_000

_MAX_EXACT = 12
"""Up to this many boxes the cheapest cover is found exactly; beyond it, greedily."""


def atoms_of(formula: Formula) -> list[Formula]:
    """Return the predicates and comparisons that `formula` combines, in stable order."""
    atoms: set[Formula] = set()
    seen: set[Formula] = set()
    stack = [formula]
    while stack:
        node = stack.pop()
        if isinstance(node, Modal | Predicate):
            atoms.add(node)
        elif node not in seen:
            seen.add(node)
            stack.extend(node.children)
    return sorted(atoms)


def split_into_boxes(formula: Formula, theory: Theory) -> tuple[list[Box], list[Box]] | None:
    """Return disjoint boxes where `formula` is true and where it is false.

    Returns None when there would be more than `MAX_BOXES`.
    """
    on: list[Box] = []
    off: list[Box] = []
    stack = [(formula, Box({}))]
    while stack:
        rest, box = stack.pop()
        if isinstance(rest, Constant):
            if theory.is_possible(box):
                (on if rest.value else off).append(box)
            if len(on) + len(off) > MAX_BOXES:
                return None
            continue
        atoms = atoms_of(rest)
        for value in (False, True):
            half = box.bound(atoms[0], value)
            stack.append((assume(rest, half, theory), half))
    return on, off


def assume(formula: Formula, box: Box, theory: Theory) -> Formula:
    """Return the formula with every atom replaced whose value the box settles."""
    atoms = atoms_of(formula)
    settled: dict[Formula, Formula] = {}
    for atom in atoms:
        nearby = theory.related_bounds(box, theory.term(atom))
        if not nearby.intervals:
            continue
        if not theory.is_possible(nearby.bound(atom, True)):
            settled[atom] = FALSE
        elif not theory.is_possible(nearby.bound(atom, False)):
            settled[atom] = TRUE
    return substitute(formula, settled, stop=set(atoms))


def minimal_cover(on: Sequence[Box], off: Sequence[Box], theory: Theory) -> Formula:
    """Return a small disjunction of boxes, true on all of `on` and false on all of `off`."""
    primes: list[Box] = []
    for box in on:
        prime = _expand(box, off, theory)
        # Boxes are compared, not formulas: `U & V` as one bound and as two read the same, but only
        # one of the two is seen to contain the box that it was made from.
        if prime not in primes:
            primes.append(prime)
    boxes = sorted(primes, key=lambda prime: prime.formula)
    chosen = [prime.formula for prime in boxes]
    pieces = _pieces(on, boxes, theory)
    if pieces is None:
        pieces = _minimal({frozenset(_around(box, boxes)): None for box in on})
    return disjunction(chosen[number] for number in _cheapest(chosen, pieces))


def _expand(box: Box, off: Sequence[Box], theory: Theory) -> Box:
    # The most expensive bounds go first: what is left at the end is small and shallow.
    for term, side, _ in reversed(box.bounds):
        larger = box.without(term, side)
        if all(
            larger.is_apart(other) or not theory.is_possible(larger.meet(other)) for other in off
        ):
            box = larger
    return box


def _around(box: Box, primes: Sequence[Box]) -> list[int]:
    """Return the primes that contain the whole box."""
    return [number for number, prime in enumerate(primes) if prime.contains(box)]


def _pieces(
    on: Sequence[Box], primes: Sequence[Box], theory: Theory
) -> list[frozenset[int]] | None:
    """Cut the on-boxes along the primes; return which primes hold each piece.

    Returns None when there would be too many pieces: with whole boxes in place of pieces a cover is
    found as well, only not always the cheapest.
    """
    holders: dict[frozenset[int], None] = {}
    steps = 0
    stack = [(box, 0, frozenset[int]()) for box in reversed(on)]
    while stack:
        piece, number, inside = stack.pop()
        steps += 1
        if steps > _MAX_STEPS:
            return None
        # What a prime does not touch stays whole.
        while number < len(primes) and primes[number].is_apart(piece):
            number += 1
        if number == len(primes):
            holders[inside] = None
            continue
        for term, _, literal in primes[number].bounds:
            # The piece was possible before, so only what the new bound touches can rule it out.
            outside = _bounded(piece, literal, negated=True)
            if theory.is_possible(theory.related_bounds(outside, term)):
                stack.append((outside, number + 1, inside))
            piece = _bounded(piece, literal, negated=False)
            if not theory.is_possible(theory.related_bounds(piece, term)):
                break
        else:
            stack.append((piece, number + 1, inside | {number}))
    return _minimal(holders)


def _minimal(holders: Mapping[frozenset[int], None]) -> list[frozenset[int]]:
    """Drop a piece that more primes hold than another one: it is covered whenever that one is."""
    return [primes for primes in holders if not any(other < primes for other in holders)]


def _bounded(box: Box, literal: Formula, *, negated: bool) -> Box:
    positive = not isinstance(literal, Not)
    atom = literal if positive else literal.children[0]
    return box.bound(atom, positive != negated)


def _cheapest(primes: Sequence[Formula], pieces: Sequence[frozenset[int]]) -> list[int]:
    """Return the numbers of primes that hold every piece, of the smallest total size."""
    needed = sorted({next(iter(piece)) for piece in pieces if len(piece) == 1})
    left = [piece for piece in pieces if not piece & set(needed)]
    useful = sorted(set().union(*left)) if left else []
    if len(useful) <= _MAX_EXACT:
        best: tuple[int, tuple[int, ...]] | None = None
        for count in range(len(useful) + 1):
            for choice in itertools.combinations(useful, count):
                if all(piece & set(choice) for piece in left):
                    cost = sum(primes[number].size + 1 for number in choice)
                    if best is None or (cost, choice) < best:
                        best = (cost, choice)
        assert best is not None
        return [*needed, *best[1]]
    chosen = list(needed)
    while left:
        number = max(useful, key=lambda n: (sum(n in piece for piece in left), -primes[n].size, -n))
        chosen.append(number)
        left = [piece for piece in left if number not in piece]
    return chosen
