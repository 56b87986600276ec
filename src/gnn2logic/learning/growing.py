"""Growing trees from sums.

The gain of a split needs, for each candidate column and code, the weight and the target sums of the
rows: a histogram. Histograms of parts of the data add, so whoever holds the rows only has to answer
requests, and this module never sees a row of a large node. Many nodes of many trees are asked about
at once: the fewer requests, the fewer passes over data that is on disk or on other machines. Small
nodes are finished here, from their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.coded_trees import Candidates, GrownTree
from gnn2logic.learning.small_nodes import NodeRows, grow_from_rows
from gnn2logic.learning.splitting import GrowthLimits, best_split, may_split

__all__ = ["Advance", "Division", "NodeRequest", "TreeJob", "grow"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Division:
    """Rows of a node go to two new nodes: codes up to `code`, and the codes above."""

    tree: int
    node: int
    feature: int
    code: int
    children: tuple[int, int]


@dataclass(frozen=True)
class NodeRequest:
    """A question about the rows of a node and some features."""

    tree: int
    node: int
    features: IntArray


class Advance(Protocol):
    """What those who hold the rows do, wherever they are."""

    def __call__(
        self,
        divisions: Sequence[Division],
        summed: Sequence[NodeRequest],
        listed: Sequence[NodeRequest],
    ) -> tuple[list[IntArray], list[NodeRows]]:
        """Divide nodes, in the given order; then answer with histograms, and with rows.

        A histogram has one line per code of each feature in turn; its last two columns are the
        weight and the count.
        """


@dataclass(frozen=True)
class TreeJob:
    """One tree to grow.

    Parameters
    ----------
    tree : int
        Its number among the trees that are grown.
    candidates : Candidates
    total : array
        The sums of all rows of the tree.
    root : callable, optional
        Returns the histogram of the root over the candidates, where it is known already.
    seed : sequence of int, optional
        Needed for random thresholds only. With the path to it, it gives each node its random
        stream, so that nodes may be split in any order.
    """

    tree: int
    candidates: Candidates
    total: IntArray
    root: Callable[[], IntArray] | None = None
    seed: Sequence[int] | None = None


@dataclass(frozen=True)
class _GrowingNode:
    """A node of a growing tree; its path is 1 at the root, 2p and 2p + 1 below the path p."""

    job: int
    number: int
    depth: int
    path: int


@dataclass
class _Family:
    """One or two nodes that came into being together, and the histogram of all their rows."""

    members: list[_GrowingNode]
    histogram: IntArray | None
    # Which member is asked about: its histogram, and those whose rows are fetched.
    summed: _GrowingNode | None
    listed: list[_GrowingNode]


def grow(
    advance: Advance,
    jobs: Sequence[TreeJob],
    limits: GrowthLimits,
    *,
    cells: int = 2**22,
    small: int = 0,
) -> list[GrownTree]:
    """Grow trees side by side.

    Parameters
    ----------
    advance : callable
        Divides nodes, and answers with sums and rows.
    cells : int
        About how many numbers the histograms of one request may have together.
    small : int
        Nodes with at most so many codes, rows times features, are finished from their rows.
    """
    return _Growth(advance, jobs, limits, small).run(cells)


class _Growth:
    def __init__(
        self, advance: Advance, jobs: Sequence[TreeJob], limits: GrowthLimits, small: int
    ) -> None:
        self._advance = advance
        self._jobs = jobs
        self._limits = limits
        self._small = small
        self._forest = [GrownTree() for _ in jobs]
        self._sizes = [job.candidates.sizes for job in jobs]
        self._ready: list[tuple[_GrowingNode, Callable[[], IntArray]]] = []
        self._waiting: list[_Family] = []
        self._divisions: list[Division] = []

    def run(self, cells: int) -> list[GrownTree]:
        """Ask, split, and ask again, until there is nothing left to split."""
        for number in reversed(range(len(self._jobs))):
            self._plant(number)
        while self._ready or self._waiting:
            families: list[_Family] = []
            asked = 0
            while (self._ready or self._waiting) and (not families or asked < cells):
                family = self._split(*self._ready.pop()) if self._ready else self._waiting.pop()
                if family is not None:
                    families.append(family)
                    asked += self._cells(family)
            if families:
                self._ask(families)
        return [grown.in_depth_first_order() for grown in self._forest]

    def _plant(self, number: int) -> None:
        job = self._jobs[number]
        root = _GrowingNode(number, self._forest[number].add(job.total), 0, 1)
        if not may_split(job.total, 0, self._limits) or not len(job.candidates.features):
            return
        if job.root is not None:
            self._ready.append((root, job.root))
        elif self._is_small(root):
            self._waiting.append(_Family([root], None, None, [root]))
        else:
            self._waiting.append(_Family([root], None, root, []))

    def _split(self, node: _GrowingNode, find: Callable[[], IntArray]) -> _Family | None:
        """Split a node whose histogram is known; return its children if they may be split too."""
        job, grown = self._jobs[node.job], self._forest[node.job]
        histogram = find()
        features = job.candidates.features
        choice = best_split(
            histogram,
            self._sizes[node.job],
            job.candidates.preference[features],
            grown.sums[node.number],
            self._limits,
            None if job.seed is None else [*job.seed, node.path],
        )
        if choice is None:
            return None
        feature = int(features[choice.column])
        codes = (choice.code, choice.next_code)
        low, high = grown.split(node.number, feature, codes, choice.low_sums)
        self._divisions.append(Division(job.tree, node.number, feature, choice.code, (low, high)))
        children = [
            _GrowingNode(node.job, low, node.depth + 1, 2 * node.path),
            _GrowingNode(node.job, high, node.depth + 1, 2 * node.path + 1),
        ]
        members = [
            child
            for child in children
            if may_split(grown.sums[child.number], child.depth, self._limits)
        ]
        listed = [child for child in members if self._is_small(child)]
        summed = None
        if len(listed) < len(members):
            # The smaller side is summed, the other one is what is left of the parent.
            summed = min(children, key=self._n_rows)
        return _Family(members, histogram, summed, listed) if members else None

    def _ask(self, families: Sequence[_Family]) -> None:
        """Get what the families lack."""
        summed = [f.summed for f in families if f.summed is not None]
        listed = [node for family in families for node in family.listed]
        sums, rows = self._advance(
            self._divisions,
            [self._request(node) for node in summed],
            [self._request(node) for node in listed],
        )
        self._divisions = []
        for node, node_rows in zip(listed, rows, strict=True):
            job = self._jobs[node.job]
            grow_from_rows(
                self._forest[node.job],
                (node.number, node.depth, node.path),
                job.candidates,
                node_rows,
                self._limits,
                job.seed,
            )
        answers = iter(sums)
        for family in families:
            if family.summed is not None:
                self._settle(family, family.summed, next(answers))

    def _settle(self, family: _Family, summed: _GrowingNode, sums: IntArray) -> None:
        """Make the members of a family ready whose histogram can be told now."""
        for member in reversed(family.members):
            if member in family.listed:
                continue
            histogram = sums
            if member != summed:
                assert family.histogram is not None
                histogram = family.histogram - sums
            self._ready.append((member, _known(histogram)))

    def _request(self, node: _GrowingNode) -> NodeRequest:
        job = self._jobs[node.job]
        return NodeRequest(job.tree, node.number, job.candidates.features)

    def _n_rows(self, node: _GrowingNode) -> int:
        return int(self._forest[node.job].sums[node.number][-1])

    def _is_small(self, node: _GrowingNode) -> bool:
        return self._n_rows(node) * len(self._sizes[node.job]) <= self._small

    def _cells(self, family: _Family) -> int:
        job = family.members[0].job
        lines = int(self._sizes[job].sum()) if family.summed is not None else 0
        rows = sum(self._n_rows(node) for node in family.listed)
        return lines * len(self._jobs[job].total) + rows * len(self._sizes[job])


def _known(histogram: IntArray) -> Callable[[], IntArray]:
    return lambda: histogram
