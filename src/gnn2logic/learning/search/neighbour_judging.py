"""How well columns tell rows apart through neighbours: by the best ``A phi > t``.

A column may say little by itself, and much about the nodes that have it next to them: the pair
``U0 & A U1 > 1`` of the rule ``A(U0 & A U1 > 1) > 0`` is found here. Some of the rows are enough to
say which phi are worth it, and only these become columns. Of several edges to one node one counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins
from gnn2logic.learning.search.judging import Judge, VerdictTable
from gnn2logic.learning.search.neighbour_kernels import near_graph_gains, near_node_gains
from gnn2logic.learning.search.whole_numbers import packed_targets

__all__ = ["GraphNeighbourJudge", "NeighbourJudge", "NodeNeighbourJudge"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Gains = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]

# Of more nodes than this, some are looked at.
_MOST_NODES = 4096


class NeighbourJudge(Judge):
    """Judges columns by what they say about rows as neighbours."""

    def table(self, numbers: Sequence[int]) -> VerdictTable:
        """Return how much each of some columns, or its complement, explains through neighbours."""
        itself = np.arange(len(numbers))
        answers = self._pair_gains(numbers, itself, itself)
        gains = np.column_stack([gains[:, 0] for gains in answers]) / self.variance
        sizes = self.space.sizes(numbers)
        values = gains - self.price * (sizes + self.extra_size)
        none = np.full(len(numbers), -1)
        return VerdictTable(values.max(axis=1), gains.max(axis=1), none, np.zeros_like(none))

    def _pair_gains(self, numbers: Sequence[int], left: IntArray, right: IntArray) -> Gains:
        truths = self.space.layout.unpack(self.space.words(numbers))
        answers = [
            self._gains_along(truths, edges.indptr.astype(np.int64), edges.indices, left, right)
            for edges in self.space.near_edges
        ]
        first, second = zip(*answers, strict=True)
        return np.maximum.reduce(first), np.maximum.reduce(second)

    @abstractmethod
    def _gains_along(
        self,
        truths: npt.NDArray[np.bool_],
        first: IntArray,
        neighbours: npt.NDArray[np.integer[Any]],
        left: IntArray,
        right: IntArray,
    ) -> Gains:
        """Return what pairs explain along edges of one sort."""


class NodeNeighbourJudge(NeighbourJudge):
    """Judges columns by what ``A phi > t`` says about nodes."""

    extra_size = 1

    def __init__(
        self,
        space: ColumnSpace,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> None:
        looked_at = rows[:: -(-len(rows) // _MOST_NODES)]
        least_weight = max(1, least_weight * len(looked_at) // len(rows))
        super().__init__(space, looked_at, price=price, least_weight=least_weight)
        self._all_rows, self._targets, self._weights = rows, targets, weights
        self._packed, self.variance = packed_targets(targets[looked_at], weights[looked_at])

    @classmethod
    def of(
        cls,
        space: ColumnSpace,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> Self | None:
        """Return a judge, or None where there is nothing to tell apart."""
        if len(rows) == 0 or not space.near_edges:
            return None
        judge = cls(space, rows, targets, weights, price=price, least_weight=least_weight)
        return judge if judge.variance > 0 else None

    @property
    def pair_cost(self) -> int:
        """About the number of edges."""
        n_edges = sum(edges.nnz for edges in self.space.near_edges)
        return max(1, n_edges * len(self.rows) // self.space.batch.n_nodes)

    def profile(self, number: int) -> FloatArray:
        """Return the truth of a column."""
        truth = self.space.layout.unpack(self.space.words([number]))[0]
        return np.asarray(truth[self.rows], dtype=np.float64)

    def through_neighbours(self) -> Judge | None:
        """Return a judge a step further away: means over the nodes that look at a node count."""
        weights = np.zeros(len(self._weights))
        weights[self._all_rows] = self._weights[self._all_rows]
        values = np.column_stack([weights, weights * self._targets])
        sums = np.zeros_like(values)
        for edges in self.space.near_edges:
            sums += edges.T @ values
        return self.of(
            self.space,
            np.flatnonzero(sums[:, 0] > 0),
            sums[:, 1] / np.maximum(sums[:, 0], 1),
            np.ones_like(self._weights),
            price=self.price,
            least_weight=1,
        )

    def _gains_along(
        self,
        truths: npt.NDArray[np.bool_],
        first: IntArray,
        neighbours: npt.NDArray[np.integer[Any]],
        left: IntArray,
        right: IntArray,
    ) -> Gains:
        return near_node_gains(
            truths, first, neighbours, self.rows, self._packed, left, right, self._least_weight
        )


class GraphNeighbourJudge(NeighbourJudge):
    """Judges columns by what ``1(A phi > t) > k`` says about graphs.

    Parameters
    ----------
    packed : array of int
        Targets and weights of the rows, packed.
    variance : float
        Of these.
    """

    extra_size = 2

    def __init__(
        self,
        space: ColumnSpace,
        bins: CountBins,
        rows: IntArray,
        packed: IntArray,
        variance: float,
        *,
        price: float,
        least_weight: int,
    ) -> None:
        super().__init__(space, rows, price=price, least_weight=least_weight)
        self._bins, self._packed, self.variance = bins, packed, variance
        sizes = space.batch.sizes
        self._first_node = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def pair_cost(self) -> int:
        """Half the number of edges, and of what nodes are counted for: quicker than a graph."""
        batch = self.space.batch
        n_edges = sum(edges.nnz for edges in self.space.near_edges)
        return max(1, (n_edges // 2 + 4 * batch.n_nodes) * len(self.rows) // batch.n_graphs)

    def profile(self, number: int) -> FloatArray:
        """Return the counts of a column."""
        return np.asarray(self.space.counts([number])[0, self.rows], dtype=float)

    def through_neighbours(self) -> Judge | None:
        """Return None: what is nested deeper is judged when its neighbours are."""
        return None

    def _gains_along(
        self,
        truths: npt.NDArray[np.bool_],
        first: IntArray,
        neighbours: npt.NDArray[np.integer[Any]],
        left: IntArray,
        right: IntArray,
    ) -> Gains:
        return near_graph_gains(
            truths,
            first,
            neighbours,
            self._first_node,
            self.rows,
            self._packed,
            self._bins.bin_of_count,
            self._bins.n_counts,
            left,
            right,
            self._least_weight,
        )
