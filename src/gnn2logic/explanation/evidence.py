"""`Witnesses`: the nodes and edges that a model's reasons are about, and how they are gathered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.path import Condition
from gnn2logic.explanation.shapes import shape_at
from gnn2logic.explanation.subject import GraphSubject
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Formula, Modal, Not, conjunction, negation

__all__ = [
    "NEVER",
    "EdgeDepths",
    "Evidence",
    "Witnesses",
    "edges_followed",
    "follows_edges",
    "note_edge",
    "note_shapes",
    "settled_edges",
]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# How many decisions below a condition an edge first matters, by relation; None is all edges.
EdgeDepths = dict[str | None, dict[tuple[int, int], int]]

# Deeper than any model: a node that no decision asks for.
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Why the model gives one answer.

    Parameters
    ----------
    label : object
        The class that the model predicts, or the number.
    graph : GraphBatch
        The graph as the model sees it.
    node : int or None
        The node that is classified, for models that classify nodes.
    conditions : tuple of Condition
        The decisions on the path through the final tree, from the root, without those that others
        on the path imply. Of a scorecard, those that decide the points of the lines that give any.
    nodes : array of bool, shape (n_nodes,)
        The nodes that the conditions are about, down to the inputs.
    edges : array of int, shape (n, 2)
        The edges along which these nodes were found, from source to target; in undirected graphs
        they are there in both directions.
    edges_by_relation : dict from str or None to array
        The same edges by the relation that a condition follows; None where it follows all edges.
    node_scores : array of float, shape (n_nodes,)
        From 1, for what every condition counts, to 0, for nodes that are no witnesses. A condition
        adds 1 for a node that it counts, and half as much for every decision further down. Lines
        of a scorecard add in proportion to their points.
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
        """The rule that fires: all conditions together."""
        return conjunction(_plain(condition.formula) for condition in self.conditions)


def _plain(formula: Formula) -> Formula:
    """Return ``phi`` for ``I phi > 0``, as people would write it."""
    if isinstance(formula, Not):
        return negation(_plain(formula.child))
    if isinstance(formula, Modal):
        return fold_modal(formula.modality, formula.child, formula.threshold, simple=False)
    return formula


class Evidence:
    """The scores of nodes and edges, added up condition by condition."""

    def __init__(self, n_nodes: int) -> None:
        self._nodes = np.zeros(n_nodes)
        self._edges: dict[str | None, dict[tuple[int, int], float]] = {}

    def add(self, weight: float, node_depths: IntArray, edge_depths: EdgeDepths) -> None:
        """Add what one condition is about; `weight` is its share of the whole."""
        asked = node_depths < NEVER
        self._nodes[asked] += 0.5 ** node_depths[asked] * weight
        for relation, depths in edge_depths.items():
            scores = self._edges.setdefault(relation, {})
            for edge, depth in depths.items():
                scores[edge] = scores.get(edge, 0.0) + 0.5**depth * weight

    def witnesses(
        self, subject: GraphSubject, label: object, conditions: Sequence[Condition]
    ) -> Witnesses:
        """Return all of it as the witnesses of what was asked."""
        if subject.node is not None:
            self._nodes[subject.row] = 1.0
        together: dict[tuple[int, int], float] = {}
        for scores in self._edges.values():
            for edge, score in scores.items():
                together[edge] = max(score, together.get(edge, 0.0))
        return Witnesses(
            label=label,
            graph=subject.batch,
            node=subject.node,
            conditions=tuple(conditions),
            nodes=self._nodes > 0,
            edges=_edge_array(together),
            edges_by_relation={name: _edge_array(scores) for name, scores in self._edges.items()},
            node_scores=self._nodes,
            edge_scores=_score_array(together),
            edge_scores_by_relation={
                name: _score_array(scores) for name, scores in self._edges.items()
            },
        )


def follows_edges(modality: Modality) -> bool:
    """Return whether a decision finds the nodes that it counts along edges."""
    return modality.neighbours and not modality.others


def edges_followed(
    graph: GraphBatch, which: Edges, nodes: npt.NDArray[Any], neighbours: npt.NDArray[Any]
) -> set[tuple[int, int]]:
    """Return the edges, from source to target, that make the neighbours of some nodes."""
    ahead = zip(nodes.tolist(), neighbours.tolist(), strict=True)
    if which.direction is Direction.OUT:
        return set(ahead)
    back = {(source, target) for target, source in ahead}
    if which.direction is Direction.IN:
        return back
    matrix = graph.edges(Edges(relation=which.relation)).support
    both = back | {(target, source) for source, target in back}
    return {(source, target) for source, target in both if matrix[source, target]}


def note_edge(depths: dict[tuple[int, int], int], edge: tuple[int, int], depth: int) -> None:
    """Note where an edge matters; the least depth counts."""
    depths[edge] = min(depth, depths.get(edge, depth))


def note_shapes(
    graph: GraphBatch, name: str, depths: IntArray, nodes: IntArray, edges: EdgeDepths
) -> None:
    """Note the rings, triangles and so on that give nodes a predicate of the structure.

    Parameters
    ----------
    depths : array of int
        How far below the condition the predicate is asked for at every node.
    nodes, edges
        Where they are noted.
    """
    for node in np.flatnonzero(depths < NEVER).tolist():
        members, pairs = shape_at(graph, name, node)
        nodes[members] = np.minimum(nodes[members], depths[node])
        noted = edges.setdefault(None, {})
        for edge in pairs:
            note_edge(noted, edge, int(depths[node]))


def settled_edges(edges: EdgeDepths, graph: GraphBatch, offset: int) -> EdgeDepths:
    """Return depths that begin at 0, and undirected edges in both directions.

    A condition that leads along no edges has its first ones one decision further down: `offset` 1.
    """
    for relation, depths in edges.items():
        edges[relation] = {edge: depth - offset for edge, depth in depths.items()}
    if graph.is_symmetric:
        for depths in edges.values():
            for (source, target), depth in list(depths.items()):
                note_edge(depths, (target, source), depth)
    return edges


def _edge_array(scores: Mapping[tuple[int, int], float]) -> IntArray:
    return np.array(sorted(scores), dtype=np.int64).reshape(-1, 2)


def _score_array(scores: Mapping[tuple[int, int], float]) -> FloatArray:
    return np.array([scores[edge] for edge in sorted(scores)], dtype=np.float64)
