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

from gnn2logic._validation import check_fitted
from gnn2logic.exceptions import GraphError, ParameterError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.idt.model import IDT, LeafSet
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.reading import column_formulas, leaf_classes
from gnn2logic.idt.running import column_values
from gnn2logic.logic.evaluation import more_than_share
from gnn2logic.logic.syntax import Formula, Threshold, conjunction, modal, negation
from gnn2logic.trees.tree import Split, Tree

__all__ = ["Condition", "Witnesses", "witnesses"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Asked = dict[int, BoolArray]


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
    """

    split: Split
    inner: Formula
    count: int
    size: int
    met: bool
    nodes: BoolArray

    @property
    def threshold(self) -> Threshold:
        """The t of the decision: a number of nodes, or a share of them."""
        return self.split.threshold

    @property
    def formula(self) -> Formula:
        """The condition as it holds here, negated if the decision is false."""
        decision = modal(self.split.modality, self.inner, self.split.threshold)
        return decision if self.met else negation(decision)


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
    """

    label: Any
    graph: GraphBatch
    node: int | None
    conditions: tuple[Condition, ...]
    nodes: BoolArray
    edges: IntArray

    @property
    def rule(self) -> Formula:
        """The rule that fires: all conditions on the path together."""
        return conjunction(condition.formula for condition in self.conditions)


def witnesses(idt: IDTPredictor, graph: object, *, node: int | None = None) -> Witnesses:
    """Return the path of a graph (or node) through a model, with its witnesses.

    Parameters
    ----------
    idt : IDTClassifier, IDTNodeClassifier or IDTPredictor
        A fitted model.
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
    if not isinstance(idt, IDTPredictor):
        raise UnsupportedInputError(
            "idt must be an IDTClassifier, an IDTNodeClassifier or an IDTPredictor. "
            f"Got {type(idt).__name__} instead."
        )
    check_fitted(idt, "model_")
    batch = idt.encoder_.transform(graph)
    if batch.n_graphs != 1:
        raise GraphError(
            f"One graph is explained at a time. Got {batch.n_graphs}; choose one of them."
        )
    row = _row(idt.model_, batch, node)
    search = _Search(idt.model_, batch)
    leaf, path = search.path(idt.model_.final, row)
    formulas = column_formulas(idt.model_, {split.column for split in path})
    conditions = tuple(search.condition(split, row, formulas) for split in path)
    nodes, edges = search.support(path, row)
    if node is not None:
        nodes[row] = True
    label = idt.classes_.tolist()[leaf_classes(idt.model_.final)[leaf]]
    return Witnesses(label, batch, node, conditions, nodes, edges)


def _row(model: IDT, batch: GraphBatch, node: int | None) -> int:
    if model.level == "graph":
        if node is not None:
            raise ParameterError(
                f"node is for models that classify nodes. Got {node!r} for one that classifies "
                "graphs."
            )
        # Decisions about the graph look along 1, so they are the same at every node.
        return 0
    is_whole = isinstance(node, int | np.integer) and not isinstance(node, bool)
    if not is_whole or not 0 <= int(node or 0) < batch.n_nodes:
        raise ParameterError(
            f"node must be a number from 0 to {batch.n_nodes - 1}, because the model classifies "
            f"nodes. Got {node!r} instead."
        )
    return int(node or 0)


class _Search:
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
        return Condition(
            split=split,
            inner=formulas[split.column],
            count=int(self.count(split)[row]),
            size=int(set_sizes(self._batch, split.modality)[row]),
            met=bool(self.truth(split)[row]),
            nodes=self._values[split.column].copy(),
        )

    def support(self, path: list[Split], row: int) -> tuple[BoolArray, IntArray]:
        """Return the nodes and edges that the decisions at a node are about, to the last."""
        size = self._batch.n_nodes
        # For each column, the nodes at which its truth matters.
        asked = {number: np.zeros(size, dtype=bool) for number in self._values}
        edges: set[tuple[int, int]] = set()
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
            edges |= {(target, source) for source, target in edges}
        nodes: BoolArray = np.logical_or.reduce([np.zeros(size, dtype=bool), *asked.values()])
        return nodes, np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)

    def _ask_tree(
        self, tree: Tree, rows: BoolArray, asked: Asked, edges: set[tuple[int, int]]
    ) -> None:
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

    def _ask(
        self, split: Split, rows: BoolArray, asked: Asked, edges: set[tuple[int, int]]
    ) -> None:
        """Ask for the nodes that a decision counts at some nodes, and for the edges to them."""
        modality = split.modality
        numbers = np.flatnonzero(rows)
        itself = numbers[:, None] == np.arange(len(rows))
        near = self._batch.edges(modality.edges).support[numbers].toarray() > 0
        counted = _seen(modality, itself, near) & self._values[split.column]
        asked[split.column] |= counted.any(axis=0)
        if modality.neighbours and not modality.others:
            used = counted & near & ~(itself & modality.itself)
            places, others = np.nonzero(used)
            edges |= self._as_they_are(modality.edges, numbers[places], others)

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


def _seen(modality: Modality, itself: BoolArray, near: BoolArray) -> BoolArray:
    """Return eps_S: in row v, the nodes that v looks at."""
    if modality.others:
        seen = np.ones_like(near) if modality.neighbours else ~near
        return seen if modality.itself else seen & ~itself
    seen = near if modality.neighbours else np.zeros_like(near)
    return seen | itself if modality.itself else seen
