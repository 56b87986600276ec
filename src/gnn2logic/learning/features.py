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
from gnn2logic.learning.coding import Codebook, ValueSpace, codebooks
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.state import CodedKind, SetSizes, ShardState

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
    is_share: bool


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
        self._spaces: dict[tuple[Modality, bool], ValueSpace] = {}
        self._known: dict[tuple[int, int], list[tuple[int, int]]] = {}

    @property
    def n_codes(self) -> IntArray:
        """The number of codes of each feature."""
        return np.array([book.n_codes for book in self.books], dtype=np.int64)

    def add(
        self, columns: Sequence[int], modalities: Sequence[Modality], kinds: Sequence[bool]
    ) -> None:
        """Add the features of some columns along all given modal parameters.

        Parameters
        ----------
        columns : sequence of int
            The numbers of the columns.
        kinds : sequence of bool
            False for counts, True for shares.
        """
        wanted = [
            (modality, is_share)
            for modality in modalities
            for is_share in kinds
            # The node itself is a set of one: its share is its count, and one of them is enough.
            if not (is_share and modality.set_name == "I" and False in kinds)
        ]
        most_values = max((self._space(*kind).n_values for kind in wanted), default=1)
        step = max(1, _MAX_CELLS // most_values)
        for start in range(0, len(columns), step):
            self._add_block(columns[start : start + step], wanted)
        self._shards.tell(ShardState.refine, self.rows)

    def _add_block(self, columns: Sequence[int], wanted: Sequence[tuple[Modality, bool]]) -> None:
        kinds = [CodedKind(modality, self._space(modality, share)) for modality, share in wanted]
        all_counts = self._shards.ask(ShardState.value_counts, self.rows, columns, kinds)
        books = [
            codebooks(kind.space, counts, self._max_bins)
            for kind, counts in zip(kinds, all_counts, strict=True)
        ]
        coded = [
            replace(kind, lowest=tuple(book.lowest for book in own))
            for kind, own in zip(kinds, books, strict=True)
        ]
        prints = self._shards.ask(ShardState.propose_features, self.rows, columns, coded)
        kept = self._distinct(books, prints)
        places: list[list[int]] = [[] for _ in wanted]
        for kind, place in kept:
            places[kind].append(place)
            self.features.append(Feature(columns[place], *wanted[kind]))
            self.books.append(books[kind][place])
        n_codes = [books[kind][place].n_codes for kind, place in kept]
        self._shards.tell(ShardState.keep_features, self.rows, places, n_codes)

    def _distinct(
        self, books: Sequence[Sequence[Codebook]], prints: Sequence[npt.NDArray[np.uint64]]
    ) -> list[tuple[int, int]]:
        """Return kind and place of what varies and is no copy of an earlier feature."""
        varying = {
            (kind, place): (int(prints[kind][place]), book.n_codes)
            for kind, own in enumerate(books)
            for place, book in enumerate(own)
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

    def _space(self, modality: Modality, is_share: bool) -> ValueSpace:
        key = (modality, is_share)
        if key not in self._spaces:
            if modality not in self._sizes:
                found = self._shards.ask(ShardState.set_sizes, self.rows, modality)
                _check_set_sizes(found, modality)
                self._sizes[modality] = found.sizes
            sizes = self._sizes[modality]
            self._spaces[key] = (
                ValueSpace.of_shares(sizes) if is_share else ValueSpace.of_counts(int(sizes[-1]))
            )
        return self._spaces[key]


def _check_set_sizes(found: SetSizes, modality: Modality) -> None:
    """Refuse counts that only parallel edges can reach."""
    largest = int(found.sizes[-1])
    if largest > max(_MAX_COUNT, found.n_nodes):
        raise GraphError(
            f"A node must have at most {max(_MAX_COUNT, found.n_nodes)} edges to be learned from. "
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
    found: dict[_Thing, None] = {}
    # Each open thing is compared with one known thing of its key at a time: the first one mostly
    # settles it.
    tried: dict[_Thing, int] = dict.fromkeys(new, 0)
    while tried:
        pairs = []
        for thing, turn in list(tried.items()):
            alike = known.setdefault(new[thing], [])
            if turn == len(alike):
                alike.append(thing)
                found[thing] = None
                del tried[thing]
            else:
                pairs.append((thing, alike[turn]))
        if pairs:
            for (thing, _), count in zip(pairs, differ(pairs).tolist(), strict=True):
                if count:
                    tried[thing] += 1
                else:
                    del tried[thing]
    return [thing for thing in new if thing in found]
