"""Reading an IDT: the formula of every column and of every class."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from gnn2logic.idt.model import IDT, InputPredicate, TrueColumn
from gnn2logic.idt.predict import used_columns
from gnn2logic.idt.tree import Tree
from gnn2logic.logic.bounds import reading_size
from gnn2logic.logic.simplification import minimised
from gnn2logic.logic.simplification.boxes import Box, Theory
from gnn2logic.logic.simplification.cover import minimal_cover
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    Constant,
    Formula,
    Not,
    predicate,
)

__all__ = ["class_formula", "column_formulas", "final_columns", "leaf_classes", "tree_size"]

# Rules for simple graphs alone are not used: a formula must agree with the model on every graph.
_THEORY = Theory(simple=False)


def leaf_classes(tree: Tree) -> list[int]:
    """Return the class of each leaf, from left to right: the heaviest, the first of equals."""
    return [int(np.argmax(tree.values[leaf])) for leaf in tree.leaves]


def class_formula(
    model: IDT, class_number: int, columns: Mapping[int, Formula] | None = None
) -> Formula:
    """Return the formula that is true exactly where the model predicts the class.

    `columns` are the formulas of the columns that the final tree looks at, if they are known.
    """
    members = [n for n, label in enumerate(leaf_classes(model.final)) if label == class_number]
    if columns is None:
        columns = final_columns(model)
    return _leaf_set_formula(model.final, members, columns)


def final_columns(model: IDT) -> dict[int, Formula]:
    """Return the formulas of the columns that the final tree looks at, and of no others."""
    wanted = sorted({split.column for split in model.final.splits if split is not None})
    formulas = column_formulas(model, wanted)
    return {column: formulas[column] for column in wanted}


def tree_size(model: IDT, columns: Mapping[int, Formula] | None = None) -> int:
    """Return the symbols of the conditions of the final tree, each once; 1 for one leaf alone.

    Where every leaf says another number, a tree is read, and not a formula for each of them.
    """
    if columns is None:
        columns = final_columns(model)
    sizes = [
        fold_modal(split.modality, columns[split.column], split.threshold, simple=False).size
        for split in model.final.splits
        if split is not None
    ]
    return sum(sizes) if sizes else 1


def column_formulas(model: IDT, wanted: Collection[int]) -> dict[int, Formula]:
    """Return the simplified formula of the wanted columns and of all that they are made from."""
    formulas: dict[int, Formula] = {}
    # Columns are numbered in the order in which they were made, so parts come first.
    for number in sorted(used_columns(model, wanted)):
        column = model.columns[number]
        if isinstance(column, TrueColumn):
            formulas[number] = TRUE
        elif isinstance(column, InputPredicate):
            formulas[number] = predicate(column.name)
        else:
            tree = model.layers[column.layer].trees[column.tree]
            formulas[number] = _leaf_set_formula(tree, column.leaves, formulas)
    return formulas


def _leaf_set_formula(
    tree: Tree, members: Collection[int], formulas: Mapping[int, Formula]
) -> Formula:
    """Return chi_M: a path is a box, and the leaves outside of M are exactly the off-set."""
    on: list[Box] = []
    off: list[Box] = []
    for leaf, path in enumerate(tree.paths()):
        box: Box | None = Box({})
        for split, value in path:
            child = formulas[split.column]
            atom = fold_modal(split.modality, child, split.threshold, simple=False)
            box = _bounded(box, atom, value) if box is not None else None
        if box is not None:
            (on if leaf in members else off).append(box)
    if not on:
        return FALSE
    if not off:
        return TRUE
    covers = (minimal_cover(on, off, _THEORY), ~minimal_cover(off, on, _THEORY))
    clearer = min(covers, key=lambda formula: (reading_size(formula), formula.size, formula.key))
    return minimised(clearer, _THEORY)


def _bounded(box: Box, atom: Formula, value: bool) -> Box | None:
    """Return the part of the box where `atom` has the value; None if there is none."""
    if isinstance(atom, Constant):
        return box if atom.value == value else None
    if isinstance(atom, Not):
        atom, value = atom.child, not value
    smaller = box.bound(atom, value)
    return smaller if _THEORY.is_possible(smaller) else None
