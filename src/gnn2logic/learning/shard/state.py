"""`ShardState`: all that one shard of whole graphs has to answer while a model is learned.

Every answer is a sum over rows (or adds up like one), so the answers of all shards add up to that
of the whole data, wherever the shards are. A shard's state follows from its graphs and from what it
was asked before, so a shard that was lost can be made again somewhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.learning.coded_trees import CodedTree
from gnn2logic.learning.coding import CodedFeatures, SetSizes, code_tables
from gnn2logic.learning.growing import Division, NodeRequest
from gnn2logic.learning.kernels import count_values, encode_values, sum_leaves
from gnn2logic.learning.shard.columns import ColumnStore
from gnn2logic.learning.shard.rows import RowTable
from gnn2logic.learning.shard.shelves import DiskShelf, MemoryShelf, Shelf
from gnn2logic.learning.shard.sources import ShardRows, ShardSource
from gnn2logic.learning.small_nodes import NodeRows
from gnn2logic.learning.targets import Quantiser, TargetBounds, Targets, weighted

__all__ = ["ShardMaker", "ShardState"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Prints = npt.NDArray[np.uint64]
P = ParamSpec("P")
Answer = TypeVar("Answer")

# While a shard answers, at each node: counts and codes of a block of columns, sums of groups. Wide
# targets, quantised and weighted, take more than that.
_WORK_BYTES = 4096
_TARGET_BYTES = 20
# Labels, classes, weights and folds, at each row.
_ROW_BYTES = 80
_FEW_NODES = 256


@dataclass(frozen=True)
class ShardMaker:
    """Makes the state of a shard, here or on another machine."""

    source: ShardSource
    rows: ShardRows

    @property
    def work_bytes(self) -> int:
        """About how much memory the shard needs while it answers, without what it keeps."""
        width = self.source.activation_width if self.rows.guided else 0
        return max(_WORK_BYTES, _TARGET_BYTES * width) * self.source.n_nodes

    @property
    def row_bytes(self) -> int:
        """About how much memory its labels take for the one who learns, from beginning to end."""
        return _ROW_BYTES * len(self.rows.classes)

    def __call__(self, scratch: Path | None = None) -> ShardState:
        """Return the state of the shard before it was asked anything.

        Its large arrays are kept in memory, or in files in the folder `scratch`.
        """
        shelf: Shelf = MemoryShelf() if scratch is None else DiskShelf(scratch)
        return ShardState(self.source, self.rows, shelf, keeps_graphs=scratch is None)


def _reads_graphs(
    request: Callable[Concatenate[ShardState, P], Answer],
) -> Callable[Concatenate[ShardState, P], Answer]:
    """Have a request let go of its graphs in the end, where they are on disk."""

    @functools.wraps(request)
    def answered(state: ShardState, /, *arguments: P.args, **named: P.kwargs) -> Answer:
        try:
            return request(state, *arguments, **named)
        finally:
            state._rest()

    return answered


class ShardState:
    """The state of one shard. Its public methods are the requests that it answers."""

    def __init__(
        self, source: ShardSource, rows: ShardRows, shelf: Shelf, *, keeps_graphs: bool
    ) -> None:
        self._source = source
        self._rows = rows
        self._shelf = shelf
        self._keeps_graphs = keeps_graphs
        self._batch: GraphBatch | None = None
        self._counts: tuple[tuple[int, ...], ModalCounts] | None = None
        self._known_sizes: dict[tuple[str, Modality], IntArray] = {}
        nodes, graphs = (rows.first_node, source.n_nodes), (rows.first_graph, source.n_graphs)
        self.columns = ColumnStore(shelf, *nodes)
        self._tables = {
            "nodes": RowTable(shelf, "nodes", nodes, code_type=np.uint8, node_type=np.int32),
            "graphs": RowTable(shelf, "graphs", graphs, code_type=np.uint16, node_type=np.int32),
        }

    def _graphs(self) -> GraphBatch:
        if self._batch is None:
            self._batch = self._source.load()
        return self._batch

    def _rest(self) -> None:
        """Let go of what can be had again from files."""
        if not self._keeps_graphs:
            self._batch = self._counts = None
            self._known_sizes = {}

    # Columns ----------------------------------------------------------------------------------

    @_reads_graphs
    def propose_inputs(self, names: Sequence[str]) -> Prints:
        """Propose `true` and the input predicates as columns."""
        batch = self._graphs()
        true = np.ones(batch.n_nodes, dtype=bool)
        return self.columns.propose([true, *(batch.column(name) for name in names)])

    def propose_leaf_sets(
        self, trees: Sequence[CodedTree], sets: Sequence[Sequence[tuple[int, ...]]]
    ) -> Prints:
        """Propose sets of leaves, given for each tree, as columns."""
        table = self._tables["nodes"]
        codes, of_row = table.codes, table.of_row
        columns = []
        for tree, tree_sets in zip(trees, sets, strict=True):
            leaf = tree.leaf_positions(codes)
            for leaves in tree_sets:
                member = np.zeros(tree.n_leaves, dtype=bool)
                member[list(leaves)] = True
                columns.append(member[leaf][of_row])
        return self.columns.propose(columns)

    def column_differences(self, pairs: Sequence[tuple[int, int]]) -> IntArray:
        """Return 0 for equal columns; they are numbered, kept ones first, then proposed ones."""
        return self.columns.differences(pairs)

    def keep_columns(self, positions: Sequence[int]) -> None:
        """Keep some of the proposed columns."""
        self.columns.keep(positions)

    # Features ---------------------------------------------------------------------------------

    @_reads_graphs
    def set_sizes(self, table: str, modality: Modality) -> SetSizes:
        """Return the sizes of the sets that rows see along a modal parameter."""
        return SetSizes(np.unique(self._sizes(table, modality)), self._source.n_nodes)

    def _sizes(self, table: str, modality: Modality) -> IntArray:
        if (table, modality) not in self._known_sizes:
            batch = self._graphs()
            sizes = batch.sizes if table == "graphs" else set_sizes(batch, modality)
            self._known_sizes[table, modality] = sizes.astype(np.int64)
        return self._known_sizes[table, modality]

    def _modal_counts(
        self, table: str, numbers: Sequence[int], modality: Modality
    ) -> npt.NDArray[Any]:
        # Counts of one block of columns are asked for several times.
        if self._counts is None or self._counts[0] != tuple(numbers):
            block = ModalCounts(self._graphs(), self.columns.block(numbers))
            self._counts = tuple(numbers), block
        counts = self._counts[1]
        by_row = counts.graph_sums if table == "graphs" else counts(modality)
        return np.ascontiguousarray(by_row)

    @_reads_graphs
    def value_counts(
        self, table: str, numbers: Sequence[int], blocks: Sequence[CodedFeatures]
    ) -> list[IntArray]:
        """Return how often each value occurs for each column, one array per block."""
        all_counts = []
        for block in blocks:
            counts = self._modal_counts(table, numbers, block.modality)
            out = np.zeros((counts.shape[1], block.space.n_values), dtype=np.int64)
            counts, offsets = block.space.keys(counts, self._sizes(table, block.modality))
            count_values(counts, offsets, block.space.rank_of_key, out)
            all_counts.append(out)
        return all_counts

    @_reads_graphs
    def propose_features(
        self, table: str, numbers: Sequence[int], blocks: Sequence[CodedFeatures]
    ) -> list[Prints]:
        """Code the features of some columns; return their fingerprints, one array per block."""
        rows = self._tables[table]
        prints = []
        for block in blocks:
            counts = self._modal_counts(table, numbers, block.modality)
            shape = (counts.shape[1], rows.n_rows)
            codes: npt.NDArray[Any] = np.empty(shape, dtype=rows.code_type)
            counts, offsets = block.space.keys(counts, self._sizes(table, block.modality))
            tables = code_tables(block.lowest, block.space.n_values)
            encode_values(counts, offsets, block.space.rank_of_key, tables, codes)
            prints.append(rows.propose(codes))
        self._counts = None
        return prints

    def feature_differences(
        self, table: str, pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]
    ) -> IntArray:
        """Return at how many rows features differ."""
        return self._tables[table].differences(pairs)

    def keep_features(
        self, table: str, positions: Sequence[Sequence[int]], n_codes: Sequence[int]
    ) -> None:
        """Keep some of the proposed features of each block."""
        self._tables[table].keep(positions, n_codes)

    def refine(self, table: str) -> None:
        """Make the kept features part of the table."""
        self._tables[table].refine()

    # Targets ----------------------------------------------------------------------------------

    def _targets(self, layer: int) -> Targets:
        if self._rows.guided:
            return self._source.activations(layer)
        return self._rows.label_targets(self._graphs(), layer)

    @_reads_graphs
    def bounds(self, layer: int) -> TargetBounds:
        """Return the range of the targets of a layer."""
        return TargetBounds.of(self._targets(layer))

    @_reads_graphs
    def two_valued(self, layer: int, bounds: TargetBounds) -> tuple[IntArray, Prints]:
        """Return, for every target, 0 if all nodes are at its bounds; and where it is high then."""
        targets = self._targets(layer)
        # A few nodes show it for nearly all targets.
        others = bounds.count_between(targets[:: max(1, len(targets) // _FEW_NODES)])
        left = np.flatnonzero(others == 0)
        some, ends = targets[:, left], TargetBounds(bounds.lowest[left], bounds.highest[left])
        others[left] = ends.count_between(some)
        prints = np.zeros(len(others), dtype=np.uint64)
        prints[left] = self.columns.prints(list((some == ends.highest).T))
        return others, prints

    @_reads_graphs
    def target_differences(
        self,
        layer: int,
        bounds: TargetBounds,
        pairs: Sequence[tuple[int, int]],
        negated: Sequence[bool],
    ) -> IntArray:
        """Return at how many nodes a target is not high just where a column holds (or does not)."""
        targets = self._targets(layer)
        counts = []
        for (channel, column), opposite in zip(pairs, negated, strict=True):
            high = targets[:, channel] == bounds.highest[channel]
            counts.append(np.count_nonzero(high != (self.columns.block([column])[:, 0] ^ opposite)))
        return np.array(counts, dtype=np.int64)

    @_reads_graphs
    def moments(self, layer: int, quantiser: Quantiser) -> tuple[FloatArray, FloatArray]:
        """Return the weighted sums of the targets and of their products; whole numbers."""
        whole = quantiser.whole(self._targets(layer))
        heavy = weighted(whole, self._rows.node_weights(self._graphs()))
        return heavy.sum(axis=0), heavy.T @ whole

    # Trees ------------------------------------------------------------------------------------

    @_reads_graphs
    def start_layer(
        self, layer: int, quantiser: Quantiser, n_trees: int, chosen: Sequence[BoolArray] | None
    ) -> IntArray:
        """Put all nodes at the roots of the trees of a layer; return the totals of the trees.

        `chosen` says, for every tree, which of all the graphs it sees.
        """
        table = self._tables["nodes"]
        batch = self._graphs()
        weights = self._rows.node_weights(batch)
        whole = quantiser.whole(self._targets(layer))
        first, last = self._rows.first_graph, self._rows.first_graph + self._source.n_graphs
        all_sums = []
        for number in range(1 if chosen is None else n_trees):
            weight = weights
            if chosen is not None:
                weight = weights * chosen[number][first:last][batch.graph_index]
            counted = np.stack([weight, weight > 0], axis=1).astype(float)
            full = table.group_sums(weighted(whole, weight))
            # All sums are exact, so what the search sees of a sum is the sum of what it sees.
            seen = quantiser.searched(full), table.group_sums(counted)
            all_sums.append(np.concatenate(seen, axis=1).astype(np.int64))
            self._shelf[f"full.{number}"] = full
        return table.start(n_trees, all_sums)

    def advance(
        self,
        table: str,
        divisions: Sequence[Division],
        summed: Sequence[NodeRequest],
        listed: Sequence[NodeRequest],
    ) -> tuple[list[IntArray], list[NodeRows]]:
        """Divide nodes of trees, in the given order; return sums of some and the rows of others.

        Sums have one line per code of each feature in turn; the last two columns are the weight
        and the count.
        """
        rows = self._tables[table]
        rows.divide(divisions)
        return (
            [rows.histogram(request) for request in summed],
            [rows.rows_of(request) for request in listed],
        )

    def leaf_sums(self, trees: Sequence[CodedTree]) -> tuple[list[FloatArray], list[IntArray]]:
        """Return the sums of all targets and the weights of the leaves of each tree, in order."""
        table = self._tables["nodes"]
        codes = table.codes
        sums, weights = [], []
        for number, tree in enumerate(trees):
            name = f"full.{number}" if f"full.{number}" in self._shelf else "full.0"
            full, weight = self._shelf[name], table.weights(number)
            reached = tree.leaf_positions(codes)
            sums.append(sum_leaves(reached, full, tree.n_leaves))
            weights.append(sum_leaves(reached, weight[:, None], tree.n_leaves)[:, 0])
        return sums, weights

    def finish_layer(self) -> None:
        """Forget the trees of a layer."""
        self._tables["nodes"].finish()
        self._shelf.clear("full.")

    # The final tree ---------------------------------------------------------------------------

    def start_final(
        self, table: str, fold_of: npt.NDArray[np.int8] | None, n_folds: int
    ) -> IntArray:
        """Put all rows at the roots of the final tree and of one tree for each fold.

        The tree of a fold sees the rows of all other folds; `fold_of` is -1 for rows that no tree
        sees, for all the data.
        """
        rows = self._tables[table]
        sums = self._label_sums()
        seen = [np.ones(len(sums), dtype=bool)]
        if n_folds:
            folds = self._folds(rows, fold_of)
            seen += [(folds >= 0) & (folds != fold) for fold in range(n_folds)]
        together = rows.group_sums(np.concatenate([sums * mask[:, None] for mask in seen], axis=1))
        return rows.start(1 + n_folds, np.split(together, 1 + n_folds, axis=1))

    def _label_sums(self) -> IntArray:
        """Return the weighted one-hot labels, the weight and 1 for every row."""
        classes, weights = self._rows.classes, self._rows.weights
        one_hot = np.zeros((len(classes), self._rows.n_classes + 2), dtype=np.int64)
        one_hot[np.arange(len(classes)), classes] = weights
        one_hot[:, -2], one_hot[:, -1] = weights, weights > 0
        return one_hot

    @staticmethod
    def _folds(rows: RowTable, fold_of: npt.NDArray[np.int8] | None) -> npt.NDArray[np.int8]:
        assert fold_of is not None
        return fold_of[rows.first_row : rows.first_row + rows.n_rows]

    def held_out(
        self, table: str, fold_of: npt.NDArray[np.int8], trees: Sequence[CodedTree]
    ) -> list[IntArray]:
        """Return, for the tree of each fold, the weight of each class of the fold at its nodes."""
        rows = self._tables[table]
        codes, of_row = rows.codes, rows.of_row
        sums = self._label_sums()[:, :-2]
        folds = self._folds(rows, fold_of)
        weights = []
        for fold, tree in enumerate(trees):
            test = folds == fold
            out = np.zeros((tree.n_nodes, sums.shape[1]), dtype=np.int64)
            np.add.at(out, tree.leaf_nodes(codes)[of_row[test]], sums[test])
            weights.append(out)
        return weights

    def release(self, table: str) -> None:
        """Forget a table, and for the nodes their columns as well."""
        self._tables[table].release()
        if table == "nodes":
            self._shelf.clear("columns.")
