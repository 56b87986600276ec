"""The nodes and edges that the path of one graph (or node) is about.

A decision ``S chi > t`` is about the nodes in eps_S that satisfy chi: its witnesses. Where chi is a
leaf set, each witness got there by decisions of its own, about further nodes and the edges that
lead to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.path import Condition, Search
from gnn2logic.explanation.subject import Subject, subject_of
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.idt.model import IDT, LeafSet
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.reading import leaf_classes
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Formula, Modal, Not, conjunction, negation
from gnn2logic.trees.tree import Split, Tree

__all__ = ["Witnesses", "witnesses", "witnesses_of"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Asked = dict[int, BoolArray]
# By relation; None is about all edges.
EdgeSets = dict[str | None, set[tuple[int, int]]]


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
    subject = subject_of(idt, graph, node=node)
    return witnesses_of(subject, Search(subject.model, subject.graph))


def witnesses_of(subject: Subject, search: Search) -> Witnesses:
    """Return the witnesses of what was asked."""
    leaf, conditions = search.follow(subject.row)
    nodes, edges = _Support(search).of((own.split for own in conditions), subject.row)
    if subject.node is not None:
        nodes[subject.row] = True
    label = subject.labels[leaf_classes(subject.model.final)[leaf]]
    every = _edge_array({edge for found in edges.values() for edge in found})
    by_relation = {relation: _edge_array(found) for relation, found in edges.items()}
    return Witnesses(label, subject.graph, subject.node, conditions, nodes, every, by_relation)


class _Support:
    """The nodes and edges that decisions are about, down to the inputs."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def of(self, path: Iterable[Split], row: int) -> tuple[BoolArray, EdgeSets]:
        """Return the nodes and edges that the decisions at a node are about, to the last."""
        size = self._search.graph.n_nodes
        # For each column, the nodes at which its truth matters.
        asked = {number: np.zeros(size, dtype=bool) for number in self._search.values}
        edges: EdgeSets = {}
        start = np.zeros(size, dtype=bool)
        start[row] = True
        for split in path:
            self._ask(split, start, asked, edges)
        # Columns are made of earlier ones, so from the last to the first all is known in time.
        for number in sorted(asked, reverse=True):
            column = self._search.model.columns[number]
            if isinstance(column, LeafSet):
                tree = self._search.model.layers[column.layer].trees[column.tree]
                self._ask_tree(tree, asked[number], asked, edges)
        if self._search.graph.is_symmetric:
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
                truth = self._search.truth(split)
                stack.append((tree.true_child[at], here & truth))
                stack.append((tree.false_child[at], here & ~truth))

    def _ask(self, split: Split, rows: BoolArray, asked: Asked, edges: EdgeSets) -> None:
        """Ask for the nodes that a decision counts at some nodes, and for the edges to them."""
        modality = split.modality
        numbers = np.flatnonzero(rows)
        counted, itself, near = self._search.looked_at(split, numbers)
        asked[split.column] |= counted.any(axis=0)
        if modality.neighbours and not modality.others:
            used = counted & near & ~(itself & modality.itself)
            places, others = np.nonzero(used)
            found = self._as_they_are(modality.edges, numbers[places], others)
            edges.setdefault(modality.edges.relation, set()).update(found)

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
        matrix = self._search.graph.edges(Edges(relation=which.relation)).support
        both = back | {(target, source) for source, target in back}
        return {(source, target) for source, target in both if matrix[source, target]}


def _edge_array(edges: set[tuple[int, int]]) -> IntArray:
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
