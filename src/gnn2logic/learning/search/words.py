"""Columns of truth values as machine words, graph by graph.

Each graph has words of its own, ``ceil(n / 64)`` of them, so that a conjunction of columns is an
AND of words and the count in a graph is a popcount.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.kernels import count_bits

__all__ = ["GraphWords", "Words"]

Words = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]

_BITS = 64


class GraphWords:
    """Where the bits of every graph are.

    Parameters
    ----------
    sizes : array of int
        The number of nodes of every graph.

    Attributes
    ----------
    first : array of int, shape (n_graphs + 1,)
        The words of graph g are ``first[g]`` to ``first[g + 1] - 1``.
    bit : array of int, shape (n_nodes,)
        The place of the bit of every node, counted over all words.
    all_ones : array, shape (n_words,)
        The column `true`.
    """

    def __init__(self, sizes: npt.NDArray[np.int64]) -> None:
        self.sizes = sizes
        n_words = (sizes + _BITS - 1) // _BITS
        self.first = np.concatenate([[0], np.cumsum(n_words)]).astype(np.int64)
        self.one_word_each = bool((n_words == 1).all())
        starts = np.cumsum(sizes) - sizes
        within = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(starts, sizes)
        self.bit = np.repeat(self.first[:-1] * _BITS, sizes) + within
        self.all_ones = self.pack(np.ones((1, len(within)), dtype=bool))[0]

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.sizes)

    @property
    def n_words(self) -> int:
        """The number of words of a column."""
        return int(self.first[-1])

    def pack(self, columns: BoolArray) -> Words:
        """Return columns of truth values, of shape (n_columns, n_nodes), as words."""
        bits = np.zeros((len(columns), self.n_words * _BITS), dtype=np.uint8)
        bits[:, self.bit] = columns
        packed: Words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        return packed

    def unpack(self, words: Words) -> BoolArray:
        """Return words, of shape (n_columns, n_words), as columns of truth values."""
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
        return bits[:, self.bit].view(np.bool_)

    def counts(self, words: Words) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return how many nodes of each graph satisfy each column."""
        small = self.sizes.max() <= np.iinfo(np.uint16).max
        out = np.empty((len(words), self.n_graphs), dtype=np.uint16 if small else np.uint32)
        count_bits(words, self.first, out)
        return out

    def words_of(self, graphs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the numbers of the words of some graphs."""
        if self.one_word_each:
            return graphs
        lengths = self.first[graphs + 1] - self.first[graphs]
        shift = self.first[graphs] - (np.cumsum(lengths) - lengths)
        return np.asarray(np.arange(lengths.sum(), dtype=np.int64) + np.repeat(shift, lengths))
