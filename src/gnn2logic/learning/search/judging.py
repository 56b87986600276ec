"""How well columns, and pairs of them, tell graphs apart: explained variance less a price for size.

A judge sees some graphs, their targets and weights. What it says depends on nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins, Form
from gnn2logic.learning.search.kernels import pair_gains, single_gains
from gnn2logic.learning.search.plane_kernels import node_gains
from gnn2logic.learning.search.whole_numbers import bit_planes, packed_targets, whole_targets
from gnn2logic.logic.syntax import TRUE, Formula, conjunction, disjunction, negation

__all__ = ["GraphJudge", "Judge", "NodeJudge", "Verdict", "VerdictTable"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_PROFILE_NODES = 20_000

# Where there are many graphs, pairs are judged by so many of them first, and the best pairs, one in
# so many, by all.
_SCREENED = 128
_PROMISING = 20

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


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """The best condition on each of some columns, as arrays; forms are -1 for nodes."""

    values: FloatArray
    gains: FloatArray
    forms: IntArray
    cuts: IntArray

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts one by one."""
        return [
            Verdict(value, gain, Form(form) if form >= 0 else None, cut)
            for value, gain, form, cut in zip(
                self.values.tolist(),
                self.gains.tolist(),
                self.forms.tolist(),
                self.cuts.tolist(),
                strict=True,
            )
        ]


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
        self._screen: Judge | None = None

    @property
    @abstractmethod
    def pair_cost(self) -> int:
        """How much work it is to judge one pair."""

    @abstractmethod
    def table(self, numbers: Sequence[int]) -> VerdictTable:
        """Return the best condition on each of some columns."""

    def singles(self, numbers: Sequence[int]) -> list[Verdict]:
        """Return the best condition on each of some columns, one by one."""
        return self.table(numbers).verdicts()

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
        if self._screen is not None:
            values, _ = self._screen._pair_values(kept, left, right)
            promising = _largest(values.max(axis=1), max(4 * most, len(left) // _PROMISING))
            promising.sort()
            left, right = left[promising], right[promising]
        values, is_either = self._pair_values(kept, left, right)
        best = _largest(values.ravel(), most)
        return self._join(kept, left, right, best, is_either.ravel())

    def _pair_values(
        self, numbers: Sequence[int], left: IntArray, right: IntArray
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Return how good pairs are, by signs, and whether that is as a disjunction."""
        values, either = self._pair_gains(numbers, left, right)
        values /= np.float32(self.variance)
        either /= np.float32(self.variance)
        sizes = np.array([self.space.sizes(number) for number in numbers])
        price = np.float32(self.price)
        for signs, (one, other) in enumerate(_SIGNS):
            size = sizes[left, int(not one)] + sizes[right, int(not other)] + 1
            values[:, signs] -= price * (size + self.extra_size)
            size = sizes[left, int(one)] + sizes[right, int(other)] + 1
            either[:, signs] -= price * (size + self.extra_size)
        is_either = either > values
        return np.maximum(values, either), is_either

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
        cells = np.ascontiguousarray(bins.share_offset[rows])
        self._tables = bins.bin_of_count, bins.n_counts, bins.bin_of_share, cells, bins.n_shares
        self._pair_tables = bins.bins_of_cell, cells, bins.n_counts, bins.n_shares
        self._graph_sizes = np.ascontiguousarray(layout.sizes[rows])
        if len(rows) >= 2 * _SCREENED:
            screen = GraphJudge(
                space,
                bins,
                _spread(rows, targets, _SCREENED),
                targets,
                weights,
                price=price,
                least_weight=max(1, least_weight * _SCREENED // len(rows)),
            )
            # Rows of one target tell nothing apart.
            self._screen = screen if screen.variance > 0 else None

    def _counts(self, numbers: Sequence[int]) -> npt.NDArray[np.unsignedinteger[Any]]:
        counts = self.space.counts(numbers)
        return counts if self._everything else np.ascontiguousarray(counts[:, self.rows])

    @property
    def pair_cost(self) -> int:
        """The number of graphs looked at: each has four counts to add to twelve histograms."""
        screened = _SCREENED + len(self.rows) // _PROMISING
        return len(self.rows) if self._screen is None else screened

    def profile(self, number: int) -> FloatArray:
        """Return the counts of a column."""
        return np.asarray(self.space.counts([number])[0, self.rows], dtype=float)

    def table(self, numbers: Sequence[int]) -> VerdictTable:
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
        forms = values.argmax(axis=1)
        at = np.arange(len(numbers)), forms
        return VerdictTable(values[at], gains[at] / self.variance, forms, cuts[at])

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
            *self._pair_tables,
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

    def table(self, numbers: Sequence[int]) -> VerdictTable:
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
        sizes = np.array([min(self.space.sizes(number)) for number in numbers])
        none = np.full(len(gains), -1)
        return VerdictTable(gains - self.price * sizes, gains, none, np.zeros_like(none))

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


def _spread(rows: IntArray, targets: FloatArray, most: int) -> IntArray:
    """Return some rows, in order: half of them with targets above the mean, if there are as many.

    A rare class would be a handful of graphs among few that are drawn evenly.
    """
    by_target = rows[np.argsort(targets[rows], kind="stable")]
    n_low = int(np.count_nonzero(targets[rows] <= targets[rows].mean()))
    low, high = by_target[:n_low], by_target[n_low:]
    n_high = min(len(high), max(most // 2, most - len(low)))
    spread = [
        side[(np.arange(number) * len(side)) // max(number, 1)]
        for side, number in ((low, most - n_high), (high, n_high))
    ]
    return np.sort(np.concatenate(spread))


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
