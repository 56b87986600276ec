"""Which formulas of a rule people read, and how much that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnn2logic.logic.syntax import FALSE, Formula

__all__ = ["shown_labels", "shown_size"]


def shown_labels(formulas: Mapping[Any, Formula]) -> list[Any]:
    """Return the labels that are answered at all, but the one with the largest formula.

    That one is what is left over; `false` would be read for nothing.
    """
    answered = [label for label in formulas if formulas[label] is not FALSE] or list(formulas)
    if len(answered) == 1:
        return answered
    largest = max(answered, key=lambda label: (formulas[label].size, formulas[label].key))
    return [label for label in answered if label != largest]


def shown_size(formulas: Mapping[Any, Formula]) -> int:
    """Return how many symbols people read: the size of all formulas that are shown.

    >>> from gnn2logic.logic import parse
    >>> shown_size({"no": parse("1 U0 < 3"), "yes": parse("1 U0 > 2"), "never": parse("false")})
    2
    """
    return sum(formulas[label].size for label in shown_labels(formulas))
