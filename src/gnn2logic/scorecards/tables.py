"""A scorecard as people read it: a table of lines and points, and what scores mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill, wrap
from typing import Any

import numpy as np

from gnn2logic._text import one_line, visible
from gnn2logic.idt.target import Target
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.steps import LONGEST_LINE, ShortNames
from gnn2logic.logic.syntax import Formula
from gnn2logic.scorecards.card import Scorecard

__all__ = [
    "CardRow",
    "CardTable",
    "NodeGroup",
    "ScoreMeaning",
    "card_names",
    "card_table",
    "letters_for",
    "table_to_html",
    "table_to_text",
    "verdict_of",
]

_TEXT_WIDTH = 62
_LEAST_TEXT_WIDTH = 40
# Columns of several classes may take so many characters; longer names stand below the table.
_COLUMNS_WIDTH = 36
# Of more scores than this, those between the ends are joined in steps.
_MOST_MEANINGS = 11


@dataclass(frozen=True)
class CardRow:
    """One row of the table.

    Parameters
    ----------
    line : int
        The number of the line, from 1; lines with several cases have several rows.
    formula : Formula
    words : str
        With the names of `CardTable.groups`.
    points : tuple of int
    """

    line: int
    formula: Formula
    words: str
    points: tuple[int, ...]


@dataclass(frozen=True)
class ScoreMeaning:
    """What some scores mean: those from `low` to `high`, None where there is no end.

    Parameters
    ----------
    low, high : int or None
    value : float
        The probability of the second class, or the predicted number, in the middle of them.
    """

    low: int | None
    high: int | None
    value: float

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.high} or less"
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class NodeGroup:
    """What a name stands for that the words of lines use, since it is long or said often.

    Parameters
    ----------
    name : str
    formula : Formula
    words : str
    """

    name: str
    formula: Formula
    words: str


@dataclass(frozen=True)
class CardTable:
    """All that is shown of a scorecard.

    Parameters
    ----------
    title : str
    columns : tuple of str
        What the columns of points are for.
    rows : tuple of CardRow
    base : tuple of int
    meanings : tuple of ScoreMeaning
        For one column of points.
    verdict : str
        Which score gives which answer.
    groups : tuple of NodeGroup
        The names in the words of rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[CardRow, ...]
    base: tuple[int, ...]
    meanings: tuple[ScoreMeaning, ...]
    verdict: str
    groups: tuple[NodeGroup, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "base": list(self.base),
            "lines": [
                {
                    "number": row.line,
                    "formula": str(row.formula),
                    "words": row.words,
                    "points": list(row.points),
                }
                for row in self.rows
            ],
            "groups": [
                {"name": group.name, "formula": str(group.formula), "words": group.words}
                for group in self.groups
            ],
            "verdict": self.verdict,
            "meanings": [
                {"low": each.low, "high": each.high, "text": str(each), "value": each.value}
                for each in self.meanings
            ],
        }


def card_table(
    card: Scorecard,
    classes: Sequence[object] = (),
    target: Target | None = None,
    vocabulary: Names | None = None,
) -> CardTable:
    """Return what is shown of a scorecard.

    Parameters
    ----------
    classes : sequence
        The names of the classes.
    target : Target, optional
        The number that is predicted.
    vocabulary : mapping of str to str or (str, str), optional
        Words for predicates and relations, as ``formula.to_english`` takes them.
    """
    names = [one_line(str(label)) for label in classes]
    n_lines = len(card.lines)
    lines = "1 line" if n_lines == 1 else f"{n_lines} lines"
    short_names = card_names(card, vocabulary)
    rows = tuple(
        CardRow(number, formula, short_names.words(formula), points)
        for number, line in enumerate(card.lines, 1)
        for formula, points in line.cases
    )
    groups = tuple(
        NodeGroup(name, formula, short_names.meaning(formula))
        for formula, name in short_names.names.items()
    )
    title = f"Scorecard for {card.level}s, {lines}"
    verdict = verdict_of(card, names, target)
    if card.answer == "number":
        return CardTable(title, ("points",), rows, card.base, (), verdict, groups)
    if card.n_classes == 2:
        columns = (f"points for {names[1]}",)
        return CardTable(title, columns, rows, card.base, _meanings(card), verdict, groups)
    if card.lines:
        verdict += _worth_of_points(card)
    return CardTable(title, tuple(names), rows, card.base, (), verdict, groups)


def card_names(card: Scorecard, vocabulary: Names | None = None) -> ShortNames:
    """Return names for what the lines of a card repeat, or what is too long to be read at once."""
    said = [formula for line in card.lines for formula, _ in line.cases]
    return ShortNames.of(said, longest=LONGEST_LINE, vocabulary=vocabulary)


def verdict_of(
    card: Scorecard, classes: Sequence[object] = (), target: Target | None = None
) -> str:
    """Return which score gives which answer, in words."""
    if card.answer == "number":
        known = Target() if target is None else target
        noun = known.noun if known.unit is None else f"{known.noun} in {one_line(known.unit)}"
        # The unit is said once; the sum must be as fine as one point.
        constant = Target(step=card.slope).rounded(card.intercept)
        if not card.lines and not any(card.base):
            return f"{noun} = {constant}"
        return f"{noun} = {constant} + {Target().rounded(card.slope)} x score"
    if not card.lines:
        score = np.array([card.base], dtype=np.int64)
        return f"always {one_line(str(classes[card.classes(score)[0]]))}"
    if card.n_classes == 2:
        first, second = (one_line(str(label)) for label in classes)
        return f"{second} from a score of {card.threshold} on, else {first}"
    return "the class with the most points, the first one of equals"


def _worth_of_points(card: Scorecard) -> str:
    """Return what points say about how likely each of several classes is, in words."""
    for points in (1, 10, 100):
        odds = float(np.exp(min(card.slope * points, 50.0)))
        if odds >= 1.1:
            more = "1 point" if points == 1 else f"{points} points"
            times = f"{odds:.2g} times" if odds < 100 else "more than 100 times"
            return f"; {more} more than another class: {times} as likely"
    return ""


def _meanings(card: Scorecard) -> tuple[ScoreMeaning, ...]:
    """Return the table from scores to probabilities: few rows, none across the threshold."""
    low, high = card.score_range()
    scores = range(low, high + 1)
    if len(scores) <= _MOST_MEANINGS:
        groups = [(score, score) for score in scores]
    else:
        # The probabilities at the ends are all near 0 or 1: rows are where they change.
        chance = card.probabilities(np.array(scores)[:, None])[:, 1]
        inner = [s for s, p in zip(scores, chance, strict=True) if 0.02 <= p <= 0.98]
        first, last = (inner[0], inner[-1]) if inner else (card.threshold, card.threshold - 1)
        first = max(low, min(first, card.threshold - 1))
        last = min(high, max(last, card.threshold))
        step = -(-(last - first + 1) // _MOST_MEANINGS)
        # Counted from the threshold, so that no row has both classes.
        starts = {s for s in range(first, last + 1) if (s - card.threshold) % step == 0} | {first}
        edges = sorted(starts)
        groups = [(a, b - 1) for a, b in zip(edges, [*edges[1:], last + 1], strict=True)]
        if first > low:
            groups.insert(0, (low, first - 1))
        if last < high:
            groups.append((last + 1, high))
    meanings = []
    for a, b in groups:
        value = float(card.probabilities(np.array([[a], [b]]))[:, 1].mean())
        is_first, is_last = a == low and a < b, b == high and a < b
        meanings.append(ScoreMeaning(None if is_first else a, None if is_last else b, value))
    return tuple(meanings)


def letters_for(names: Sequence[str]) -> tuple[str, ...]:
    """Return a letter for every name, to stand above a column that is too narrow for it.

    >>> letters_for(["customers of the north", "customers of the south"])
    ('A', 'B')
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return tuple(
        letters[number] if len(names) <= len(letters) else f"#{number + 1}"
        for number in range(len(names))
    )


def table_to_text(table: CardTable) -> str:
    """Return the table as plain text."""
    heads = tuple(visible(head) for head in table.columns)
    several = len(heads) > 1
    lettered = several and sum(max(len(head), 4) + 2 for head in heads) > _COLUMNS_WIDTH
    if lettered:
        heads = letters_for(heads)
    widths = [max(len(head), 4) for head in heads]
    room = _TEXT_WIDTH
    if several:
        room = max(_LEAST_TEXT_WIDTH, room + 14 - sum(widths) - 2 * len(widths))
    shown = "  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True))
    lines = [table.title, "", " " * (room + 4) + shown]
    if any(table.base):
        lines.append(_text_row("", "all", table.base, widths, room))
    seen = 0
    for row in table.rows:
        number = "" if row.line == seen else f"{row.line}."
        seen = row.line
        lines.append(_text_row(number, row.words, row.points, widths, room))
    if not table.rows:
        lines.append("  no lines: the score is always the same")
    if lettered:
        lines += ["", "points for"]
        lines += [
            f"  {head}: {visible(name)}" for head, name in zip(heads, table.columns, strict=True)
        ]
    if table.groups:
        lines += ["", "where"]
        lines += [_group_text(group) for group in table.groups]
    lines += ["", fill(visible(table.verdict), _TEXT_WIDTH + 14)]
    if table.meanings:
        lines += ["", *_meanings_text(table)]
    return "\n".join(lines)


def _text_row(
    number: str, words: str, points: Sequence[int], widths: Sequence[int], room: int
) -> str:
    wrapped = wrap(visible(words), room) or [""]
    shown = "  ".join(
        f"{point:+d}".rjust(width) if point else ".".rjust(width)
        for point, width in zip(points, widths, strict=True)
    )
    first = f"{number:>3} {wrapped[0]:<{room}}{shown}"
    return "\n".join([first, *(f"    {line}" for line in wrapped[1:])])


def _group_text(group: NodeGroup) -> str:
    start = f"({group.name})"
    return fill(visible(f"{start:>3} {group.words}"), _TEXT_WIDTH + 14, subsequent_indent=" " * 4)


def _meanings_text(table: CardTable) -> list[str]:
    name = table.columns[0].removeprefix("points for ")
    cells = [(str(meaning), f"{meaning.value:.0%}") for meaning in table.meanings]
    widths = [max(len(score), len(chance)) for score, chance in cells]
    label = max(len("score"), len(name))
    scores = "  ".join(f"{s:>{w}}" for (s, _), w in zip(cells, widths, strict=True))
    chances = "  ".join(f"{c:>{w}}" for (_, c), w in zip(cells, widths, strict=True))
    return [f"{'score':<{label}}  {scores}", f"{name:<{label}}  {chances}"]


def table_to_html(table: CardTable) -> str:
    """Return the table for notebooks; all names are escaped, colours are left to the page."""
    left, right = 'style="text-align:left"', 'style="text-align:right"'
    heads = "".join(f"<th {right}>{escape(column)}</th>" for column in table.columns)
    body = ""
    if any(table.base):
        cells = "".join(f"<td {right}>{point:+d}</td>" for point in table.base)
        body += f"<tr><td></td><td {left}>all</td>{cells}</tr>"
    seen = 0
    for row in table.rows:
        number = "" if row.line == seen else f"{row.line}."
        seen = row.line
        cells = "".join(f"<td {right}>{point:+d}</td>" for point in row.points)
        body += (
            f'<tr><td {right}>{number}</td><td {left} title="{escape(str(row.formula))}">'
            f"{escape(visible(row.words))}</td>{cells}</tr>"
        )
    html = (
        f"<div><p>{escape(table.title)}</p><table><thead><tr><th></th><th></th>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{_groups_html(table)}<p>{escape(visible(table.verdict))}</p>"
    )
    if table.meanings:
        scores = "".join(f"<td {right}>{meaning}</td>" for meaning in table.meanings)
        chances = "".join(f"<td {right}>{meaning.value:.0%}</td>" for meaning in table.meanings)
        name = escape(table.columns[0].removeprefix("points for "))
        html += (
            f"<table><tbody><tr><th {left}>score</th>{scores}</tr>"
            f"<tr><th {left}>{name}</th>{chances}</tr></tbody></table>"
        )
    return f"{html}</div>"


def _groups_html(table: CardTable) -> str:
    items = "".join(
        f'<li title="{escape(str(group.formula))}">({group.name}) '
        f"{escape(visible(group.words))}</li>"
        for group in table.groups
    )
    return f'<ul style="list-style:none">{items}</ul>' if items else ""
