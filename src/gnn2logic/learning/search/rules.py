"""Rules that a search gives: small trees of conditions, from one leaf to the largest that pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.rule_figures import shown_size
from gnn2logic.learning.search.conditions import SearchCondition
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    Formula,
    Modal,
    conjunction,
    disjunction,
    negation,
)

__all__ = [
    "Branch",
    "Leaf",
    "SearchedRule",
    "best_for_size",
    "best_within",
    "branch",
    "leaves_of",
    "pareto_front",
]

IntArray = npt.NDArray[np.int64]

# Sums in another order differ by less.
_SAME_FIT = 1e-9


@dataclass(frozen=True)
class Leaf:
    """What a rule answers: the number of a class, or steps of a number."""

    label: int


@dataclass(frozen=True, eq=False)
class Branch:
    """A condition and what follows where it is true and where it is false."""

    condition: SearchCondition
    if_true: Branch | Leaf
    if_false: Branch | Leaf


@dataclass(frozen=True, eq=False)
class SearchedRule:
    """A tree of conditions with what it explains of the graphs it was found on.

    `n_classes` is None where leaves say numbers.
    """

    tree: Branch | Leaf
    n_classes: int | None
    fit: float

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """What it may answer: all classes, or the numbers of its leaves from low to high."""
        if self.n_classes is not None:
            return tuple(range(self.n_classes))
        return tuple(sorted({leaf.label for leaf in self.leaves}))

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """The formula of every label."""
        return tuple(_formula(self.tree, label) for label in self.labels)

    @cached_property
    def size(self) -> int:
        """What has to be read: the formulas that are shown.

        Where leaves are numbers, the conditions of the tree.
        """
        if self.n_classes is None:
            return sum(condition.formula.size for condition in self.conditions) or 1
        return shown_size(dict(enumerate(self.formulas)))

    def predict(self, n_rows: int) -> IntArray:
        """Return the label of every graph that conditions were evaluated on."""
        labels = np.empty(n_rows, dtype=np.int64)
        for leaf, member in leaves_of(self.tree, np.ones(n_rows, dtype=bool)):
            labels[member] = leaf.label
        return labels

    @property
    def nodes(self) -> list[Branch | Leaf]:
        """All of its tree, from the root on, the true side before the false side."""
        nodes, stack = [], [self.tree]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if isinstance(node, Branch):
                stack += [node.if_false, node.if_true]
        return nodes

    @property
    def conditions(self) -> list[SearchCondition]:
        """Its conditions, from the root on."""
        return [node.condition for node in self.nodes if isinstance(node, Branch)]

    @property
    def repeated(self) -> int:
        """How many symbols are read once and stand there twice: two limits of one count."""
        children = [phi.child for c in self.conditions if isinstance(phi := c.formula, Modal)]
        return sum(phi.size for phi in children) - sum(phi.size for phi in dict.fromkeys(children))

    @property
    def leaves(self) -> list[Leaf]:
        """Its leaves, the true side before the false side."""
        return [node for node in self.nodes if isinstance(node, Leaf)]


def branch(
    condition: SearchCondition, if_true: Branch | Leaf, if_false: Branch | Leaf
) -> Branch | Leaf:
    """Return a branch, or the leaf that both sides are."""
    if isinstance(if_true, Leaf) and if_true == if_false:
        return if_true
    return Branch(condition, if_true, if_false)


def leaves_of(
    tree: Branch | Leaf, member: npt.NDArray[np.bool_]
) -> Iterator[tuple[Leaf, npt.NDArray[np.bool_]]]:
    """Give the leaves of a tree, the true side first, with the rows that reach them."""
    if isinstance(tree, Leaf):
        yield tree, member
    else:
        yield from leaves_of(tree.if_true, member & tree.condition.truth)
        yield from leaves_of(tree.if_false, member & ~tree.condition.truth)


def _formula(tree: Branch | Leaf, label: int) -> Formula:
    if isinstance(tree, Leaf):
        return TRUE if tree.label == label else FALSE
    true, false = _formula(tree.if_true, label), _formula(tree.if_false, label)
    if true is false:
        return true
    condition = tree.condition.formula
    # Said without its root twice wherever one side is settled.
    if true is TRUE or false is FALSE:
        return disjunction((condition, false)) if true is TRUE else conjunction((condition, true))
    opposite = negation(condition)
    if false is TRUE or true is FALSE:
        return disjunction((opposite, true)) if false is TRUE else conjunction((opposite, false))
    return disjunction((conjunction((condition, true)), conjunction((opposite, false))))


def pareto_front(rules: Sequence[SearchedRule]) -> list[SearchedRule]:
    """Return the rules that no shorter one fits as well, from short to long."""
    sizes, fits = [rule.size for rule in rules], [rule.fit for rule in rules]
    return [rules[index] for index in best_for_size(sizes, fits, tolerance=_SAME_FIT)]


def best_within(front: Sequence[SearchedRule], size: int) -> int:
    """Return the index of the longest rule of at most a size, or of the first one."""
    return max((i for i, rule in enumerate(front) if rule.size <= size), default=0)


def best_for_size(
    sizes: Sequence[int], values: Sequence[float], *, tolerance: float = 0.0
) -> list[int]:
    """Return the indices, from short to long, of what has more value than all that is shorter.

    >>> best_for_size([5, 1, 5, 9], [0.7, 0.5, 0.8, 0.8])
    [1, 2]
    """
    front: list[int] = []
    for index in sorted(range(len(sizes)), key=lambda index: (sizes[index], -values[index])):
        if not front or values[index] > values[front[-1]] + tolerance:
            front.append(index)
    return front
