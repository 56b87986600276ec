"""How well columns tell nodes apart: by their own truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.judging import Judge, VerdictTable
from gnn2logic.learning.search.neighbour_judging import NodeNeighbourJudge
from gnn2logic.learning.search.plane_kernels import node_gains
from gnn2logic.learning.search.whole_numbers import bit_planes, whole_targets

__all__ = ["NodeJudge"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Enough nodes to see whether two columns are alike.
_PROFILE_NODES = 20_000


class NodeJudge(Judge):
    """Judges columns by what they say about the nodes themselves.

    Parameters
    ----------
    targets, weights : array
        Of all nodes.
    """

    extra_size = 0

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
        super().__init__(space, rows, price=price, least_weight=least_weight)
        self._targets, self._weights = targets, weights
        whole = whole_targets(targets[rows])
        counted = np.zeros((2, len(targets)), dtype=np.int64)
        counted[0, rows] = weights[rows]
        counted[1, rows] = weights[rows] * whole
        self._weight_planes, self._target_planes = (
            bit_planes(numbers, space.layout.pack) for numbers in counted
        )
        self.variance = float((counted[1, rows] * whole).sum()) - float(
            counted[1].sum()
        ) ** 2 / float(counted[0].sum())
        self._looked_at = rows[:: -(-len(rows) // _PROFILE_NODES)]

    @property
    def pair_cost(self) -> int:
        """A sixth of the number of popcounts: a graph takes about six times as long."""
        n_planes = len(self._weight_planes) + len(self._target_planes)
        return max(1, n_planes * self.space.layout.n_words // 6)

    def through_neighbours(self) -> Judge | None:
        """Return a judge of what neighbours satisfy."""
        return NodeNeighbourJudge.of(
            self.space,
            self.rows,
            self._targets,
            self._weights,
            price=self.price,
            least_weight=self._least_weight,
        )

    def profile(self, number: int) -> FloatArray:
        """Return the truth of a column."""
        truth = self.space.layout.unpack(self.space.words([number]))[0]
        return np.asarray(truth[self._looked_at], dtype=np.float64)

    def table(self, numbers: Sequence[int]) -> VerdictTable:
        """Return how well each of some columns tells the nodes apart."""
        itself = np.arange(len(numbers))
        gains = (
            node_gains(
                self.space.words(numbers),
                self._weight_planes,
                self._target_planes,
                itself,
                itself,
                self._least_weight,
            )[:, 0].astype(np.float64)
            / self.variance
        )
        sizes = self.space.sizes(numbers).min(axis=1)
        none = np.full(len(gains), -1)
        return VerdictTable(gains - self.price * sizes, gains, none, np.zeros_like(none))

    def _pair_gains(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        gains = node_gains(
            self.space.words(numbers),
            self._weight_planes,
            self._target_planes,
            left,
            right,
            self._least_weight,
        )
        # The complement of a set of nodes tells them apart just as well.
        return gains, gains.copy()
