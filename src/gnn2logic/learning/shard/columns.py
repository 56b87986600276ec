"""The columns of one shard, one bit for each node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.kernels import fingerprint
from gnn2logic.learning.shard.rows import salt
from gnn2logic.learning.shard.shelves import Shelf

__all__ = ["ColumnStore"]

BoolArray = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]


class ColumnStore:
    """Boolean columns: those that were kept, and those that are proposed.

    Parameters
    ----------
    shelf : Shelf
    first_node, n_nodes : int
    """

    def __init__(self, shelf: Shelf, first_node: int, n_nodes: int) -> None:
        self._shelf = shelf
        self._first_node = first_node
        self._n_nodes = n_nodes
        shelf["columns.kept"] = np.empty((0, (n_nodes + 7) // 8), dtype=np.uint8)

    def prints(self, columns: Sequence[BoolArray]) -> npt.NDArray[np.uint64]:
        """Return a fingerprint of each column that adds up over shards."""
        out = np.zeros(len(columns), dtype=np.uint64)
        if len(columns):
            rows = np.ascontiguousarray(np.stack(columns)).view(np.uint8)
            fingerprint(rows, salt(self._first_node, self._n_nodes), out)
        return out

    def propose(self, columns: Sequence[BoolArray]) -> npt.NDArray[np.uint64]:
        """Take up new columns; return a fingerprint of each."""
        empty = np.empty((0, self._n_nodes), dtype=bool)
        self._shelf["columns.new"] = np.packbits(np.stack(columns) if columns else empty, axis=1)
        return self.prints(columns)

    def differences(self, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
        """Return 0 for equal columns; they are numbered, kept ones first, then proposed ones."""
        kept, new = self._shelf["columns.kept"], self._shelf["columns.new"]

        def bits(number: int) -> Bits:
            packed = kept[number] if number < len(kept) else new[number - len(kept)]
            return np.asarray(packed)

        counts = [np.count_nonzero(bits(a) != bits(b)) for a, b in pairs]
        return np.array(counts, dtype=np.int64)

    def keep(self, positions: Sequence[int]) -> None:
        """Keep these of the proposed columns and forget the others."""
        new = self._shelf["columns.new"][list(positions)]
        self._shelf["columns.kept"] = np.concatenate([self._shelf["columns.kept"], new])
        self._shelf.clear("columns.new")

    def block(self, numbers: Sequence[int]) -> BoolArray:
        """Return some kept columns as an array of shape (n_nodes, n_columns)."""
        bits = self._shelf["columns.kept"][list(numbers)]
        rows = np.unpackbits(bits, axis=1, count=self._n_nodes)
        return np.ascontiguousarray(rows.T).view(bool)
