"""The simplest threshold in a gap.

Between two neighbouring observed values every threshold splits the data alike, so the one that
people read most easily is taken: ``> 1/2``, not ``> 0.4837``.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["simplest_count", "simplest_share"]


def simplest_count(lower: int, upper: int) -> int:
    """Return the whole number nearest to the middle of ``[lower, upper)``, the lower one on ties.

    >>> simplest_count(2, 3), simplest_count(2, 7), simplest_count(0, 10)
    (2, 4, 5)
    """
    if not lower < upper:
        raise ValueError(f"lower must be below upper. Got {lower} and {upper}.")
    return (lower + upper) // 2


def simplest_share(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in ``[lower, upper)``.

    Of several with one denominator, the smallest.

    >>> print(simplest_share(Fraction(4, 9), Fraction(5, 9)))
    1/2
    """
    if not lower < upper:
        raise ValueError(f"lower must be below upper. Got {lower} and {upper}.")
    # Walk down the Stern-Brocot tree, several steps at once along each straight part: the first
    # fraction met inside of the gap has the smallest denominator.
    whole = lower.numerator // lower.denominator
    if whole == lower:
        return lower
    if whole + 1 < upper:
        return Fraction(whole + 1)
    # lower and upper lie in one unit interval (upper may be its end): flip the rest and go on. The
    # flipped gap is open below and closed above, so its closed twin is searched.
    return whole + 1 / _simplest_above(1 / (upper - whole), 1 / (lower - whole))


def _simplest_above(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in ``(lower, upper]``."""
    whole = lower.numerator // lower.denominator
    if whole + 1 <= upper:
        return Fraction(whole + 1)
    rest_lower, rest_upper = lower - whole, upper - whole
    if rest_lower == 0:
        # (whole, whole + r] with r < 1: the simplest is whole + 1/k for the smallest k >= 1/r.
        return whole + Fraction(1, -(-rest_upper.denominator // rest_upper.numerator))
    return whole + 1 / simplest_share(1 / rest_upper, 1 / rest_lower)
