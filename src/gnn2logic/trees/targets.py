"""Targets and weights as integers.

What crosses shards is whole numbers: their sums are the same in any order, on any number of threads
or machines. What is floating is computed once, from such sums, and handed to everybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FeatureError

__all__ = ["FixedPoint", "Projection", "fixed_point", "integer_weights", "projection"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_DIRECTION_BITS = 10
# The share of the variance of wide targets that the split search looks at.
_EXPLAINED = 0.99
# Proportions of weights are kept to this share of the largest, and taken as equal within this one.
_SMALLEST = 2.0**-20
_NOISE = 2.0**-40
# Coarser targets than this would change which splits look best.
_FEWEST_BITS = 6


@dataclass(frozen=True)
class FixedPoint:
    """``integer = round((value - centre) * 2**bits)``, the same on every shard."""

    centre: FloatArray
    bits: int

    def quantise(self, values: npt.NDArray[np.floating]) -> FloatArray:
        """Return an array of shape (n_rows, n_targets) as whole numbers, in doubles."""
        scaled = values - self.centre
        scaled *= math.ldexp(1.0, self.bits)
        return np.asarray(np.rint(scaled, out=scaled))

    def mean(self, sums: FloatArray, weight: float) -> FloatArray:
        """Return the mean value behind sums of integers."""
        return np.asarray(sums / weight * math.ldexp(1.0, -self.bits) + self.centre)


def fixed_point(
    lowest: FloatArray, highest: FloatArray, total_weight: int, *, square: bool = False
) -> FixedPoint:
    """Choose the finest scale at which all sums are exact, also in doubles: below 2**53.

    Parameters
    ----------
    lowest, highest : array
        The range of each target over all the data.
    total_weight : int
    square : bool
        Whether products of two integers, and projections, must sum up exactly as well.
    """
    centre = (lowest + highest) / 2
    largest = float(np.max(highest - centre, initial=0.0))
    room = 53 - math.ceil(math.log2(total_weight + 1))
    if square:
        # A projection is at most the length of a row times that of a (rounded) direction.
        projected = _DIRECTION_BITS + math.ceil(math.log2(len(lowest)) / 2) + 1
        room = min(room // 2, room - projected)
    if room < _FEWEST_BITS:
        raise FeatureError(
            f"A total weight of {total_weight} leaves no room for exact sums. "
            "Use sample weights that are small multiples of one another."
        )
    if largest == 0.0:
        return FixedPoint(centre, 0)
    # largest < 2**exponent, so the integers stay below 2**room.
    exponent = math.frexp(largest)[1]
    return FixedPoint(centre, room - exponent)


@dataclass(frozen=True)
class Projection:
    """Integer combinations of the targets along which they vary most."""

    directions: FloatArray

    def apply(self, whole: FloatArray) -> FloatArray:
        """Return the projected whole numbers; exact, because all of them stay below 2**53."""
        return np.asarray(whole @ self.directions)


def projection(first: FloatArray, second: FloatArray, weight: int, n_directions: int) -> Projection:
    """Return the projection onto the leading principal directions.

    There are as many as explain nearly all of the variance, and at most `n_directions`.

    Parameters
    ----------
    first, second : array
        The weighted sums of the quantised targets and of their products; whole numbers.
    """
    mean = first / weight
    covariance = second / weight - np.outer(mean, mean)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    order = np.argsort(-values, kind="stable")
    explained = np.cumsum(values[order])
    enough = int(np.searchsorted(explained, _EXPLAINED * explained[-1])) + 1
    leading = vectors[:, order[: min(n_directions, enough)]]
    # An eigenvector has no sign of its own.
    strongest = np.argmax(np.abs(leading), axis=0)
    leading = leading * np.sign(leading[strongest, np.arange(leading.shape[1])])
    return Projection(np.rint(leading * 2**_DIRECTION_BITS))


def integer_weights(weights: FloatArray) -> IntArray:
    """Return whole weights in (nearly) the same proportions; only the proportions matter.

    >>> integer_weights(np.array([0.5, 0.5])), integer_weights(np.array([0.1, 0.3]))
    (array([1, 1]), array([1, 3]))
    """
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise FeatureError(
            "sample_weight must be finite, at least 0, and not 0 everywhere. "
            f"Got values from {weights.min()} to {weights.max()}."
        )
    whole = np.zeros(len(weights), dtype=np.int64)
    whole[weights > 0] = _whole_proportions(weights[weights > 0] / weights.max())
    return whole


def _whole_proportions(weights: FloatArray) -> FloatArray:
    """Return whole numbers in the proportions of weights above 0, of which the largest is 1."""
    if weights.min() > _SMALLEST:
        multiples = weights / weights.min()
        whole: FloatArray = np.rint(multiples)
        if (np.abs(multiples - whole) <= _NOISE * multiples).all():
            return whole
    # Another scale, 0.1 for 1, gives other last bits: they are rounded off, then the rest of what
    # is more than about one in a million of the largest weight.
    mantissa, exponent = np.frexp(weights)
    clean = np.ldexp(np.rint(mantissa / _NOISE) * _NOISE, exponent)
    return np.asarray(np.maximum(np.rint(clean / _SMALLEST), 1.0))
