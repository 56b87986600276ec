"""Rules that were found as models like any other: columns, layers, a final tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.formulas import class_formula, final_columns, tree_size
from gnn2logic.idt.from_formulas import ColumnBuilder
from gnn2logic.idt.model import IDT
from gnn2logic.idt.rule_figures import shown_size
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.learning.search.rules import Branch, Leaf, SearchedRule
from gnn2logic.logic.syntax import Formula, Modal

__all__ = ["read_size", "rule_model", "with_leaf_values"]


def rule_model(rule: SearchedRule, level: Literal["graph", "node"]) -> IDT:
    """Return the model of a rule; each leaf has weight 1, for its label.

    The classes of the model are the labels of the rule.
    """
    weights = dict(zip(rule.labels, np.eye(len(rule.labels)), strict=True))
    conditions = [condition.formula for condition in rule.conditions]
    builder = ColumnBuilder(conditions)
    builder.build(_columns_of(conditions, level))
    splits: list[Split | None] = []
    children: list[list[int]] = []
    leaf_values: list[npt.NDArray[np.float64]] = []
    stack: list[tuple[Branch | Leaf, int, int]] = [(rule.tree, -1, 0)]
    while stack:
        tree, parent, side = stack.pop()
        number = len(splits)
        children.append([-1, -1])
        if parent >= 0:
            children[parent][side] = number
        if isinstance(tree, Leaf):
            splits.append(None)
            leaf_values.append(weights[tree.label])
            continue
        splits.append(builder.split(tree.condition.formula))
        stack.append((tree.if_true, number, 1))
        stack.append((tree.if_false, number, 0))
    n_nodes = len(splits)
    plain = Tree(
        tuple(splits),
        tuple(low for low, _ in children),
        tuple(high for _, high in children),
        np.empty((n_nodes, 0)),
        np.ones(n_nodes),
    )
    # False sides are looked at first, so leaves were met from left to right.
    model = IDT(tuple(builder.columns), tuple(builder.layers), plain, level)
    return with_leaf_values(model, np.array(leaf_values))


def read_size(model: IDT, answer: Literal["class", "number"]) -> int:
    """Return how many symbols people read.

    Of the formulas that are shown; of the tree, where leaves are numbers.
    """
    columns = final_columns(model)
    if answer == "number":
        return tree_size(model, columns)
    n_classes = model.final.values.shape[1]
    return shown_size({label: class_formula(model, label, columns) for label in range(n_classes)})


def with_leaf_values(model: IDT, leaf_values: npt.NDArray[np.float64]) -> IDT:
    """Return a model whose leaves, from left to right, have these class weights."""
    tree = model.final
    values = tree.node_sums(leaf_values)
    final = Tree(tree.splits, tree.false_child, tree.true_child, values, values.sum(axis=1))
    return IDT(model.columns, model.layers, final, model.level)


def _columns_of(conditions: Sequence[Formula], level: Literal["graph", "node"]) -> list[Formula]:
    """Return the node formulas that must be columns: what is counted, or what nodes satisfy."""
    if level == "node":
        return [c.child if isinstance(c, Modal) else c for c in conditions]
    return [condition.child for condition in conditions if isinstance(condition, Modal)]
