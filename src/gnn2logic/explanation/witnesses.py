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

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.card_reasons import card_witnesses
from gnn2logic.explanation.evidence import (
    NEVER,
    EdgeDepths,
    Evidence,
    Witnesses,
    edges_followed,
    follows_edges,
    note_edge,
    note_shapes,
    settled_edges,
)
from gnn2logic.explanation.path import GraphDecisions
from gnn2logic.explanation.shapes import is_shape
from gnn2logic.explanation.subject import GraphSubject, graph_subject, model_to_explain
from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.model import InputPredicate, LeafSet
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.scorecards import Scorecard

__all__ = ["Witnesses", "witnesses", "witnesses_of"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
# For each column, how many decisions below a condition its truth matters at each node.
Depths = dict[int, IntArray]


def witnesses(
    model: object,
    graph: object,
    *,
    node: int | None = None,
) -> Witnesses:
    """Return the path of a graph (or node) through a model, with its witnesses.

    Of a scorecard it is the lines that give points.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller, IDT or the like
        A fitted model. An `IDT` or a `Scorecard` reads graphs that have its predicates; its classes
        are numbers.
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
    subject = graph_subject(model_to_explain(model), graph, node=node)
    if isinstance(subject.model, Scorecard):
        return card_witnesses(subject, subject.model)
    return witnesses_of(subject, GraphDecisions(subject.model, subject.batch))


def witnesses_of(subject: GraphSubject, decisions: GraphDecisions) -> Witnesses:
    """Return the witnesses of what was asked."""
    leaf, splits, conditions = decisions.follow(subject.row)
    evidence, support = Evidence(subject.batch.n_nodes), _Support(decisions)
    for split in splits:
        evidence.add(1 / len(splits), *support.below(split, subject.row))
    label = subject.names[leaf_classes(decisions.model.final)[leaf]]
    return evidence.witnesses(subject, label, conditions)


class _Support:
    """The nodes and edges that decisions are about, down to the inputs."""

    def __init__(self, decisions: GraphDecisions) -> None:
        self._decisions = decisions

    def below(self, condition: Split, row: int) -> tuple[IntArray, EdgeDepths]:
        """Return how far below a condition nodes and edges first matter, to the last."""
        size = self._decisions.graph.n_nodes
        asked = {number: np.full(size, NEVER) for number in self._decisions.values}
        edges: EdgeDepths = {}
        self._ask(condition, np.arange(size) == row, 0, asked, edges)
        # Columns are made of earlier ones, so from the last to the first all is known in time.
        for number in sorted(asked, reverse=True):
            column = self._decisions.model.columns[number]
            if isinstance(column, LeafSet):
                tree = self._decisions.model.layers[column.layer].trees[column.tree]
                for depth in np.unique(asked[number][asked[number] < NEVER]).tolist():
                    self._ask_tree(tree, asked[number] == depth, depth + 1, asked, edges)
        shapes = np.full(size, NEVER)
        for number, depths in asked.items():
            column = self._decisions.model.columns[number]
            if isinstance(column, InputPredicate) and is_shape(column.name):
                inside = np.where(depths < NEVER, depths + 1, NEVER)
                note_shapes(self._decisions.graph, column.name, inside, shapes, edges)
        offset = 0 if follows_edges(condition.modality) else 1
        edges = settled_edges(edges, self._decisions.graph, offset)
        return np.minimum.reduce([*asked.values(), shapes]), edges

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
        if follows_edges(modality):
            used = counted & near & ~(itself & modality.itself)
            positions, others = np.nonzero(used)
            graph = self._decisions.graph
            noted = edges.setdefault(modality.edges.relation, {})
            for edge in edges_followed(graph, modality.edges, numbers[positions], others):
                note_edge(noted, edge, depth)
