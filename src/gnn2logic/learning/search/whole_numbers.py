"""Targets and weights as whole numbers: packed into one, and bit by bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.kernels import TARGET_BITS

__all__ = ["MOST_WEIGHT", "bit_planes", "packed_targets", "whole_targets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Targets are whole numbers up to this one, and weights together are below 2 ** 22, so that weighted
# sums stay below 2 ** TARGET_BITS.
TARGET_STEPS = 4095
MOST_WEIGHT = 1 << 22


def packed_targets(targets: FloatArray, weights: IntArray) -> tuple[IntArray, float]:
    """Return weights and targets packed for the kernels, and the variance to be explained.

    Parameters
    ----------
    targets : array of shape (n_graphs,)
    weights : array of int
        Together at most `MOST_WEIGHT`.
    """
    seen = weights > 0
    low, high = float(targets[seen].min()), float(targets[seen].max())
    scale = TARGET_STEPS / (high - low) if high > low else 0.0
    whole = np.rint((np.clip(targets, low, high) - low) * scale).astype(np.int64)
    packed = (weights << TARGET_BITS) + weights * whole
    total, mean_of = int(weights.sum()), int((weights * whole).sum())
    variance = float((weights * whole * whole).sum()) - mean_of * mean_of / total
    return packed, variance


def whole_targets(targets: FloatArray) -> IntArray:
    """Return targets as whole numbers from 0 on; those of two values stay 0 and 1."""
    low, high = float(targets.min()), float(targets.max())
    steps = 1 if np.isin(targets, (low, high)).all() else TARGET_STEPS
    return np.rint((targets - low) * (steps / (high - low if high > low else 1))).astype(np.int64)


def bit_planes(
    numbers: IntArray, pack: Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.uint64]]
) -> npt.NDArray[np.uint64]:
    """Return whole numbers bit by bit, each bit of all of them packed into words."""
    n_planes = max(1, int(numbers.max()).bit_length())
    return pack((numbers[None] >> np.arange(n_planes)[:, None]) & 1 == 1)
