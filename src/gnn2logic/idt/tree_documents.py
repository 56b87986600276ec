"""Columns and trees of models as plain data, and the audit of what is read."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec
import numpy as np

from gnn2logic.exceptions import FeatureError, FormulaError, ModelFileError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.idt.model import Column, InputPredicate, Layer, LeafSet, TrueColumn
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.documents import threshold_from_document, threshold_to_document

__all__ = [
    "ColumnDocument",
    "NodeDocument",
    "Strict",
    "check_references",
    "column_from_document",
    "column_to_document",
    "layers_from_document",
    "tree_from_document",
    "tree_to_document",
]


class Strict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Plain data with these fields and no others."""


class NodeDocument(Strict, frozen=True):
    """A node of a tree; the fields of a split are there together or not at all."""

    weight: float
    values: list[float] = []
    column: int | None = None
    set: Literal["0", "1", "I", "A", "1-I", "1-A", "I+A", "1-I-A"] | None = None
    direction: Literal["out", "in", "either"] = "out"
    relation: str | None = None
    more_than: int | str | None = None
    false: int | None = None
    true: int | None = None


class ColumnDocument(Strict, frozen=True):
    """A column: a name makes it a predicate, leaves make it a leaf set, nothing makes it true."""

    predicate: str | None = None
    layer: int | None = None
    tree: int | None = None
    leaves: list[int] | None = None


def column_to_document(column: Column) -> dict[str, Any]:
    """Return a column as plain data."""
    if isinstance(column, TrueColumn):
        return {}
    if isinstance(column, InputPredicate):
        return {"predicate": column.name}
    return {"layer": column.layer, "tree": column.tree, "leaves": list(column.leaves)}


def tree_to_document(tree: Tree) -> list[dict[str, Any]]:
    """Return a tree as plain data, node by node."""
    nodes = []
    for number, split in enumerate(tree.splits):
        node: dict[str, Any] = {"weight": float(tree.weights[number])}
        if tree.values.shape[1]:
            node["values"] = tree.values[number].tolist()
        if split is not None:
            edges = split.modality.edges
            node.update(column=split.column, set=split.modality.set_name)
            if split.modality.uses_edges and edges != Edges():
                node.update(direction=edges.direction.value, relation=edges.relation)
            node["more_than"] = threshold_to_document(split.threshold)
            node.update(false=tree.false_child[number], true=tree.true_child[number])
        nodes.append(node)
    return nodes


def layers_from_document(layers: list[list[list[NodeDocument]]]) -> tuple[Layer, ...]:
    """Return inner layers."""
    return tuple(
        Layer(
            tuple(
                tree_from_document(tree, f"tree {t} of layer {n}", 0)
                for t, tree in enumerate(trees)
            )
        )
        for n, trees in enumerate(layers)
    )


def column_from_document(column: ColumnDocument, number: int) -> Column:
    """Return the column with a number."""
    leaf_set = (column.layer, column.tree, column.leaves)
    if column.predicate is not None and leaf_set == (None, None, None):
        return InputPredicate(column.predicate)
    if column.predicate is None and leaf_set == (None, None, None):
        return TrueColumn()
    layer, tree, leaves = leaf_set
    if column.predicate is not None or layer is None or tree is None or leaves is None:
        raise ModelFileError(f"Column {number} must be a predicate or a leaf set, not a mixture.")
    if leaves != sorted(set(leaves)):
        raise ModelFileError(f"The leaves of column {number} must be distinct and ascending.")
    return LeafSet(layer, tree, tuple(leaves))


def tree_from_document(nodes: list[NodeDocument], where: str, width: int) -> Tree:
    """Return a tree with so many values at every node."""
    if not nodes:
        raise ModelFileError(f"{where} must have at least one node.")
    splits = tuple(
        _split_from_document(node, f"node {n} of {where}") for n, node in enumerate(nodes)
    )
    parents = [0] * len(nodes)
    for number, node in enumerate(nodes):
        for child in (node.false, node.true) if splits[number] is not None else ():
            assert child is not None
            if not number < child < len(nodes):
                raise ModelFileError(
                    f"The children of node {number} of {where} must come after it."
                )
            parents[child] += 1
            if nodes[child].weight > node.weight:
                raise ModelFileError(
                    f"The weight of node {child} of {where} must not be more than its parent's."
                )
        if not math.isfinite(node.weight) or node.weight < 0:
            raise ModelFileError(f"The weight of node {number} of {where} must be at least 0.")
        if len(node.values) != width or not all(math.isfinite(v) and v >= 0 for v in node.values):
            raise ModelFileError(
                f"Node {number} of {where} must have {width} values, all at least 0."
            )
        if width and not 0 < sum(node.values) < math.inf:
            raise ModelFileError(
                f"The values of node {number} of {where} must have a sum above 0 and finite."
            )
    if any(count != 1 for count in parents[1:]):
        raise ModelFileError(f"Every node of {where} but the first must have exactly one parent.")
    return Tree(
        splits,
        tuple(-1 if node.false is None else node.false for node in nodes),
        tuple(-1 if node.true is None else node.true for node in nodes),
        np.array([node.values for node in nodes], dtype=float).reshape(len(nodes), width),
        np.array([node.weight for node in nodes], dtype=float),
    )


def _split_from_document(node: NodeDocument, where: str) -> Split | None:
    fields = (node.column, node.set, node.more_than, node.false, node.true)
    is_leaf = fields == (None,) * 5 and (node.direction, node.relation) == ("out", None)
    if is_leaf:
        return None
    if None in fields:
        raise ModelFileError(f"{where} must have all parts of a split or none of them.")
    assert node.column is not None
    assert node.set is not None
    assert node.more_than is not None
    try:
        edges = Edges(Direction(node.direction), node.relation)
        threshold = threshold_from_document(node.more_than)
    except (FeatureError, FormulaError) as error:
        raise ModelFileError(f"The split of {where} is not valid: {error}") from None
    return Split(node.column, Modality.from_set(node.set, edges), threshold)


def check_references(
    columns: tuple[Column, ...],
    layers: tuple[Layer, ...],
    final: Tree | None = None,
    level: str = "node",
) -> None:
    """Refuse numbers that lead nowhere, forward or in circles."""
    made_in = []
    for number, column in enumerate(columns):
        if isinstance(column, LeafSet):
            known = 0 <= column.layer < len(layers)
            if not known or not 0 <= column.tree < len(layers[column.layer].trees):
                raise ModelFileError(f"Column {number} names a tree that is not there.")
            n_leaves = layers[column.layer].trees[column.tree].n_leaves
            if any(not 0 <= leaf < n_leaves for leaf in column.leaves):
                raise ModelFileError(f"Column {number} names a leaf that is not there.")
            made_in.append(column.layer)
        else:
            made_in.append(-1)
    if made_in != sorted(made_in):
        raise ModelFileError("Columns must be in the order of the layers that make them.")
    numbered = [(n, tree) for n, layer in enumerate(layers) for tree in layer.trees]
    if final is not None:
        numbered.append((len(layers), final))
    for number, tree in numbered:
        for split in tree.splits:
            if split is None:
                continue
            if not 0 <= split.column < len(columns) or made_in[split.column] >= number:
                raise ModelFileError(
                    f"A split in layer {number} must use a column of an earlier layer. "
                    f"Got column {split.column}."
                )
            if tree is final and level == "graph" and split.modality.set_name != "1":
                raise ModelFileError("The final tree of a graph model must look along 1 only.")
