"""The trade-off between size and accuracy, as a table of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.model import IDT, Prunings
from gnn2logic.idt.reading import class_formula, leaf_classes
from gnn2logic.logic.syntax import Formula
from gnn2logic.trees.tree import Tree

__all__ = ["Rule", "RuleTable"]

# Printed formulas longer than this are cut; the formula itself is there whole.
_SHOWN = 100


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
        The share of the training weight that it gets right.
    chosen : bool
        Whether the model predicts with it.
    """

    index: int
    alpha: float
    n_leaves: int
    accuracy: float
    chosen: bool
    model: IDT
    classes: npt.NDArray[Any]

    @cached_property
    def formulas(self) -> dict[Any, Formula]:
        """The formula of every class, by label."""
        return {
            label: class_formula(self.model, number)
            for number, label in enumerate(self.classes.tolist())
        }

    @cached_property
    def support(self) -> dict[Any, float]:
        """The share of the training weight that is given each class."""
        tree = self.model.final
        shares = np.zeros(len(self.classes))
        for leaf, number in zip(tree.leaves, leaf_classes(tree), strict=True):
            shares[number] += tree.weights[leaf] / tree.weights[0]
        return dict(zip(self.classes.tolist(), shares.tolist(), strict=True))

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
    """All prunings of a fitted model, smallest first. Formulas are read when they are asked for."""

    def __init__(
        self, model: IDT, prunings: Prunings, classes: npt.NDArray[Any], chosen: int
    ) -> None:
        self._rules: list[Rule] = []
        for index in reversed(range(len(prunings.alphas))):
            tree = prunings.tree(index)
            self._rules.append(
                Rule(
                    index=index,
                    alpha=prunings.alphas[index],
                    n_leaves=tree.n_leaves,
                    accuracy=_accuracy(tree),
                    chosen=index == chosen,
                    model=model.with_final(tree),
                    classes=classes,
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


def _accuracy(tree: Tree) -> float:
    right = sum(float(tree.values[leaf].max()) for leaf in tree.leaves)
    return right / float(tree.values[0].sum())
