"""Node formulas with their truth as words: each column once, the shortest name wins.

The space is a cache: which columns a search uses is its own business, so that the folds of a
cross-validation share the work and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.learning.search.kernels import pack_above
from gnn2logic.learning.search.opposites import opposite, opposite_size, shortened
from gnn2logic.learning.search.words import GraphWords, Words
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.syntax import TRUE, And, Formula, Not, Or, modal, predicate

__all__ = ["ColumnSpace"]

IntArray = npt.NDArray[np.int64]

# Shares that neighbours are compared with.
_SHARES = (Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4))
# A literal must be true, and false, at this share of all nodes.
_RARE = 0.004
_MOST_THRESHOLDS = 24
_COLUMNS_AT_ONCE = 32
_FINGERPRINT_SEED = 20_240_607


class ColumnSpace:
    """The columns of some graphs.

    Parameters
    ----------
    batch : GraphBatch
    modalities : sequence of Modality
        The parameters that literals look along.
    absolute, relative : bool
        Whether literals compare counts, and shares.
    """

    def __init__(
        self,
        batch: GraphBatch,
        modalities: Sequence[Modality],
        *,
        absolute: bool = True,
        relative: bool = True,
    ) -> None:
        self.batch = batch
        self.layout = GraphWords(batch.sizes)
        self.formulas: list[Formula] = []
        self._is_literal: list[bool] = []
        self._sizes = np.empty((0, 2), dtype=np.int64)
        self._modalities = [which for which in modalities if which != Modality.from_set("I")]
        self._absolute, self._relative = absolute, relative
        self._set_sizes = {which: set_sizes(batch, which) for which in self._modalities}
        self._words: Words = np.empty((0, self.layout.n_words), dtype=np.uint64)
        self._counts = self.layout.counts(self._words)
        self._number_of: dict[int, int] = {}
        self._prints: list[int] = []
        self._number_of_formula: dict[Formula, int] = {}
        self._literals: dict[int, list[int]] = {}
        draw = np.random.default_rng(_FINGERPRINT_SEED)
        # Odd multipliers: two columns with different bits have different sums, almost surely.
        self._multipliers = draw.integers(
            0, 2**63, self.layout.n_words, dtype=np.uint64
        ) * np.uint64(2) + np.uint64(1)
        inputs = [np.ones(batch.n_nodes, dtype=bool), *(batch.column(n) for n in batch.names)]
        self.inputs = self.add(
            [TRUE, *(predicate(name) for name in batch.names)], self.layout.pack(np.array(inputs))
        )

    def __len__(self) -> int:
        return len(self.formulas)

    def words(self, numbers: Sequence[int] | IntArray) -> Words:
        """Return the words of some columns."""
        return self._words[np.asarray(numbers, dtype=np.int64)]

    def counts(self, numbers: Sequence[int] | IntArray) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the counts of some columns in all graphs."""
        return self._counts[np.asarray(numbers, dtype=np.int64)]

    def sizes(self, numbers: Sequence[int] | IntArray) -> IntArray:
        """Return the sizes of the formulas of some columns and of their negations, side by side."""
        return self._sizes[np.asarray(numbers, dtype=np.int64)]

    def is_literal(self, number: int) -> bool:
        """Whether a column is neither a conjunction nor a disjunction, nor the opposite of one."""
        return self._is_literal[number]

    @cached_property
    def near_edges(self) -> list[sp.csr_array]:
        """The edges that literals look along, one matrix for each direction and relation."""
        near = (which for which in self._modalities if which.neighbours and not which.others)
        return [self.batch.edges(e).matrix for e in dict.fromkeys(which.edges for which in near)]

    # Adding columns ---------------------------------------------------------------------------

    def add(
        self, formulas: Sequence[Formula], words: Words, *, in_order: bool = False
    ) -> list[int]:
        """Return the numbers of columns; those that equal no known one, or its complement, are new.

        Equal columns get one number, so a number may be there twice. New ones are numbered from
        short to long, or in the order in which they are given.
        """
        if not formulas:
            return []
        fingerprints = (words * self._multipliers).sum(axis=1, dtype=np.uint64)
        whole = (self.layout.all_ones * self._multipliers).sum(dtype=np.uint64)
        keys = np.minimum(fingerprints, whole - fingerprints).tolist()
        prints = fingerprints.tolist()
        new = []
        if len(self.formulas) + len(formulas) > len(self._sizes):
            more = np.zeros((len(self.formulas) + 2 * len(formulas), 2), dtype=np.int64)
            self._sizes = np.concatenate([self._sizes, more])
        order = range(len(formulas))
        # The shortest of equal columns comes first.
        for index in order if in_order else sorted(order, key=lambda index: formulas[index].key):
            number = self._number_of.setdefault(keys[index], len(self.formulas))
            if number < len(self.formulas):
                same = prints[index] == self._prints[number]
                self._rename(number, formulas[index] if same else opposite(formulas[index]))
            else:
                name = shortened(formulas[index])
                self.formulas.append(name)
                self._is_literal.append(_is_literal(name))
                self._sizes[number] = name.size, opposite_size(name)
                self._prints.append(prints[index])
                new.append(index)
        self._grow(words[new])
        return [self._number_of[key] for key in keys]

    def _rename(self, number: int, formula: Formula) -> None:
        """Take a shorter name for a column: long ones may be proposed before."""
        formula = shortened(formula)
        if formula.size < self._sizes[number, 0]:
            self.formulas[number] = formula
            self._is_literal[number] = _is_literal(formula)
            self._sizes[number] = formula.size, opposite_size(formula)

    def _grow(self, words: Words) -> None:
        used = len(self.formulas) - len(words)
        if len(self.formulas) > len(self._words):
            # Twice as much as needed: columns come in many small portions.
            room = 2 * len(self.formulas)
            larger = np.empty((room, self._words.shape[1]), dtype=np.uint64)
            larger_counts = np.empty((room, self._counts.shape[1]), dtype=self._counts.dtype)
            larger[:used], larger_counts[:used] = self._words[:used], self._counts[:used]
            self._words, self._counts = larger, larger_counts
        self._words[used : len(self.formulas)] = words
        self._counts[used : len(self.formulas)] = self.layout.counts(words)

    def add_formulas(self, formulas: Sequence[Formula], *, in_order: bool = False) -> list[int]:
        """Return the numbers of columns that are given by formulas alone."""
        new = [phi for phi in dict.fromkeys(formulas) if phi not in self._number_of_formula]
        if new:
            truths = evaluate_each(new, self.batch)
            columns = self.layout.pack(np.array([truths[formula] for formula in new]))
            numbers = self.add(new, columns, in_order=in_order)
            self._number_of_formula.update(zip(new, numbers, strict=True))
        return [self._number_of_formula[formula] for formula in formulas]

    # Literals ---------------------------------------------------------------------------------

    def literals(self, numbers: Iterable[int]) -> list[int]:
        """Return the columns ``S phi > t`` and ``S !phi > t`` for some columns phi."""
        wanted = list(dict.fromkeys(numbers))
        missing = [number for number in wanted if number not in self._literals]
        for start in range(0, len(missing), _COLUMNS_AT_ONCE):
            self._expand(missing[start : start + _COLUMNS_AT_ONCE])
        return list(dict.fromkeys(lit for number in wanted for lit in self._literals[number]))

    def _expand(self, numbers: Sequence[int]) -> None:
        block = self.layout.unpack(self.words(numbers))
        counts = ModalCounts(self.batch, np.ascontiguousarray(block.T))
        for number in numbers:
            self._literals[number] = []
        for modality in self._modalities:
            sizes = self._set_sizes[modality]
            along = np.ascontiguousarray(np.asarray(counts(modality)).T, dtype=np.int64)
            for number, values in zip(numbers, along, strict=True):
                phi = self.formulas[number]
                literals = self._thresholds(modality, phi, values, sizes)
                if phi is not TRUE:
                    literals += self._thresholds(modality, opposite(phi), sizes - values, sizes)
                self._literals[number] += literals

    def _thresholds(
        self, modality: Modality, phi: Formula, values: IntArray, sizes: IntArray
    ) -> list[int]:
        formulas: list[Formula] = []
        packed: list[Words] = []
        if self._absolute:
            limits = _useful_limits(values)
            formulas += [modal(modality, phi, limit) for limit in limits.tolist()]
            packed.append(self._above(values, limits))
        if self._relative and phi is not TRUE:
            for share in _SHARES:
                above = self._above(values * share.denominator - sizes * share.numerator, _ZERO)
                true = int(self.layout.counts(above).sum(dtype=np.int64)) / len(values)
                if _RARE < true < 1 - _RARE:
                    formulas.append(modal(modality, phi, share))
                    packed.append(above)
        return self.add(formulas, np.concatenate(packed)) if formulas else []

    def _above(self, values: IntArray, limits: IntArray) -> Words:
        out = np.zeros((len(limits), self.layout.n_words), dtype=np.uint64)
        pack_above(values, limits, self.layout.bit, out)
        return out


def _is_literal(formula: Formula) -> bool:
    return not isinstance(formula.child if isinstance(formula, Not) else formula, And | Or)


_ZERO = np.zeros(1, dtype=np.int64)


def _useful_limits(values: IntArray) -> IntArray:
    """Return thresholds that divide the nodes, all of them or some that are evenly spread."""
    above = 1 - np.cumsum(np.bincount(values)) / len(values)
    limits = np.flatnonzero((above > _RARE) & (above < 1 - _RARE))
    if len(limits) > _MOST_THRESHOLDS:
        limits = limits[
            np.unique(np.linspace(0, len(limits) - 1, _MOST_THRESHOLDS).round()).astype(np.int64)
        ]
    return limits
