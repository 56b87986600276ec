"""What is read from a fitted model: its layers, and formulas and rules while it is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.export.text import CHI, tree_to_text
from gnn2logic.idt.formulas import class_formula, final_columns
from gnn2logic.idt.model import (
    IDT,
    Column,
    InputPredicate,
    LeafSet,
    Prunings,
    RuleFront,
    TrueColumn,
)
from gnn2logic.idt.rules import RuleTable
from gnn2logic.idt.target import Target
from gnn2logic.idt.tree import Tree
from gnn2logic.logic.syntax import TRUE, Formula, predicate

__all__ = ["LayerView", "Readings", "layer_views"]


@dataclass(frozen=True, repr=False)
class LayerView:
    """One inner layer as it was learned, unused parts included.

    Parameters
    ----------
    trees : tuple of Tree
    leaf_sets : mapping of int to LeafSet
        The leaf sets of the trees that became columns, by the number of the column. A leaf set that
        is true at the same nodes as an earlier column on all the training data became none.
    columns : tuple of Column
        All columns of the model; the splits of the trees speak of them by number.
    """

    trees: tuple[Tree, ...]
    leaf_sets: Mapping[int, LeafSet]
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        blocks = []
        formulas = [_name(number, column) for number, column in enumerate(self.columns)]
        for number, tree in enumerate(self.trees):
            sets = {n: few.leaves for n, few in self.leaf_sets.items() if few.tree == number}
            leaves = [
                ", ".join(f"column {n}" for n, members in sets.items() if leaf in members)
                for leaf in range(tree.n_leaves)
            ]
            blocks.append(f"tree {number}\n{tree_to_text(tree, formulas, leaves)}")
        return "\n".join(blocks)


def _name(number: int, column: Column) -> Formula:
    """Return what a column is called: its predicate, or its layer and number."""
    if isinstance(column, TrueColumn):
        return TRUE
    if isinstance(column, InputPredicate):
        return predicate(column.name)
    return predicate(CHI.format(number, column.layer))


def layer_views(model: IDT) -> tuple[LayerView, ...]:
    """Return a view of every inner layer."""
    return tuple(
        LayerView(
            layer.trees,
            {
                number: column
                for number, column in enumerate(model.columns)
                if isinstance(column, LeafSet) and column.layer == position
            },
            model.columns,
        )
        for position, layer in enumerate(model.layers)
    )


class Readings:
    """Formulas and rules of one fitted state, each read when it is first asked for.

    Parameters
    ----------
    model : IDT
    prunings : Prunings
    front : RuleFront or None
    chosen : int
    classes : array
    target : Target or None
        Of rules that predict numbers.
    """

    def __init__(
        self,
        model: IDT,
        prunings: Prunings,
        front: RuleFront | None,
        chosen: int,
        classes: npt.NDArray[Any],
        target: Target | None,
    ) -> None:
        self._model, self._prunings, self._chosen = model, prunings, chosen
        self._front, self._target = front, target
        # Arrays can be written to, so what they held is kept beside them.
        self._classes = classes.copy()
        self._values = model.final.values.copy(), prunings.full.values.copy()
        self._formulas: dict[int, Formula] = {}

    def are_of(
        self,
        model: IDT,
        prunings: Prunings,
        front: RuleFront | None,
        chosen: int,
        classes: npt.NDArray[Any],
        target: Target | None,
    ) -> bool:
        """Return whether this is what such a state would say."""
        final, full = self._values
        return (
            model is self._model
            and prunings is self._prunings
            and front is self._front
            and (chosen, target) == (self._chosen, self._target)
            and classes.dtype == self._classes.dtype
            and np.array_equal(classes, self._classes)
            and np.array_equal(model.final.values, final)
            and np.array_equal(prunings.full.values, full)
        )

    def formula(self, class_number: int) -> Formula:
        """Return the formula of a class, given by its number."""
        if class_number not in self._formulas:
            self._formulas[class_number] = class_formula(self._model, class_number, self._columns)
        return self._formulas[class_number]

    @cached_property
    def _columns(self) -> dict[int, Formula]:
        return final_columns(self._model)

    @cached_property
    def rules(self) -> RuleTable:
        """The table of rules, measured on the training data."""
        if self._front is not None:
            return RuleTable.of_front(self._front, self._classes, self._chosen, target=self._target)
        return RuleTable.of_prunings(self._model, self._prunings, self._classes, self._chosen)
