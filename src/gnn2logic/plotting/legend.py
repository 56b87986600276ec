"""What stands below a tree: the meaning of names, and a note about what is not drawn."""

from __future__ import annotations

from collections.abc import Mapping

from gnn2logic.logic.syntax import Formula
from gnn2logic.plotting.colours import INK, QUIET
from gnn2logic.plotting.names import formula_text
from gnn2logic.plotting.sheet import LINE_HEIGHT, Sheet, Word, text_width
from gnn2logic.plotting.words import wrapped

__all__ = ["add_legend", "add_note"]

_SIZE = 9.0
_GAP = 14.0
# The legend is at least this wide, even below a narrow tree.
_NARROWEST = 330.0
_MAX_LINES = 4


def add_legend(sheet: Sheet, meanings: Mapping[str, Formula], colours: Mapping[str, str]) -> None:
    """Write what each name means below everything else; very long formulas are cut."""
    if not meanings:
        return
    left, _, right, bottom = sheet.bounds
    room = max(right - left, _NARROWEST)
    indent = max(text_width(f"{name} = ", _SIZE) for name in meanings)
    # The width of a common sign: lines are cut by their number of characters.
    characters = int((room - indent) / text_width("n", _SIZE))
    y = bottom + _GAP
    for name, formula in meanings.items():
        width = text_width(name, _SIZE)
        sheet.words.append(Word(left, y, name, _SIZE, colours.get(name, INK)))
        sheet.words.append(Word(left + width, y, " = ", _SIZE, QUIET))
        for line in wrapped(formula_text(formula), characters, _MAX_LINES):
            sheet.words.append(Word(left + indent, y, line, _SIZE))
            y += _SIZE * LINE_HEIGHT
        y += _SIZE * 0.3


def add_note(sheet: Sheet, text: str) -> None:
    """Write a line below everything else, in the middle."""
    left, _, right, bottom = sheet.bounds
    sheet.words.append(Word((left + right) / 2, bottom + _GAP, text, _SIZE, QUIET, centred=True))
