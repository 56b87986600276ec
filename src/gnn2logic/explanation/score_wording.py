"""What is said about a score: its sum, and the points of every line."""

from __future__ import annotations

from collections.abc import Sequence

from gnn2logic.explanation.card_reasons import LineReason
from gnn2logic.explanation.phrases import (
    ConditionWords,
    capital,
    count_words,
    direction,
    label_text,
    percent,
    sentence,
)
from gnn2logic.explanation.score_explanations import ScoreExplanation
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.printing.steps import ShortNames
from gnn2logic.scorecards.tables import verdict_of

__all__ = ["line_words", "points_words", "score_columns", "score_notes"]

_ITSELF = Modality.from_set("I")


def score_notes(explanation: ScoreExplanation) -> list[str]:
    """Return the score, how it is made, and what it means."""
    card, scores = explanation.card, explanation.scores
    columns = score_columns(explanation)
    fired, n_lines = len(explanation.reasons), len(explanation.lines)
    if n_lines == 1:
        made = f"its one line gives {'points' if fired else 'none'}"
    else:
        among = f"{fired or 'none'} of {n_lines} lines"
        made = f"{among} {'give' if fired > 1 else 'gives'} points"
    if any(card.base):
        base = points_words(card.base, columns)
        made += f"; {base} for every {explanation.level}"
    if len(scores) > 1:
        listed = ", ".join(
            f"{label_text(name)} {score}"
            for name, score in zip(explanation.class_names, scores, strict=True)
        )
        notes = [f"Scores: {listed} ({made})."]
    else:
        notes = [f"Score: {scores[0]} ({made})."]
    verdict = verdict_of(card, explanation.class_names, explanation.target)
    if card.answer == "number":
        return [*notes, sentence(verdict)]
    chance = percent(explanation.shares[explanation.label])
    return [*notes, f"It is {verdict}. Probability of {label_text(explanation.label)}: {chance}."]


def score_columns(explanation: ScoreExplanation) -> tuple[str, ...]:
    """Return what the columns of points are for; one column needs no name."""
    names = explanation.class_names
    return () if len(explanation.scores) == 1 else tuple(map(label_text, names))


def points_words(points: Sequence[int], columns: Sequence[str]) -> str:
    """Return points in words.

    >>> points_words([1], []), points_words([3, 0, -2], ["a", "b", "c"])
    ('+1 point', '+3 points for a, -2 points for c')
    """
    if not columns:
        return _points(points[0])
    given = zip(points, columns, strict=True)
    return ", ".join(f"{_points(number)} for {name}" for number, name in given if number)


def _points(number: int) -> str:
    return f"{number:+d} point{'' if abs(number) == 1 else 's'}"


def line_words(
    reason: LineReason, explanation: ScoreExplanation, short_names: ShortNames
) -> ConditionWords:
    """Return a line with its points, and what was counted."""
    words = capital(short_names.words(reason.formula))
    given = points_words(reason.points, score_columns(explanation))
    margins = [f"{each.margin} {direction(each)}" for each in reason.deciding]
    first = reason.deciding[0]
    count = f"{count_words(first)}; {' or '.join(margins)} would give other points."
    if first.modality == _ITSELF:
        count = "So it is at this node."
    return ConditionWords(
        reason.number, f"{words}: {given}.", short_names.logic(reason.formula), count
    )
