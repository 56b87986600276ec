"""What a report says about a scorecard: its table, its path, and its lines on examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnn2logic.chem.words import molecule_words
from gnn2logic.explanation.card_reasons import LineReason
from gnn2logic.explanation.score_explanations import ScoreExplanation, score_explanation
from gnn2logic.explanation.score_wording import points_words, score_columns
from gnn2logic.explanation.subject import GraphSubject
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.syntax import Constant, Formula, Modal
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas
from gnn2logic.reporting.examples import decision_of, flip_of
from gnn2logic.reporting.formulas import (
    answer_figures,
    cut_text,
    measured_row,
    short_text,
    short_words,
)
from gnn2logic.reporting.number_comparison import number_figures
from gnn2logic.reporting.subject import ReportLimits, ReportSubject
from gnn2logic.scorecards import Line, ScorecardPredictor
from gnn2logic.scorecards.card import held_conditions
from gnn2logic.scorecards.documents import PARAMETERS
from gnn2logic.scorecards.tables import card_names, table_to_text

__all__ = ["CARD_ROLES", "CardStory"]

CARD_ROLES = {
    "counted": "What the lines count",
    "named": "Groups of nodes",
    "line": "Lines",
    "part": "Other parts of the lines",
}
"""The roles of formulas in the order in which they are shown."""


class CardStory:
    """What there is to say about a scorecard.

    Parameters
    ----------
    subject : ReportSubject
    model : ScorecardPredictor
    limits : ReportLimits
    """

    speaks = "lines use"
    roles = CARD_ROLES
    parameters = PARAMETERS

    def __init__(
        self, subject: ReportSubject, model: ScorecardPredictor, limits: ReportLimits
    ) -> None:
        self._subject, self._model, self._limits = subject, model, limits
        words = molecule_words(subject.batch)
        self._table = model.table(subject.model_class_names, words)
        self.short_names = card_names(model.card_, words)

    def formulas(self) -> dict[Formula, list[tuple[str, str]]]:
        """Return all formulas to choose from, with their roles; the most telling come first."""
        roles_of: dict[Formula, list[tuple[str, str]]] = {}

        def add(formula: Formula, group: str, role: str) -> None:
            if not isinstance(formula, Constant):
                roles = roles_of.setdefault(formula, [])
                if (group, role) not in roles:
                    roles.append((group, role))

        numbered = list(enumerate(self._model.lines_, 1))
        for number, line in numbered:
            add(_counted(line), "counted", f"counted by line {number}")
        for subformula, name in self.short_names.names.items():
            add(subformula, "named", f"group ({name})")
        for row in self._table.rows:
            add(row.formula, "line", f"line {row.line}")
        for number, line in numbered:
            for subformula in reversed(subformulas(_counted(line))):
                add(subformula, "part", f"part of line {number}")
        return roles_of

    def terms(self) -> tuple[list[str], list[str]]:
        """Return the predicates and relations in use."""
        conditions = self._model.card_.conditions
        return list(predicate_names(*conditions)), list(relation_names(*conditions))

    def entries(self, shown: list[Formula]) -> dict[str, Any]:
        """Return what the document has for scorecards alone."""
        return {
            "rules": self._classes(),
            "card": self._card(shown),
            "trade_off": self._trade_off(),
            "tree": cut_text(table_to_text(self._table), self._limits.max_text),
        }

    def model(self) -> dict[str, Any]:
        """Return what the model is."""
        card = self._model.card_
        return {
            "n_lines": len(card.lines),
            "size": card.size,
            "used": {"predicates": list(predicate_names(*card.conditions))},
        }

    def _classes(self) -> list[dict[str, Any]]:
        """Return how often each class is given, and how often that is right."""
        subject = self._subject
        return [
            {"class": subject.class_names[label], **answer_figures(subject, label)}
            for label in subject.labels
        ]

    def _card(self, shown: list[Formula]) -> dict[str, Any]:
        number_of = {formula: number for number, formula in enumerate(shown)}
        lines, path = self._model.lines_, self._model.path_
        plain = self._table.to_dict()
        # The report tells of all its groups in one list.
        del plain["groups"]
        points = [number for row in self._table.rows for number in row.points]
        for row, entry in zip(self._table.rows, plain["lines"], strict=True):
            counted = _counted(lines[row.line - 1])
            entry["words"] = cut_text(short_words(row.formula, self.short_names), 600)
            entry["logic"] = cut_text(short_text(row.formula, self.short_names), 400)
            entry["shown"] = number_of.get(counted, number_of.get(row.formula))
        one_rule = None
        if len(lines) == 1 and self._model.card_.n_classes == 2:
            label = self._subject.labels[1]
            formula = self._model.formula(label)
            one_rule = {
                "class": self._subject.class_names[label],
                "words": short_words(formula, self.short_names),
                "text": str(formula),
            }
        return plain | {
            "largest": max([abs(number) for number in [*points, *self._table.base]] or [1]),
            "one_rule": one_rule,
            "calibration": [
                {"predicted": b.predicted, "observed": b.observed, "weight": b.weight}
                for b in path.calibration
            ],
            "calibration_error": path.calibration_error,
        }

    def _trade_off(self) -> dict[str, Any]:
        """Return all cards of the path, with how they do on the graphs of the report."""
        path, comparison = self._model.path_, self._subject.comparison
        distinct: dict[tuple[Formula, ...], int] = {}
        for row in path:
            for line in row.card.lines:
                distinct.setdefault(line.conditions, len(distinct))
        held = held_conditions(list(distinct), self._subject.batch, self._subject.level)[
            comparison.rows
        ]
        classes = np.array(self._subject.labels)
        is_number = self._subject.target is not None
        rows = []
        for index, row in enumerate(path):
            columns = [distinct[line.conditions] for line in row.card.lines]
            scores = row.card.scores(held[:, columns])
            answers = (
                row.card.numbers(scores)[:, 0] if is_number else classes[row.card.classes(scores)]
            )
            right, alike = (
                None if other is None else _CardFigures.of(answers, other, is_number)
                for other in (comparison.truth, comparison.teacher)
            )
            rows.append(
                {
                    "index": index,
                    "chosen": index == path.chosen,
                    "n_lines": row.n_lines,
                    "size": row.card.size,
                    **measured_row(is_number, right, alike),
                    "held_out": row.held_out,
                }
            )
        return {"rows": rows, "n_rules": len(rows), "max_leaves": None, "reason": path.reason}

    # Examples ----------------------------------------------------------------------------------

    def on_graph(
        self, graph: GraphBatch, node: int | None, number_of: dict[Formula, int]
    ) -> dict[str, Any]:
        """Return why the card gives one graph (or node) its class."""
        names = self._subject.model_class_names
        card = self._model.card_
        asked = GraphSubject(card, self._subject.labels, graph, names, node)
        told = score_explanation(asked, card, target=self._subject.target)
        return {
            "decisions": [self._line(line, told, number_of) for line in told.reasons],
            "score": self._score(told),
            "flips": [flip_of(flip, self.short_names) for flip in told.flips],
        }

    def _line(
        self, line: LineReason, told: ScoreExplanation, number_of: dict[Formula, int]
    ) -> dict[str, Any]:
        points = points_words(line.points, score_columns(told))
        return {
            "line": line.number,
            "points": points,
            **decision_of(line.deciding[0], number_of),
        }

    def _score(self, told: ScoreExplanation) -> dict[str, Any]:
        scores = ", ".join(map(str, told.scores))
        if len(told.scores) > 1:
            named = zip(self._subject.model_class_names, told.scores, strict=True)
            scores = ", ".join(f"{name} {score}" for name, score in named)
        base = points_words(told.card.base, score_columns(told)) if any(told.card.base) else None
        return {
            "scores": list(told.scores),
            "words": scores,
            "base": base,
            "verdict": self._table.verdict,
            "probability": told.shares.get(told.label),
        }


@dataclass(frozen=True)
class _CardFigures:
    """How near the answers of a card are to others: accuracy (R2 for numbers), and the error."""

    accuracy: float
    mae: float | None

    @classmethod
    def of(cls, answers: npt.NDArray[Any], other: npt.NDArray[Any], is_number: bool) -> Self:
        if is_number:
            return cls(*number_figures(other, answers))
        return cls(float(np.mean(answers == other)), None)


def _counted(line: Line) -> Formula:
    """Return what a line counts, or the line itself if it counts nothing."""
    first = line.conditions[0]
    return first.child if isinstance(first, Modal) else first
