"""Trees in terms of features and codes: growing ones, those in use, and sets of their leaves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.coding import Codebook
from gnn2logic.learning.kernels import reach_leaves

__all__ = ["Candidates", "CodedTree", "GrownTree", "all_subsets", "merge_leaves"]

IntArray = npt.NDArray[np.int64]
LeafNumbers = npt.NDArray[np.int32]


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
class GrownTree:
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

    def in_depth_first_order(self) -> GrownTree:
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
        return GrownTree(
            [self.feature[node] for node in order],
            [self.code[node] for node in order],
            [self.next_code[node] for node in order],
            children,
            [self.sums[node] for node in order],
        )


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

    def leaf_nodes(self, codes: npt.NDArray[Any]) -> LeafNumbers:
        """Return the leaf that each row reaches, given codes of shape (n_features, n_rows)."""
        return self._reached(codes, np.arange(self.n_nodes))

    def leaf_positions(self, codes: npt.NDArray[Any]) -> LeafNumbers:
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

    def _reached(self, codes: npt.NDArray[Any], answer: IntArray) -> LeafNumbers:
        out = np.empty(codes.shape[1], dtype=np.int32)
        feature, limit = np.array(self.feature), np.array(self.limit)
        reach_leaves(codes, feature, limit, np.array(self.children), answer, out)
        return out


def merge_leaves(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> list[tuple[int, ...]]:
    """Return the 2k-1 sets of agglomerative merging: singletons first, all leaves last.

    Again and again the two sets with the closest predictions are merged; the prediction of a set is
    the weighted mean of its leaves. Among equally close pairs the first leaves go first.

    Parameters
    ----------
    values : array of shape (n_leaves, n_targets)
    weights : array of shape (n_leaves,)

    Examples
    --------
    >>> merge_leaves(np.array([[0.0], [5.0], [1.0]]), np.ones(3))
    [(0,), (1,), (2,), (0, 2), (0, 1, 2)]
    """
    active: dict[tuple[int, ...], tuple[npt.NDArray[np.float64], float]] = {
        (leaf,): (values[leaf], float(weights[leaf])) for leaf in range(len(values))
    }
    sets = list(active)
    while len(active) > 1:
        pairs = [(min(a, b), max(a, b)) for a, b in itertools.combinations(active, 2)]
        distances = [float(((active[a][0] - active[b][0]) ** 2).sum()) for a, b in pairs]
        _, (one, other) = min(zip(distances, pairs, strict=True))
        (value, weight), (other_value, other_weight) = active.pop(one), active.pop(other)
        total = weight + other_weight
        merged = tuple(sorted((*one, *other)))
        active[merged] = ((value * weight + other_value * other_weight) / total, total)
        sets.append(merged)
    return sets


def all_subsets(n_leaves: int) -> list[tuple[int, ...]]:
    """Return every set of leaves but the empty one, small ones first."""
    return [
        members
        for size in range(1, n_leaves + 1)
        for members in itertools.combinations(range(n_leaves), size)
    ]
