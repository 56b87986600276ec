"""Texts for pictures: long texts in lines, names with marks in colour."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import NamedTuple

from gnn2logic.plotting.colours import INK

__all__ = ["Piece", "coloured", "raised", "wrapped"]

_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Piece(NamedTuple):
    """A part of a line in one colour."""

    text: str
    colour: str = INK


def raised(letter: str, low: int, high: int) -> str:
    """Return a letter with a lower and an upper index.

    >>> raised("M", 0, 12)
    'M₀¹²'
    """
    return f"{letter}{str(low).translate(_LOW)}{str(high).translate(_HIGH)}"


def wrapped(text: str, width: int, max_lines: int | None = None) -> list[str]:
    """Return the text in lines of at most `width` characters; "…" ends a text that is cut.

    Formulas are broken before a connective where that is possible.

    >>> wrapped("A U0 > 6 ∧ A U1 > 2 ∨ U2", 16)
    ['A U0 > 6', '∧ A U1 > 2 ∨ U2']
    """
    lines = [""]
    for phrase in re.split(r" (?=[∧∨] )", " ".join(text.split("\n"))):
        joined = f"{lines[-1]} {phrase}" if lines[-1] else phrase
        if len(joined) <= width:
            lines[-1] = joined
            continue
        if not lines[-1]:
            lines.pop()
        lines += textwrap.wrap(phrase, width, break_on_hyphens=False, replace_whitespace=False)
    if max_lines is not None and len(lines) > max_lines:
        lines = [*lines[: max_lines - 1], f"{lines[max_lines - 1][: width - 2]} …"]
    return lines


def coloured(line: str, colours: Mapping[str, str]) -> list[Piece]:
    """Return a line in pieces, the given words in their colours.

    >>> coloured("A x > 1", {"x": "#FF0000"})[1]
    Piece(text='x', colour='#FF0000')
    """
    if not colours:
        return [Piece(line)]
    # Longer names first: a name may begin another one.
    names = sorted(colours, key=len, reverse=True)
    texts = re.split("(" + "|".join(re.escape(name) for name in names) + ")", line)
    return [Piece(text, colours.get(text, INK)) for text in texts if text]
