"""Rows of coded columns in shards; the sums that trees are grown from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.trees.kernels import add_histograms

__all__ = ["RowShard", "ShardedTable"]

IntArray = npt.NDArray[np.int64]


class RowShard:
    """Some coded rows, and which tree node they have reached.

    Parameters
    ----------
    codes : array of shape (n_features, n_rows)
    """

    def __init__(self, codes: npt.NDArray[Any]) -> None:
        self.codes = codes
        self._sums: dict[int, IntArray] = {}
        self._rows: dict[tuple[int, int], IntArray] = {}

    def start(self, tree: int, sums: IntArray) -> None:
        """Put the rows at the root of a tree.

        Parameters
        ----------
        sums : array of shape (n_rows, n_targets + 2)
            Weighted targets, weight and number of what each row stands for; rows that stand for
            nothing are left out.
        """
        self._sums[tree] = sums
        self._rows[tree, 0] = np.flatnonzero(sums[:, -1] > 0)

    def total(self, tree: int) -> IntArray:
        """Return the sums of all rows of a tree."""
        return np.asarray(self._sums[tree].sum(axis=0))

    def rows(self, tree: int, node: int) -> IntArray:
        """Return the rows that have reached a node."""
        return self._rows[tree, node]

    def histogram(
        self, tree: int, node: int, features: IntArray, starts: IntArray, n_bins: int
    ) -> IntArray:
        """Return the sums of a node's rows by feature and code."""
        sums = self._sums[tree]
        out = np.zeros((n_bins, sums.shape[1]), dtype=np.int64)
        rows = self._rows[tree, node]
        add_histograms(self.codes, features, starts, rows, sums[rows], out)
        return out

    def divide(
        self, tree: int, node: int, feature: int, code: int, children: tuple[int, int]
    ) -> None:
        """Send a node's rows on to its children."""
        rows = self._rows.pop((tree, node))
        above = self.codes[feature, rows] > code
        self._rows[tree, children[0]] = rows[~above]
        self._rows[tree, children[1]] = rows[above]


class ShardedTable:
    """Adds up what the shards answer; the `SumTable` of the growing module."""

    def __init__(self, shards: Sequence[RowShard], n_codes: IntArray) -> None:
        self.shards = shards
        self._n_codes = n_codes

    def total(self, tree: int) -> IntArray:
        """Return the sums of all rows of a tree."""
        return np.asarray(np.sum([shard.total(tree) for shard in self.shards], axis=0))

    def histogram(self, tree: int, node: int, features: IntArray) -> IntArray:
        """Return the sums of a node's rows over all shards."""
        sizes = self._n_codes[features]
        starts = np.cumsum(sizes) - sizes
        n_bins = int(sizes.sum())
        total, *others = (
            shard.histogram(tree, node, features, starts, n_bins) for shard in self.shards
        )
        for part in others:
            total += part
        return total

    def divide(
        self, tree: int, node: int, feature: int, code: int, children: tuple[int, int]
    ) -> None:
        """Send a node's rows on to its children, in every shard."""
        for shard in self.shards:
            shard.divide(tree, node, feature, code, children)
