"""Trees that decide by codes, for those who hold coded rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.trees.kernels import reach_leaves

__all__ = ["CodedTree"]

IntArray = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True)
class CodedTree:
    """A tree whose nodes compare the code of a feature: up to `limit` is low, above is high.

    Parameters
    ----------
    feature, limit : tuple of int
        By node; the feature of a leaf is -1.
    children : tuple of pairs of int
    """

    feature: tuple[int, ...]
    limit: tuple[int, ...]
    children: tuple[tuple[int, int], ...]

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return sum(feature < 0 for feature in self.feature)

    def leaf_nodes(self, codes: npt.NDArray[Any]) -> Places:
        """Return the leaf that each row reaches, given codes of shape (n_features, n_rows)."""
        return self._reached(codes, np.arange(self.n_nodes))

    def leaf_positions(self, codes: npt.NDArray[Any]) -> Places:
        """Return the leaves that rows reach, counted from left to right."""
        position = np.zeros(self.n_nodes, dtype=np.int64)
        stack, count = [0], 0
        while stack:
            node = stack.pop()
            if self.feature[node] < 0:
                position[node] = count
                count += 1
            else:
                low, high = self.children[node]
                stack += [high, low]
        return self._reached(codes, position)

    def _reached(self, codes: npt.NDArray[Any], place: IntArray) -> Places:
        out = np.empty(codes.shape[1], dtype=np.int32)
        feature, limit = np.array(self.feature), np.array(self.limit)
        reach_leaves(codes, feature, limit, np.array(self.children), place, out)
        return out
