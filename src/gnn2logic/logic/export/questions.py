"""What is asked of graphs, whatever language the question is put in.

A formula asks for its truth, a tree of rules for the class whose formula is true, and a scorecard
for the sum of its points. Writers of a language know these three and nothing about models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from gnn2logic._validation import check_choice
from gnn2logic.exceptions import TranslationError, UnsupportedInputError
from gnn2logic.graphs.encoded_columns import ColumnTest
from gnn2logic.logic.printing.english import is_about_graph
from gnn2logic.logic.syntax import FALSE, TRUE, Formula, Modal, Threshold

__all__ = [
    "Answer",
    "ClassAnswer",
    "Label",
    "PointsColumn",
    "Question",
    "ScoreAnswer",
    "TruthAnswer",
    "as_question",
    "check_threshold",
    "comment_text",
    "folded_modal",
    "is_beyond_counts",
    "signed_sum",
    "without_null",
]

Label = bool | int | float | str

# Databases count in 64 bits: a share a/q of a set of up to 2**31 nodes must fit.
_LARGEST_NUMBER = 2**31
# The longest formula that is written out as a comment.
_COMMENTED_SIZE = 40


@dataclass(frozen=True)
class TruthAnswer:
    """Whether a formula is true."""

    formula: Formula

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas whose truth is needed."""
        return (self.formula,)


@dataclass(frozen=True)
class ClassAnswer:
    """The label of the first formula that is true, or else the last label."""

    cases: tuple[tuple[Formula, Label], ...]
    otherwise: Label

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas whose truth is needed."""
        return tuple(formula for formula, _ in self.cases)


@dataclass(frozen=True)
class PointsColumn:
    """A sum of points: so many from the start, and so many for each formula that is true."""

    base: int
    points: tuple[tuple[Formula, int], ...]


@dataclass(frozen=True)
class ScoreAnswer:
    """What sums of points say: a class, or a number.

    Parameters
    ----------
    columns : tuple of PointsColumn
    labels : tuple of label
        Of two, the second is given for a score of at least `threshold`; of more, the one with the
        largest score, the first of equals. Without labels it is the number
        ``intercept + slope * score``.
    threshold : int
    slope, intercept : float
    """

    columns: tuple[PointsColumn, ...]
    labels: tuple[Label, ...]
    threshold: int
    slope: float
    intercept: float

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas whose truth is needed."""
        return tuple(
            dict.fromkeys(formula for column in self.columns for formula, _ in column.points)
        )


Answer = TruthAnswer | ClassAnswer | ScoreAnswer


@dataclass(frozen=True)
class Question:
    """What is asked, of what, and where predicates are read.

    Parameters
    ----------
    answer : TruthAnswer, ClassAnswer or ScoreAnswer
    level : {"graph", "node"}
        One answer for each graph, or for each node.
    tests : mapping from str to ColumnTest
        How predicates follow from columns of the data. Others are columns of truth values.
    """

    answer: Answer
    level: Literal["graph", "node"]
    tests: Mapping[str, ColumnTest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("level", self.level, ("graph", "node"))

    def test(self, name: str) -> ColumnTest:
        """Return how a predicate is read."""
        return self.tests.get(name) or ColumnTest(name, "is true")

    @property
    def is_about_graphs(self) -> bool:
        """Whether all formulas have one value for a graph by their form."""
        constants = (TRUE, FALSE)
        return all(
            formula in constants or is_about_graph(formula) for formula in self.answer.formulas
        )


def as_question(asked: object, level: Literal["graph", "node"]) -> Question:
    """Return the question that a formula stands for; questions stay as they are."""
    if isinstance(asked, Question):
        return asked
    if not isinstance(asked, Formula):
        raise UnsupportedInputError(
            f"A formula is needed. Got {type(asked).__name__} instead; models have a method of the "
            "same name, and parse(text) makes a formula from text."
        )
    return Question(TruthAnswer(asked), level)


def folded_modal(node: Modal) -> Formula | None:
    """Return what a comparison along ``0`` or ``I`` comes to; None for all others.

    eps_I(v) has one element and eps_0(v) none, so nothing has to be counted.

    >>> from gnn2logic.logic import parse
    >>> print(folded_modal(parse("I U0 > 1/2")), folded_modal(parse("I U0 > 1")))
    U0 false
    """
    modality = node.modality
    if modality.neighbours or modality.others:
        return None
    return node.child if modality.itself and node.threshold < 1 else FALSE


def check_threshold(threshold: Threshold, language: str) -> None:
    """Refuse shares whose numbers would not fit into 64 bits once they are multiplied."""
    if isinstance(threshold, Fraction) and threshold.denominator >= _LARGEST_NUMBER:
        raise TranslationError(
            f"A share in {language} must have a denominator below {_LARGEST_NUMBER}: it is "
            f"compared in whole numbers. Got {str(threshold)[:60]}."
        )


def is_beyond_counts(threshold: Threshold) -> bool:
    """Return whether no graph in a database can have so many nodes or edges."""
    return isinstance(threshold, int) and threshold >= 2**62


def comment_text(formula: Formula) -> str:
    """Return a short formula in one line, for a comment; nothing for others.

    Names are escaped by the printer, so no name ends a line.
    """
    return str(formula).replace("\n", " ") if formula.size <= _COMMENTED_SIZE else ""


def signed_sum(terms: Sequence[str]) -> str:
    """Return terms as one sum; those that are taken away begin with a minus.

    >>> signed_sum(["a", "b", "- c"])
    'a + b - c'
    """
    return " ".join(
        term if number == 0 or term.startswith("-") else f"+ {term}"
        for number, term in enumerate(terms)
    )


def without_null(text: str, language: str) -> str:
    """Return a name or text, unless it has the one character that no query can hold."""
    if "\0" in text:
        raise TranslationError(f"{language} cannot hold the character U+0000, as in {text!r}.")
    return text
