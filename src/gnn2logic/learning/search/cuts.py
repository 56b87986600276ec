"""Thresholds of counts on graphs: ``1 phi > t`` and ``1 phi > p``, of a column and its complement.

Counts fall into few bins, and a cut after a bin is a threshold. Shares are compared with simple
fractions alone: each fraction has a bin of its own, so that "more than" and "at least" differ.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.modality import Modality
from gnn2logic.learning.search.kernels import BIN_BITS
from gnn2logic.learning.search.opposites import opposite
from gnn2logic.logic.syntax import Formula, modal

__all__ = ["GRAPH", "CountBins", "Form"]

GRAPH = Modality.from_set("1")

# Counts up to this many have bins of their own; above, a bin is this much wider than the last.
_EXACT = 40
_GROWTH = 1.08
_LARGEST_DENOMINATOR = 6


class Form(IntEnum):
    """What is compared: a count or a share, of a column or of its complement."""

    COUNT = 0
    COUNT_NOT = 1
    SHARE = 2
    SHARE_NOT = 3

    @property
    def negated(self) -> bool:
        """Whether the complement is counted."""
        return self in (Form.COUNT_NOT, Form.SHARE_NOT)


class CountBins:
    """The bins of counts and shares on some graphs.

    Parameters
    ----------
    sizes : array of int
        The number of nodes of every graph.
    """

    def __init__(self, sizes: npt.NDArray[np.int64]) -> None:
        self.sizes = sizes
        most = int(sizes.max())
        limits = list(range(min(most, _EXACT) + 1))
        while limits[-1] < most:
            limits.append(min(most, max(limits[-1] + 1, int(limits[-1] * _GROWTH))))
        self._limits = np.array(limits)
        self.bin_of_count = np.searchsorted(limits, np.arange(most + 1)).astype(np.uint16)
        self.n_counts = len(limits)
        self.fractions = sorted(
            {Fraction(a, b) for b in range(2, _LARGEST_DENOMINATOR + 1) for a in range(1, b)}
        )
        self.n_shares = 2 * len(self.fractions) + 1
        distinct, which = np.unique(sizes, return_inverse=True)
        starts = np.cumsum(distinct + 1) - (distinct + 1)
        self.share_offset = starts[which].astype(np.int64)
        tables = [self._share_bins(np.arange(n + 1), n) for n in distinct.tolist()]
        self.bin_of_share = np.concatenate(tables).astype(np.uint16)
        # All three bins of a size and a count in one number.
        within = np.concatenate([np.arange(n + 1) for n in distinct.tolist()])
        rest = np.repeat(distinct, distinct + 1) - within
        self.bins_of_cell = (
            self.bin_of_count[within].astype(np.uint32)
            | self.bin_of_count[rest].astype(np.uint32) << BIN_BITS
            | self.bin_of_share.astype(np.uint32) << 2 * BIN_BITS
        )

    def _share_bins(self, counts: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
        """Return 2k + 1 where the share is fraction number k, 2k where it is just below it."""
        bins = np.zeros(len(counts), dtype=np.int64)
        for fraction in self.fractions:
            left, right = counts * fraction.denominator, fraction.numerator * size
            bins += (left >= right).astype(np.int64) + (left > right)
        return bins

    def bins(self, counts: npt.NDArray[np.integer], form: Form) -> npt.NDArray[np.integer]:
        """Return the bin of every graph, given the counts of a column on all graphs."""
        if form in (Form.SHARE, Form.SHARE_NOT):
            return self.bin_of_share[self.share_offset + counts]
        return self.bin_of_count[self.sizes - counts if form.negated else counts]

    def holds(self, counts: npt.NDArray[np.integer], form: Form, cut: int) -> npt.NDArray[np.bool_]:
        """Return at which graphs `condition` is true."""
        bins = self.bins(counts, form)
        return np.asarray(bins <= cut if form is Form.SHARE_NOT else bins > cut)

    def condition(self, counted: Formula, form: Form, cut: int) -> Formula:
        """Return the condition on graphs that a cut after a bin stands for."""
        if form.negated:
            counted = opposite(counted)
        if form is Form.SHARE:
            return modal(GRAPH, counted, self.fractions[cut // 2])
        if form is Form.SHARE_NOT:
            # Not reaching a share is the same as the complement having more than the rest.
            return modal(GRAPH, counted, 1 - self.fractions[cut // 2])
        return modal(GRAPH, counted, int(self._limits[cut]))
