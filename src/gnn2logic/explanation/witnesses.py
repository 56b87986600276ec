"""The nodes and edges that the path of one graph (or node) is about.

A decision ``S chi > t`` is about the nodes in eps_S that satisfy chi: its witnesses. Where chi is a
leaf set, each witness got there by decisions of its own, about further nodes and the edges that
lead to them. Where chi is a predicate of the structure, such as ``ring=6``, the ring is asked for
as well.

A rule about few nodes may have all nodes as witnesses in the end, so witnesses have scores: what a
condition counts has 1, what decides that it is counted 1/2, what decides about these 1/4 and so on;
the score is the mean over all conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.path import Condition, GraphDecisions
from gnn2logic.explanation.shapes import is_shape, shape_at
from gnn2logic.explanation.subject import GraphSubject, graph_subject
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.model import IDT, InputPredicate, LeafSet
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Formula, Modal, Not, conjunction, negation

__all__ = ["Witnesses", "witnesses", "witnesses_of"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# For each column, how many decisions below a condition its truth matters at each node.
Depths = dict[int, IntArray]
# By relation; None is about all edges.
EdgeDepths = dict[str | None, dict[tuple[int, int], int]]
EdgeScores = dict[str | None, dict[tuple[int, int], float]]

# Deeper than any model: a node that no decision asks for.
_NEVER = np.iinfo(np.int64).max


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
        The decisions on the path through the final tree, from the root, without those that others
        on the path imply.
    nodes : array of bool, shape (n_nodes,)
        The nodes that the conditions are about, down to the inputs.
    edges : array of int, shape (n, 2)
        The edges along which these nodes were found, from source to target; in undirected graphs
        they are there in both directions.
    edges_by_relation : dict from str or None to array
        The same edges by the relation that a condition follows; None where it follows all edges.
    node_scores : array of float, shape (n_nodes,)
        From 1, for what every condition counts, to 0, for nodes that are no witnesses. A condition
        adds 1 for a node that it counts, and half as much for every decision further down.
    edge_scores : array of float, shape (n,)
        The same for `edges`. A condition adds 1 for the first edges that it leads along: those to
        the nodes that it counts, or those that decide whether a node of the graph is counted.
    edge_scores_by_relation : dict from str or None to array
        The same for `edges_by_relation`.
    """

    label: Any
    graph: GraphBatch
    node: int | None
    conditions: tuple[Condition, ...]
    nodes: BoolArray
    edges: IntArray
    edges_by_relation: Mapping[str | None, IntArray]
    node_scores: FloatArray
    edge_scores: FloatArray
    edge_scores_by_relation: Mapping[str | None, FloatArray]

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
    >>> from gnn2logic.idt.from_formulas import from_formulas
    >>> idt = from_formulas({"yes": "1(A U0 > 2) > 1"}, otherwise="no", names=["U0", "U1"])
    >>> reasons = witnesses(idt, gl.random_graphs(1, sizes=8, density=0.5, random_state=0))
    >>> print(reasons.label, reasons.rule)
    yes 1(A U0 > 2) > 1
    >>> condition = reasons.conditions[0]
    >>> condition.count, condition.size, condition.threshold, condition.met
    (2, 8, 1, True)
    >>> condition.nodes.nonzero()[0]
    array([2, 3])
    """
    subject = graph_subject(idt, graph, node=node)
    return witnesses_of(subject, GraphDecisions(subject.model, subject.batch))


def witnesses_of(subject: GraphSubject, decisions: GraphDecisions) -> Witnesses:
    """Return the witnesses of what was asked."""
    leaf, conditions = decisions.follow(subject.row)
    nodes, edges = _Support(decisions).of(
        [condition.split for condition in conditions], subject.row
    )
    if subject.node is not None:
        nodes[subject.row] = 1.0
    together: dict[tuple[int, int], float] = {}
    for scores in edges.values():
        for edge, score in scores.items():
            together[edge] = max(score, together.get(edge, 0.0))
    return Witnesses(
        label=subject.names[leaf_classes(subject.model.final)[leaf]],
        graph=subject.batch,
        node=subject.node,
        conditions=conditions,
        nodes=nodes > 0,
        edges=_edge_array(together),
        edges_by_relation={relation: _edge_array(scores) for relation, scores in edges.items()},
        node_scores=nodes,
        edge_scores=_score_array(together),
        edge_scores_by_relation={
            relation: _score_array(scores) for relation, scores in edges.items()
        },
    )


class _Support:
    """The nodes and edges that decisions are about, down to the inputs."""

    def __init__(self, decisions: GraphDecisions) -> None:
        self._decisions = decisions

    def of(self, path: Sequence[Split], row: int) -> tuple[FloatArray, EdgeScores]:
        """Return the scores of the nodes and edges that the decisions at a node are about."""
        nodes = np.zeros(self._decisions.graph.n_nodes)
        edges: EdgeScores = {}
        for split in path:
            node_depths, edge_depths = self._below(split, row)
            asked = node_depths < _NEVER
            nodes[asked] += 0.5 ** node_depths[asked] / len(path)
            for relation, depths in edge_depths.items():
                scores = edges.setdefault(relation, {})
                for edge, depth in depths.items():
                    scores[edge] = scores.get(edge, 0.0) + 0.5**depth / len(path)
        return nodes, edges

    def _below(self, condition: Split, row: int) -> tuple[IntArray, EdgeDepths]:
        """Return how far below a condition nodes and edges first matter, to the last."""
        size = self._decisions.graph.n_nodes
        asked = {number: np.full(size, _NEVER) for number in self._decisions.values}
        edges: EdgeDepths = {}
        self._ask(condition, np.arange(size) == row, 0, asked, edges)
        # Columns are made of earlier ones, so from the last to the first all is known in time.
        for number in sorted(asked, reverse=True):
            column = self._decisions.model.columns[number]
            if isinstance(column, LeafSet):
                tree = self._decisions.model.layers[column.layer].trees[column.tree]
                for depth in np.unique(asked[number][asked[number] < _NEVER]).tolist():
                    self._ask_tree(tree, asked[number] == depth, depth + 1, asked, edges)
        shapes = self._ask_shapes(asked, edges)
        # A condition that leads along no edges has its first ones one decision further down.
        offset = 0 if _follows_edges(condition) else 1
        for relation, depths in edges.items():
            edges[relation] = {edge: depth - offset for edge, depth in depths.items()}
        if self._decisions.graph.is_symmetric:
            for depths in edges.values():
                for (source, target), depth in list(depths.items()):
                    _note(depths, (target, source), depth)
        return np.minimum.reduce([*asked.values(), shapes]), edges

    def _ask_shapes(self, asked: Depths, edges: EdgeDepths) -> IntArray:
        """Ask for the rings, triangles and so on that give nodes the predicates they are asked for.

        Returns how far below the condition nodes matter for these.
        """
        graph = self._decisions.graph
        below = np.full(graph.n_nodes, _NEVER)
        for number, depths in asked.items():
            column = self._decisions.model.columns[number]
            if not isinstance(column, InputPredicate) or not is_shape(column.name):
                continue
            for node in np.flatnonzero(depths < _NEVER).tolist():
                nodes, pairs = shape_at(graph, column.name, node)
                below[nodes] = np.minimum(below[nodes], depths[node] + 1)
                noted = edges.setdefault(None, {})
                for edge in pairs:
                    _note(noted, edge, int(depths[node]) + 1)
        return below

    def _ask_tree(
        self, tree: Tree, rows: BoolArray, depth: int, asked: Depths, edges: EdgeDepths
    ) -> None:
        """Follow some nodes through a tree and ask for all that decides their way."""
        stack = [(0, rows)]
        while stack:
            at, here = stack.pop()
            split = tree.splits[at]
            if split is not None and here.any():
                self._ask(split, here, depth, asked, edges)
                truth = self._decisions.truth(split)
                stack.append((tree.true_child[at], here & truth))
                stack.append((tree.false_child[at], here & ~truth))

    def _ask(
        self, split: Split, rows: BoolArray, depth: int, asked: Depths, edges: EdgeDepths
    ) -> None:
        """Ask for the nodes that a decision counts at some nodes, and for the edges to them."""
        modality = split.modality
        numbers = np.flatnonzero(rows)
        counted, itself, near = self._decisions.looked_at(split, numbers)
        depths = asked[split.column]
        depths[counted.any(axis=0)] = np.minimum(depths[counted.any(axis=0)], depth)
        if _follows_edges(split):
            used = counted & near & ~(itself & modality.itself)
            positions, others = np.nonzero(used)
            followed = self._as_they_are(modality.edges, numbers[positions], others)
            noted = edges.setdefault(modality.edges.relation, {})
            for edge in followed:
                _note(noted, edge, depth)

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
        matrix = self._decisions.graph.edges(Edges(relation=which.relation)).support
        both = back | {(target, source) for source, target in back}
        return {(source, target) for source, target in both if matrix[source, target]}


def _follows_edges(split: Split) -> bool:
    """Return whether a decision finds the nodes that it counts along edges."""
    return split.modality.neighbours and not split.modality.others


def _note(depths: dict[tuple[int, int], int], edge: tuple[int, int], depth: int) -> None:
    depths[edge] = min(depth, depths.get(edge, depth))


def _edge_array(scores: Mapping[tuple[int, int], float]) -> IntArray:
    return np.array(sorted(scores), dtype=np.int64).reshape(-1, 2)


def _score_array(scores: Mapping[tuple[int, int], float]) -> FloatArray:
    return np.array([scores[edge] for edge in sorted(scores)], dtype=np.float64)
