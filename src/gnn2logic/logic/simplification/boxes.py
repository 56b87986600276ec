"""Boxes: conjunctions of bounds, one interval for every count, share and predicate.

A path through a decision tree is a box. Boxes know which of them cannot exist: a count has an
order, a share above zero needs a count above zero, and on simple graphs the counts of one formula
along different parameters are sums of the same three numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gnn2logic.graphs.modality import Edges, Modality
from gnn2logic.logic.syntax import (
    TRUE,
    Formula,
    Modal,
    Threshold,
    conjunction,
    modal,
    negation,
)

__all__ = ["Box", "Interval", "Term", "Theory", "term_of"]


@dataclass(frozen=True)
class Term:
    """What is bounded: a count or share ``S phi``, or the truth of an atom (no modality)."""

    formula: Formula
    modality: Modality | None = None
    is_share: bool = False

    def __hash__(self) -> int:
        # Boxes are built and searched all the time, and few terms speak of one formula.
        return hash(self.formula)


@dataclass(frozen=True)
class Interval:
    """``lower < value <= upper``; None where there is no bound."""

    lower: Threshold | None = None
    upper: Threshold | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no value lies inside; integers and shares are both closed on one side."""
        return self.lower is not None and self.upper is not None and self.lower >= self.upper

    def is_above(self, other: Interval) -> bool:
        """Return whether all values inside are larger than all values of the other interval."""
        return self.lower is not None and other.upper is not None and self.lower >= other.upper

    def meet(self, other: Interval) -> Interval:
        """Return the intersection."""
        lower, upper = self.lower, self.upper
        if lower is None or (other.lower is not None and other.lower > lower):
            lower = other.lower
        if upper is None or (other.upper is not None and other.upper < upper):
            upper = other.upper
        return Interval(lower, upper)

    @property
    def at_least(self) -> int:
        """The smallest count inside."""
        return 0 if self.lower is None else int(self.lower) + 1

    @property
    def at_most(self) -> float:
        """The largest count inside."""
        return float("inf") if self.upper is None else int(self.upper)


_ANY = Interval()


def term_of(atom: Formula) -> tuple[Term, Threshold]:
    """Return the term that an atom bounds and its threshold: the atom is ``term > threshold``."""
    if isinstance(atom, Modal):
        return Term(atom.child, atom.modality, atom.is_ratio), atom.threshold
    return Term(atom), 0


@dataclass(frozen=True)
class Box:
    """A conjunction of intervals; terms that are not mentioned are free."""

    intervals: Mapping[Term, Interval]

    def bound(self, atom: Formula, value: bool) -> Box:
        """Return the part of the box where `atom` has the value."""
        term, threshold = term_of(atom)
        cut = Interval(lower=threshold) if value else Interval(upper=threshold)
        return self.with_interval(term, self.intervals.get(term, _ANY).meet(cut))

    def with_interval(self, term: Term, interval: Interval) -> Box:
        """Return the box with the interval of one term replaced."""
        intervals = dict(self.intervals)
        if interval == _ANY:
            intervals.pop(term, None)
        else:
            intervals[term] = interval
        return Box(intervals)

    def meet(self, other: Box) -> Box:
        """Return the intersection."""
        intervals = dict(self.intervals)
        for term, interval in other.intervals.items():
            intervals[term] = intervals.get(term, _ANY).meet(interval)
        return Box(intervals)

    def is_apart(self, other: Box) -> bool:
        """Return whether the bounds of one term alone keep the boxes apart."""
        for term, interval in other.intervals.items():
            known = self.intervals.get(term)
            if known is not None and (known.is_above(interval) or interval.is_above(known)):
                return True
        return False

    def contains(self, other: Box) -> bool:
        """Return whether all of `other` lies inside, by its bounds alone."""
        return self.meet(other) == other

    @cached_property
    def bounds(self) -> list[tuple[Term, str, Formula]]:
        """Every single bound as (term, side, literal), in the stable order of literals."""
        bounds = []
        for term, interval in self.intervals.items():
            for side in ("lower", "upper"):
                threshold = getattr(interval, side)
                if threshold is not None:
                    atom = _atom(term, threshold)
                    bounds.append((term, side, atom if side == "lower" else negation(atom)))
        return sorted(bounds, key=lambda entry: entry[2].key)

    def without(self, term: Term, side: str) -> Box:
        """Return the larger box that lacks one bound."""
        interval = dataclasses.replace(self.intervals[term], **{side: None})
        return self.with_interval(term, interval)

    def literals(self) -> list[Formula]:
        """Return the bounds as formulas."""
        return [literal for _, _, literal in self.bounds]

    @cached_property
    def formula(self) -> Formula:
        """The conjunction of all bounds."""
        return conjunction(self.literals())


def _atom(term: Term, threshold: Threshold) -> Formula:
    if term.modality is None:
        return term.formula
    return modal(term.modality, term.formula, threshold)


class Theory:
    """What is known about boxes: which of them are empty.

    Parameters
    ----------
    simple : bool
        Whether only simple undirected graphs matter. The relations between different modal
        parameters hold on those alone.
    """

    def __init__(self, *, simple: bool) -> None:
        self._simple = simple

    @staticmethod
    def term(atom: Formula) -> Term:
        """Return the term that an atom bounds."""
        return term_of(atom)[0]

    def related_bounds(self, box: Box, term: Term) -> Box:
        """Return the bounds of the box that can say anything about a term."""
        formula, modality = term.formula, term.modality
        return Box(
            {
                other: interval
                for other, interval in box.intervals.items()
                if other.formula is formula
                or ((formula is TRUE or other.formula is TRUE) and other.modality == modality)
            }
        )

    def is_possible(self, box: Box) -> bool:
        """Return False only if no node of any graph lies in the box."""
        intervals = box.intervals
        if any(interval.is_empty for interval in intervals.values()):
            return False
        counts = self._counts(intervals)
        if any(interval.is_empty for interval in counts.values()):
            return False
        for (modality, formula), interval in counts.items():
            # No more nodes satisfy phi than there are; holds for counts of edges as well.
            whole = counts.get((modality, TRUE))
            if whole is not None and formula is not TRUE and interval.at_least > whole.at_most:
                return False
        return not self._simple or self._sums_agree(counts, intervals)

    @staticmethod
    def _counts(
        intervals: Mapping[Term, Interval],
    ) -> dict[tuple[Modality, Formula], Interval]:
        """Return the interval of every count, with what the shares say about it."""
        counts: dict[tuple[Modality, Formula], Interval] = {}
        for term, interval in intervals.items():
            if term.modality is None:
                continue
            if term.is_share:
                # S phi > p makes S phi > 0 true.
                interval = Interval(lower=0) if interval.lower is not None else _ANY
            key = (term.modality, term.formula)
            counts[key] = counts.get(key, _ANY).meet(interval)
        return counts

    def _sums_agree(
        self,
        counts: Mapping[tuple[Modality, Formula], Interval],
        intervals: Mapping[Term, Interval],
    ) -> bool:
        """Whether S phi = i[I in S] + a[A in S] + c[N in S] has a solution for every phi."""
        groups: dict[tuple[Formula, Edges], list[tuple[Modality, Interval]]] = {}
        everywhere: dict[Formula, list[tuple[Modality, Interval]]] = {}
        for (modality, formula), interval in counts.items():
            entry = (modality, interval)
            if modality.uses_edges:
                groups.setdefault((formula, modality.edges), []).append(entry)
            else:
                everywhere.setdefault(formula, []).append(entry)
        for formula, entries in everywhere.items():
            shared = [key for key in groups if key[0] is formula] or [(formula, Edges())]
            for key in shared:
                groups.setdefault(key, []).extend(entries)
        return all(
            any(_solvable(entries, i) for i in _values_at_itself(formula, intervals))
            for (formula, _), entries in groups.items()
        )


def _values_at_itself(formula: Formula, intervals: Mapping[Term, Interval]) -> Iterable[int]:
    """Return the possible values of phi at the node itself."""
    if formula is TRUE:
        return (1,)
    known = intervals.get(Term(formula), _ANY)
    return [value for value in (0, 1) if known.at_least <= value <= known.at_most]


def _solvable(entries: list[tuple[Modality, Interval]], i: int) -> bool:
    """Whether some a, c >= 0 fit all intervals, given i at the node itself."""
    # Bounds of a, of c and of a + c; exact, because these three determine each other's ranges.
    low = {"a": 0, "c": 0, "sum": 0}
    high = {"a": float("inf"), "c": float("inf"), "sum": float("inf")}
    for modality, interval in entries:
        at_itself = i if modality.itself else 0
        if modality.neighbours and modality.others:
            unknown = "sum"
        elif modality.neighbours:
            unknown = "a"
        elif modality.others:
            unknown = "c"
        else:
            if not interval.at_least <= at_itself <= interval.at_most:
                return False
            continue
        low[unknown] = max(low[unknown], interval.at_least - at_itself)
        high[unknown] = min(high[unknown], interval.at_most - at_itself)
    if any(low[unknown] > high[unknown] for unknown in low):
        return False
    return low["a"] + low["c"] <= high["sum"] and high["a"] + high["c"] >= low["sum"]
