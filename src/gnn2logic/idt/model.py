"""The Iterated Decision Tree as a plain, immutable value.

Columns are Boolean properties of nodes: `true`, the input predicates, and the leaf sets of earlier
layers. Every split of every tree speaks of a column by its number, and every column knows where it
comes from, so names never shift when parts are removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from gnn2logic.idt.tree import Tree

__all__ = [
    "IDT",
    "Column",
    "InputPredicate",
    "Layer",
    "LeafSet",
    "Prunings",
    "RuleFront",
    "RuleNumbers",
    "TrueColumn",
]


@dataclass(frozen=True, slots=True)
class TrueColumn:
    """The column that holds at every node."""


@dataclass(frozen=True, slots=True)
class InputPredicate:
    """A predicate of the input graphs."""

    name: str


@dataclass(frozen=True, slots=True)
class LeafSet:
    """The nodes that reach one of some leaves of a tree: M in the paper, its formula is chi_M.

    Leaves are counted from left (False) to right (True).
    """

    layer: int
    tree: int
    leaves: tuple[int, ...]


Column = TrueColumn | InputPredicate | LeafSet


@dataclass(frozen=True)
class Layer:
    """The trees of one inner layer, side by side."""

    trees: tuple[Tree, ...]


@dataclass(frozen=True)
class IDT:
    """Layers of trees over columns, and the final tree that gives the class.

    Parameters
    ----------
    columns : tuple of Column
        All columns, in the order in which they were made.
    layers : tuple of Layer
        The inner layers.
    final : Tree
        Its values are class weights, one column per class.
    level : {"graph", "node"}
        What the final tree decides about: whole graphs (its splits look along ``1``) or nodes.
    """

    columns: tuple[Column, ...]
    layers: tuple[Layer, ...]
    final: Tree
    level: Literal["graph", "node"]

    def with_final(self, final: Tree) -> IDT:
        """Return the model with another final tree over the same columns."""
        return IDT(self.columns, self.layers, final, self.level)

    @property
    def predicate_names(self) -> tuple[str, ...]:
        """The input predicates that some column uses."""
        return tuple(column.name for column in self.columns if isinstance(column, InputPredicate))

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The relations that some split looks along."""
        trees = [self.final, *(tree for layer in self.layers for tree in layer.trees)]
        splits = [split for tree in trees for split in tree.splits if split is not None]
        names = {split.modality.edges.relation for split in splits}
        return tuple(sorted(name for name in names if name is not None))

    @property
    def n_leaf_sets(self) -> int:
        """The number of columns that are leaf sets."""
        return sum(isinstance(column, LeafSet) for column in self.columns)


@dataclass(frozen=True)
class Prunings:
    """The grown-out final tree and how it shrinks as the price of a leaf rises.

    Parameters
    ----------
    full : Tree
    alphas : tuple of float
        Rising prices, from 0; from ``alphas[i]`` on tree number i is the best.
    cuts : tuple of frozenset of int
        The nodes of `full` that are leaves of tree number i (with nothing below them).
    """

    full: Tree
    alphas: tuple[float, ...]
    cuts: tuple[frozenset[int], ...]

    @classmethod
    def of_one(cls, tree: Tree) -> Self:
        """Return the path of a tree that is not to be pruned."""
        return cls(tree, (0.0,), (frozenset(),))

    def index(self, alpha: float) -> int:
        """Return the number of the tree that is best for a price."""
        return max(number for number, least in enumerate(self.alphas) if least <= alpha)

    def tree(self, index: int) -> Tree:
        """Return tree number `index`."""
        return self.full.cut(self.cuts[index])


@dataclass(frozen=True)
class RuleNumbers:
    """What a rule says that predicts numbers, and how well it did.

    Parameters
    ----------
    values : tuple of float
        The number that each class of its final tree stands for, from low to high.
    r2, mae : float
        The share of the variance that it explains, and its mean absolute error, on the data that
        it was learned from.
    """

    values: tuple[float, ...]
    r2: float
    mae: float


@dataclass(frozen=True)
class RuleFront:
    """Rules that a search has found, from short to long.

    Parameters
    ----------
    models : tuple of IDT
        One for each rule, with just the columns and layers that it needs.
    held_out : tuple of float or None
        The accuracy of rules of this size on data that they were not learned from; for numbers the
        share of the loss that they take away, which is R2 for the squared loss.
    reason : str
        Why the chosen one was chosen.
    numbers : tuple of RuleNumbers
        One for each rule where rules predict numbers, none where they predict classes.
    """

    models: tuple[IDT, ...]
    held_out: tuple[float | None, ...]
    reason: str
    numbers: tuple[RuleNumbers, ...] = ()
