"""`ScoreExplanation`: why a scorecard gives one answer, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gnn2logic.explanation.card_reasons import LineReason, card_witnesses, line_reasons
from gnn2logic.explanation.evidence import Witnesses
from gnn2logic.explanation.flips import Flip
from gnn2logic.explanation.parts import FormulaPart, parts_of
from gnn2logic.explanation.score_flips import score_flips
from gnn2logic.explanation.subject import GraphSubject, TeacherAnswer
from gnn2logic.explanation.witnessed import (
    WitnessedExplanation,
    condition_to_dict,
    flip_to_dict,
    numbers_of,
    teacher_to_dict,
)
from gnn2logic.idt.target import Target
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.scorecards.card import Scorecard

if TYPE_CHECKING:
    from gnn2logic.explanation.wording import Wording

__all__ = ["ScoreExplanation", "score_explanation"]


@dataclass(frozen=True, eq=False)
class ScoreExplanation(WitnessedExplanation):
    """Why a scorecard gives one answer, as `gnn2logic.explain` returns it.

    Printing it gives the text. `gnn2logic.plotting.plot_explanation` draws it.

    Parameters
    ----------
    card : Scorecard
    class_names : tuple
        The classes by number; empty for a card that predicts numbers.
    lines : tuple of LineReason
        All lines, with what they count here and the points that they give.
    witnesses : Witnesses
        The lines that give points, with all nodes and edges that they are about.
    flips : tuple of Flip
        For every other class the smallest change of counts that leads to it, nearest first. It is
        about the counts that the lines compare, and not every such change can be made in a graph.
    teacher : TeacherAnswer or None
        What the network says; None if it was not asked.
    target : Target or None
        What a card predicts that predicts numbers; None for classes, and where it has no name.
    """

    card: Scorecard
    class_names: tuple[Any, ...]
    lines: tuple[LineReason, ...]
    witnesses: Witnesses
    flips: tuple[Flip, ...]
    teacher: TeacherAnswer | None = None
    target: Target | None = None

    @property
    def level(self) -> Literal["graph", "node"]:
        """What the model scores."""
        return self.card.level

    @property
    def answer(self) -> Literal["class", "number"]:
        """What sort of answer is explained."""
        return self.card.answer

    @property
    def reasons(self) -> tuple[LineReason, ...]:
        """The lines that give points here."""
        return tuple(line for line in self.lines if any(line.points))

    @property
    def scores(self) -> tuple[int, ...]:
        """The sum of all points, one number for each column of points."""
        total = np.array(self.card.base)
        for line in self.lines:
            total = total + np.array(line.points)
        return tuple(total.tolist())

    @property
    def shares(self) -> Mapping[Any, float]:
        """The probability of every class that the score stands for; empty for numbers."""
        if self.card.answer == "number":
            return {}
        chances = self.card.probabilities(np.array([self.scores]))[0].tolist()
        return dict(zip(self.class_names, chances, strict=True))

    @cached_property
    def parts(self) -> tuple[tuple[FormulaPart, ...], ...]:
        """For every line with points the formula that it counts and all parts of it, with nodes."""
        return tuple(parts_of(line.inner, self.graph) for line in self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data that ``json.dumps`` takes; nodes are numbers."""
        parts = dict(zip((line.number for line in self.reasons), self.parts, strict=True))
        names = self._names
        return {
            "level": self.level,
            "node": self.node,
            "n_nodes": self.graph.n_nodes,
            "label": self.label,
            "base": list(self.card.base),
            "scores": list(self.scores),
            "shares": [{"label": label, "share": share} for label, share in self.shares.items()],
            "teacher": teacher_to_dict(self.teacher),
            "lines": [
                {
                    "number": line.number,
                    "formula": str(line.formula),
                    "english": line.formula.to_english(names),
                    "points": list(line.points),
                    "conditions": [
                        condition_to_dict(condition, parts.get(line.number, ()), names)
                        for condition in line.deciding
                    ],
                }
                for line in self.lines
            ],
            "flips": [flip_to_dict(flip, names) for flip in self.flips],
            "nodes": numbers_of(self.witnesses.nodes),
            "edges": self.witnesses.edges.tolist(),
        }

    def _wording(self, names: Names | None = None) -> Wording:
        from gnn2logic.explanation.wording import wording_of

        return wording_of(self, self._names if names is None else names)

    def __repr__(self) -> str:
        return f"<ScoreExplanation of {self.label!r} by a score of {self.scores}>"


def score_explanation(
    subject: GraphSubject,
    card: Scorecard,
    teacher: TeacherAnswer | None = None,
    target: Target | None = None,
) -> ScoreExplanation:
    """Return why a card gives its answer to what was asked."""
    lines = line_reasons(card, subject.batch, subject.row)
    return ScoreExplanation(
        card=card,
        class_names=tuple(subject.names),
        lines=lines,
        witnesses=card_witnesses(subject, card),
        flips=score_flips(card, lines, subject.names),
        teacher=teacher,
        target=target,
    )
