"""How well columns, and pairs of them, tell graphs apart: explained variance less a price for size.

A judge sees some graphs, their targets and weights. What it says depends on nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins, Form
from gnn2logic.learning.search.kernels import TARGET_BITS, node_gains, pair_gains, single_gains
from gnn2logic.logic.syntax import TRUE, Formula, conjunction, disjunction, negation

__all__ = ["GraphJudge", "Judge", "NodeJudge", "Verdict", "bit_planes", "packed_targets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Targets are whole numbers up to this one, and weights together are below 2 ** 22, so that weighted
# sums stay below 2 ** TARGET_BITS.
TARGET_STEPS = 4095
MOST_WEIGHT = 1 << 22

_PROFILE_NODES = 20_000

# The conjunctions that one AND gives: which of the two columns hold.
_SIGNS = ((True, True), (True, False), (False, True), (False, False))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best condition on one column: how good it is, and the form and cut of its count.

    A condition on nodes is the column itself; it has no form.
    """

    value: float
    gain: float
    form: Form | None
    cut: int


def packed_targets(targets: FloatArray, weights: IntArray) -> tuple[IntArray, float]:
    """Return weights and targets packed for the kernels, and the variance to be explained.

    Parameters
    ----------
    targets : array of shape (n_graphs,)
    weights : array of int
        Together at most `MOST_WEIGHT`.
    """
    seen = weights > 0
    low, high = float(targets[seen].min()), float(targets[seen].max())
    scale = TARGET_STEPS / (high - low) if high > low else 0.0
    whole = np.rint((np.clip(targets, low, high) - low) * scale).astype(np.int64)
    packed = (weights << TARGET_BITS) + weights * whole
    total, mean_of = int(weights.sum()), int((weights * whole).sum())
    variance = float((weights * whole * whole).sum()) - mean_of * mean_of / total
    return packed, variance


class Judge(ABC):
    """Says how much columns explain about some rows: graphs, or nodes.

    Parameters
    ----------
    space : ColumnSpace
    rows : array of int
        The graphs or nodes that count.
    price : float
        The share of the variance that one more symbol must explain.
    least_weight : int
        What must be on each side of a condition.
    """

    variance: float
    extra_size: int
    """How many symbols a condition has besides its column."""

    def __init__(
        self, space: ColumnSpace, rows: IntArray, *, price: float, least_weight: int
    ) -> None:
        self.space, self.rows, self.price = space, rows, price
        self._least_weight = least_weight

    @property
    @abstractmethod
    def pair_cost(self) -> int:
        """How much work it is to judge one pair."""

    @abstractmethod
    def singles(self, numbers: Sequence[int]) -> list[Verdict]:
        """Return the best condition on each of some columns."""

    @abstractmethod
    def profile(self, number: int) -> FloatArray:
        """Return numbers that are alike for columns that say much the same about the rows."""

    @abstractmethod
    def _pair_gains(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return what conjunctions and what disjunctions explain, by pair and signs.

        The disjunction at a place is the complement of the conjunction there.
        """

    def pairs(self, numbers: Sequence[int], most: int) -> list[int]:
        """Return the best conjunctions and disjunctions of two of some columns, as new columns."""
        kept = [number for number in numbers if self.space.formulas[number] is not TRUE]
        if len(kept) < 2:
            return []
        left, right = np.triu_indices(len(kept), 1)
        values, either = self._pair_gains(kept, left, right)
        values /= np.float32(self.variance)
        either /= np.float32(self.variance)
        sizes = np.array([self.space.sizes(number) for number in kept])
        price = np.float32(self.price)
        for place, (one, other) in enumerate(_SIGNS):
            size = sizes[left, int(not one)] + sizes[right, int(not other)] + 1
            values[:, place] -= price * (size + self.extra_size)
            size = sizes[left, int(one)] + sizes[right, int(other)] + 1
            either[:, place] -= price * (size + self.extra_size)
        is_either = (either > values).ravel()
        best = _largest(np.maximum(values, either).ravel(), most)
        return self._join(kept, left, right, best, is_either)

    def _join(
        self,
        kept: Sequence[int],
        left: IntArray,
        right: IntArray,
        best: IntArray,
        is_either: npt.NDArray[np.bool_],
    ) -> list[int]:
        space, ones = self.space, self.space.layout.all_ones
        formulas, packed = [], []
        for place in best.tolist():
            pair, signs = divmod(place, len(_SIGNS))
            one, other = _SIGNS[signs]
            a, b = kept[int(left[pair])], kept[int(right[pair])]
            words = (space.words([a])[0] ^ (ones * np.uint64(not one))) & (
                space.words([b])[0] ^ (ones * np.uint64(not other))
            )
            if is_either[place]:
                # A disjunction is the complement of a conjunction with both signs turned.
                children = _signed(space, a, not one), _signed(space, b, not other)
                formulas.append(disjunction(children))
                packed.append(words ^ ones)
            else:
                formulas.append(conjunction((_signed(space, a, one), _signed(space, b, other))))
                packed.append(words)
        return space.add(formulas, np.array(packed)) if formulas else []


class GraphJudge(Judge):
    """Judges columns by the number of their nodes in whole graphs.

    Parameters
    ----------
    bins : CountBins
        Of all graphs of the space.
    targets, weights : array
        Of all graphs.
    """

    extra_size = 1

    def __init__(
        self,
        space: ColumnSpace,
        bins: CountBins,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> None:
        super().__init__(space, rows, price=price, least_weight=least_weight)
        self._packed, self.variance = packed_targets(targets[rows], weights[rows])
        layout = space.layout
        self._words_of = layout.words_of(rows)
        lengths = layout.first[rows + 1] - layout.first[rows]
        self._first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._everything = len(rows) == layout.n_graphs
        self._tables = (
            bins.bin_of_count,
            bins.n_counts,
            bins.bin_of_share,
            np.ascontiguousarray(bins.share_offset[rows]),
            bins.n_shares,
        )
        self._graph_sizes = np.ascontiguousarray(layout.sizes[rows])

    def _counts(self, numbers: Sequence[int]) -> npt.NDArray[np.unsignedinteger[Any]]:
        counts = self.space.counts(numbers)
        return counts if self._everything else np.ascontiguousarray(counts[:, self.rows])

    @property
    def pair_cost(self) -> int:
        """The number of graphs: each has four counts to add to twelve histograms."""
        return len(self.rows)

    def profile(self, number: int) -> FloatArray:
        """Return the counts of a column."""
        return np.asarray(self.space.counts([number])[0, self.rows], dtype=float)

    def singles(self, numbers: Sequence[int]) -> list[Verdict]:
        """Return the best condition on each of some columns."""
        gains, cuts = single_gains(
            self._counts(numbers),
            self._graph_sizes,
            self._packed,
            *self._tables,
            self._least_weight,
        )
        sizes = np.array([self.space.sizes(number) for number in numbers])
        values = gains / self.variance - self.price * np.tile(sizes + self.extra_size, 2)
        return [
            Verdict(
                float(values[row, form]),
                float(gains[row, form] / self.variance),
                Form(form),
                int(cuts[row, form]),
            )
            for row, form in enumerate(values.argmax(axis=1).tolist())
        ]

    def _pair_gains(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        words = self.space.words(numbers)
        if not self._everything:
            words = np.ascontiguousarray(words[:, self._words_of])
        return pair_gains(
            words,
            self._first,
            self.space.layout.one_word_each,
            self._counts(numbers),
            self._graph_sizes,
            self._packed,
            *self._tables,
            left,
            right,
            self._least_weight,
        )


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
        # Enough nodes to see whether two columns are alike.
        self._looked_at = rows[:: -(-len(rows) // _PROFILE_NODES)]

    @property
    def pair_cost(self) -> int:
        """A sixth of the number of popcounts: a graph takes about six times as long."""
        n_planes = len(self._weight_planes) + len(self._target_planes)
        return max(1, n_planes * self.space.layout.n_words // 6)

    def profile(self, number: int) -> FloatArray:
        """Return the truth of a column."""
        truth = self.space.layout.unpack(self.space.words([number]))[0]
        return np.asarray(truth[self._looked_at], dtype=np.float64)

    def singles(self, numbers: Sequence[int]) -> list[Verdict]:
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
        return [
            Verdict(float(gain) - self.price * min(self.space.sizes(number)), float(gain), None, 0)
            for number, gain in zip(numbers, gains, strict=True)
        ]

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


def whole_targets(targets: FloatArray) -> IntArray:
    """Return targets as whole numbers from 0 on; those of two values stay 0 and 1."""
    low, high = float(targets.min()), float(targets.max())
    steps = 1 if np.isin(targets, (low, high)).all() else TARGET_STEPS
    return np.rint((targets - low) * (steps / (high - low if high > low else 1))).astype(np.int64)


def bit_planes(
    numbers: IntArray, pack: Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.uint64]]
) -> npt.NDArray[np.uint64]:
    """Return whole numbers bit by bit, each bit of all of them packed into words."""
    n_planes = max(1, int(numbers.max()).bit_length())
    return pack((numbers[None] >> np.arange(n_planes)[:, None]) & 1 == 1)


def _signed(space: ColumnSpace, number: int, sign: bool) -> Formula:
    formula = space.formulas[number]
    return formula if sign else negation(formula)


def _largest(values: npt.NDArray[np.float32], most: int) -> IntArray:
    """Return the places of the largest values, largest first, the first of equals."""
    if len(values) > most:
        limit = np.partition(values, len(values) - most)[len(values) - most]
        chosen = np.flatnonzero(values >= limit)
    else:
        chosen = np.arange(len(values))
    return chosen[np.argsort(-values[chosen], kind="stable")][:most]
