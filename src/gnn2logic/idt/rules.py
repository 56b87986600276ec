"""The trade-off between size and accuracy, as a table of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic._text import one_line
from gnn2logic.exceptions import ParameterError
from gnn2logic.idt.formulas import class_formula, final_columns, tree_size
from gnn2logic.idt.model import IDT, Prunings, RuleFront
from gnn2logic.idt.rule_figures import (
    RuleFigures,
    class_figures,
    number_figures,
    predicted_nodes,
    shown_size,
)
from gnn2logic.idt.rule_texts import rules_to_text
from gnn2logic.idt.target import Target
from gnn2logic.logic.syntax import Formula

__all__ = ["Rule", "RuleTable"]


class _Formulas:
    """Formulas of all rules; each is read only once.

    Rules that are prunings have their columns in common, those of `model`, the model with the full
    tree.
    """

    def __init__(self, model: IDT | None) -> None:
        self._model = model
        self._known: dict[tuple[int, int], Formula] = {}

    @cached_property
    def _columns(self) -> dict[int, Formula] | None:
        return None if self._model is None else final_columns(self._model)

    def of(self, rule: Rule, class_number: int) -> Formula:
        """Return the formula of a class by a rule."""
        key = rule.index, class_number
        if key not in self._known:
            self._known[key] = class_formula(rule.model, class_number, self._columns)
        return self._known[key]


@dataclass(frozen=True)
class Rule:
    """One rule: a pruning of the final tree, or what a search has found.

    Parameters
    ----------
    index : int
        Its number: on the pruning path, from the full tree (0) to the constant one; of a search,
        from the shortest (0) to the longest.
    alpha : float or None
        The price of a leaf from which it is the best tree; None for rules of a search.
    held_out : float or None
        The accuracy of rules of this size on data that they were not learned from, where it is
        known.
    n_leaves : int
        Leaves of the final tree.
    accuracy : float
        The share of the weight of the data that it gets right; R2 for rules that predict numbers.
    support : dict
        The share of the weight of the data that is given each class or number.
    mae : float or None
        The mean absolute error of a rule that predicts numbers.
    chosen : bool
        Whether the model predicts with it.
    """

    index: int
    alpha: float | None
    held_out: float | None
    n_leaves: int
    accuracy: float
    support: dict[Any, float]
    chosen: bool
    model: IDT = field(repr=False)
    classes: npt.NDArray[Any] = field(repr=False)
    _formulas: _Formulas = field(repr=False)
    mae: float | None = None

    @property
    def formulas(self) -> dict[Any, Formula]:
        """The formula of every class, by label."""
        return {
            label: self._formulas.of(self, number)
            for number, label in enumerate(self.classes.tolist())
        }

    @property
    def size(self) -> int:
        """How many symbols people read: of the formulas that are shown; of the tree for numbers."""
        return shown_size(self.formulas) if self.mae is None else tree_size(self.model)

    @property
    def modal_depth(self) -> int:
        """The depth of the deepest formula."""
        return max(formula.modal_depth for formula in self.formulas.values())


class RuleTable(Sequence[Rule]):
    """The rules of a fitted model, smallest first. Formulas are read when they are asked for.

    Parameters
    ----------
    rules : sequence of Rule
    data : {"training", "given"}
        What they were measured on.
    reason : str
        Why the chosen one was chosen, if that is known.
    target : Target, optional
        The name and unit of what rules predict that predict numbers.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        data: str = "training",
        reason: str = "",
        target: Target | None = None,
    ) -> None:
        self._rules = list(rules)
        self._target = target
        self._data = data
        self._reason = reason

    @classmethod
    def of_prunings(
        cls,
        model: IDT,
        prunings: Prunings,
        classes: npt.NDArray[Any],
        chosen: int,
        values: npt.NDArray[np.float64] | None = None,
        alike: RuleTable | None = None,
    ) -> RuleTable:
        """Return the table of all prunings of the final tree.

        Of prunings that predict the same everywhere only one is listed: the chosen one, or else
        the smallest.

        Parameters
        ----------
        model : IDT
        prunings : Prunings
        classes : array
        chosen : int
            The number of the pruning that the model predicts with.
        values : array of shape (n_nodes, n_classes or n_classes + 1), optional
            The weight of the data of each class at every node of the full tree: what the rules are
            measured on. By default the training data, as the tree has it. A last column is for
            data of no class that the model knows.
        alike : RuleTable, optional
            Another table of the same model, whose formulas need not be read again.
        """
        full = prunings.full
        formulas = _Formulas(model.with_final(full)) if alike is None else alike._rules[0]._formulas
        measured = full if values is None else replace(full, values=values)
        listed: dict[frozenset[tuple[int, int]], int] = {}
        for index in reversed(range(len(prunings.alphas))):
            key = predicted_nodes(full, prunings.cuts[index])
            if key not in listed or index == chosen:
                listed[key] = index
        rules = []
        for index in sorted(listed.values(), reverse=True):
            tree = full.cut(prunings.cuts[index])
            leaves = measured.cut(prunings.cuts[index]).values[list(tree.leaves)]
            figures = class_figures(tree, leaves, classes)
            rules.append(
                Rule(
                    index=index,
                    alpha=prunings.alphas[index],
                    held_out=None,
                    n_leaves=tree.n_leaves,
                    accuracy=figures.accuracy,
                    support=figures.support,
                    chosen=index == chosen,
                    model=model.with_final(tree),
                    classes=classes,
                    _formulas=formulas,
                )
            )
        return cls(rules, data="training" if values is None else "given")

    @classmethod
    def of_front(
        cls,
        front: RuleFront,
        classes: npt.NDArray[Any],
        chosen: int,
        figures: Sequence[RuleFigures] | None = None,
        alike: RuleTable | None = None,
        target: Target | None = None,
    ) -> RuleTable:
        """Return the table of the rules that a search has found.

        Parameters
        ----------
        front : RuleFront
        classes : array
        chosen : int
            The number of the rule that the model predicts with.
        figures : sequence of RuleFigures, optional
            How well each rule does on some data; by default on the training data.
        alike : RuleTable, optional
            Another table of the same model, whose formulas need not be read again.
        target : Target, optional
            What is predicted, for numbers; by default that of `alike`.
        """
        formulas = _Formulas(None) if alike is None else alike._rules[0]._formulas
        rules = []
        for index, model in enumerate(front.models):
            tree, of_rule = model.final, classes
            if front.numbers:
                of_rule = np.array(front.numbers[index].values)
            if figures is not None:
                measured = figures[index]
            elif front.numbers:
                measured = number_figures(tree, front.numbers[index])
            else:
                measured = class_figures(tree, tree.values[list(tree.leaves)], classes)
            rules.append(
                Rule(
                    index=index,
                    alpha=None,
                    held_out=front.held_out[index],
                    n_leaves=tree.n_leaves,
                    accuracy=measured.accuracy,
                    support=measured.support,
                    chosen=index == chosen,
                    model=model,
                    classes=of_rule,
                    _formulas=formulas,
                    mae=measured.mae,
                )
            )
        if alike is not None:
            target = alike._target
        data = "training" if figures is None else "given"
        return cls(rules, data=data, reason=front.reason, target=target)

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, key: Any) -> Any:
        return self._rules[key]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    @property
    def data(self) -> str:
        """What the rules were measured on: "training" or "given"."""
        return self._data

    @property
    def target(self) -> Target | None:
        """The name and unit of what rules predict that predict numbers, as far as given."""
        return self._target

    @property
    def reason(self) -> str:
        """Why the chosen one was chosen; empty where nobody said."""
        return self._reason

    @property
    def chosen(self) -> Rule:
        """The rule that the model predicts with."""
        return next(rule for rule in self._rules if rule.chosen)

    def name_of(self, label: Any) -> str:
        """Return what a class is called in texts: its label, or a number with its unit."""
        return one_line(str(label)) if self._target is None else self._target.with_unit(label)

    def within(self, max_size: int) -> Rule:
        """Return the most accurate rule of at most so many symbols; the shortest of equals."""
        short = [rule for rule in self._rules if rule.size <= max_size]
        if not short:
            smallest = min(rule.size for rule in self._rules)
            raise ParameterError(
                f"max_size must be at least {smallest}, the size of the shortest rule. "
                f"Got {max_size} instead."
            )
        return max(
            short,
            key=lambda rule: (
                rule.accuracy if rule.held_out is None else rule.held_out,
                -rule.size,
            ),
        )

    def to_records(self, max_leaves: int | None = None) -> list[dict[str, Any]]:
        """Return one plain dict for each rule and class.

        `max_leaves` leaves out larger rules: their formulas take a while to read.
        """
        return [
            {
                "index": rule.index,
                "class": label,
                "formula": str(formula),
                "size": formula.size,
                "modal_depth": formula.modal_depth,
                "support": rule.support[label],
                **(
                    {"accuracy": rule.accuracy}
                    if rule.mae is None
                    else {"r2": rule.accuracy, "mae": rule.mae}
                ),
                **({} if rule.held_out is None else {"held_out": rule.held_out}),
                "leaves": rule.n_leaves,
                "chosen": rule.chosen,
            }
            for rule in self._rules
            if max_leaves is None or rule.n_leaves <= max_leaves
            for label, formula in rule.formulas.items()
        ]

    def to_frame(self, max_leaves: int | None = None) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each rule and class, see `to_records`.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed: nothing else here needs it.
        """
        pandas = import_optional("pandas", extra=None, purpose="A table of rules as a data frame")
        return pandas.DataFrame(self.to_records(max_leaves), columns=self._columns())

    def _columns(self) -> list[str]:
        """Return the keys of all records, also where there is none."""
        measures = ["accuracy"] if self.chosen.mae is None else ["r2", "mae"]
        held_out = [] if self.chosen.held_out is None else ["held_out"]
        before = ["index", "class", "formula", "size", "modal_depth", "support"]
        return [*before, *measures, *held_out, "leaves", "chosen"]

    def to_text(self, max_leaves: int = 8) -> str:
        """Return the table of the rules with few leaves, and the chosen one, as text."""
        return rules_to_text(self, max_leaves)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from gnn2logic.idt.export.html import rules_to_html

        return rules_to_html(self)
