"""Running an IDT on graphs: columns layer by layer, then the final tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.model import IDT, InputPredicate, LeafSet, TrueColumn
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.evaluation import more_than_share

__all__ = ["column_values", "final_leaves", "used_columns"]

BoolArray = npt.NDArray[np.bool_]
_EVERYTHING = Modality.from_set("1")


def final_leaves(model: IDT, batch: GraphBatch) -> npt.NDArray[np.integer[Any]]:
    """Return the leaf of the final tree, counted from the left, for every graph or node."""
    values = column_values(model, batch, _columns_of(model.final))
    splits = _Splits(batch, values, [model.final], per_graph=model.level == "graph")
    n_rows = batch.n_graphs if model.level == "graph" else batch.n_nodes
    return model.final.route(n_rows, splits)


def column_values(model: IDT, batch: GraphBatch, wanted: Iterable[int]) -> dict[int, BoolArray]:
    """Return the truth of the wanted columns (and of those they need) at every node."""
    needed = used_columns(model, wanted)
    values: dict[int, BoolArray] = {}
    by_layer: dict[int, list[int]] = {}
    for number in sorted(needed):
        column = model.columns[number]
        if isinstance(column, TrueColumn):
            values[number] = np.ones(batch.n_nodes, dtype=bool)
        elif isinstance(column, InputPredicate):
            values[number] = batch.column(column.name)
        else:
            by_layer.setdefault(column.layer, []).append(number)
    for layer in sorted(by_layer):
        trees = model.layers[layer].trees
        sets = [(number, model.columns[number]) for number in by_layer[layer]]
        used = sorted({column.tree for _, column in sets if isinstance(column, LeafSet)})
        splits = _Splits(batch, values, [trees[tree] for tree in used])
        leaf = {tree: trees[tree].route(batch.n_nodes, splits) for tree in used}
        for number, column in sets:
            assert isinstance(column, LeafSet)
            values[number] = Tree.among(leaf[column.tree], column.leaves)
    return values


def used_columns(model: IDT, wanted: Iterable[int]) -> set[int]:
    """Return the wanted columns together with all columns that they are made from."""
    needed: set[int] = set()
    stack = list(wanted)
    while stack:
        number = stack.pop()
        if number not in needed:
            needed.add(number)
            column = model.columns[number]
            if isinstance(column, LeafSet):
                stack.extend(_columns_of(model.layers[column.layer].trees[column.tree]))
    return needed


def _columns_of(tree: Tree) -> set[int]:
    return {split.column for split in tree.splits if split is not None}


class _Splits:
    """Truth of splits; all columns that some trees look at go through one sparse product."""

    def __init__(
        self,
        batch: GraphBatch,
        values: dict[int, BoolArray],
        trees: Sequence[Tree],
        *,
        per_graph: bool = False,
    ) -> None:
        self._batch = batch
        self._per_graph = per_graph
        columns = sorted(set().union(*(_columns_of(tree) for tree in trees)))
        self._position = {number: position for position, number in enumerate(columns)}
        block = np.empty((batch.n_nodes, len(columns)), dtype=bool)
        for number, position in self._position.items():
            block[:, position] = values[number]
        self._counts = ModalCounts(batch, block)
        self._by_modality: dict[Modality, npt.NDArray[np.integer[Any]]] = {}
        self._sizes: dict[Modality, npt.NDArray[np.int64]] = {}

    def __call__(self, split: Split, rows: npt.NDArray[np.int64] | None = None) -> BoolArray:
        modality = split.modality
        is_global = self._per_graph and modality == _EVERYTHING
        counts = self._by_modality.get(modality)
        if counts is None:
            by_row = self._counts.graph_sums if is_global else self._counts(modality)
            # Splits read whole columns.
            counts = self._by_modality[modality] = np.asfortranarray(by_row)
        column = counts[:, self._position[split.column]]
        if rows is not None:
            column = column[rows]
        if isinstance(split.threshold, Fraction):
            sizes = self._batch.sizes if is_global else self._set_sizes(modality)
            return more_than_share(column, sizes if rows is None else sizes[rows], split.threshold)
        if split.threshold > np.iinfo(column.dtype).max:
            return np.zeros(column.shape, dtype=bool)
        return np.asarray(column > split.threshold)

    def _set_sizes(self, modality: Modality) -> npt.NDArray[np.int64]:
        if modality not in self._sizes:
            self._sizes[modality] = set_sizes(self._batch, modality)
        return self._sizes[modality]
