"""The trade-off between size and accuracy, as a table of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.model import IDT, Prunings
from gnn2logic.idt.reading import class_formula, final_columns, leaf_classes
from gnn2logic.logic.syntax import Formula

__all__ = ["Rule", "RuleTable"]

# Printed formulas longer than this are cut; the formula itself is there whole.
_SHOWN = 100


@dataclass(frozen=True)
class _ColumnFormulas:
    """Formulas of the columns of the full tree, for all rules: read once, and only if asked for."""

    model: IDT

    @cached_property
    def formulas(self) -> dict[int, Formula]:
        return final_columns(self.model)


@dataclass(frozen=True)
class Rule:
    """One pruning of the final tree.

    Parameters
    ----------
    index : int
        Its place on the pruning path, from the full tree (0) to the constant one.
    alpha : float
        The price of a leaf from which it is the best tree.
    n_leaves : int
        Leaves of the final tree.
    accuracy : float
        The share of the weight of the data that it gets right.
    support : dict
        The share of the weight of the data that is given each class, by label.
    chosen : bool
        Whether the model predicts with it.
    """

    index: int
    alpha: float
    n_leaves: int
    accuracy: float
    support: dict[Any, float]
    chosen: bool
    model: IDT
    classes: npt.NDArray[Any]
    _columns: _ColumnFormulas

    @cached_property
    def formulas(self) -> dict[Any, Formula]:
        """The formula of every class, by label."""
        return {
            label: class_formula(self.model, number, self._columns.formulas)
            for number, label in enumerate(self.classes.tolist())
        }

    @property
    def size(self) -> int:
        """The size of the formulas of all classes but the largest of them."""
        sizes = sorted(formula.size for formula in self.formulas.values())
        return sum(sizes[:-1]) if len(sizes) > 1 else sizes[0]

    @property
    def modal_depth(self) -> int:
        """The depth of the deepest formula."""
        return max(formula.modal_depth for formula in self.formulas.values())


class RuleTable(Sequence[Rule]):
    """All prunings of a fitted model, smallest first. Formulas are read when they are asked for.

    Parameters
    ----------
    model : IDT
    prunings : Prunings
    classes : array
    chosen : int
        The number of the pruning that the model predicts with.
    values : array of shape (n_nodes, n_classes or n_classes + 1), optional
        The weight of the data of each class at every node of the full tree: what the rules are
        measured on. By default the training data, as the tree has it. A last column is for data
        of no class that the model knows.
    """

    def __init__(
        self,
        model: IDT,
        prunings: Prunings,
        classes: npt.NDArray[Any],
        chosen: int,
        values: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self._rules: list[Rule] = []
        full = prunings.full
        columns = _ColumnFormulas(model.with_final(full))
        measured = full if values is None else replace(full, values=values)
        for index in reversed(range(len(prunings.alphas))):
            tree = full.cut(prunings.cuts[index])
            leaves = measured.cut(prunings.cuts[index]).values[list(tree.leaves)]
            # Rows are classes that are predicted, columns those that are true.
            confusion = np.zeros((len(classes), leaves.shape[1]))
            np.add.at(confusion, leaf_classes(tree), leaves)
            confusion /= confusion.sum()
            shares = confusion.sum(axis=1).tolist()
            self._rules.append(
                Rule(
                    index=index,
                    alpha=prunings.alphas[index],
                    n_leaves=tree.n_leaves,
                    accuracy=float(np.trace(confusion)),
                    support=dict(zip(classes.tolist(), shares, strict=True)),
                    chosen=index == chosen,
                    model=model.with_final(tree),
                    classes=classes,
                    _columns=columns,
                )
            )

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, key: Any) -> Any:
        return self._rules[key]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    @property
    def chosen(self) -> Rule:
        """The rule that the model predicts with."""
        return next(rule for rule in self._rules if rule.chosen)

    def records(self, max_leaves: int | None = None) -> list[dict[str, Any]]:
        """Return one plain dict for each rule and class, as ``pandas.DataFrame`` reads them.

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
                "accuracy": rule.accuracy,
                "leaves": rule.n_leaves,
                "chosen": rule.chosen,
            }
            for rule in self._rules
            if max_leaves is None or rule.n_leaves <= max_leaves
            for label, formula in rule.formulas.items()
        ]

    def text(self, max_leaves: int = 8) -> str:
        """Return the table of the rules with few leaves, and the chosen one, as text."""
        lines = [
            f"{'':2}{'index':>5} {'leaves':>6} {'size':>5} {'depth':>5} {'accuracy':>8}  rules"
        ]
        for rule in self._rules:
            if rule.n_leaves > max_leaves and not rule.chosen:
                continue
            shown = _shown_classes(rule)
            head = (
                f"{'>' if rule.chosen else ' ':2}{rule.index:>5} {rule.n_leaves:>6} {rule.size:>5} "
                f"{rule.modal_depth:>5} {rule.accuracy:>8.4f}  "
            )
            for number, label in enumerate(shown):
                start = head if number == 0 else " " * len(head)
                support = rule.support[label]
                lines.append(f"{start}{label} ({support:.0%}): {_cut(str(rule.formulas[label]))}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.text()


def _shown_classes(rule: Rule) -> list[Any]:
    """Return all classes but the one with the largest formula: it is what is left over."""
    labels = list(rule.formulas)
    if len(labels) == 1:
        return labels
    largest = max(labels, key=lambda label: (rule.formulas[label].size, rule.formulas[label].key))
    return [label for label in labels if label != largest]


def _cut(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
