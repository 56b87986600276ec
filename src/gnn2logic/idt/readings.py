"""Formulas and rules that were read from a fitted model, kept as long as the model is the same."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.formulas import class_formula, final_columns
from gnn2logic.idt.model import IDT, Prunings, RuleFront
from gnn2logic.idt.rules import RuleTable
from gnn2logic.logic.syntax import Formula

__all__ = ["Readings"]


class Readings:
    """Formulas and rules of one fitted state, each read when it is first asked for.

    Parameters
    ----------
    model : IDT
    prunings : Prunings
    front : RuleFront or None
    chosen : int
    classes : array
    """

    def __init__(
        self,
        model: IDT,
        prunings: Prunings,
        front: RuleFront | None,
        chosen: int,
        classes: npt.NDArray[Any],
    ) -> None:
        self._model, self._prunings, self._chosen = model, prunings, chosen
        self._front = front
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
    ) -> bool:
        """Return whether this is what such a state would say."""
        final, full = self._values
        return (
            model is self._model
            and prunings is self._prunings
            and front is self._front
            and chosen == self._chosen
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
            return RuleTable.of_front(self._front, self._classes, self._chosen)
        return RuleTable.of_prunings(self._model, self._prunings, self._classes, self._chosen)
