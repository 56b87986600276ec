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
            "Use smaller sample weights."
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
    """Return whole weights in (nearly) the same proportions; all equal becomes all 1.

    >>> integer_weights(np.array([0.5, 0.5])), integer_weights(np.array([1.0, 3.0]))
    (array([1, 1]), array([1, 3]))
    """
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise FeatureError(
            "sample_weight must be finite, at least 0, and not 0 everywhere. "
            f"Got values from {weights.min()} to {weights.max()}."
        )
    positive = weights[weights > 0]
    relative = weights / positive.min()
    if positive.max() / positive.min() < 2**20 and np.array_equal(relative, np.rint(relative)):
        return np.asarray(relative).astype(np.int64)
    # 20 bits below the largest weight; proportions are kept to about one in a million.
    scaled = np.rint(weights / positive.max() * 2**20)
    return np.where(weights > 0, np.maximum(scaled, 1), 0).astype(np.int64)
