"""Formulas and names in pictures: a leaf set is M at leaves and χ in formulas, in its colour."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnn2logic.idt.export.view import View
from gnn2logic.idt.tree import Split
from gnn2logic.logic.printing.infix import write_infix
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.printing.text import UNICODE
from gnn2logic.logic.syntax import Formula
from gnn2logic.plotting.colours import text_colours
from gnn2logic.plotting.words import raised

__all__ = ["Names", "formula_text", "names_of", "split_text"]

# "A ⊤" is too easily read as a transposed A.
_STYLE = replace(UNICODE, true="true", false="false")


@dataclass(frozen=True)
class Names:
    """The names of leaf sets by column, and the colours of both kinds of names."""

    sets: dict[int, str]
    formulas: dict[int, str]
    colours: dict[str, str]


def names_of(view: View) -> Names:
    """Return the names of all leaf sets that a view shows."""
    sets = {column: raised("M", *place) for column, place in view.leaf_sets.items()}
    formulas = {column: raised("χ", *place) for column, place in view.leaf_sets.items()}
    order = text_colours(len(sets))
    colours = dict(zip(sets.values(), order, strict=True))
    colours.update(zip(formulas.values(), order, strict=True))
    return Names(sets, formulas, colours)


def split_text(view: View, split: Split, names: Names) -> str:
    """Return the text of a split; a leaf set is written by its name."""
    return view.write_split(split, _STYLE, names.formulas.get(split.column, ""))


def formula_text(formula: Formula) -> str:
    """Return a formula in one line, as pictures write it."""
    printed = print_named(
        formula,
        lambda node, references: write_infix(node, references, _STYLE),
        lambda number: f"${number}",
    )
    return " ".join([*(f"${n} := {text};" for n, text in printed.definitions), printed.body])
