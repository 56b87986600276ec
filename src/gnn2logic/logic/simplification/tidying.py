"""Rules for one conjunction or disjunction at a time, cheap enough for thousands of parts."""

from __future__ import annotations

from collections.abc import Iterable

from gnn2logic.logic.simplification.boxes import Box, Theory
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Formula,
    Modal,
    Not,
    Or,
    Predicate,
    conjunction,
    disjunction,
    negation,
)

__all__ = ["tidied"]


def tidied(formula: Formula, theory: Theory) -> Formula:
    """Return a combination without contradictions, implied bounds and absorbed parts."""
    if isinstance(formula, And):
        result = _conjunction(formula.children, theory)
    elif isinstance(formula, Or):
        # A disjunction is the negation of the conjunction of the negations.
        flipped = _conjunction([_flipped(disjunct) for disjunct in formula.children], theory)
        result = _negated_inside(flipped)
    else:
        return formula
    return result if result.size < formula.size else formula


def _flipped(formula: Formula) -> Formula:
    """Return the negation with a disjunction or conjunction turned into its dual."""
    if isinstance(formula, And):
        return disjunction(negation(child) for child in formula.children)
    if isinstance(formula, Or):
        return conjunction(negation(child) for child in formula.children)
    return negation(formula)


def _negated_inside(formula: Formula) -> Formula:
    """Return the negation, two levels of it pushed inside."""
    if isinstance(formula, And):
        return disjunction(_flipped(child) for child in formula.children)
    return _flipped(formula)


def _conjunction(conjuncts: Iterable[Formula], theory: Theory) -> Formula:
    literals: list[Formula] = []
    others: list[Formula] = []
    for conjunct in conjunction(conjuncts).children or [conjunction(conjuncts)]:
        (literals if _atom(conjunct) is not None else others).append(conjunct)
    box = _box(literals)
    if not theory.is_possible(box):
        return FALSE
    kept = _without_implied(box, theory)
    smaller = [_under(conjunct, box, theory) for conjunct in others]
    if any(conjunct is FALSE for conjunct in smaller):
        return FALSE
    result = conjunction([*kept.literals(), *_not_absorbed(smaller)])
    # A part that shrank to a literal is a bound like the others, and may settle more.
    has_new_bound = any(_atom(conjunct) is not None for conjunct in smaller)
    return _conjunction([result], theory) if has_new_bound and isinstance(result, And) else result


def _atom(literal: Formula) -> Formula | None:
    inner = literal.child if isinstance(literal, Not) else literal
    return inner if isinstance(inner, Modal | Predicate) else None


def _box(literals: Iterable[Formula]) -> Box:
    box = Box({})
    for literal in literals:
        atom = _atom(literal)
        assert atom is not None
        box = box.bound(atom, not isinstance(literal, Not))
    return box


def _without_implied(box: Box, theory: Theory) -> Box:
    """Drop bounds that the other bounds imply, the most expensive first."""
    for term, side, literal in reversed(box.bounds):
        smaller = box.without(term, side)
        atom = _atom(literal)
        assert atom is not None
        related = theory.related_bounds(smaller, term)
        if not theory.is_possible(related.bound(atom, isinstance(literal, Not))):
            box = smaller
    return box


def _under(conjunct: Formula, box: Box, theory: Theory) -> Formula:
    """Return a disjunction as it is inside of the box: members that cannot be true are dropped."""
    if not isinstance(conjunct, Or):
        return conjunct
    left = []
    for member in conjunct.children:
        literals = member.children if isinstance(member, And) else (member,)
        atoms = [_atom(literal) for literal in literals]
        if all(atom is not None for atom in atoms):
            settled = [_settled(literal, box, theory) for literal in literals]
            if any(value is False for value in settled):
                continue
            member = conjunction(
                literal for literal, value in zip(literals, settled, strict=True) if value is None
            )
        left.append(member)
    return disjunction(left)


def _settled(literal: Formula, box: Box, theory: Theory) -> bool | None:
    """Return the value of a literal inside of a box, None if it may have both."""
    atom, positive = _atom(literal), not isinstance(literal, Not)
    assert atom is not None
    nearby = theory.related_bounds(box, theory.term(atom))
    if not theory.is_possible(nearby.bound(atom, positive)):
        return False
    return True if not theory.is_possible(nearby.bound(atom, not positive)) else None


def _not_absorbed(conjuncts: list[Formula]) -> list[Formula]:
    """Drop a disjunction that has all members of another one, and `true`."""
    members = [
        frozenset(conjunct.children) if isinstance(conjunct, Or) else frozenset([conjunct])
        for conjunct in conjuncts
    ]
    return [
        conjunct
        for conjunct, mine in zip(conjuncts, members, strict=True)
        if conjunct is not TRUE and not any(other < mine for other in members)
    ]
