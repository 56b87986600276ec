"""Removing what the prediction does not use.

The result predicts the same class on every graph. Splits whose two sides cannot be told apart by
any leaf set in use, or whose outcome an earlier split on the path has settled, disappear; so do
leaf sets, trees and layers that nothing refers to any more.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.model import IDT, Column, Layer, LeafSet
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.simplification.boxes import Box, Interval, Term
from gnn2logic.logic.syntax import predicate

__all__ = ["prune"]


def prune(model: IDT) -> IDT:
    """Return an equivalent model without unused trees, leaf sets and splits."""
    final, _ = _merged(model.final, leaf_classes(model.final))
    wanted = {split.column for split in final.splits if split is not None}
    layers: list[Layer] = []
    replaced: dict[int, LeafSet] = {}
    for number in reversed(range(len(model.layers))):
        layer, renumbered = _pruned_layer(model, number, wanted)
        layers.append(layer)
        replaced.update(renumbered)
        for tree in layer.trees:
            wanted.update(split.column for split in tree.splits if split is not None)
    return _renumbered(model, final, layers[::-1], wanted, replaced)


def _pruned_layer(model: IDT, number: int, wanted: set[int]) -> tuple[Layer, dict[int, LeafSet]]:
    """Return the trees in use and the leaf sets in terms of their new leaves."""
    trees: list[Tree] = []
    replaced: dict[int, LeafSet] = {}
    for position, tree in enumerate(model.layers[number].trees):
        sets = [
            (column, leaf_set.leaves)
            for column, leaf_set in enumerate(model.columns)
            if column in wanted
            and isinstance(leaf_set, LeafSet)
            and (leaf_set.layer, leaf_set.tree) == (number, position)
        ]
        if not sets:
            continue
        # Two leaves that are in the same sets may become one.
        marks = [tuple(leaf in members for _, members in sets) for leaf in range(tree.n_leaves)]
        smaller, kept = _merged(tree, marks)
        for bit, (column, _) in enumerate(sets):
            leaves = tuple(
                n for n, mark in enumerate(kept) if isinstance(mark, tuple) and mark[bit]
            )
            replaced[column] = LeafSet(number, len(trees), leaves)
        trees.append(smaller)
    return Layer(tuple(trees)), replaced


def _renumbered(
    model: IDT,
    final: Tree,
    layers: Sequence[Layer],
    wanted: set[int],
    replaced: dict[int, LeafSet],
) -> IDT:
    """Close the gaps in the numbers of layers and columns."""
    used_layers = [number for number, layer in enumerate(layers) if layer.trees]
    new_layer = {number: new for new, number in enumerate(used_layers)}
    new_column = {number: new for new, number in enumerate(sorted(wanted))}
    columns: list[Column] = []
    for number in sorted(wanted):
        column = replaced.get(number, model.columns[number])
        if isinstance(column, LeafSet):
            column = LeafSet(new_layer[column.layer], column.tree, column.leaves)
        columns.append(column)
    return IDT(
        tuple(columns),
        tuple(
            Layer(tuple(_with_columns(tree, new_column) for tree in layers[number].trees))
            for number in used_layers
        ),
        _with_columns(final, new_column),
        model.level,
    )


def _with_columns(tree: Tree, new_column: dict[int, int]) -> Tree:
    splits = tuple(
        split and Split(new_column[split.column], split.modality, split.threshold)
        for split in tree.splits
    )
    return Tree(splits, tree.false_child, tree.true_child, tree.values, tree.weights)


# One tree ------------------------------------------------------------------------------------


@dataclass
class _KeptNode:
    split: Split | None
    mark: Hashable
    below: tuple[_KeptNode, _KeptNode] | None
    origin: int


def _merged(tree: Tree, marks: Sequence[Hashable]) -> tuple[Tree, list[Hashable]]:
    """Return the tree without splits that do not change the mark of the leaf, and the new marks."""
    leaf_mark = dict(zip(tree.leaves, marks, strict=True))
    root = _rebuilt(tree, leaf_mark)
    splits: list[Split | None] = []
    false_child: list[int] = []
    true_child: list[int] = []
    origins: list[int] = []
    kept: list[Hashable] = []
    stack: list[tuple[_KeptNode, int, bool]] = [(root, -1, False)]
    while stack:
        node, parent, side = stack.pop()
        number = len(splits)
        if parent >= 0:
            (true_child if side else false_child)[parent] = number
        splits.append(node.split)
        false_child.append(-1)
        true_child.append(-1)
        origins.append(node.origin)
        if node.below is None:
            kept.append(node.mark)
        else:
            stack.append((node.below[1], number, True))
            stack.append((node.below[0], number, False))
    smaller = Tree(
        tuple(splits),
        tuple(false_child),
        tuple(true_child),
        tree.values[np.array(origins)],
        tree.weights[np.array(origins)],
    )
    return smaller, kept


def _rebuilt(tree: Tree, leaf_mark: dict[int, Hashable]) -> _KeptNode:
    """Rebuild from the leaves up; a side that no node can reach is replaced by the other one."""
    boxes: dict[int, Box] = {0: Box({})}
    settled: dict[int, bool] = {}
    order = [0]
    for node in order:
        split = tree.splits[node]
        if split is None:
            continue
        outcomes = {}
        for value, child in ((False, tree.false_child[node]), (True, tree.true_child[node])):
            box = _bounded(boxes[node], split, value)
            if box is not None:
                outcomes[value] = child
                boxes[child] = box
        if len(outcomes) == 1:
            settled[node] = next(iter(outcomes))
        order.extend(outcomes.values())
    built: dict[int, _KeptNode] = {}
    for node in reversed(order):
        split = tree.splits[node]
        if split is None:
            built[node] = _KeptNode(None, leaf_mark[node], None, node)
            continue
        low, high = tree.false_child[node], tree.true_child[node]
        if node in settled:
            built[node] = built[high if settled[node] else low]
            continue
        below = (built[low], built[high])
        if below[0].below is None and below[1].below is None and below[0].mark == below[1].mark:
            built[node] = _KeptNode(
                None, below[0].mark, None, _node_with_values(tree, node, below[0].origin)
            )
        else:
            built[node] = _KeptNode(split, None, below, node)
    return built[0]


def _node_with_values(tree: Tree, node: int, leaf: int) -> int:
    """Return the node whose values a merged leaf takes: the node itself if it predicts the class.

    In a learned tree it does, since its values are the sum of those of its leaves. In trees from
    elsewhere it may not, and leaves that nothing can reach are in the sum too: then it is the leaf.
    """
    values = tree.values
    if values.shape[1] and np.argmax(values[node]) != np.argmax(values[leaf]):
        return leaf
    return node


def _bounded(box: Box, split: Split, value: bool) -> Box | None:
    """Return the part of the box where a split has the value; None if there is none.

    Columns are told apart by number alone, so only bounds of one count settle each other.
    """
    # Only the number of the column matters here, so any formula of its own can stand for it.
    column = predicate(f"column {split.column}")
    term = Term(column, split.modality, isinstance(split.threshold, Fraction))
    cut = Interval(lower=split.threshold) if value else Interval(upper=split.threshold)
    interval = box.intervals.get(term, Interval()).meet(cut)
    return None if interval.is_empty else box.with_interval(term, interval)
