"""The table that trees of a layer choose their splits from.

For every column and modal parameter there are two candidate features: the count and the share. They
are computed and coded once per column, on shards of whole graphs; what is constant or a copy of an
earlier feature on all the data is dropped before anything random is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.groups import RowGroups, salt
from gnn2logic.trees.coding import Codebook, ValueSpace, codebooks
from gnn2logic.trees.kernels import count_values, encode_values, fingerprint

__all__ = ["Feature", "FeatureShard", "FeatureTable"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Bounds the memory of one table of value counts.
_MAX_CELLS = 16_000_000

_Numbers = TypeVar("_Numbers", bound=npt.NDArray[Any])


@dataclass(frozen=True, slots=True)
class Feature:
    """``S chi`` for a column chi: a count, or the share of the set."""

    column: int
    modality: Modality
    is_share: bool


class FeatureShard:
    """The coded features of some whole graphs.

    Parameters
    ----------
    batch : GraphBatch
    first_row : int
        The number of the shard's first row in all the data.
    code_type : type
        The integer type of codes.
    per_graph : bool
        Whether rows are graphs (every modal parameter then is ``1``) or nodes.
    """

    def __init__(
        self, batch: GraphBatch, first_row: int, code_type: type, *, per_graph: bool
    ) -> None:
        self.batch = batch
        self.per_graph = per_graph
        self.n_rows = batch.n_graphs if per_graph else batch.n_nodes
        self.salt = salt(first_row, self.n_rows)
        self.groups = RowGroups(self.n_rows, code_type)
        self._code_type = code_type
        self._counts: ModalCounts | None = None
        self._sizes: dict[Modality, IntArray] = {}
        self._new: npt.NDArray[Any] = np.empty((0, self.n_rows), dtype=code_type)

    def sizes(self, modality: Modality) -> IntArray:
        """Return the size of the set that each row sees."""
        if modality not in self._sizes:
            own = self.batch.sizes if self.per_graph else set_sizes(self.batch, modality)
            self._sizes[modality] = own.astype(np.int64)
        return self._sizes[modality]

    def begin(self, columns: BoolArray) -> None:
        """Take up a block of columns; their products are shared by all modal parameters."""
        self._counts = ModalCounts(self.batch, columns)

    def _count(self, modality: Modality) -> npt.NDArray[Any]:
        assert self._counts is not None
        found = self._counts.graph_sums if self.per_graph else self._counts(modality)
        return np.ascontiguousarray(found)

    def value_counts(self, modality: Modality, space: ValueSpace) -> IntArray:
        """Return how often each value occurs in each column of the block."""
        counts = self._count(modality)
        out = np.zeros((counts.shape[1], space.n_values), dtype=np.int64)
        count_values(counts, space.offset_of_size[self.sizes(modality)], space.rank_of_key, out)
        return out

    def encode(
        self, modality: Modality, space: ValueSpace, code_of_rank: npt.NDArray[np.uint16]
    ) -> npt.NDArray[np.uint64]:
        """Code the block and return a fingerprint of each of its features."""
        counts = self._count(modality)
        self._new = np.empty((counts.shape[1], self.n_rows), dtype=self._code_type)
        offsets = space.offset_of_size[self.sizes(modality)]
        encode_values(counts, offsets, space.rank_of_key, code_of_rank, self._new)
        prints = np.zeros(len(self._new), dtype=np.uint64)
        fingerprint(self._new, self.salt, prints)
        return prints

    def same(self, kept: Sequence[int], places: Sequence[int], place: int) -> BoolArray:
        """Return whether a new feature equals kept ones, and others of the new block."""
        new = self._new[place]
        earlier = [np.array_equal(self.groups.row_codes(number), new) for number in kept]
        return np.array([*earlier, *(np.array_equal(self._new[other], new) for other in places)])

    def keep(self, places: Sequence[int]) -> None:
        """Keep these features of the new block and forget the others."""
        self.groups.append(self._new[list(places)])
        self._new = self._new[:0]


class FeatureTable:
    """The features of all shards: what they are, and the codebook of each."""

    def __init__(self, shards: Sequence[FeatureShard], *, max_bins: int) -> None:
        self.shards = shards
        self.features: list[Feature] = []
        self.books: list[Codebook] = []
        self._max_bins = max_bins
        self._spaces: dict[tuple[Modality, bool], ValueSpace] = {}
        self._known: dict[tuple[int, int], list[int]] = {}

    @property
    def n_codes(self) -> IntArray:
        """The number of codes of each feature."""
        return np.array([book.n_codes for book in self.books], dtype=np.int64)

    def add(
        self,
        columns: Sequence[int],
        blocks: Sequence[BoolArray],
        modalities: Sequence[Modality],
        kinds: Sequence[bool],
    ) -> None:
        """Add the features of some columns along all given modal parameters.

        Parameters
        ----------
        columns : sequence of int
            The numbers of the columns.
        blocks : sequence of arrays of shape (n_nodes, n_columns)
            Their truth, one array per shard.
        kinds : sequence of bool
            False for counts, True for shares.
        """
        wanted = [
            (modality, is_share)
            for modality in modalities
            for is_share in kinds
            # The node itself is a set of one: its share is its count.
            if not (is_share and modality.set_name == "I")
        ]
        most_values = max((self._space(*kind).n_values for kind in wanted), default=1)
        step = max(1, _MAX_CELLS // most_values)
        for start in range(0, len(columns), step):
            part = slice(start, start + step)
            for shard, block in zip(self.shards, blocks, strict=True):
                shard.begin(np.ascontiguousarray(block[:, part]))
            for modality, is_share in wanted:
                self._add_kind(columns[part], modality, is_share)
        for shard in self.shards:
            shard.groups.refine()

    def _add_kind(self, columns: Sequence[int], modality: Modality, is_share: bool) -> None:
        space = self._space(modality, is_share)
        counts = _total(shard.value_counts(modality, space) for shard in self.shards)
        books, code_of_rank = codebooks(space, counts, self._max_bins)
        prints = _total(shard.encode(modality, space, code_of_rank) for shard in self.shards)
        varying = [place for place, book in enumerate(books) if book.n_codes > 1]
        kept = self._distinct(varying, books, prints)
        for place in kept:
            self.features.append(Feature(columns[place], modality, is_share))
            self.books.append(books[place])
        for shard in self.shards:
            shard.keep(kept)

    def _distinct(
        self, places: Sequence[int], books: Sequence[Codebook], prints: npt.NDArray[np.uint64]
    ) -> list[int]:
        """Return the places that hold no copy of an earlier feature."""
        found: list[int] = []
        start = len(self.features)
        for place in places:
            # Equal fingerprints almost always mean equal columns; the rows decide.
            alike = self._known.setdefault((int(prints[place]), books[place].n_codes), [])
            kept = [number for number in alike if number < start]
            new = [found[number - start] for number in alike if number >= start]
            if alike and _all_agree(shard.same(kept, new, place) for shard in self.shards).any():
                continue
            alike.append(start + len(found))
            found.append(place)
        return found

    def _space(self, modality: Modality, is_share: bool) -> ValueSpace:
        key = (modality, is_share)
        if key not in self._spaces:
            sizes = np.unique(
                np.concatenate([np.unique(shard.sizes(modality)) for shard in self.shards])
            )
            self._spaces[key] = (
                ValueSpace.of_shares(sizes) if is_share else ValueSpace.of_counts(int(sizes[-1]))
            )
        return self._spaces[key]


def _total(parts: Iterable[_Numbers]) -> _Numbers:
    total, *others = parts
    for part in others:
        total = total + part
    return total


def _all_agree(parts: Iterable[BoolArray]) -> BoolArray:
    agree, *others = parts
    for part in others:
        agree = agree & part
    return agree
