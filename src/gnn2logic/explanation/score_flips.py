"""The smallest change of the counts that gives a score of another class.

A line gives points for a count, so a score is a sum of one function for each term ``S chi``. Which
counts to change, and by how much, is a small integer program: for every term one of few counts is
taken, the nearest one for each number of points, so that the sum is another class and all changes
together are smallest.

The sizes of sets stay as they are, unless the card counts ``S true`` (that count is the size) or
no counts within a set of this size give the class. As for trees, this is about the counts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.card_reasons import LineReason
from gnn2logic.explanation.flips import CountChange, Flip
from gnn2logic.explanation.path import Condition, largest_count
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import TRUE, Formula
from gnn2logic.scorecards.card import Scorecard

__all__ = ["score_flips"]

IntArray = npt.NDArray[np.int64]

# A change is dearer than any number of counts that change: fewer of those only decide ties.
_CHANGE = 1000
# Sizes further away than this are only tried where a line asks for them.
_NEAR_SIZES = 25


@dataclass(frozen=True)
class _Choice:
    """One count that a term may have: what it costs, and the points that its lines then give."""

    after: int
    cost: int
    points: IntArray


@dataclass
class _SizeChoice:
    """One size that a set may have, and the choices of all terms at this size."""

    size: int
    cost: int
    points: IntArray
    terms: dict[Formula, list[_Choice]] = field(default_factory=dict)


def score_flips(
    card: Scorecard, reasons: Sequence[LineReason], labels: Sequence[Any]
) -> tuple[Flip, ...]:
    """Return the smallest change of counts for every other class, nearest first.

    Parameters
    ----------
    card : Scorecard
    reasons : sequence of LineReason
        All lines, as they are on one graph (or node).
    labels : sequence
        The classes by number.
    """
    if card.answer == "number":
        return ()
    by_modality: dict[Modality, dict[Formula, list[LineReason]]] = {}
    for reason in reasons:
        terms = by_modality.setdefault(reason.conditions[0].modality, {})
        terms.setdefault(reason.inner, []).append(reason)
    scores = np.array(card.base) + sum(
        (np.array(reason.points) for reason in reasons), np.zeros(len(card.base), dtype=np.int64)
    )
    here = int(card.classes(scores[None, :])[0])
    ranked = []
    for number, label in enumerate(labels):
        if number == here:
            continue
        changes = _nearest(card, by_modality, number)
        if changes is not None:
            flip = Flip(label, changes)
            ranked.append(((flip.total, len(changes), number), flip))
    return tuple(flip for _, flip in sorted(ranked, key=lambda entry: entry[0]))


def _nearest(
    card: Scorecard,
    by_modality: Mapping[Modality, Mapping[Formula, list[LineReason]]],
    target: int,
) -> tuple[CountChange, ...] | None:
    """Return the changes for one class; None if no counts give it."""
    first = _solved(card, by_modality, target, reach=0)
    if first is None:
        first = _solved(card, by_modality, target, reach=None)
    if first is None or not any(TRUE in terms for terms in by_modality.values()):
        return first
    # Shares of another size may need fewer changes; no size further away than these can help.
    reach = sum(abs(change.difference) for change in first)
    again = _solved(card, by_modality, target, reach=min(reach, _NEAR_SIZES))
    return first if again is None else again


def _solved(
    card: Scorecard,
    by_modality: Mapping[Modality, Mapping[Formula, list[LineReason]]],
    target: int,
    *,
    reach: int | None,
) -> tuple[CountChange, ...] | None:
    blocks = {
        modality: list(_sizes(modality, terms, len(card.base), reach))
        for modality, terms in by_modality.items()
    }
    program = _Program(len(card.base))
    for sizes in blocks.values():
        program.add(sizes)
    chosen = program.solve(*_demands(card, target))
    if chosen is None:
        return None
    changes: list[CountChange] = []
    for modality, terms in by_modality.items():
        before = {inner: lines[0].conditions[0].count for inner, lines in terms.items()}
        before[TRUE] = next(iter(terms.values()))[0].conditions[0].size
        size, counts = chosen.pop(0)
        changes += [
            CountChange(modality, inner, before[inner], after)
            for inner, after in {TRUE: size, **counts}.items()
            if after != before[inner]
        ]
    return tuple(changes)


def _demands(card: Scorecard, target: int) -> tuple[IntArray, IntArray]:
    """Return what sums of points must be for a class: rows times points, at least so much."""
    base = np.array(card.base)
    if card.n_classes == 2:
        need = card.threshold - base[0]
        sign = 1 if target == 1 else -1
        return np.array([[sign]]), np.array([need if target == 1 else 1 - need])
    others = [other for other in range(card.n_classes) if other != target]
    rows = np.zeros((len(others), card.n_classes), dtype=np.int64)
    rows[:, target] = 1
    rows[np.arange(len(others)), others] = -1
    # Of equal scores the first class wins.
    ties = np.array([int(other < target) for other in others])
    return rows, ties - rows @ base


# Choices --------------------------------------------------------------------------------------


def _sizes(
    modality: Modality,
    terms: Mapping[Formula, list[LineReason]],
    width: int,
    reach: int | None,
) -> Iterator[_SizeChoice]:
    """Yield the sizes that are tried, with all choices there.

    `reach` 0 tries the nearest size for each number of points of the size itself, a number all
    sizes so near, and None all near ones, and larger ones that have room for every count.
    """
    size = next(iter(terms.values()))[0].conditions[0].size
    of_size = terms.get(TRUE, [])
    is_fixed = not modality.neighbours and not modality.others
    # A graph has a node; a set of neighbours may be empty.
    least = 1 if modality.itself or modality == Modality.from_set("1") else 0
    tried = {size}
    if not is_fixed and of_size:
        tried |= {choice.after for choice in _choices(of_size, size, size, None, width)}
        tried |= set(range(size - (reach or 0), size + (reach or 0) + 1))
    if not is_fixed and reach is None:
        tried |= set(range(size - _NEAR_SIZES, size + _NEAR_SIZES + 1))
        thresholds = (
            condition.threshold
            for lines in terms.values()
            for line in lines
            for condition in line.conditions
        )
        tried |= {t + 1 for t in thresholds if isinstance(t, int) and t >= size}
    for other in sorted(tried):
        if other < least:
            continue
        points = sum((_points(line, other, other) for line in of_size), np.zeros(width, int))
        yield _SizeChoice(
            other,
            abs(other - size),
            points,
            {
                inner: _choices(lines, lines[0].conditions[0].count, other, other, width)
                for inner, lines in terms.items()
                if inner is not TRUE
            },
        )


def _choices(
    lines: Sequence[LineReason], count: int, size: int, most: int | None, width: int
) -> list[_Choice]:
    """Return the nearest count for each number of points that some lines give together."""
    limits = {_limit(c, size) for line in lines for c in line.conditions}
    # Between two limits the points are the same; the ends of an interval are its nearest counts.
    ends = {count, 0, *limits, *(limit + 1 for limit in limits)}
    ends |= set() if most is None else {most}
    best: dict[bytes, _Choice] = {}
    for after in sorted(ends, key=lambda end: (abs(end - count), end)):
        if after < 0 or (most is not None and after > most):
            continue
        is_size = lines[0].inner is TRUE
        total = sum(
            (_points(line, after, after if is_size else size) for line in lines),
            np.zeros(width, dtype=np.int64),
        )
        best.setdefault(total.tobytes(), _Choice(after, abs(after - count), total))
    return list(best.values())


def _points(line: LineReason, count: int, size: int) -> IntArray:
    held = sum(count > _limit(condition, size) for condition in line.conditions)
    points: IntArray = line.line.table()[held]
    return points


def _limit(condition: Condition, size: int) -> int:
    """Return the largest count at which a condition is false, in a set of a size."""
    if isinstance(condition.threshold, int):
        return condition.threshold
    # All of a set is more than a share of it as soon as there is anything.
    return 0 if condition.inner is TRUE else largest_count(condition.threshold, size)


# The program ----------------------------------------------------------------------------------


class _Program:
    """Choose one size for each set and one count for each term."""

    def __init__(self, width: int) -> None:
        self._costs: list[int] = []
        self._points: list[IntArray] = []
        self._rows: list[dict[int, int]] = []
        self._totals: list[int] = []
        self._width = width
        self._blocks: list[list[tuple[int, _SizeChoice, dict[Formula, list[int]]]]] = []

    def add(self, sizes: Sequence[_SizeChoice]) -> None:
        """Add the choices of one set."""
        block = []
        for size in sizes:
            at = self._variable(size.cost, size.points)
            terms: dict[Formula, list[int]] = {}
            for inner, choices in size.terms.items():
                terms[inner] = [self._variable(each.cost, each.points) for each in choices]
                # At the size that is taken one count of each term is taken, and else none.
                self._rows.append({at: -1, **dict.fromkeys(terms[inner], 1)})
                self._totals.append(0)
            block.append((at, size, terms))
        self._rows.append({at: 1 for at, _, _ in block})
        self._totals.append(1)
        self._blocks.append(block)

    def _variable(self, cost: int, points: IntArray) -> int:
        self._costs.append(cost * _CHANGE + (cost > 0))
        self._points.append(points)
        return len(self._costs) - 1

    def solve(self, rows: IntArray, least: IntArray) -> list[tuple[int, dict[Formula, int]]] | None:
        """Return size and counts for each set; None if no choice makes the sums large enough."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not self._costs:
            return [] if (least <= 0).all() else None
        choose = np.zeros((len(self._rows), len(self._costs)))
        for number, entries in enumerate(self._rows):
            for at, value in entries.items():
                choose[number, at] = value
        result = milp(
            np.array(self._costs, dtype=np.float64),
            integrality=np.ones(len(self._costs), dtype=np.int64),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(choose, self._totals, self._totals),
                LinearConstraint(rows @ np.array(self._points).T, least, np.inf),
            ],
        )
        if result.x is None:
            return None
        taken = result.x > 0.5
        chosen = []
        for block in self._blocks:
            _, size, terms = next(entry for entry in block if taken[entry[0]])
            counts = {
                inner: next(
                    choice.after
                    for at, choice in zip(numbers, size.terms[inner], strict=True)
                    if taken[at]
                )
                for inner, numbers in terms.items()
            }
            chosen.append((size.size, counts))
        return chosen
