"""What the trees of a layer are fitted to, and targets and weights as whole numbers.

What crosses shards is whole numbers: their sums are the same in any order, on any number of threads
or machines. What is floating is computed once, from such sums, and handed to everybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges

__all__ = [
    "FixedPoint",
    "Projection",
    "Quantiser",
    "TargetBounds",
    "Targets",
    "fixed_point",
    "graph_label_targets",
    "integer_weights",
    "node_label_targets",
    "projection",
    "weighted",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Targets = npt.NDArray[np.floating[Any]]

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
    # The sign of an eigenvector means nothing.
    strongest = np.argmax(np.abs(leading), axis=0)
    leading = leading * np.sign(leading[strongest, np.arange(leading.shape[1])])
    return Projection(np.rint(leading * 2**_DIRECTION_BITS))


@dataclass(frozen=True)
class TargetBounds:
    """The range of each target; those of two parts of the data add up to that of both."""

    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, targets: Targets) -> TargetBounds:
        """Return the range of the targets of some nodes."""
        return cls(targets.min(axis=0).astype(np.float64), targets.max(axis=0).astype(np.float64))

    def count_between(self, targets: Targets) -> IntArray:
        """Return at how many nodes each target is at neither bound."""
        at_bound = (targets == self.lowest) | (targets == self.highest)
        return np.asarray(len(targets) - np.count_nonzero(at_bound, axis=0))

    def __add__(self, other: TargetBounds) -> TargetBounds:
        return TargetBounds(
            np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        )


@dataclass(frozen=True)
class Quantiser:
    """How the targets of a layer become whole numbers, the same everywhere.

    Parameters
    ----------
    channels : array of bool
        Which targets are looked at.
    scale : FixedPoint
        For these.
    directions : Projection, optional
        What the split search sees instead of all of them.
    has_opposites : bool
        Whether there are two targets whose whole numbers are opposite at every node.
    """

    channels: npt.NDArray[np.bool_]
    scale: FixedPoint
    directions: Projection | None = None
    has_opposites: bool = False

    def whole(self, targets: Targets) -> FloatArray:
        """Return the targets as whole numbers, in doubles."""
        if not self.channels.all():
            targets = targets[:, self.channels]
        return self.scale.quantise(targets)

    def searched(self, whole: FloatArray) -> FloatArray:
        """Return what the split search sees."""
        if self.directions is not None:
            return self.directions.apply(whole)
        # Of two opposite targets, such as the two classes, one says it all: the gain of every split
        # is just half as large.
        return whole[:, :1] if self.has_opposites else whole


def weighted(values: FloatArray, weight: IntArray) -> FloatArray:
    """Return the values of each row times its weight."""
    # Most fits have no weights, and the product would copy the largest array there is.
    return values if (weight == 1).all() else values * weight[:, None]


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


# The labels as targets, where there is no network to learn from ----------------------------------


def graph_label_targets(
    batch: GraphBatch, codes: npt.NDArray[np.int64], n_classes: int
) -> FloatArray:
    """Return the paper's IDT(True): the label of the graph on each of its nodes."""
    per_node: FloatArray = np.eye(n_classes)[codes][batch.graph_index]
    return per_node


def node_label_targets(
    batch: GraphBatch,
    codes: npt.NDArray[np.int64],
    known: npt.NDArray[np.bool_],
    n_classes: int,
    steps: int,
) -> FloatArray:
    """Return the labels of each node and of the nodes around it that are known.

    What holds at a node shows in the labels of those that look at it. So the layer that is k steps
    before the final one is fitted to the mean labels up to k steps away as well.
    """
    labels = np.where(known[:, None], np.eye(n_classes)[codes], 0.0)
    near = batch.edges(Edges(Direction.EITHER)).matrix.astype(np.float64)
    rings, seen = [labels], known.astype(float)
    for _ in range(steps):
        weight = near @ seen
        ring: FloatArray = (near @ (rings[-1] * seen[:, None])) / np.maximum(weight, 1.0)[:, None]
        rings.append(ring)
        seen = (weight > 0).astype(float)
    return np.concatenate(rings, axis=1)
