"""`explain` and its `Explanation`: one graph (or node), one model, all that there is to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from gnn2logic.explanation.flips import Flip, flips_at
from gnn2logic.explanation.parts import FormulaPart, parts_of
from gnn2logic.explanation.path import Condition, GraphDecisions
from gnn2logic.explanation.score_explanations import ScoreExplanation, score_explanation
from gnn2logic.explanation.subject import (
    TeacherAnswer,
    ask_teacher,
    ask_teacher_number,
    graph_subject,
    model_to_explain,
)
from gnn2logic.explanation.witnessed import (
    WitnessedExplanation,
    condition_to_dict,
    flip_to_dict,
    numbers_of,
    teacher_to_dict,
)
from gnn2logic.explanation.witnesses import Witnesses, witnesses_of
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.target import Target
from gnn2logic.idt.tree import Tree
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.scorecards import Scorecard, ScorecardPredictor

if TYPE_CHECKING:
    from gnn2logic.explanation.wording import Wording

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True, eq=False)
class Explanation(WitnessedExplanation):
    """Why a model gives one answer, as `gnn2logic.explain` returns it.

    Printing it gives the text. `gnn2logic.plotting.plot_explanation` draws it.

    Parameters
    ----------
    level : {"graph", "node"}
        What the model classifies.
    witnesses : Witnesses
        The path through the final tree with all nodes and edges that it is about.
    shares : mapping of label to float
        The share of every class in the training data that came to the same leaf, by weight. Of a
        model that was made from formulas, 1 for the class of the leaf.
    support : float or None
        The share of the training data that came to this leaf, by weight; None for a model that was
        made from formulas.
    flips : tuple of Flip
        For every other class the smallest change of counts that leads to it, nearest first. It is
        about the counts that the final tree compares, and not every such change can be made in a
        graph.
    teacher : TeacherAnswer or None
        What the network says; None if it was not asked.
    target : Target or None
        What a model predicts that predicts numbers; None for classes.
    """

    level: Literal["graph", "node"]
    witnesses: Witnesses
    shares: Mapping[Any, float]
    support: float | None
    flips: tuple[Flip, ...]
    teacher: TeacherAnswer | None = None
    target: Target | None = None

    @property
    def answer(self) -> Literal["class", "number"]:
        """What sort of answer is explained."""
        return "class" if self.target is None else "number"

    @property
    def share(self) -> float:
        """The share of the predicted class in the training data that came to the same leaf."""
        return self.shares[self.label]

    @property
    def reasons(self) -> tuple[Condition, ...]:
        """What is told one by one: the conditions."""
        return self.conditions

    @cached_property
    def parts(self) -> tuple[tuple[FormulaPart, ...], ...]:
        """For every condition the formula that it counts and all parts of it, with their nodes."""
        return tuple(parts_of(condition.inner, self.graph) for condition in self.conditions)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data that ``json.dumps`` takes; nodes are numbers."""
        names = self._names
        return {
            "level": self.level,
            "node": self.node,
            "n_nodes": self.graph.n_nodes,
            "label": self.label,
            "share": self.share,
            "shares": [{"label": label, "share": share} for label, share in self.shares.items()],
            "support": self.support,
            "teacher": teacher_to_dict(self.teacher),
            "rule": str(self.rule),
            "rule_in_words": self.rule.to_english(names),
            "conditions": [
                condition_to_dict(condition, parts, names)
                for condition, parts in zip(self.conditions, self.parts, strict=True)
            ],
            "flips": [flip_to_dict(flip, names) for flip in self.flips],
            "nodes": numbers_of(self.witnesses.nodes),
            "edges": self.witnesses.edges.tolist(),
        }

    def _wording(self, names: Names | None = None) -> Wording:
        from gnn2logic.explanation.wording import wording_of

        return wording_of(self, self._names if names is None else names)

    def __repr__(self) -> str:
        return f"<Explanation of {self.label!r} by {self.rule}>"


@overload
def explain(
    model: IDTPredictor | IDT,
    graph: object,
    teacher: object = None,
    *,
    node: int | None = None,
    class_names: Iterable[object] | None = None,
) -> Explanation: ...


@overload
def explain(
    model: ScorecardPredictor | Scorecard,
    graph: object,
    teacher: object = None,
    *,
    node: int | None = None,
    class_names: Iterable[object] | None = None,
) -> ScoreExplanation: ...


@overload
def explain(
    model: object,
    graph: object,
    teacher: object = None,
    *,
    node: int | None = None,
    class_names: Iterable[object] | None = None,
) -> Explanation | ScoreExplanation: ...


def explain(
    model: object,
    graph: object,
    teacher: object = None,
    *,
    node: int | None = None,
    class_names: Iterable[object] | None = None,
) -> Explanation | ScoreExplanation:
    """Explain why a model gives a graph (or a node) its class.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller, IDT or the like
        A fitted model: rules or a scorecard, also from a distiller. An `IDT` or a `Scorecard` reads
        graphs that have its predicates; its classes are numbers.
    graph : one graph of any kind that the model was fitted on
    teacher : Teacher, torch module or anything with ``predict(graphs)``, optional
        Whose answer to set beside that of the model. Only a network needs torch.
    node : int, optional
        Which node to explain, for models that classify nodes.
    class_names : sequence of labels, optional
        Other names for the classes of the model, in their order.

    Returns
    -------
    Explanation or ScoreExplanation
        The path through the final tree. For every condition: the count, the threshold, by how much
        it is met, and the nodes that satisfy each part of its formula. The smallest change of
        counts that gives another class. Of a scorecard: the lines that give points, how many, and
        the same about their conditions.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> idt = gl.from_formulas({"hub": "1(A true > 2) > 0"}, otherwise="no hub", names=[])
    >>> star = gl.from_edges([(0, 1), (0, 2), (0, 3)], 4).symmetrize()
    >>> print(explain(idt, star))
    Predicted class: hub
    <BLANKLINE>
    Because
      1. At least one node has more than 2 neighbours.
         1(A true > 2) > 0
         1 of 4 counted; 1 fewer would break it.
    <BLANKLINE>
    Nodes
      - Nodes that have more than 2 neighbours: 0
    <BLANKLINE>
    The smallest change of counts for another class
      - For class no hub, by 1: No nodes have more than 2 neighbours (now 1).
      A change of the graph may change several counts at once, and not every
      combination of counts belongs to a graph.
    """
    if isinstance(graph, Iterator):
        graph = list(graph)
    given = model_to_explain(model)
    subject = graph_subject(given, graph, node=node, class_names=class_names)
    target = None if isinstance(given, IDT | Scorecard) else given.target

    def answer_of_teacher(label: object, answer: str) -> TeacherAnswer | None:
        if teacher is None:
            return None
        if answer == "number":
            return ask_teacher_number(teacher, graph, subject)
        return ask_teacher(teacher, graph, subject, label)

    if isinstance(subject.model, Scorecard):
        told = score_explanation(subject, subject.model, target=target)
        return replace(told, teacher=answer_of_teacher(told.label, told.answer))
    decisions = GraphDecisions(subject.model, subject.batch)
    reasons = witnesses_of(subject, decisions)
    final = decisions.model.final
    leaf, _ = decisions.path(final, subject.row)
    values = final.values[final.leaves[leaf]]
    shares = (values / values.sum()).tolist()
    return Explanation(
        level=subject.level,
        witnesses=reasons,
        shares=dict(zip(subject.names, shares, strict=True)),
        support=_support(final, leaf),
        flips=flips_at(decisions, subject.row, leaf, subject.names),
        teacher=answer_of_teacher(reasons.label, "class" if target is None else "number"),
        target=target,
    )


def _support(final: Tree, leaf: int) -> float | None:
    """Return the share of the training data in a leaf; None if there was none.

    A tree that was built from formulas has the weight 1 in every leaf.
    """
    weights = final.values[list(final.leaves)].sum(axis=1)
    if np.all(weights == 1.0):
        return None
    return float(weights[leaf] / weights.sum())
