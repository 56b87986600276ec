"""Trees that decide by codes, for those who hold coded rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CodedTree"]

IntArray = npt.NDArray[np.int64]


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

    def leaf_nodes(self, codes: npt.NDArray[Any]) -> IntArray:
        """Return the leaf that each row reaches, given codes of shape (n_features, n_rows)."""
        at = np.zeros(codes.shape[1], dtype=np.int64)
        stack = [(0, np.arange(codes.shape[1]))]
        while stack:
            node, rows = stack.pop()
            if self.feature[node] < 0:
                at[rows] = node
                continue
            above = codes[self.feature[node], rows] > self.limit[node]
            low, high = self.children[node]
            stack.append((low, rows[~above]))
            stack.append((high, rows[above]))
        return at

    def leaf_positions(self, codes: npt.NDArray[Any]) -> IntArray:
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
        return position[self.leaf_nodes(codes)]
