"""Building formulas in Python: modal operators, comparisons, and what each comparison means."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction

from gnn2logic.exceptions import FormulaError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.syntax import FALSE, TRUE, Formula, Threshold, conjunction, modal, negation

__all__ = ["ALL", "NOTHING", "A", "Counted", "I", "ModalOperator", "compare", "threshold_from"]


class ModalOperator:
    """A modal parameter that is applied to formulas by calling it.

    ``A`` and ``I`` combine as in the paper: ``I + A``, ``1 - A``, ``1 - I - A``. ``A.T`` looks
    along incoming edges, ``A | A.T`` along both, ``A["double"]`` along edges of one relation.

    Examples
    --------
    >>> from gnn2logic.logic import A, I, ALL, predicate
    >>> U0 = predicate("U0")
    >>> print(A(U0) == 2, (1 - I - A.T)(U0) > "1/3", sep="; ")
    A U0 = 2; 1-I-A^T U0 > 1/3
    >>> print((A["double"] | A["double"].T)(U0) >= 1)
    A[double]|A[double]^T U0 > 0
    >>> print(ALL(A(A(U0) > 6) > "50%") > 0.5)
    1(A(A U0 > 6) > 1/2) > 1/2
    """

    __slots__ = ("modality",)

    def __init__(self, modality: Modality) -> None:
        self.modality = modality

    def __call__(self, formula: Formula) -> Counted:
        """Return ``S phi``, to be compared with a threshold."""
        if not isinstance(formula, Formula):
            raise TypeError(
                f"A modal parameter counts a formula. Got {type(formula).__name__} instead; "
                "use predicate(name) or parse(text) to make one."
            )
        return Counted(self.modality, formula)

    def __add__(self, other: object) -> ModalOperator:
        if not isinstance(other, ModalOperator):
            return NotImplemented
        mine, theirs = self.modality, other.modality
        if any(a and b for a, b in zip(_flags(mine), _flags(theirs), strict=True)):
            raise FormulaError(f"{mine} + {theirs} would count nodes twice.")
        itself, near, far = (a or b for a, b in zip(_flags(mine), _flags(theirs), strict=True))
        return ModalOperator(Modality(itself, near, far, _common_edges(mine, theirs)))

    def __sub__(self, other: object) -> ModalOperator:
        if not isinstance(other, ModalOperator):
            return NotImplemented
        mine, theirs = self.modality, other.modality
        if any(b and not a for a, b in zip(_flags(mine), _flags(theirs), strict=True)):
            raise FormulaError(f"{mine} - {theirs} takes away nodes that are not there.")
        itself, near, far = (a and not b for a, b in zip(_flags(mine), _flags(theirs), strict=True))
        return ModalOperator(Modality(itself, near, far, _common_edges(mine, theirs)))

    def __rsub__(self, other: object) -> ModalOperator:
        # Not `other == 1`: True is not a modal parameter.
        if isinstance(other, int) and not isinstance(other, bool) and other == 1:
            return ALL - self
        return NotImplemented

    def __or__(self, other: object) -> ModalOperator:
        if not isinstance(other, ModalOperator):
            return NotImplemented
        mine, theirs = self.modality.edges, other.modality.edges
        if self.modality != Modality.from_set("A", mine) or other.modality != self.T.modality:
            raise FormulaError(f"Only A | A.T is a modal parameter. Got {self} | {other}.")
        return ModalOperator(Modality.from_set("A", Edges(Direction.EITHER, theirs.relation)))

    def __getitem__(self, relation: str) -> ModalOperator:
        if not self.modality.uses_edges or self.modality.edges.relation is not None:
            raise FormulaError(
                f"Only A without a relation can be given one. Got {self}[{relation!r}]."
            )
        edges = Edges(self.modality.edges.direction, relation)
        return ModalOperator(_with_edges(self.modality, edges))

    @property
    def T(self) -> ModalOperator:  # noqa: N802 - the paper writes A^T
        """The same parameter along edges in the other direction."""
        edges = self.modality.edges
        flipped = {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}
        direction = flipped.get(edges.direction, edges.direction)
        return ModalOperator(_with_edges(self.modality, Edges(direction, edges.relation)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ModalOperator):
            return NotImplemented
        return self.modality == other.modality

    def __hash__(self) -> int:
        return hash(self.modality)

    def __repr__(self) -> str:
        return str(self.modality)


def _flags(modality: Modality) -> tuple[bool, bool, bool]:
    return modality.itself, modality.neighbours, modality.others


def _common_edges(first: Modality, second: Modality) -> Edges:
    used = {modality.edges for modality in (first, second) if modality.uses_edges}
    if len(used) > 1:
        raise FormulaError(f"{first} and {second} look along different edges; they do not combine.")
    return used.pop() if used else Edges()


def _with_edges(modality: Modality, edges: Edges) -> Modality:
    return Modality(*_flags(modality), edges)


class Counted:
    """``S phi``, waiting to be compared with a count or a share.

    Comparisons return formulas, ``==`` and ``!=`` included.
    """

    __slots__ = ("formula", "modality")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, modality: Modality, formula: Formula) -> None:
        self.modality = modality
        self.formula = formula

    def __gt__(self, threshold: object) -> Formula:
        return compare(self.modality, self.formula, ">", threshold_from(threshold))

    def __ge__(self, threshold: object) -> Formula:
        return compare(self.modality, self.formula, ">=", threshold_from(threshold))

    def __lt__(self, threshold: object) -> Formula:
        return compare(self.modality, self.formula, "<", threshold_from(threshold))

    def __le__(self, threshold: object) -> Formula:
        return compare(self.modality, self.formula, "<=", threshold_from(threshold))

    def __eq__(self, threshold: object) -> Formula:  # type: ignore[override]
        return compare(self.modality, self.formula, "=", threshold_from(threshold))

    def __ne__(self, threshold: object) -> Formula:  # type: ignore[override]
        return compare(self.modality, self.formula, "!=", threshold_from(threshold))

    def __bool__(self) -> bool:
        raise TypeError("What a modal parameter counts has no truth value; compare it: A(phi) > 2.")

    def __repr__(self) -> str:
        return f"<{self.modality}({self.formula}), not compared yet>"


def compare(modality: Modality, formula: Formula, relation: str, threshold: Threshold) -> Formula:
    """Return the formula for ``S phi relation threshold``, by the definitions of the sugar.

    A whole number is a count. A `Fraction` is a share, from 0 (0 %) to 1 (100 %) inclusive.
    """
    if isinstance(threshold, Fraction):
        if not 0 <= threshold <= 1:
            raise FormulaError(
                f"A ratio must be between 0 and 1 (0% and 100%). Got {threshold} instead. "
                "Counts are whole numbers without a point or a percent sign."
            )
        return _compare_share(modality, formula, relation, threshold)
    return _compare_count(modality, formula, relation, threshold)


def _compare_count(modality: Modality, formula: Formula, relation: str, bound: int) -> Formula:
    def more_than(n: int) -> Formula:
        return TRUE if n < 0 else modal(modality, formula, n)

    match relation:
        case ">":
            return more_than(bound)
        case ">=":
            return more_than(bound - 1)
        case "<":
            return negation(more_than(bound - 1))
        case "<=":
            return negation(more_than(bound))
        case "=":
            return conjunction((more_than(bound - 1), negation(more_than(bound))))
        case "!=":
            return negation(_compare_count(modality, formula, "=", bound))
    raise FormulaError(f"A comparison must be one of > >= < <= = !=. Got {relation!r} instead.")


def _compare_share(modality: Modality, formula: Formula, relation: str, share: Fraction) -> Formula:
    def more_than(phi: Formula, p: Fraction) -> Formula:
        if p >= 1:
            return FALSE
        return modal(modality, phi, p) if p > 0 else modal(modality, phi, 0)

    match relation:
        case ">":
            return more_than(formula, share)
        case "<=":
            return negation(more_than(formula, share))
        # At least p satisfy phi iff not more than 1 - p fail it; exact also on empty eps_S.
        case "<":
            return more_than(negation(formula), 1 - share)
        case ">=":
            return negation(more_than(negation(formula), 1 - share))
        case "=":
            bounds = (_compare_share(modality, formula, side, share) for side in ("<=", ">="))
            return conjunction(bounds)
        case "!=":
            return negation(_compare_share(modality, formula, "=", share))
    raise FormulaError(f"A comparison must be one of > >= < <= = !=. Got {relation!r} instead.")


def threshold_from(value: object) -> Threshold:
    """Return a count for a whole number, a share for everything else.

    A whole number with a point, such as 1.0, is refused: some mean the count, some the share.

    >>> threshold_from(3), threshold_from(0.312), threshold_from("50%"), threshold_from("3")
    (3, Fraction(39, 125), Fraction(1, 2), 3)
    """
    if isinstance(value, str):
        return _threshold_from_text(value)
    if isinstance(value, bool):
        raise FormulaError(f"A threshold must be a number. Got {value} instead.")
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal) and value.is_finite() and _is_moderate(value):
        return _clear_share(Fraction(value), str(value))
    if isinstance(value, numbers.Real):
        # What the person wrote, 0.312, and not the binary number next to it; also for float32.
        real = float(str(value)) if hasattr(value, "dtype") else float(value)
        if math.isfinite(real):
            return _clear_share(Fraction(repr(real)), str(value))
    raise FormulaError(
        "A threshold must be a whole number (a count) or a float, Fraction or text such as "
        f"'1/2' or '50%' (a share). Got {value!r} instead."
    )


def _is_moderate(value: Decimal) -> bool:
    return abs(value.adjusted()) <= 300


def _threshold_from_text(text: str) -> Threshold:
    stripped = text.strip()
    try:
        # An exponent such as 1e-999999999 would be worked out digit by digit.
        if "e" in stripped.lower():
            raise ValueError
        if stripped.endswith("%"):
            return Fraction(stripped[:-1]) / 100
        if stripped.isascii() and stripped.isdigit():
            return int(stripped)
        share = Fraction(stripped)
    except (ValueError, ZeroDivisionError):
        raise FormulaError(
            f"A threshold must read like 3, 1/2, 0.5 or 50%. Got {text!r} instead."
        ) from None
    return share if "/" in stripped else _clear_share(share, stripped)


def _clear_share(share: Fraction, text: str) -> Fraction:
    """Return a share that was written as a decimal number, unless it may be meant as a count."""
    if share.denominator == 1:
        as_share = f", or {share * 100}% for the share" if 0 <= share <= 1 else ""
        count = share.numerator if abs(share) < 10**15 else "a whole number"
        raise FormulaError(
            f"A whole number with a point may be a count or a share. Got {text}; write {count} for "
            f"the count{as_share}."
        )
    return share


A = ModalOperator(Modality.from_set("A"))
I = ModalOperator(Modality.from_set("I"))  # noqa: E741 - the paper's name
ALL = ModalOperator(Modality.from_set("1"))
NOTHING = ModalOperator(Modality.from_set("0"))
