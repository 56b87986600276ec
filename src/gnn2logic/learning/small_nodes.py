"""Growing the part of a tree below a small node, from its rows.

Deep nodes have few rows, and few of the codes of a feature occur among them. So the codes are
renumbered at every node: sums take as much room as there are rows, and columns that are constant
below a node are not looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.coded_trees import Candidates, GrownTree
from gnn2logic.learning.kernels import add_histograms
from gnn2logic.learning.splitting import GrowthLimits, best_split, may_split

__all__ = ["NodeRows", "grow_from_rows"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class NodeRows:
    """The rows of a node: codes of shape (n_features, n_rows), sums of shape (n_rows, n_sums)."""

    codes: npt.NDArray[Any]
    sums: IntArray

    def __add__(self, other: NodeRows) -> NodeRows:
        """Return the rows of both shards."""
        return NodeRows(
            np.concatenate([self.codes, other.codes], axis=1),
            np.concatenate([self.sums, other.sums]),
        )


@dataclass(frozen=True)
class _Block:
    """Rows with renumbered codes; ``levels[starts[j] + code]`` is what a code was before."""

    features: IntArray
    codes: npt.NDArray[np.int32]
    sizes: IntArray
    levels: IntArray
    sums: IntArray

    @classmethod
    def of(cls, features: IntArray, rows: NodeRows, sizes: IntArray) -> Self:
        """Renumber the codes that occur; `sizes` bounds the codes of each feature."""
        return cls._renumbered(features, rows.codes, sizes, None, rows.sums)

    def take(self, rows: npt.NDArray[np.bool_]) -> Self:
        """Return some of the rows."""
        return self._renumbered(
            self.features,
            self.codes.compress(rows, axis=1),
            self.sizes,
            self.levels,
            self.sums[rows],
        )

    @classmethod
    def _renumbered(
        cls,
        features: IntArray,
        codes: npt.NDArray[Any],
        sizes: IntArray,
        levels: IntArray | None,
        sums: IntArray,
    ) -> Self:
        starts = np.cumsum(sizes) - sizes
        bins = starts.astype(np.int32)[:, None] + codes.astype(np.int32)
        present = np.zeros(int(sizes.sum()), dtype=bool)
        present[bins] = True
        rank = np.cumsum(present, dtype=np.int32)
        occupied = np.flatnonzero(present)
        counts = np.add.reduceat(present, starts, dtype=np.int64)
        first = rank[starts] - present[starts]
        varying = counts > 1
        new_codes = (rank[bins[varying]] - 1) - first[varying, None]
        if levels is None:
            levels = np.arange(len(present), dtype=np.int64) - np.repeat(starts, sizes)
        kept_levels = levels[occupied][np.repeat(varying, counts)]
        return cls(features[varying], new_codes, counts[varying], kept_levels, sums)


def grow_from_rows(
    grown: GrownTree,
    root: tuple[int, int, int],
    candidates: Candidates,
    rows: NodeRows,
    limits: GrowthLimits,
    seed: Sequence[int] | None,
) -> None:
    """Grow the part of a tree below one of its nodes, given by number, depth and path number."""
    block = _Block.of(candidates.features, rows, candidates.sizes)
    stack = [(*root, block)]
    while stack:
        node, depth, path, block = stack.pop()
        total = grown.sums[node]
        if not len(block.features):
            continue
        starts = np.cumsum(block.sizes) - block.sizes
        histogram = np.zeros((len(block.levels), len(total)), dtype=np.int64)
        n_features, n_rows = block.codes.shape
        everything = np.arange(n_rows), block.sums
        add_histograms(block.codes, np.arange(n_features), starts, *everything, histogram)
        preference = candidates.preference[block.features]
        node_seed = None if seed is None else [*seed, path]
        choice = best_split(histogram, block.sizes, preference, total, limits, node_seed)
        if choice is None:
            continue
        levels = block.levels[starts[choice.column] :]
        codes = (int(levels[choice.code]), int(levels[choice.next_code]))
        feature = int(block.features[choice.column])
        children = grown.split(node, feature, codes, choice.low_sums)
        above = block.codes[choice.column] > choice.code
        for child, side, chosen in zip(children, (0, 1), (~above, above), strict=True):
            if may_split(grown.sums[child], depth + 1, limits):
                stack.append((child, depth + 1, 2 * path + side, block.take(chosen)))
