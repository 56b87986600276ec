"""The lines of a scorecard on one graph (or node): counts, points, and the nodes they are about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
from gnn2logic.explanation.path import Condition, nodes_seen
from gnn2logic.explanation.shapes import is_shape
from gnn2logic.explanation.subject import GraphSubject
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.syntax import Formula, Modal, Predicate, Threshold, conjunction, negation
from gnn2logic.logic.walk import subformulas
from gnn2logic.scorecards.card import Line, Scorecard

__all__ = ["LineReason", "card_answer", "card_witnesses", "line_reasons"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_ITSELF = Modality.from_set("I")


@dataclass(frozen=True, eq=False)
class LineReason:
    """One line of a scorecard on one graph (or node).

    Parameters
    ----------
    number : int
        The number of the line, from 1.
    line : Line
    conditions : tuple of Condition
        All conditions of the line, from weak to strong, with what they count here.
    """

    number: int
    line: Line
    conditions: tuple[Condition, ...]

    @property
    def held(self) -> int:
        """How many conditions hold."""
        return sum(condition.met for condition in self.conditions)

    @property
    def points(self) -> tuple[int, ...]:
        """The points that the line gives here, one number for each column of points."""
        return tuple(self.line.table()[self.held].tolist())

    @property
    def inner(self) -> Formula:
        """The formula that is counted."""
        return self.conditions[0].inner

    @property
    def deciding(self) -> tuple[Condition, ...]:
        """The conditions next to the count: the strongest that holds, the weakest that does not."""
        return self.conditions[max(self.held - 1, 0) : self.held + 1]

    @property
    def formula(self) -> Formula:
        """What holds here, as the line says it: "between 11 and 19 nodes are U0"."""
        said, held = self.line.conditions, self.held
        holding = [said[held - 1]] if held else []
        failing = [negation(said[held])] if held < len(said) else []
        # Of a line with one condition, or at its end, one of them is all that is said.
        return conjunction(holding + failing)


class GraphFormulas:
    """The truth of formulas at the nodes of one graph, each once.

    Parameters
    ----------
    graph : GraphBatch
    formulas : iterable of Formula
        What is asked for later, with all parts.
    """

    def __init__(self, graph: GraphBatch, formulas: Iterable[Formula]) -> None:
        self.graph = graph
        self._truths = evaluate_each(subformulas(*formulas), graph)

    def condition(self, formula: Formula, row: int) -> Condition:
        """Return a formula at a node as a condition on a count."""
        modality, inner, threshold = term_of(formula)
        truth = self._truths[inner]
        counted, _, _ = self.looked_at(modality, inner, np.array([row]))
        return Condition(
            modality=modality,
            inner=inner,
            threshold=threshold,
            count=int(ModalCounts(self.graph, truth)(modality)[row]),
            size=int(set_sizes(self.graph, modality)[row]),
            met=bool(self._truths[formula][row]),
            nodes=truth.copy(),
            counted=counted[0],
        )

    def looked_at(
        self, modality: Modality, inner: Formula, numbers: npt.NDArray[np.integer[Any]]
    ) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Return which nodes some nodes count, which are these themselves, which are near."""
        itself = numbers[:, None] == np.arange(self.graph.n_nodes)
        near = self.graph.edges(modality.edges).support[numbers].toarray() > 0
        return nodes_seen(modality, itself, near) & self._truths[inner], itself, near

    def below(self, formula: Formula, row: int) -> tuple[IntArray, EdgeDepths]:
        """Return how far below a formula at a node other nodes and edges first matter."""
        size = self.graph.n_nodes
        asked = {formula: np.where(np.arange(size) == row, 0, NEVER)}
        nodes, edges = np.full(size, NEVER), EdgeDepths()
        # What is made of others comes first, so all that asks for a part is known in time.
        for subformula in reversed(subformulas(formula)):
            depths = asked.get(subformula)
            if depths is None:
                continue
            if isinstance(subformula, Predicate) and is_shape(subformula.name):
                here = np.where(self._truths[subformula], depths, NEVER)
                note_shapes(self.graph, subformula.name, here, nodes, edges)
            if not isinstance(subformula, Modal):
                for child in subformula.children:
                    asked[child] = np.minimum(asked.get(child, NEVER), depths)
                continue
            for depth in np.unique(depths[depths < NEVER]).tolist():
                counted = self._count(subformula, depths == depth, depth, edges)
                nodes[counted] = np.minimum(nodes[counted], depth)
                inside = np.where(counted, depth + 1, NEVER)
                asked[subformula.child] = np.minimum(asked.get(subformula.child, NEVER), inside)
        counts = isinstance(formula, Modal) and not follows_edges(formula.modality)
        return nodes, settled_edges(edges, self.graph, 1 if counts else 0)

    def _count(self, part: Modal, rows: BoolArray, depth: int, edges: EdgeDepths) -> BoolArray:
        """Return the nodes that are counted at some nodes, and note the edges to them."""
        modality, numbers = part.modality, np.flatnonzero(rows)
        counted, itself, near = self.looked_at(modality, part.child, numbers)
        if follows_edges(modality):
            used = counted & near & ~(itself & modality.itself)
            positions, others = np.nonzero(used)
            noted = edges.setdefault(modality.edges.relation, {})
            for edge in edges_followed(self.graph, modality.edges, numbers[positions], others):
                note_edge(noted, edge, depth)
        return np.asarray(counted.any(axis=0))


def term_of(formula: Formula) -> tuple[Modality, Formula, Threshold]:
    """Return a condition as a count and a threshold; what is no count is one of one node."""
    if isinstance(formula, Modal):
        return formula.modality, formula.child, formula.threshold
    return _ITSELF, formula, 0


def line_reasons(card: Scorecard, graph: GraphBatch, row: int) -> tuple[LineReason, ...]:
    """Return what every line says about one graph, or about one node of it."""
    formulas = GraphFormulas(graph, card.conditions)
    return tuple(
        LineReason(
            number,
            line,
            tuple(formulas.condition(condition, row) for condition in line.conditions),
        )
        for number, line in enumerate(card.lines, 1)
    )


def card_answer(subject: GraphSubject, card: Scorecard, scores: tuple[int, ...]) -> Any:
    """Return the class, or the number, that a score stands for."""
    table = np.array([scores])
    if card.answer == "number":
        return float(card.numbers(table)[0, 0])
    return subject.names[int(card.classes(table)[0])]


def card_witnesses(subject: GraphSubject, card: Scorecard) -> Witnesses:
    """Return the nodes and edges that the lines with points are about."""
    reasons = line_reasons(card, subject.batch, subject.row)
    total = np.array(card.base) + sum(np.array(reason.points) for reason in reasons)
    label = card_answer(subject, card, tuple(total.tolist()))
    firing = [reason for reason in reasons if any(reason.points)]
    weights = [max(map(abs, reason.points)) for reason in firing]
    formulas = GraphFormulas(subject.batch, card.conditions)
    evidence = Evidence(subject.batch.n_nodes)
    for reason, weight in zip(firing, weights, strict=True):
        below = formulas.below(reason.line.conditions[max(reason.held - 1, 0)], subject.row)
        evidence.add(weight / sum(weights), *below)
    deciding = [condition for reason in firing for condition in reason.deciding]
    return evidence.witnesses(subject, label, deciding)
