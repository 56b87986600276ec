"""Growing trees from sums.

The gain of a split needs, for each candidate column and code, the weight and the target sums of the
rows: a histogram. Histograms of parts of the data add, so whoever holds the rows only has to answer
two requests, and this module never sees a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnn2logic.trees.coding import Codebook

__all__ = ["Candidates", "Grown", "GrowthLimits", "SumTable", "grow"]

IntArray = npt.NDArray[np.int64]


class SumTable(Protocol):
    """The rows, wherever they are. A histogram's last two columns are the weight and the count."""

    def histogram(self, tree: int, node: int, features: IntArray) -> IntArray:
        """Return the sums of a node's rows, one line per code of each feature in turn."""

    def divide(
        self, tree: int, node: int, feature: int, code: int, children: tuple[int, int]
    ) -> None:
        """Send a node's rows to two new nodes: codes up to `code`, and the codes above."""


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


@dataclass(frozen=True)
class GrowthLimits:
    """When to stop, and how thresholds are drawn."""

    max_depth: int | None = None
    min_rows_leaf: int = 1
    random_thresholds: bool = False
    splits_without_gain: bool = False
    """Grow on while a node is not pure, even if no single split helps; pruning decides later."""


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


@dataclass(frozen=True)
class _Choice:
    feature: int
    code: int
    next_code: int
    low_sums: IntArray


def grow(
    table: SumTable,
    tree: int,
    candidates: Candidates,
    limits: GrowthLimits,
    *,
    total: IntArray,
    root: IntArray | None = None,
    seed: Sequence[int] | None = None,
) -> Grown:
    """Grow one tree, depth first, the lower branch first.

    Parameters
    ----------
    total : array
        The sums of all rows of the tree.
    root : array, optional
        The histogram of the root over the candidates, where it is known already.
    seed : sequence of int, optional
        Needed for random thresholds only. With its place in the tree it gives each node a random
        stream of its own, so that nodes may be split in any order.
    """
    features = candidates.features
    if root is None:
        root = table.histogram(tree, 0, features)
    grown = Grown()
    grown.add(total)
    stack = [(0, 0, 1, root)]
    while stack:
        node, depth, place, histogram = stack.pop()
        if limits.max_depth is not None and depth >= limits.max_depth:
            continue
        rng = None if seed is None else np.random.default_rng([*seed, place])
        choice = _best_split(histogram, grown.sums[node], candidates, limits, rng)
        if choice is None:
            continue
        low = grown.add(choice.low_sums)
        high = grown.add(grown.sums[node] - choice.low_sums)
        grown.feature[node], grown.code[node] = choice.feature, choice.code
        grown.next_code[node], grown.children[node] = choice.next_code, (low, high)
        table.divide(tree, node, choice.feature, choice.code, (low, high))
        if limits.max_depth is not None and depth + 1 >= limits.max_depth:
            continue
        # The smaller side is summed, the other one is what is left of the parent.
        small, large = (low, high) if grown.sums[low][-1] <= grown.sums[high][-1] else (high, low)
        of_small = table.histogram(tree, small, features)
        parts = {small: of_small, large: histogram - of_small}
        stack.append((high, depth + 1, 2 * place + 1, parts[high]))
        stack.append((low, depth + 1, 2 * place, parts[low]))
    return grown


def _best_split(
    histogram: IntArray,
    total: IntArray,
    candidates: Candidates,
    limits: GrowthLimits,
    rng: np.random.Generator | None,
) -> _Choice | None:
    n_rows = int(total[-1])
    if n_rows < 2 * limits.min_rows_leaf or not len(candidates.features):
        return None
    if limits.splits_without_gain and np.count_nonzero(total[:-2]) <= 1:
        return None
    sizes = candidates.sizes
    starts = np.cumsum(sizes) - sizes
    low = np.cumsum(histogram, axis=0)
    before = low[starts] - histogram[starts]
    low -= np.repeat(before, sizes, axis=0)
    rows_low = low[:, -1]
    # Only codes that occur here bound a gap; the last one of a column has nothing above it.
    possible = np.flatnonzero(
        (histogram[:, -1] > 0)
        & (rows_low >= limits.min_rows_leaf)
        & (n_rows - rows_low >= limits.min_rows_leaf)
    )
    owner = np.repeat(np.arange(len(sizes)), sizes)[possible]
    if limits.random_thresholds:
        assert rng is not None
        keep = _one_each(owner, rng)
        possible, owner = possible[keep], owner[keep]
    if not len(possible):
        return None
    score = _score(low[possible], total)
    best = score.max()
    if not limits.splits_without_gain:
        whole = float((total[:-2].astype(float) ** 2).sum() / total[-2])
        if best - whole <= 1e-12 * max(abs(best), 1e-300):
            return None
    tied = np.flatnonzero(score == best)
    preference = candidates.preference[candidates.features[owner[tied]]]
    chosen = tied[np.lexsort((possible[tied], preference))[0]]
    place, column = int(possible[chosen]), int(owner[chosen])
    end = int(starts[column] + sizes[column])
    above = int(np.argmax(histogram[place + 1 : end, -1] > 0)) + place + 1
    return _Choice(
        feature=int(candidates.features[column]),
        code=place - int(starts[column]),
        next_code=above - int(starts[column]),
        low_sums=low[place].copy(),
    )


def _score(low: IntArray, total: IntArray) -> npt.NDArray[np.float64]:
    """Return what the variance reduction depends on: sum of squares over weight, on both sides."""
    left = np.zeros(len(low))
    right = np.zeros(len(low))
    # Column by column, so that equal and mirrored splits get exactly equal scores.
    for k in range(low.shape[1] - 2):
        left += low[:, k].astype(float) ** 2
        right += (total[k] - low[:, k]).astype(float) ** 2
    weight = low[:, -2].astype(float)
    return np.asarray(left / weight + right / (float(total[-2]) - weight))


def _one_each(owner: IntArray, rng: np.random.Generator) -> IntArray:
    """Return one random position for each owner; `owner` is sorted."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    counts = np.diff(np.append(starts, len(owner)))
    return starts + (rng.random(len(starts)) * counts).astype(np.int64)
