"""The path of one graph (or node) through the final tree, and what each decision on it is about.

A decision ``S chi > t`` is about the nodes in eps_S that satisfy chi: its witnesses. Where chi is a
leaf set, each witness got there by decisions of its own, about further nodes and the edges that
lead to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.subject import Subject, subject_of
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.idt.model import IDT, LeafSet
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.reading import column_formulas, leaf_classes
from gnn2logic.idt.running import column_values
from gnn2logic.logic.evaluation import more_than_share
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import (
    TRUE,
    Formula,
    Modal,
    Not,
    Threshold,
    conjunction,
    modal,
    negation,
)
from gnn2logic.trees.tree import Split, Tree

__all__ = ["Condition", "Search", "Witnesses", "witnesses"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Asked = dict[int, BoolArray]
# By relation; None is about all edges.
EdgeSets = dict[str | None, set[tuple[int, int]]]


@dataclass(frozen=True, eq=False)
class Condition:
    """One decision on the path.

    Parameters
    ----------
    split : Split
        The decision ``S chi > t`` of the tree.
    inner : Formula
        chi, the formula that is counted.
    count, size : int
        How many nodes in eps_S satisfy chi, and how many there are.
    met : bool
        Whether the decision is true.
    nodes : array of bool
        All nodes of the graph that satisfy chi.
    counted : array of bool
        Those of them in eps_S: the nodes that the decision counts.
    """

    split: Split
    inner: Formula
    count: int
    size: int
    met: bool
    nodes: BoolArray
    counted: BoolArray

    @property
    def threshold(self) -> Threshold:
        """The t of the decision: a number of nodes, or a share of them."""
        return self.split.threshold

    @property
    def formula(self) -> Formula:
        """The condition as it holds here, negated if the decision is false."""
        decision = modal(self.split.modality, self.inner, self.split.threshold)
        return decision if self.met else negation(decision)

    @property
    def limit(self) -> int:
        """The largest count at which the decision is false; for a share, at this size."""
        if isinstance(self.threshold, int):
            return self.threshold
        # All of a set is more than a share of it as soon as there is anything.
        return 0 if self.inner is TRUE else largest_part(self.threshold, self.size)

    @property
    def margin(self) -> int:
        """By how much the count must fall (if met) or rise (if not) to turn the decision."""
        return self.count - self.limit if self.met else self.limit + 1 - self.count


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Why the model gives one answer.

    Parameters
    ----------
    label : object
        The class that the model predicts.
    graph : GraphBatch
        The graph as the model sees it.
    node : int or None
        The node that is classified, for models that classify nodes.
    conditions : tuple of Condition
        The decisions on the path through the final tree, from the root.
    nodes : array of bool, shape (n_nodes,)
        The nodes that the conditions are about, down to the inputs.
    edges : array of int, shape (n, 2)
        The edges along which these nodes were found, from source to target; in undirected graphs
        they are there in both directions.
    edges_by_relation : dict from str or None to array
        The same edges by the relation that a condition follows; None where it follows all edges.
    """

    label: Any
    graph: GraphBatch
    node: int | None
    conditions: tuple[Condition, ...]
    nodes: BoolArray
    edges: IntArray
    edges_by_relation: Mapping[str | None, IntArray]

    @property
    def rule(self) -> Formula:
        """The rule that fires: all conditions on the path together."""
        return conjunction(_plain(condition.formula) for condition in self.conditions)


def _plain(formula: Formula) -> Formula:
    """Return ``phi`` for ``I phi > 0``, as people would write it."""
    if isinstance(formula, Not):
        return negation(_plain(formula.child))
    if isinstance(formula, Modal):
        return fold_modal(formula.modality, formula.child, formula.threshold, simple=False)
    return formula


def witnesses(idt: IDTPredictor | IDT, graph: object, *, node: int | None = None) -> Witnesses:
    """Return the path of a graph (or node) through a model, with its witnesses.

    Parameters
    ----------
    idt : IDTClassifier, IDTNodeClassifier, IDTPredictor or IDT
        A fitted model. An `IDT` reads graphs that have its predicates; its classes are numbers.
    graph : one graph of any kind that the model was fitted on
    node : int, optional
        Which node to explain, for models that classify nodes.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.idt.formula_models import from_formulas
    >>> idt = from_formulas({"yes": "1(A U0 > 2) > 1"}, otherwise="no", names=["U0", "U1"])
    >>> found = witnesses(idt, gl.random_graphs(1, sizes=8, density=0.5, random_state=0))
    >>> print(found.label, found.rule)
    yes 1(A U0 > 2) > 1
    >>> condition = found.conditions[0]
    >>> condition.count, condition.size, condition.threshold, condition.met
    (2, 8, 1, True)
    >>> condition.nodes.nonzero()[0]
    array([2, 3])
    """
    return witnesses_of(subject_of(idt, graph, node=node))


def witnesses_of(subject: Subject, search: Search | None = None) -> Witnesses:
    """Return the witnesses of what was asked; a search that was begun is used again."""
    model, row = subject.model, subject.row
    search = Search(model, subject.graph) if search is None else search
    leaf, path = search.path(model.final, row)
    formulas = column_formulas(model, {split.column for split in path})
    conditions = tuple(search.condition(split, row, formulas) for split in path)
    nodes, edges = search.support(path, row)
    if subject.node is not None:
        nodes[row] = True
    label = subject.labels[leaf_classes(model.final)[leaf]]
    every = _edge_array({edge for found in edges.values() for edge in found})
    by_relation = {relation: _edge_array(found) for relation, found in edges.items()}
    return Witnesses(label, subject.graph, subject.node, conditions, nodes, every, by_relation)


class Search:
    """Truth and support of the columns of a model on one graph."""

    def __init__(self, model: IDT, batch: GraphBatch) -> None:
        self._model = model
        self._batch = batch
        used = {split.column for split in model.final.splits if split is not None}
        self._values = column_values(model, batch, used)

    def count(self, split: Split) -> npt.NDArray[np.integer[Any]]:
        """Return the counts of a decision at every node."""
        return ModalCounts(self._batch, self._values[split.column])(split.modality)

    def truth(self, split: Split) -> BoolArray:
        """Return the truth of a decision at every node."""
        counts = self.count(split)
        if isinstance(split.threshold, Fraction):
            return more_than_share(counts, set_sizes(self._batch, split.modality), split.threshold)
        return np.asarray(counts.astype(object) > split.threshold, dtype=bool)

    def path(self, tree: Tree, row: int) -> tuple[int, list[Split]]:
        """Return the leaf that a node reaches, counted from the left, and the decisions before."""
        at, splits = 0, []
        while (split := tree.splits[at]) is not None:
            splits.append(split)
            at = (tree.true_child if self.truth(split)[row] else tree.false_child)[at]
        return tree.leaves.index(at), splits

    def condition(self, split: Split, row: int, formulas: Mapping[int, Formula]) -> Condition:
        """Return a decision with all that there is to say about it at a node."""
        counted, _, _ = self._looked_at(split, np.array([row]))
        return Condition(
            split=split,
            inner=formulas[split.column],
            count=int(self.count(split)[row]),
            size=self.size(split, row),
            met=bool(self.truth(split)[row]),
            nodes=self._values[split.column].copy(),
            counted=counted[0],
        )

    def size(self, split: Split, row: int) -> int:
        """Return the size of the set that a decision looks at from a node."""
        return int(set_sizes(self._batch, split.modality)[row])

    def support(self, path: list[Split], row: int) -> tuple[BoolArray, EdgeSets]:
        """Return the nodes and edges that the decisions at a node are about, to the last."""
        size = self._batch.n_nodes
        # For each column, the nodes at which its truth matters.
        asked = {number: np.zeros(size, dtype=bool) for number in self._values}
        edges: EdgeSets = {}
        start = np.zeros(size, dtype=bool)
        start[row] = True
        for split in path:
            self._ask(split, start, asked, edges)
        # Columns are made of earlier ones, so from the last to the first all is known in time.
        for number in sorted(asked, reverse=True):
            column = self._model.columns[number]
            if isinstance(column, LeafSet):
                tree = self._model.layers[column.layer].trees[column.tree]
                self._ask_tree(tree, asked[number], asked, edges)
        if self._batch.is_symmetric:
            for found in edges.values():
                found |= {(target, source) for source, target in found}
        nodes: BoolArray = np.logical_or.reduce([np.zeros(size, dtype=bool), *asked.values()])
        return nodes, edges

    def _ask_tree(self, tree: Tree, rows: BoolArray, asked: Asked, edges: EdgeSets) -> None:
        """Follow some nodes through a tree and ask for all that decides their way."""
        stack = [(0, rows)]
        while stack:
            at, here = stack.pop()
            split = tree.splits[at]
            if split is not None and here.any():
                self._ask(split, here, asked, edges)
                truth = self.truth(split)
                stack.append((tree.true_child[at], here & truth))
                stack.append((tree.false_child[at], here & ~truth))

    def _ask(self, split: Split, rows: BoolArray, asked: Asked, edges: EdgeSets) -> None:
        """Ask for the nodes that a decision counts at some nodes, and for the edges to them."""
        modality = split.modality
        numbers = np.flatnonzero(rows)
        counted, itself, near = self._looked_at(split, numbers)
        asked[split.column] |= counted.any(axis=0)
        if modality.neighbours and not modality.others:
            used = counted & near & ~(itself & modality.itself)
            places, others = np.nonzero(used)
            found = self._as_they_are(modality.edges, numbers[places], others)
            edges.setdefault(modality.edges.relation, set()).update(found)

    def _looked_at(
        self, split: Split, numbers: npt.NDArray[np.integer[Any]]
    ) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return which nodes some nodes count, which are these themselves, which are near."""
        itself = numbers[:, None] == np.arange(self._batch.n_nodes)
        near = self._batch.edges(split.modality.edges).support[numbers].toarray() > 0
        return _seen(split.modality, itself, near) & self._values[split.column], itself, near

    def _as_they_are(
        self, which: Edges, nodes: npt.NDArray[Any], neighbours: npt.NDArray[Any]
    ) -> set[tuple[int, int]]:
        """Return the edges, from source to target, that make the neighbours of some nodes."""
        ahead = zip(nodes.tolist(), neighbours.tolist(), strict=True)
        if which.direction is Direction.OUT:
            return set(ahead)
        back = {(source, target) for target, source in ahead}
        if which.direction is Direction.IN:
            return back
        matrix = self._batch.edges(Edges(relation=which.relation)).support
        both = back | {(target, source) for source, target in back}
        return {(source, target) for source, target in both if matrix[source, target]}


def _edge_array(edges: set[tuple[int, int]]) -> IntArray:
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)


def largest_part(share: Fraction, size: int) -> int:
    """Return the largest count that is not more than a share of a size, in whole numbers.

    >>> largest_part(Fraction(7, 10), 90)
    63
    """
    return share.numerator * size // share.denominator


def _seen(modality: Modality, itself: BoolArray, near: BoolArray) -> BoolArray:
    """Return eps_S: in row v, the nodes that v looks at."""
    if modality.others:
        seen = np.ones_like(near) if modality.neighbours else ~near
        return seen if modality.itself else seen & ~itself
    seen = near if modality.neighbours else np.zeros_like(near)
    return seen | itself if modality.itself else seen
