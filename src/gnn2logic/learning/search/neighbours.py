"""Formulas that differ from a given one in one place: what polishing tries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import (
    TRUE,
    And,
    Formula,
    Modal,
    Not,
    Or,
    conjunction,
    disjunction,
    modal,
    negation,
)

__all__ = ["neighbours"]

_SHARES = tuple(
    Fraction(a, b) for b in range(2, 6) for a in range(1, b) if Fraction(a, b).denominator == b
)


def neighbours(formula: Formula) -> Iterator[Formula]:
    """Give formulas with one change: a condition dropped, a threshold or a parameter changed.

    >>> from gnn2logic.logic import parse
    >>> sorted(str(other) for other in neighbours(parse("U0 & !U1")))
    ['!U0 & !U1', '!U1', 'U0', 'U0 & U1', 'U0 | !U1']
    """
    yield from dict.fromkeys(other for other in _changed(formula) if other is not formula)


def _changed(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And | Or):
        join = conjunction if isinstance(formula, And) else disjunction
        other_join = disjunction if isinstance(formula, And) else conjunction
        yield other_join(formula.children)
        for place, child in enumerate(formula.children):
            others = formula.children[:place] + formula.children[place + 1 :]
            yield join(others)
            yield join((*others, negation(child)))
            for changed in _changed(child):
                yield join((*others, changed))
    elif isinstance(formula, Not):
        for changed in _changed(formula.child):
            yield negation(changed)
    elif isinstance(formula, Modal):
        yield formula.child
        yield from _other_thresholds(formula)
        for modality in _other_parameters(formula.modality):
            yield modal(modality, formula.child, formula.threshold)
        yield modal(formula.modality, TRUE, _as_count(formula.threshold))
        for changed in _changed(formula.child):
            yield modal(formula.modality, changed, formula.threshold)


def _other_thresholds(formula: Modal) -> Iterator[Formula]:
    threshold = formula.threshold
    if isinstance(threshold, Fraction):
        near = sorted(_SHARES, key=lambda share: (abs(share - threshold), share))[:5]
        for share in near:
            yield modal(formula.modality, formula.child, share)
        for count in range(3):
            yield modal(formula.modality, formula.child, count)
    else:
        for count in range(max(0, threshold - 2), threshold + 3):
            yield modal(formula.modality, formula.child, count)
        for share in (Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)):
            yield modal(formula.modality, formula.child, share)


def _as_count(threshold: int | Fraction) -> int:
    return 2 if isinstance(threshold, Fraction) else threshold


def _other_parameters(modality: Modality) -> Iterator[Modality]:
    """Give the parameter with and without the node itself."""
    if modality.neighbours and not modality.others:
        yield Modality.from_set("A" if modality.itself else "I+A", modality.edges)
