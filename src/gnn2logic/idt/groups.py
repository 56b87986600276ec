"""Rows that no feature tells apart, kept once.

Atoms of molecules see few different neighbourhoods: after eight layers the 31,385 atoms of AIDS are
4,788 different rows. All sums over rows are sums over groups of equal rows, exactly, so the split
search works on groups; each new block of features refines them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.trees.kernels import count_differences, mix_rows

__all__ = ["RowGroups", "salt"]

IntArray = npt.NDArray[np.int64]


def salt(first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return one pseudo-random number for each of `count` places, a function of the place alone."""
    mixed = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


class RowGroups:
    """Codes of features, one column per group of equal rows.

    Attributes
    ----------
    codes : array of shape (n_features, n_groups)
    of_row : array of int
        The group of every row.
    """

    def __init__(self, n_rows: int, code_type: type) -> None:
        self.codes: npt.NDArray[Any] = np.empty((0, 1), dtype=code_type)
        self.of_row: IntArray = np.zeros(n_rows, dtype=np.int64)
        self._pending: list[npt.NDArray[Any]] = []
        self._members: dict[type, sp.csr_array] = {}

    def append(self, block: npt.NDArray[Any]) -> None:
        """Add features, given for every row; `refine` makes them part of `codes`."""
        if len(block):
            self._pending.append(block)

    def row_codes(self, feature: int) -> npt.NDArray[Any]:
        """Return the codes of one feature, also of a pending one, for every row."""
        if feature < len(self.codes):
            return np.asarray(self.codes[feature][self.of_row])
        place = feature - len(self.codes)
        for block in self._pending:
            if place < len(block):
                return np.asarray(block[place])
            place -= len(block)
        raise IndexError(f"there is no feature {feature}")

    def refine(self) -> None:
        """Split the groups by the pending features."""
        if not self._pending:
            return
        block = np.concatenate(self._pending)
        self._pending = []
        first, of_row = self._split(block)
        self.codes = np.concatenate([self.codes[:, self.of_row[first]], block[:, first]])
        self.of_row = of_row
        self._members = {}

    def _split(self, block: npt.NDArray[Any]) -> tuple[IntArray, IntArray]:
        """Return a first row for each new group and the group of every row."""
        for attempt in range(8):
            numbers = salt(attempt << 40, len(block) + 1)
            mixed = (self.of_row.astype(np.uint64) + np.uint64(1)) * numbers[-1]
            mix_rows(block, numbers[:-1], mixed)
            _, first, of_row = np.unique(mixed, return_index=True, return_inverse=True)
            like = first[of_row]
            # Hashes only propose groups; the rows themselves decide.
            agrees = np.array_equal(self.of_row, self.of_row[like])
            if agrees and count_differences(block, like) == 0:
                return first.astype(np.int64), of_row.astype(np.int64)
        raise AssertionError("eight independent 64-bit hashes collided")

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum of an array of shape (n_rows, k) over each group."""
        kind = values.dtype.type
        if kind not in self._members:
            order = np.argsort(self.of_row, kind="stable")
            counts = np.bincount(self.of_row, minlength=self.codes.shape[1])
            indptr = np.concatenate([[0], np.cumsum(counts)])
            ones = np.ones(len(order), dtype=kind)
            shape = (self.codes.shape[1], len(order))
            self._members[kind] = sp.csr_array((ones, order, indptr), shape=shape)
        return np.asarray(self._members[kind] @ values)
