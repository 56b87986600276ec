"""Colours that are told apart with every common kind of colour blindness (Okabe and Ito's)."""

from __future__ import annotations

from itertools import cycle, islice

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
    "class_colours",
    "text_colours",
    "tint",
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
