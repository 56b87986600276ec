"""Models as JSON documents: what is written, and the audit of what is read.

Nothing of a document is trusted. Its form is checked by a strict schema, its content by the rules
below, and only then is anything built. Thresholds are whole numbers or "a/q"; other numbers are the
shortest decimals that read back as the same double.
"""

from __future__ import annotations

import hashlib
import json
import math
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np

from gnn2logic._json import strict_json
from gnn2logic.exceptions import FeatureError, FormulaError, ModelFileError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.idt.model import IDT, Column, InputPredicate, Layer, LeafSet, Prunings, TrueColumn
from gnn2logic.logic.documents import threshold_from_document, threshold_to_document
from gnn2logic.trees.tree import Split, Tree

__all__ = [
    "FORMAT_VERSION",
    "Contents",
    "check_class_labels",
    "content_digest",
    "from_bytes",
    "to_bytes",
]

FORMAT_VERSION = 1


class _Strict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    pass


class _Node(_Strict, frozen=True):
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


class _Column(_Strict, frozen=True):
    """A column: a name makes it a predicate, leaves make it a leaf set, nothing makes it true."""

    predicate: str | None = None
    layer: int | None = None
    tree: int | None = None
    leaves: list[int] | None = None


class _Pruning(_Strict, frozen=True):
    alpha: float
    cut: list[int]


class _Model(_Strict, frozen=True):
    format: Literal["gnn2logic.idt"]
    version: int
    level: Literal["graph", "node"]
    classes: list[bool | int | str]
    encoder: dict[str, Any]
    parameters: dict[str, Any]
    columns: list[_Column]
    layers: list[list[list[_Node]]]
    final: list[_Node]
    prunings: list[_Pruning]
    chosen: int
    digest: str


class Contents(msgspec.Struct, frozen=True):
    """What a document holds, audited."""

    model: IDT
    prunings: Prunings
    chosen: int
    classes: list[Any]
    encoder: dict[str, Any]
    parameters: dict[str, Any]


# Writing -------------------------------------------------------------------------------------


def to_bytes(contents: Contents) -> bytes:
    """Return the document as UTF-8 text."""
    check_class_labels(contents.classes)
    model = contents.model
    document: dict[str, Any] = {
        "format": "gnn2logic.idt",
        "version": FORMAT_VERSION,
        "level": model.level,
        "classes": contents.classes,
        "encoder": contents.encoder,
        "parameters": contents.parameters,
        "columns": [_column_to_document(column) for column in model.columns],
        "layers": [[_tree_to_document(tree) for tree in layer.trees] for layer in model.layers],
        "final": _tree_to_document(contents.prunings.full),
        "prunings": [
            {"alpha": alpha, "cut": sorted(cut)}
            for alpha, cut in zip(contents.prunings.alphas, contents.prunings.cuts, strict=True)
        ],
        "chosen": contents.chosen,
    }
    document["digest"] = content_digest(document)
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")


def content_digest(document: dict[str, Any]) -> str:
    """Return the digest of everything in a document but its digest."""
    plain = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


def _column_to_document(column: Column) -> dict[str, Any]:
    if isinstance(column, TrueColumn):
        return {}
    if isinstance(column, InputPredicate):
        return {"predicate": column.name}
    return {"layer": column.layer, "tree": column.tree, "leaves": list(column.leaves)}


def _tree_to_document(tree: Tree) -> list[dict[str, Any]]:
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


# Reading -------------------------------------------------------------------------------------


def from_bytes(data: bytes) -> Contents:
    """Return the audited contents of a document, or raise `ModelFileError`."""
    try:
        document = strict_json(data)
    except ValueError as error:
        raise ModelFileError(f"This is not a gnn2logic model: {error}.") from None
    try:
        return _audited(_checked_form(document))
    except RecursionError:
        raise ModelFileError("This is not a valid gnn2logic model: nested too deeply.") from None


def _checked_form(document: object) -> _Model:
    """Return the document if its version, its fields and its digest are right."""
    _check_version(document)
    assert isinstance(document, dict)
    try:
        checked = msgspec.convert(document, _Model)
        digest = content_digest(document)
    except msgspec.ValidationError as error:
        raise ModelFileError(f"This is not a valid gnn2logic model: {error}.") from None
    except UnicodeEncodeError:
        # JSON can write half of a surrogate pair, which is no character.
        raise ModelFileError(
            "This is not a valid gnn2logic model: it holds text that is not valid Unicode."
        ) from None
    if checked.digest != digest:
        raise ModelFileError(
            "The digest of the model does not fit its content: the file was changed or damaged. "
            "Save the model again from where it was made."
        )
    return checked


def _check_version(document: object) -> None:
    """Say so when a document comes from a newer version, before its form is judged."""
    if not isinstance(document, dict) or document.get("format") != "gnn2logic.idt":
        raise ModelFileError("This is not a gnn2logic model: it has no format 'gnn2logic.idt'.")
    version = document.get("version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise ModelFileError(
            f"Models of version {FORMAT_VERSION} can be read. Got version {version!r}; "
            "a newer gnn2logic may read it."
        )


def _audited(document: _Model) -> Contents:
    check_class_labels(document.classes)
    n_classes = len(document.classes)
    columns = tuple(_column_from_document(column, n) for n, column in enumerate(document.columns))
    layers = tuple(
        Layer(
            tuple(
                _tree_from_document(tree, f"tree {t} of layer {n}", 0) for t, tree in enumerate(own)
            )
        )
        for n, own in enumerate(document.layers)
    )
    final = _tree_from_document(document.final, "the final tree", n_classes)
    if final.weights[0] <= 0:
        raise ModelFileError("The weight of node 0 of the final tree must be above 0.")
    _check_references(columns, layers, final, document.level)
    prunings = _prunings_from_document(document.prunings, final)
    if not 0 <= document.chosen < len(prunings.alphas):
        raise ModelFileError(f"chosen must be the number of a pruning. Got {document.chosen}.")
    model = IDT(columns, layers, prunings.tree(document.chosen), document.level)
    return Contents(
        model,
        prunings,
        document.chosen,
        list(document.classes),
        document.encoder,
        document.parameters,
    )


def check_class_labels(classes: list[Any]) -> None:
    """Refuse labels that do not stay what they are on the way to JSON, to numpy and back."""
    kinds = {type(label) for label in classes}
    if len(kinds) != 1 or not kinds <= {bool, int, str} or len(set(classes)) != len(classes):
        raise ModelFileError(
            "The classes of a model must be distinct whole numbers, strings or truth values, all "
            f"of one kind, at least one. Got {classes}."
        )
    array = np.array(classes)
    if array.dtype.kind not in "biuU" or array.tolist() != classes:
        raise ModelFileError(
            "The classes of a model must be whole numbers of at most 64 bits, or strings that do "
            f"not end with a null character. Got {classes}."
        )
    try:
        "".join(map(str, classes)).encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(
            f"The classes of a model must be valid Unicode text. Got {classes}."
        ) from None


def _column_from_document(column: _Column, number: int) -> Column:
    place = (column.layer, column.tree, column.leaves)
    if column.predicate is not None and place == (None, None, None):
        return InputPredicate(column.predicate)
    if column.predicate is None and place == (None, None, None):
        return TrueColumn()
    layer, tree, leaves = place
    if column.predicate is not None or layer is None or tree is None or leaves is None:
        raise ModelFileError(f"Column {number} must be a predicate or a leaf set, not a mixture.")
    if leaves != sorted(set(leaves)):
        raise ModelFileError(f"The leaves of column {number} must be distinct and ascending.")
    return LeafSet(layer, tree, tuple(leaves))


def _tree_from_document(nodes: list[_Node], where: str, width: int) -> Tree:
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


def _split_from_document(node: _Node, where: str) -> Split | None:
    parts = (node.column, node.set, node.more_than, node.false, node.true)
    is_leaf = parts == (None,) * 5 and (node.direction, node.relation) == ("out", None)
    if is_leaf:
        return None
    if None in parts:
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


def _check_references(
    columns: tuple[Column, ...], layers: tuple[Layer, ...], final: Tree, level: str
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
    places = [(n, tree) for n, layer in enumerate(layers) for tree in layer.trees]
    for place, tree in [*places, (len(layers), final)]:
        for split in tree.splits:
            if split is None:
                continue
            if not 0 <= split.column < len(columns) or made_in[split.column] >= place:
                raise ModelFileError(
                    f"A split in layer {place} must use a column of an earlier layer. "
                    f"Got column {split.column}."
                )
            if tree is final and level == "graph" and split.modality.set_name != "1":
                raise ModelFileError("The final tree of a graph model must look along 1 only.")


def _prunings_from_document(prunings: list[_Pruning], final: Tree) -> Prunings:
    alphas = tuple(pruning.alpha for pruning in prunings)
    cuts = tuple(frozenset(pruning.cut) for pruning in prunings)
    rising = all(a < b for a, b in pairwise(alphas))
    if not alphas or alphas[0] != 0 or not rising or not math.isfinite(alphas[-1]):
        raise ModelFileError("The alphas of the prunings must rise from 0.")
    if any(not 0 <= node < final.n_nodes for cut in cuts for node in cut):
        raise ModelFileError("A pruning cuts a node that is not there.")
    return Prunings(final, alphas, cuts)
