"""Texts and colours for pictures: long texts in lines, names with marks in colour."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import cycle, islice
from typing import NamedTuple

__all__ = [
    "BLUE",
    "EDGE",
    "FAINT",
    "GREEN",
    "INK",
    "ORANGE",
    "PAPER",
    "PURPLE",
    "QUIET",
    "SKY",
    "VERMILLION",
    "YELLOW",
    "Piece",
    "class_colours",
    "coloured",
    "raised",
    "text_colours",
    "tint",
    "wrapped",
]

ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"

INK = "#1A1A1A"
QUIET = "#595959"
EDGE = "#8C8C8C"
FAINT = "#D0D0D0"
PAPER = "#FFFFFF"

_FILLS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW)
# The same hues, dark enough to be read as text on white (4.5 to 1 at least).
_TEXTS = (BLUE, "#B34E00", "#007856", "#A0437A", "#806000")


def class_colours(count: int) -> list[str]:
    """Return a colour for each class; they repeat after seven, so names must be written too."""
    return list(islice(cycle(_FILLS), count))


def text_colours(count: int) -> list[str]:
    """Return a colour for each of some words; they repeat after five."""
    return list(islice(cycle(_TEXTS), count))


def tint(colour: str, strength: float) -> str:
    """Return the colour mixed with white; strength 1 leaves it as it is.

    >>> tint("#0072B2", 0.0), tint("#0072B2", 1.0)
    ('#FFFFFF', '#0072B2')
    """
    channels = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - channel) * strength):02X}" for channel in channels)


_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SIGN_AT_END = re.compile(r" ([<>≤≥=≠])\Z")
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
    >>> wrapped("A(A U0 > 1/2) > 1/2", 16)
    ['A(A U0 > 1/2)', '> 1/2']
    >>> wrapped("A number_of_bonds > 2", 16)
    ['A', 'number_of_bonds', '> 2']
    """
    lines = [""]
    for phrase in re.split(r" (?=[∧∨] )", " ".join(text.split("\n"))):
        joined = f"{lines[-1]} {phrase}" if lines[-1] else phrase
        if len(joined) <= width:
            lines[-1] = joined
            continue
        if not lines[-1]:
            lines.pop()
        lines += _filled(phrase, width)
    if max_lines is not None and len(lines) > max_lines:
        lines = [*lines[: max_lines - 1], f"{lines[max_lines - 1][: width - 2]} …"]
    return lines


def _filled(text: str, width: int) -> list[str]:
    """Return the words in lines; what is longer than a line is broken after a mark within it."""
    lines = [""]
    for word in text.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] else word
        if len(line) > width >= len(word):
            lines.append(word)
            continue
        lines.pop()
        while len(line) > width:
            marked = max(line.rfind(mark, 0, width) for mark in "_=.-/") + 1
            # Far from the end of the line a mark would leave half of it empty.
            end = marked if marked > width // 2 else width
            lines.append(line[:end])
            line = line[end:]
        lines.append(line)
    for number, line in enumerate(lines[1:], 1):
        # A comparison stays with its number.
        sign = _SIGN_AT_END.search(lines[number - 1])
        if sign is not None and len(line) + 2 <= width and line[:1].isdigit():
            lines[number - 1] = lines[number - 1][: sign.start()]
            lines[number] = f"{sign[1]} {line}"
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
