"""The names of leaf sets in pictures of trees, and what stands below: their meaning, and a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gnn2logic.idt.export.view import ModelView
from gnn2logic.idt.tree import Split
from gnn2logic.logic.printing.infix import write_infix
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.printing.text import UNICODE
from gnn2logic.logic.syntax import Formula
from gnn2logic.plotting.sheet import LINE_HEIGHT, Sheet, Word, text_width
from gnn2logic.plotting.words import INK, QUIET, raised, text_colours, wrapped

__all__ = ["READABLE", "Names", "add_legend", "add_note", "formula_text", "names_of", "split_text"]

# "A ⊤" is too easily read as a transposed A.
READABLE = replace(UNICODE, true="true", false="false")


@dataclass(frozen=True)
class Names:
    """The names of leaf sets by column, and the colours of both names."""

    sets: dict[int, str]
    formulas: dict[int, str]
    colours: dict[str, str]


def names_of(view: ModelView) -> Names:
    """Return the names of all leaf sets that a view shows."""
    sets = {column: raised("M", *numbers) for column, numbers in view.leaf_sets.items()}
    formulas = {column: raised("χ", *numbers) for column, numbers in view.leaf_sets.items()}
    order = text_colours(len(sets))
    colours = dict(zip(sets.values(), order, strict=True))
    colours.update(zip(formulas.values(), order, strict=True))
    return Names(sets, formulas, colours)


def split_text(view: ModelView, split: Split, names: Names) -> str:
    """Return the text of a split; a leaf set is written by its name."""
    return view.write_split(split, READABLE, names.formulas.get(split.column, ""))


def formula_text(formula: Formula, between: str = " ") -> str:
    """Return a formula as pictures and reports write it, with `between` after each shared part."""
    printed = print_named(
        formula,
        lambda node, references: write_infix(node, references, READABLE),
        lambda number: f"${number}",
    )
    return between.join([*(f"${n} := {text};" for n, text in printed.definitions), printed.body])


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
    is_cut = False
    for name, formula in meanings.items():
        width = text_width(name, _SIZE)
        sheet.words.append(Word(left, y, name, _SIZE, colours.get(name, INK)))
        sheet.words.append(Word(left + width, y, " = ", _SIZE, QUIET))
        lines = wrapped(formula_text(formula), characters, _MAX_LINES)
        is_cut |= len(lines) == _MAX_LINES and lines[-1].endswith(" …")
        for line in lines:
            sheet.words.append(Word(left + indent, y, line, _SIZE))
            y += _SIZE * LINE_HEIGHT
        y += _SIZE * 0.3
    if is_cut:
        note = "… is where a formula is too long for a picture: export_text writes it out"
        sheet.words.append(Word(left, y, note, _SIZE, QUIET))


def add_note(sheet: Sheet, text: str) -> None:
    """Write a line below everything else, in the middle."""
    left, _, right, bottom = sheet.bounds
    sheet.words.append(Word((left + right) / 2, bottom + _GAP, text, _SIZE, QUIET, centred=True))
