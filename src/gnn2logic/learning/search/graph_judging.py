"""How well columns tell graphs apart: by the number of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins
from gnn2logic.learning.search.judging import PROMISING, Judge, VerdictTable
from gnn2logic.learning.search.kernels import pair_gains, single_gains
from gnn2logic.learning.search.neighbour_judging import GraphNeighbourJudge
from gnn2logic.learning.search.whole_numbers import packed_targets

__all__ = ["GraphJudge"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Where there are many graphs, pairs are judged by so many of them first.
_SCREENED = 128


class GraphJudge(Judge):
    """Judges columns by the number of their nodes in whole graphs.

    Parameters
    ----------
    bins : CountBins
        Of all graphs of the space.
    targets, weights : array
        Of all graphs.
    """

    extra_size = 1

    def __init__(
        self,
        space: ColumnSpace,
        bins: CountBins,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> None:
        super().__init__(space, rows, price=price, least_weight=least_weight)
        self._bins, self._targets, self._weights = bins, targets, weights
        self._packed, self.variance = packed_targets(targets[rows], weights[rows])
        layout = space.layout
        self._words_of = layout.words_of(rows)
        lengths = layout.first[rows + 1] - layout.first[rows]
        self._first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._everything = len(rows) == layout.n_graphs
        cells = np.ascontiguousarray(bins.share_offset[rows])
        self._tables = bins.bin_of_count, bins.n_counts, bins.bin_of_share, cells, bins.n_shares
        self._pair_tables = bins.bins_of_cell, cells, bins.n_counts, bins.n_shares
        self._graph_sizes = np.ascontiguousarray(layout.sizes[rows])
        if len(rows) >= 2 * _SCREENED:
            screen = GraphJudge(
                space,
                bins,
                _spread(rows, targets, _SCREENED),
                targets,
                weights,
                price=price,
                least_weight=max(1, least_weight * _SCREENED // len(rows)),
            )
            # Rows of one target tell nothing apart.
            self._screen = screen if screen.variance > 0 else None

    def _counts(self, numbers: Sequence[int]) -> npt.NDArray[np.unsignedinteger[Any]]:
        counts = self.space.counts(numbers)
        return counts if self._everything else np.ascontiguousarray(counts[:, self.rows])

    @property
    def pair_cost(self) -> int:
        """The number of graphs looked at: each has four counts to add to twelve histograms."""
        screened = _SCREENED + len(self.rows) // PROMISING
        return len(self.rows) if self._screen is None else screened

    @property
    def column_cost(self) -> int:
        """The number of graphs."""
        return len(self.rows)

    def through_neighbours(self) -> Judge | None:
        """Return a judge of what neighbours satisfy, by some of the graphs."""
        rows = self.rows
        if len(rows) > _SCREENED:
            rows = _spread(rows, self._targets, _SCREENED)
        packed, variance = packed_targets(self._targets[rows], self._weights[rows])
        if variance == 0 or not self.space.near_edges:
            return None
        least_weight = max(1, self._least_weight * len(rows) // len(self.rows))
        return GraphNeighbourJudge(
            self.space,
            self._bins,
            rows,
            packed,
            variance,
            price=self.price,
            least_weight=least_weight,
        )

    def profile(self, number: int) -> FloatArray:
        """Return the counts of a column."""
        return np.asarray(self.space.counts([number])[0, self.rows], dtype=float)

    def table(self, numbers: Sequence[int]) -> VerdictTable:
        """Return the best condition on each of some columns."""
        gains, cuts = single_gains(
            self._counts(numbers),
            self._graph_sizes,
            self._packed,
            *self._tables,
            self._least_weight,
        )
        sizes = self.space.sizes(numbers)
        values = gains / self.variance - self.price * np.tile(sizes + self.extra_size, 2)
        forms = values.argmax(axis=1)
        at = np.arange(len(numbers)), forms
        return VerdictTable(values[at], gains[at] / self.variance, forms, cuts[at])

    def _pair_gains(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        words = self.space.words(numbers)
        if not self._everything:
            words = np.ascontiguousarray(words[:, self._words_of])
        return pair_gains(
            words,
            self._first,
            self.space.layout.one_word_each,
            self._counts(numbers),
            self._graph_sizes,
            self._packed,
            *self._pair_tables,
            left,
            right,
            self._least_weight,
        )


def _spread(rows: IntArray, targets: FloatArray, most: int) -> IntArray:
    """Return some rows, in order: half of them with targets above the mean, if there are as many.

    A rare class would be a handful of graphs among few that are drawn evenly.
    """
    by_target = rows[np.argsort(targets[rows], kind="stable")]
    n_low = int(np.count_nonzero(targets[rows] <= targets[rows].mean()))
    low, high = by_target[:n_low], by_target[n_low:]
    n_high = min(len(high), max(most // 2, most - len(low)))
    spread = [
        side[(np.arange(number) * len(side)) // max(number, 1)]
        for side, number in ((low, most - n_high), (high, n_high))
    ]
    return np.sort(np.concatenate(spread))
