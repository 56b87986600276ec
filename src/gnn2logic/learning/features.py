"""The table that trees of a layer choose their splits from.

For every column and modal parameter there are two candidate features: the count and the share. They
are computed and coded once per column, on shards of whole graphs; what is constant or a copy of an
earlier feature on all the data is dropped before anything random is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import GraphError
from gnn2logic.graphs.modality import Modality
from gnn2logic.learning.coding import (
    Codebook,
    CodedFeatures,
    Measure,
    SetSizes,
    ValueSpace,
    codebooks,
)
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.state import ShardState

__all__ = ["Feature", "FeatureTable", "first_of_equals"]

IntArray = npt.NDArray[np.int64]

# Bounds the memory of one table of value counts. The same for everybody: the order of the features
# depends on it, and with it what is drawn at random.
_MAX_CELLS = 2**22
# There is room for each count up to the largest, so it is the data that must be large, not a number
# of parallel edges.
_MAX_COUNT = 2**20

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Feature:
    """``S chi`` for a column chi: a count, or the share of the set."""

    column: int
    modality: Modality
    measure: Measure


class FeatureTable:
    """The features of all shards: what they are, and the codebook of each.

    Parameters
    ----------
    shards : Shards
        The shards.
    rows : {"nodes", "graphs"}
    max_bins : int
        The largest number of codes of a feature.
    """

    def __init__(self, shards: Shards, rows: str, *, max_bins: int) -> None:
        self._shards = shards
        self.rows = rows
        self.features: list[Feature] = []
        self.books: list[Codebook] = []
        self._max_bins = max_bins
        self._sizes: dict[Modality, IntArray] = {}
        self._spaces: dict[tuple[Modality, Measure], ValueSpace] = {}
        self._known: dict[tuple[int, int], list[tuple[int, int]]] = {}

    @property
    def n_codes(self) -> IntArray:
        """The number of codes of each feature."""
        return np.array([book.n_codes for book in self.books], dtype=np.int64)

    def add(
        self, columns: Sequence[int], modalities: Sequence[Modality], measures: Sequence[Measure]
    ) -> None:
        """Add the features of some columns along all given modal parameters.

        Parameters
        ----------
        columns : sequence of int
            The numbers of the columns.
        measures : sequence of Measure
        """
        wanted = [
            (modality, measure)
            for modality in modalities
            for measure in measures
            # The node itself is a set of one: its share is its count, and one of them is enough.
            if modality.set_name != "I" or measure is Measure.COUNT or Measure.COUNT not in measures
        ]
        most_values = max((self._space(*each).n_values for each in wanted), default=1)
        step = max(1, _MAX_CELLS // most_values)
        for start in range(0, len(columns), step):
            self._add_block(columns[start : start + step], wanted)
        self._shards.tell(ShardState.refine, self.rows)

    def _add_block(
        self, columns: Sequence[int], wanted: Sequence[tuple[Modality, Measure]]
    ) -> None:
        blocks = [CodedFeatures(each[0], self._space(*each)) for each in wanted]
        all_counts = self._shards.ask(ShardState.value_counts, self.rows, columns, blocks)
        books = [
            codebooks(block.space, counts, self._max_bins)
            for block, counts in zip(blocks, all_counts, strict=True)
        ]
        coded = [
            replace(block, lowest=tuple(book.lowest for book in block_books))
            for block, block_books in zip(blocks, books, strict=True)
        ]
        prints = self._shards.ask(ShardState.propose_features, self.rows, columns, coded)
        kept = self._distinct(books, prints)
        positions: list[list[int]] = [[] for _ in wanted]
        for block, position in kept:
            positions[block].append(position)
            self.features.append(Feature(columns[position], *wanted[block]))
            self.books.append(books[block][position])
        n_codes = [books[block][position].n_codes for block, position in kept]
        self._shards.tell(ShardState.keep_features, self.rows, positions, n_codes)

    def _distinct(
        self, books: Sequence[Sequence[Codebook]], prints: Sequence[npt.NDArray[np.uint64]]
    ) -> list[tuple[int, int]]:
        """Return block and position of what varies and is no copy of an earlier feature."""
        varying = {
            (block, position): (int(prints[block][position]), book.n_codes)
            for block, block_books in enumerate(books)
            for position, book in enumerate(block_books)
            if book.n_codes > 1
        }

        def differ(pairs: Sequence[tuple[Any, Any]]) -> IntArray:
            return self._shards.ask(ShardState.feature_differences, self.rows, pairs)

        new = first_of_equals(varying, self._known, differ)
        for number, feature in enumerate(new, start=len(self.features)):
            # From now on it is known as a kept one.
            alike = self._known[varying[feature]]
            alike[alike.index(feature)] = (-1, number)
        return new

    def _space(self, modality: Modality, measure: Measure) -> ValueSpace:
        key = (modality, measure)
        if key not in self._spaces:
            if modality not in self._sizes:
                seen = self._shards.ask(ShardState.set_sizes, self.rows, modality)
                _check_set_sizes(seen, modality)
                self._sizes[modality] = seen.sizes
            sizes = self._sizes[modality]
            self._spaces[key] = (
                ValueSpace.of_shares(sizes)
                if measure is Measure.SHARE
                else ValueSpace.of_counts(int(sizes[-1]))
            )
        return self._spaces[key]


def _check_set_sizes(seen: SetSizes, modality: Modality) -> None:
    """Refuse counts that only parallel edges can reach."""
    largest = int(seen.sizes[-1])
    if largest > max(_MAX_COUNT, seen.n_nodes):
        raise GraphError(
            f"A node must have at most {max(_MAX_COUNT, seen.n_nodes)} edges to be learned from. "
            f"Got one with {largest} along {modality}. Merge parallel edges "
            "(GraphBatch.merge_multi_edges), or learn along other modal parameters (modalities)."
        )


def first_of_equals(
    new: dict[_Thing, Any],
    known: dict[Any, list[_Thing]],
    differ: Callable[[Sequence[tuple[_Thing, _Thing]]], IntArray],
) -> list[_Thing]:
    """Return the new things that equal no known thing and no new one before; they become known.

    Parameters
    ----------
    new : dict
        Things and their keys. Equal things have equal keys; that others do too is possible, but
        hardly ever happens.
    known : dict
        The known things by key.
    differ : callable
        Returns 0 for pairs of equal things; asked as rarely as possible.

    Examples
    --------
    >>> differ = lambda pairs: np.array([a % 10 != b % 10 for a, b in pairs])
    >>> first_of_equals({11: "x", 21: "x", 32: "x", 42: "x"}, {"x": [91]}, differ)
    [32]
    """
    first: dict[_Thing, None] = {}
    # Each open thing is compared with one known thing of its key at a time: the first one mostly
    # settles it.
    tried: dict[_Thing, int] = dict.fromkeys(new, 0)
    while tried:
        pairs = []
        for thing, turn in list(tried.items()):
            alike = known.setdefault(new[thing], [])
            if turn == len(alike):
                alike.append(thing)
                first[thing] = None
                del tried[thing]
            else:
                pairs.append((thing, alike[turn]))
        if pairs:
            for (thing, _), count in zip(pairs, differ(pairs).tolist(), strict=True):
                if count:
                    tried[thing] += 1
                else:
                    del tried[thing]
    return [thing for thing in new if thing in first]
