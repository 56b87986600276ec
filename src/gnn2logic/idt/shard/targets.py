"""What the trees of a layer are fitted to, as whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.shard.sources import Targets
from gnn2logic.trees.targets import FixedPoint, Projection

__all__ = ["Bounds", "Quantiser", "weighted"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bounds:
    """The range of each target; those of two parts of the data add up to that of both."""

    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, targets: Targets) -> Bounds:
        """Return the range of the targets of some nodes."""
        return cls(targets.min(axis=0).astype(np.float64), targets.max(axis=0).astype(np.float64))

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(
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
