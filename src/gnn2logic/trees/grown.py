"""A tree in terms of features and codes, while it grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gnn2logic.trees.coding import Codebook

__all__ = ["Candidates", "Grown"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Candidates:
    """The columns that a tree may split on.

    Parameters
    ----------
    features : array of int
        Numbers of candidate columns, ascending.
    books : sequence of Codebook
        The codebooks of all columns, by number.
    preference : array of int
        For all columns, by number: among equally good splits the lowest wins.
    """

    features: IntArray
    books: Sequence[Codebook]
    preference: IntArray

    @property
    def sizes(self) -> IntArray:
        """The number of codes of each candidate."""
        return np.array([self.books[f].n_codes for f in self.features], dtype=np.int64)


@dataclass
class Grown:
    """A tree in terms of features and codes, with the sums of every node."""

    feature: list[int] = field(default_factory=list)
    code: list[int] = field(default_factory=list)
    next_code: list[int] = field(default_factory=list)
    children: list[tuple[int, int]] = field(default_factory=list)
    sums: list[IntArray] = field(default_factory=list)

    def add(self, sums: IntArray) -> int:
        """Append a leaf and return its number."""
        self.feature.append(-1)
        self.code.append(-1)
        self.next_code.append(-1)
        self.children.append((-1, -1))
        self.sums.append(sums)
        return len(self.feature) - 1

    def split(
        self, node: int, feature: int, codes: tuple[int, int], low_sums: IntArray
    ) -> tuple[int, int]:
        """Split a leaf between two codes of a feature and return the numbers of its children."""
        low = self.add(low_sums)
        high = self.add(self.sums[node] - low_sums)
        self.feature[node] = feature
        self.code[node], self.next_code[node] = codes
        self.children[node] = (low, high)
        return low, high

    def in_depth_first_order(self) -> Grown:
        """Return the tree with its nodes numbered as if it had been grown depth first.

        Nodes are split in whatever order suits those who hold the rows; the numbers do not tell.
        """
        order, children, stack = [0], [(-1, -1)], [0]
        while stack:
            new = stack.pop()
            low, high = self.children[order[new]]
            if low >= 0:
                children[new] = (len(order), len(order) + 1)
                order += [low, high]
                children += [(-1, -1), (-1, -1)]
                stack += [children[new][1], children[new][0]]
        return Grown(
            [self.feature[node] for node in order],
            [self.code[node] for node in order],
            [self.next_code[node] for node in order],
            children,
            [self.sums[node] for node in order],
        )
