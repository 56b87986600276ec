"""What the trees of a layer are fitted to, as whole numbers summed over groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.groups import RowGroups
from gnn2logic.trees.table import ShardedTable
from gnn2logic.trees.targets import fixed_point, projection
from gnn2logic.trees.tree import Tree

__all__ = ["GroupSums", "TargetRows"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class GroupSums:
    """Sums over groups, one array per shard.

    Parameters
    ----------
    searched : sequence of arrays
        What the split search sees: weighted targets or their projection, weight, number of rows.
    full : sequence of arrays
        All weighted targets; whole numbers in doubles.
    """

    searched: Sequence[IntArray]
    full: Sequence[FloatArray]


class TargetRows:
    """The quantised targets of one layer.

    Parameters
    ----------
    targets : sequence of arrays of shape (n_nodes, n_targets)
        One array per shard.
    weights : sequence of arrays of int
        The weight of every node.
    n_directions : int or None
        Wider targets are projected onto so many principal directions for the split search; None
        keeps all targets, the exact criterion.
    """

    def __init__(
        self,
        targets: Sequence[npt.NDArray[Any]],
        weights: Sequence[IntArray],
        n_directions: int | None,
    ) -> None:
        self._weights = weights
        total = sum(int(own.sum()) for own in weights)
        lowest = np.min([part.min(axis=0) for part in targets], axis=0).astype(np.float64)
        highest = np.max([part.max(axis=0) for part in targets], axis=0).astype(np.float64)
        n_targets = len(lowest)
        projected = n_directions is not None and n_targets > n_directions
        self._scale = fixed_point(lowest, highest, total, square=projected)
        self._full = [self._scale.quantise(part) for part in targets]
        self._searched = self._full
        if projected:
            assert n_directions is not None
            first, second = np.zeros(n_targets), np.zeros((n_targets, n_targets))
            for part, weight in zip(self._full, weights, strict=True):
                weighted = _weighted(part, weight)
                first += weighted.sum(axis=0)
                second += weighted.T @ part
            directions = projection(first, second, total, n_directions)
            self._searched = [directions.apply(part) for part in self._full]

    def grouped(
        self, groups: Sequence[RowGroups], allowed: Sequence[BoolArray] | None = None
    ) -> GroupSums:
        """Return the sums over groups of rows, of all rows or of the allowed ones."""
        searched, full = [], []
        for number, own in enumerate(groups):
            weight = self._weights[number]
            if allowed is not None:
                weight = weight * allowed[number]
            columns = (
                _weighted(self._searched[number], weight),
                weight[:, None].astype(float),
                (weight > 0)[:, None].astype(float),
            )
            searched.append(own.sums(np.concatenate(columns, axis=1)).astype(np.int64))
            full.append(own.sums(_weighted(self._full[number], weight)))
        return GroupSums(searched, full)

    def leaf_means(
        self, tree: Tree, table: ShardedTable, number: int, sums: GroupSums
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean of all targets and the weight of every leaf, from left to right."""
        means, totals = [], []
        for leaf in tree.leaves:
            full, total = np.zeros(sums.full[0].shape[1]), 0
            for shard, own, searched in zip(table.shards, sums.full, sums.searched, strict=True):
                here = shard.rows(number, leaf)
                full += own[here].sum(axis=0)
                total += int(searched[here, -2].sum())
            means.append(self._scale.mean(full, total))
            totals.append(float(total))
        return np.array(means), np.array(totals)


def _weighted(values: FloatArray, weight: IntArray) -> FloatArray:
    # Most fits have no weights, and the product would copy the largest array there is.
    return values if (weight == 1).all() else values * weight[:, None]
