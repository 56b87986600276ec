"""Words that all explanations share: counts, shares, labels and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gnn2logic._text import one_line
from gnn2logic.explanation.path import Condition
from gnn2logic.logic.syntax import TRUE

__all__ = [
    "ConditionWords",
    "capital",
    "count_words",
    "direction",
    "label_text",
    "percent",
    "sentence",
]


@dataclass(frozen=True)
class ConditionWords:
    """A condition, or a line with its points: in words, in logic, and what was counted."""

    number: int
    words: str
    formula: str
    count: str


def count_words(condition: Condition) -> str:
    """Return how many nodes a condition counts, of how many.

    A share is also given as the largest count that is not more than it.
    """
    count, size, threshold = condition.count, condition.size, condition.threshold
    if condition.inner is TRUE:
        return f"{count} counted"
    if not isinstance(threshold, Fraction):
        return f"{count} of {size} counted"
    share = f"{percent(count / size)}; " if size else ""
    return f"{count} of {size} counted ({share}{threshold} of {size} is {_amount(threshold, size)})"


def _amount(share: Fraction, size: int) -> str:
    exact = share * size
    return str(exact) if exact.denominator == 1 else f"{float(exact):.4g}"


def direction(condition: Condition) -> str:
    """Return whether fewer or more nodes would turn a condition."""
    return "fewer" if condition.met else "more"


def label_text(label: object) -> str:
    """Return a class in one line."""
    return one_line(str(label))


def percent(share: float) -> str:
    """Return a share in per cent; 0% and 100% mean exactly that.

    >>> percent(0.456), percent(0.9999), percent(0.0001), percent(1.0)
    ('46%', '>99%', '<1%', '100%')
    """
    number = round(share * 100)
    if number >= 100 and share < 1:
        return ">99%"
    return "<1%" if number <= 0 < share else f"{number}%"


def sentence(text: str) -> str:
    """Return English with a capital and a full stop."""
    return f"{capital(text)}."


def capital(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
