"""What was shown about a rule and a network, and exactly what that proves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gnn2logic.distillation.disagreements import Disagreements

__all__ = ["Certificate", "Grade"]

Grade = Literal["statistical", "exhaustive", "symbolic"]


@dataclass(frozen=True, eq=False)
class Certificate:
    """The outcome of `certify`. Printed, it says what was shown, and no more.

    It is true as a Boolean only where equality was proven.

    Attributes
    ----------
    grade : {"statistical", "exhaustive", "symbolic"}
        How it was shown.
    holds : bool or None
        Whether rule and network agree on all graphs that the grade is about; None where that was
        not settled. Of the statistical grade it is False if any graph shows a difference, and
        else None: a sample proves nothing about all graphs.
    statement : str
        What was shown, in words.
    n_compared : int
        The number of graphs that rule and network were asked about, one by one.
    n_disagreements : int
        On how many of them they differ.
    agreement : float
        The share of graphs on which they agree, at least: a bound that holds with `confidence` for
        the statistical grade; 1 where equality was proven, and 0 where nothing is known.
    confidence : float or None
        Of the statistical grade: how sure the bound is.
    source : str
        Which graphs it is about.
    max_nodes : int or None
        Of the other grades: all graphs with at most so many nodes were covered.
    counterexamples : Disagreements
        Graphs on which they differ, each checked by running both; some of them where there are
        many. ``distill(..., counterexamples=certificate.counterexamples)`` learns from them.
    """

    grade: Grade
    holds: bool | None
    statement: str
    n_compared: int
    n_disagreements: int
    agreement: float
    confidence: float | None
    source: str
    max_nodes: int | None
    counterexamples: Disagreements

    def __bool__(self) -> bool:
        return self.holds is True

    def __str__(self) -> str:
        return self.statement

    def to_dict(self) -> dict[str, Any]:
        """Return all but the graphs as plain data."""
        names = ("grade", "holds", "statement", "n_compared", "n_disagreements", "agreement")
        more = ("confidence", "source", "max_nodes")
        return {name: getattr(self, name) for name in (*names, *more)}
