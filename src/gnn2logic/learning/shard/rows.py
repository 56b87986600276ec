"""The coded features of the rows of one shard, and where the rows are in the growing trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.learning.growing import Division, NodeRequest
from gnn2logic.learning.kernels import add_histograms, count_differences, fingerprint, mix_rows
from gnn2logic.learning.shard.shelves import Shelf
from gnn2logic.learning.small_nodes import NodeRows

__all__ = ["RowTable", "salt"]

IntArray = npt.NDArray[np.int64]
Codes = npt.NDArray[Any]


def salt(first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random number for each of `count` rows, a function of its number alone."""
    mixed = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


class RowTable:
    """Features of rows, one column of codes per group of equal rows.

    Atoms of molecules see few different neighbourhoods: after eight layers the 31,385 atoms of AIDS
    are 4,788 different rows. All sums over rows are sums over groups of equal rows, exactly, so the
    split search works on groups; each new block of features refines them.

    Parameters
    ----------
    shelf : Shelf
    name : str
        What the names of its arrays on the shelf begin with.
    n_rows, first_row : int
        The number of rows, and the number of the first one in all the data.
    code_type, node_type : type
        The integer types of codes and of node numbers of trees.
    """

    def __init__(
        self,
        shelf: Shelf,
        name: str,
        rows: tuple[int, int],
        *,
        code_type: type,
        node_type: type,
    ) -> None:
        self._shelf = shelf
        self._name = name
        self.first_row, self.n_rows = rows
        self.code_type = code_type
        self._node_type = node_type
        self._n_codes: list[int] = []
        self._new_blocks = 0
        self._pending = 0
        self._set("codes", np.empty((0, 1), dtype=code_type))
        self._set("of_row", np.zeros(self.n_rows, dtype=np.int64))

    def _set(self, name: str, array: npt.NDArray[Any]) -> None:
        self._shelf[f"{self._name}.{name}"] = array

    def _get(self, name: str) -> npt.NDArray[Any]:
        return self._shelf[f"{self._name}.{name}"]

    @property
    def of_row(self) -> IntArray:
        """The group of every row."""
        return self._get("of_row")

    @property
    def codes(self) -> Codes:
        """The codes of all features, shape (n_features, n_groups)."""
        return self._get("codes")

    # Features ---------------------------------------------------------------------------------

    def propose(self, block: Codes) -> npt.NDArray[np.uint64]:
        """Take up some new features, given for every row; return a fingerprint of each."""
        self._set(f"new.{self._new_blocks}", block)
        self._new_blocks += 1
        prints = np.zeros(len(block), dtype=np.uint64)
        fingerprint(block, salt(self.first_row, self.n_rows), prints)
        return prints

    def differences(self, pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> IntArray:
        """Return at how many rows features differ; (-1, n) is a kept one, (k, n) a proposed one."""
        counts = [np.count_nonzero(self._row_codes(a) != self._row_codes(b)) for a, b in pairs]
        return np.array(counts, dtype=np.int64)

    def _row_codes(self, feature: tuple[int, int]) -> Codes:
        """Return the codes of one feature for every row."""
        block, number = feature
        if block >= 0:
            return np.asarray(self._get(f"new.{block}")[number])
        codes = self.codes
        if number < len(codes):
            return np.asarray(codes[number][self.of_row])
        number -= len(codes)
        for waiting in range(self._pending):
            pending = self._get(f"pending.{waiting}")
            if number < len(pending):
                return np.asarray(pending[number])
            number -= len(pending)
        raise IndexError(f"there is no feature {feature}")

    def keep(self, positions: Sequence[Sequence[int]], n_codes: Sequence[int]) -> None:
        """Keep these of the proposed features, given for each block, and forget the others."""
        for number, chosen in enumerate(positions):
            if len(chosen):
                self._set(f"pending.{self._pending}", self._get(f"new.{number}")[list(chosen)])
                self._pending += 1
        self._shelf.clear(f"{self._name}.new.")
        self._new_blocks = 0
        self._n_codes += n_codes

    def refine(self) -> None:
        """Split the groups by the features that were kept since the last time."""
        if not self._pending:
            return
        block = np.concatenate([self._get(f"pending.{n}") for n in range(self._pending)])
        self._shelf.clear(f"{self._name}.pending.")
        self._pending = 0
        first, of_row = self._split(block)
        together = self.codes.take(self.of_row[first], axis=1), block.take(first, axis=1)
        self._set("codes", np.concatenate(together))
        self._set("of_row", of_row)

    def _split(self, block: Codes) -> tuple[IntArray, IntArray]:
        """Return a first row for each new group and the group of every row."""
        before = self.of_row
        for attempt in range(8):
            numbers = salt(attempt << 40, len(block) + 1)
            mixed = (before.astype(np.uint64) + np.uint64(1)) * numbers[-1]
            mix_rows(block, numbers[:-1], mixed)
            _, first, of_row = np.unique(mixed, return_index=True, return_inverse=True)
            like = first[of_row]
            # Hashes only propose groups; the rows themselves decide.
            if np.array_equal(before, before[like]) and count_differences(block, like) == 0:
                return first.astype(np.int64), of_row.astype(np.int64)
        raise AssertionError("eight independent 64-bit hashes collided")

    # Sums -------------------------------------------------------------------------------------

    def group_sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum of an array of shape (n_rows, k) over each group."""
        of_row = self.of_row
        order = np.argsort(of_row, kind="stable")
        n_groups = self.codes.shape[1]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(of_row, minlength=n_groups))])
        ones = np.ones(len(order), dtype=values.dtype)
        members = sp.csr_array((ones, order, indptr), shape=(n_groups, len(order)))
        return np.asarray(members @ values)

    def start(self, n_trees: int, sums: Sequence[IntArray]) -> IntArray:
        """Put the rows at the root of some trees; return the totals of the trees.

        Parameters
        ----------
        sums : sequence of arrays of shape (n_groups, n_sums)
            Weighted targets, weight and number of what each group stands for; one array for each
            tree, or one for all. Groups that stand for nothing are left out.
        """
        # Without weights the weight is the number, and one column less to be summed.
        self._weight_is_number = all(np.array_equal(one[:, -2], one[:, -1]) for one in sums)
        for number, one in enumerate(sums):
            self._set(f"sums.{number}", one[:, :-1].copy() if self._weight_is_number else one)
        self._one_sum = len(sums) == 1
        for tree in range(n_trees):
            there = self.tree_sums(tree)[:, -1] > 0
            self._set(f"node.{tree}", np.where(there, 0, -1).astype(self._node_type))
        totals = np.array([one.sum(axis=0) for one in sums])
        return np.repeat(totals, n_trees, axis=0) if self._one_sum else totals

    def tree_sums(self, tree: int) -> IntArray:
        """Return the sums of the groups of a tree; the last column may stand for two."""
        return self._get(f"sums.{0 if self._one_sum else tree}")

    def weights(self, tree: int) -> IntArray:
        """Return the weight of each group of a tree."""
        return self.tree_sums(tree)[:, -1 if self._weight_is_number else -2]

    def _with_number(self, sums: IntArray) -> IntArray:
        """Put the last column back that `start` may have left out."""
        return np.concatenate([sums, sums[:, -1:]], axis=1) if self._weight_is_number else sums

    def rows_at(self, tree: int, node: int) -> IntArray:
        """Return the groups that have reached a node."""
        return np.flatnonzero(self._get(f"node.{tree}") == node)

    def divide(self, divisions: Sequence[Division]) -> None:
        """Send the rows of nodes on to their children, in the given order."""
        codes = self.codes
        for tree, in_tree in groupby(sorted(divisions, key=lambda d: d.tree), lambda d: d.tree):
            reached = np.array(self._get(f"node.{tree}"))
            for division in in_tree:
                rows = np.flatnonzero(reached == division.node)
                above = codes[division.feature, rows] > division.code
                reached[rows] = np.where(above, division.children[1], division.children[0])
            self._set(f"node.{tree}", reached)

    def histogram(self, request: NodeRequest) -> IntArray:
        """Return the sums of the rows of a node by feature and code."""
        sizes = np.array(self._n_codes, dtype=np.int64)[request.features]
        rows = self.rows_at(request.tree, request.node)
        sums = self.tree_sums(request.tree)[rows]
        out = np.zeros((int(sizes.sum()), sums.shape[1]), dtype=np.int64)
        add_histograms(self.codes, request.features, np.cumsum(sizes) - sizes, rows, sums, out)
        return self._with_number(out)

    def rows_of(self, request: NodeRequest) -> NodeRows:
        """Return the rows of a node: codes of some features, and sums."""
        rows = self.rows_at(request.tree, request.node)
        chosen = self.codes[np.ix_(request.features, rows)]
        return NodeRows(chosen, self._with_number(self.tree_sums(request.tree)[rows]))

    def finish(self) -> None:
        """Forget the trees and their sums."""
        self._shelf.clear(f"{self._name}.sums.")
        self._shelf.clear(f"{self._name}.node.")

    def release(self) -> None:
        """Forget everything."""
        self._shelf.clear(f"{self._name}.")
