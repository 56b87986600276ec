"""The path of a graph (or node) through the final tree, and what each decision on it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.formulas import column_formulas
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predict import column_values
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.evaluation import more_than_share
from gnn2logic.logic.syntax import TRUE, Formula, Threshold, modal, negation

__all__ = ["Condition", "GraphDecisions", "largest_count", "nodes_seen"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Condition:
    """One decision on the path.

    Parameters
    ----------
    modality : Modality
        S of the decision ``S chi > t``: which nodes are looked at.
    inner : Formula
        chi, the formula that is counted.
    threshold : int or Fraction
        t: a number of nodes, or a share of them.
    count, size : int
        How many nodes in eps_S satisfy chi, and how many there are.
    met : bool
        Whether the decision is true.
    nodes : array of bool
        All nodes of the graph that satisfy chi.
    counted : array of bool
        Those of them in eps_S: the nodes that the decision counts.
    """

    modality: Modality
    inner: Formula
    threshold: Threshold
    count: int
    size: int
    met: bool
    nodes: BoolArray
    counted: BoolArray

    @property
    def decision(self) -> Formula:
        """The decision ``S chi > t``, whether it is true or not."""
        return modal(self.modality, self.inner, self.threshold)

    @property
    def formula(self) -> Formula:
        """The condition as it holds here, negated if the decision is false."""
        return self.decision if self.met else negation(self.decision)

    @property
    def limit(self) -> int:
        """The largest count at which the decision is false; for a share, at this size."""
        if isinstance(self.threshold, int):
            return self.threshold
        # All of a set is more than a share of it as soon as there is anything.
        return 0 if self.inner is TRUE else largest_count(self.threshold, self.size)

    @property
    def margin(self) -> int:
        """By how much the count must fall (if met) or rise (if not) to turn the decision."""
        return self.count - self.limit if self.met else self.limit + 1 - self.count


class GraphDecisions:
    """The decisions of a model on one graph.

    Parameters
    ----------
    model : IDT
    graph : GraphBatch
        One graph, with the predicates of the model.
    """

    def __init__(self, model: IDT, graph: GraphBatch) -> None:
        self.model = model
        self.graph = graph
        used = {split.column for split in model.final.splits if split is not None}
        self.values = column_values(model, graph, used)
        self._counts: dict[tuple[int, Modality], npt.NDArray[np.integer[Any]]] = {}

    def count(self, split: Split) -> npt.NDArray[np.integer[Any]]:
        """Return the counts of a decision at every node."""
        term = (split.column, split.modality)
        if term not in self._counts:
            counts = ModalCounts(self.graph, self.values[split.column])(split.modality)
            self._counts[term] = counts
        return self._counts[term]

    def truth(self, split: Split) -> BoolArray:
        """Return the truth of a decision at every node."""
        counts = self.count(split)
        if isinstance(split.threshold, Fraction):
            return more_than_share(counts, set_sizes(self.graph, split.modality), split.threshold)
        return np.asarray(counts.astype(object) > split.threshold, dtype=bool)

    def path(self, tree: Tree, row: int) -> tuple[int, list[Split]]:
        """Return the leaf that a node reaches, counted from the left, and the decisions before."""
        at, splits = 0, []
        while (split := tree.splits[at]) is not None:
            splits.append(split)
            at = (tree.true_child if self.truth(split)[row] else tree.false_child)[at]
        return tree.leaves.index(at), splits

    def follow(self, row: int) -> tuple[int, list[Split], tuple[Condition, ...]]:
        """Return the leaf of the final tree that a node reaches, and the decisions before.

        Decisions that others on the path imply are left out: they are no reasons of their own.
        """
        leaf, path = self.path(self.model.final, row)
        formulas = column_formulas(self.model, {split.column for split in path})
        conditions = [self._condition(split, row, formulas) for split in path]
        kept = _without_implied(conditions)
        splits = [path[conditions.index(condition)] for condition in kept]
        return leaf, splits, kept

    def _condition(self, split: Split, row: int, formulas: Mapping[int, Formula]) -> Condition:
        """Return a decision with all that there is to say about it at a node."""
        counted, _, _ = self.looked_at(split, np.array([row]))
        return Condition(
            modality=split.modality,
            inner=formulas[split.column],
            threshold=split.threshold,
            count=int(self.count(split)[row]),
            size=self.size(split, row),
            met=bool(self.truth(split)[row]),
            nodes=self.values[split.column].copy(),
            counted=counted[0],
        )

    def size(self, split: Split, row: int) -> int:
        """Return the size of the set that a decision looks at from a node."""
        return int(set_sizes(self.graph, split.modality)[row])

    def looked_at(
        self, split: Split, numbers: npt.NDArray[np.integer[Any]]
    ) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return which nodes some nodes count, which are these themselves, which are near."""
        itself = numbers[:, None] == np.arange(self.graph.n_nodes)
        near = self.graph.edges(split.modality.edges).support[numbers].toarray() > 0
        return nodes_seen(split.modality, itself, near) & self.values[split.column], itself, near


def largest_count(share: Fraction, size: int) -> int:
    """Return the largest count that is not more than a share of a size, in whole numbers.

    >>> largest_count(Fraction(7, 10), 90)
    63
    """
    return share.numerator * size // share.denominator


def _without_implied(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions that no other one implies, one of those that say the same."""
    kept: list[Condition] = []
    for condition in conditions:
        if not any(_implies(other, condition) for other in kept):
            kept = [other for other in kept if not _implies(condition, other)]
            kept.append(condition)
    return tuple(kept)


def _implies(one: Condition, other: Condition) -> bool:
    """Return whether a condition makes another one about the same count true in every graph.

    A number of nodes and a share of them cannot be compared, but 0 is both.
    """
    same_count = (one.modality, one.inner) == (other.modality, other.inner)
    if not same_count or one.met != other.met:
        return False
    stronger, weaker = (one, other) if one.met else (other, one)
    if weaker.threshold == 0:
        return True
    is_share = isinstance(stronger.threshold, Fraction)
    same_unit = is_share == isinstance(weaker.threshold, Fraction)
    return same_unit and stronger.threshold >= weaker.threshold


def nodes_seen(modality: Modality, itself: BoolArray, near: BoolArray) -> BoolArray:
    """Return eps_S: in row v, the nodes that v looks at."""
    if modality.others:
        seen = np.ones_like(near) if modality.neighbours else ~near
        return seen if modality.itself else seen & ~itself
    seen = near if modality.neighbours else np.zeros_like(near)
    return seen | itself if modality.itself else seen
