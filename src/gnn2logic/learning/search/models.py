"""Rules that were found as models like any other: columns, layers, a final tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.from_formulas import ColumnBuilder
from gnn2logic.idt.model import IDT
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.learning.search.rule_search import SearchTargets
from gnn2logic.learning.search.rules import Branch, Leaf, SearchedRule
from gnn2logic.logic.syntax import Formula, Modal

__all__ = ["rule_model"]


def rule_model(
    rule: SearchedRule,
    targets: SearchTargets,
    rows: npt.NDArray[np.int64],
    level: Literal["graph", "node"],
) -> IDT:
    """Return the model of a rule.

    Parameters
    ----------
    rule : SearchedRule
    targets : SearchTargets
    rows : array of int
        The rows whose class weights are the values of its leaves.
    """
    conditions = [condition.formula for condition in rule.conditions]
    builder = ColumnBuilder(conditions)
    builder.build(_columns_of(conditions, level))
    splits: list[Split | None] = []
    children: list[list[int]] = []
    leaf_values: list[npt.NDArray[np.float64]] = []
    stack: list[tuple[Branch | Leaf, npt.NDArray[np.int64], int, int]] = [(rule.tree, rows, -1, 0)]
    while stack:
        tree, member, parent, side = stack.pop()
        number = len(splits)
        children.append([-1, -1])
        if parent >= 0:
            children[parent][side] = number
        if isinstance(tree, Leaf):
            splits.append(None)
            leaf_values.append(_class_weights(targets, member, tree.label))
            continue
        splits.append(builder.split(tree.condition.formula))
        truth = tree.condition.truth[member]
        stack.append((tree.if_true, member[truth], number, 1))
        stack.append((tree.if_false, member[~truth], number, 0))
    n_nodes = len(splits)
    plain = Tree(
        tuple(splits),
        tuple(low for low, _ in children),
        tuple(high for _, high in children),
        np.empty((n_nodes, 0)),
        np.ones(n_nodes),
    )
    # False sides are looked at first, so leaves were met from left to right.
    values = plain.node_sums(np.array(leaf_values))
    final = Tree(plain.splits, plain.false_child, plain.true_child, values, values.sum(axis=1))
    return IDT(tuple(builder.columns), tuple(builder.layers), final, level)


def _columns_of(conditions: Sequence[Formula], level: Literal["graph", "node"]) -> list[Formula]:
    """Return the node formulas that must be columns: what is counted, or what nodes satisfy."""
    if level == "node":
        return [c.child if isinstance(c, Modal) else c for c in conditions]
    return [condition.child for condition in conditions if isinstance(condition, Modal)]


def _class_weights(
    targets: SearchTargets, rows: npt.NDArray[np.int64], label: int
) -> npt.NDArray[np.float64]:
    """Return the weight of each class, the class of the leaf first among equals."""
    weights = np.bincount(
        targets.classes[rows], targets.weights[rows], minlength=targets.n_classes
    ).astype(float)
    if weights.argmax() != label:
        raise AssertionError(f"a leaf of class {label} has the weights {weights.tolist()}")
    return weights
