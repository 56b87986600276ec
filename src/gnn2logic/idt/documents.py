"""Models as JSON documents: what is written, and the audit of what is read.

Nothing of a document is trusted. Its form is checked by a strict schema, its content by the rules
below, and only then is anything built. Thresholds are whole numbers or "a/q"; other numbers are the
shortest decimals that read back as the same double.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np

from gnn2logic._digests import digest_of_document, unchanged_document
from gnn2logic._json import strict_json
from gnn2logic.exceptions import ModelFileError
from gnn2logic.idt.model import IDT, Prunings, RuleFront, RuleNumbers
from gnn2logic.idt.parameters import current_parameters
from gnn2logic.idt.tree import Tree
from gnn2logic.idt.tree_documents import (
    ColumnDocument,
    NodeDocument,
    Strict,
    check_references,
    column_from_document,
    column_to_document,
    layers_from_document,
    tree_from_document,
    tree_to_document,
)

__all__ = [
    "FORMAT_VERSION",
    "Contents",
    "check_class_labels",
    "from_bytes",
    "to_bytes",
]

FORMAT_VERSION = 3

# Models that predict classes are written as earlier versions, which more programs can read.
_VERSION_WITH_FRONT = 2
# Models without a front are written as the first version, which more programs can read.
_VERSION_WITHOUT_FRONT = 1


class _Pruning(Strict, frozen=True):
    alpha: float
    cut: list[int]


class _Numbers(Strict, frozen=True):
    values: list[float]
    r2: float
    mae: float


class _FrontRule(Strict, frozen=True):
    columns: list[ColumnDocument]
    layers: list[list[list[NodeDocument]]]
    final: list[NodeDocument]
    held_out: float | None
    numbers: _Numbers | None = None


class _Front(Strict, frozen=True):
    rules: list[_FrontRule]
    reason: str


class _ModelDocument(Strict, frozen=True):
    format: Literal["gnn2logic.idt"]
    version: int
    level: Literal["graph", "node"]
    classes: list[bool | int | str | float]
    encoder: dict[str, Any]
    parameters: dict[str, Any]
    columns: list[ColumnDocument]
    layers: list[list[list[NodeDocument]]]
    final: list[NodeDocument]
    prunings: list[_Pruning]
    chosen: int
    digest: str
    front: _Front | None = None
    answer: Literal["class", "number"] = "class"


class Contents(msgspec.Struct, frozen=True):
    """What a document holds, audited."""

    model: IDT
    prunings: Prunings
    front: RuleFront | None
    chosen: int
    classes: list[Any]
    encoder: dict[str, Any]
    parameters: dict[str, Any]
    answer: Literal["class", "number"] = "class"


# Writing -------------------------------------------------------------------------------------


def to_bytes(contents: Contents) -> bytes:
    """Return the document as UTF-8 text."""
    model = contents.model
    version = _VERSION_WITHOUT_FRONT if contents.front is None else _VERSION_WITH_FRONT
    if contents.answer == "number":
        version = FORMAT_VERSION
    else:
        check_class_labels(contents.classes)
    document: dict[str, Any] = {
        "format": "gnn2logic.idt",
        "version": version,
        **({"answer": "number"} if contents.answer == "number" else {}),
        "level": model.level,
        "classes": contents.classes,
        "encoder": contents.encoder,
        "parameters": contents.parameters,
        **_layers_to_document(model),
        "final": tree_to_document(contents.prunings.full),
        "prunings": [
            {"alpha": alpha, "cut": sorted(cut)}
            for alpha, cut in zip(contents.prunings.alphas, contents.prunings.cuts, strict=True)
        ],
        "chosen": contents.chosen,
    }
    if contents.front is not None:
        document["front"] = _front_to_document(contents.front)
    document["digest"] = digest_of_document(document)
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")


def _front_to_document(front: RuleFront) -> dict[str, Any]:
    rules: list[dict[str, Any]] = [
        {**_layers_to_document(rule), "final": tree_to_document(rule.final), "held_out": held_out}
        for rule, held_out in zip(front.models, front.held_out, strict=True)
    ]
    for rule, numbers in zip(rules, front.numbers, strict=False):
        rule["numbers"] = {"values": list(numbers.values), "r2": numbers.r2, "mae": numbers.mae}
    return {"rules": rules, "reason": front.reason}


def _layers_to_document(model: IDT) -> dict[str, Any]:
    return {
        "columns": [column_to_document(column) for column in model.columns],
        "layers": [[tree_to_document(tree) for tree in layer.trees] for layer in model.layers],
    }


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


def _checked_form(document: object) -> _ModelDocument:
    """Return the document if its version, its fields and its digest are right."""
    _check_version(document)
    assert isinstance(document, dict)
    return unchanged_document(document, _ModelDocument, "model")


def _check_version(document: object) -> None:
    """Say so when a document comes from a newer version, before its form is judged."""
    if not isinstance(document, dict) or document.get("format") != "gnn2logic.idt":
        raise ModelFileError("This is not a gnn2logic model: it has no format 'gnn2logic.idt'.")
    version = document.get("version")
    known = (_VERSION_WITHOUT_FRONT, _VERSION_WITH_FRONT, FORMAT_VERSION)
    if version not in known or isinstance(version, bool):
        raise ModelFileError(
            f"Models of version {_VERSION_WITHOUT_FRONT} to {FORMAT_VERSION} can be read. "
            f"Got version {version!r}; a newer gnn2logic may read it."
        )
    if (version == _VERSION_WITHOUT_FRONT) == ("front" in document):
        raise ModelFileError(
            f"A model of version {_VERSION_WITH_FRONT} or {FORMAT_VERSION} has the rules that a "
            f"search found, its 'front'; one of version {_VERSION_WITHOUT_FRONT} has none. "
            f"Got version {version}."
        )
    if (version == FORMAT_VERSION) != (document.get("answer") == "number"):
        raise ModelFileError(
            f"A model of version {FORMAT_VERSION} predicts numbers, and earlier ones classes. "
            f"Got version {version} with answer {document.get('answer', 'class')!r}."
        )


def _audited(document: _ModelDocument) -> Contents:
    is_number = document.answer == "number"
    if is_number:
        _check_numbers(document.classes)
    else:
        check_class_labels(document.classes)
    n_classes = len(document.classes)
    model = _audited_model(document, document.level, n_classes)
    prunings = _prunings_from_document(document.prunings, model.final)
    front = None
    if document.front is not None:
        front = _front_from_document(
            document.front, document.level, None if is_number else n_classes
        )
    n_rules = len(prunings.alphas) if front is None else len(front.models)
    if not 0 <= document.chosen < n_rules:
        raise ModelFileError(f"chosen must be the number of a rule. Got {document.chosen}.")
    if front is None:
        model = model.with_final(prunings.tree(document.chosen))
    else:
        model = front.models[document.chosen]
        prunings = Prunings.of_one(model.final)
        if is_number and list(front.numbers[document.chosen].values) != document.classes:
            raise ModelFileError("The classes of a model must be the numbers of its chosen rule.")
    return Contents(
        model,
        prunings,
        front,
        document.chosen,
        list(document.classes),
        document.encoder,
        current_parameters(document.parameters),
        document.answer,
    )


def _audited_model(
    document: _ModelDocument | _FrontRule, level: Literal["graph", "node"], n_classes: int
) -> IDT:
    columns = tuple(column_from_document(column, n) for n, column in enumerate(document.columns))
    layers = layers_from_document(document.layers)
    final = tree_from_document(document.final, "the final tree", n_classes)
    if final.weights[0] <= 0:
        raise ModelFileError("The weight of node 0 of the final tree must be above 0.")
    check_references(columns, layers, final, level)
    return IDT(columns, layers, final, level)


def _front_from_document(
    document: _Front, level: Literal["graph", "node"], n_classes: int | None
) -> RuleFront:
    """Return the rules of a search; without a number of classes they predict numbers."""
    if not document.rules:
        raise ModelFileError("The front of a model must have a rule or more. Got none.")
    held_out = tuple(rule.held_out for rule in document.rules)
    # What is worse than one number for all may be below 0.
    least = 0.0 if n_classes is not None else -math.inf
    if any(share is not None and not least <= share <= 1 for share in held_out):
        raise ModelFileError("held_out must be an accuracy from 0 to 1, or null.")
    said = [rule.numbers for rule in document.rules]
    if n_classes is not None:
        if any(numbers is not None for numbers in said):
            raise ModelFileError("Rules that predict classes have no numbers.")
        models = tuple(_audited_model(rule, level, n_classes) for rule in document.rules)
        return RuleFront(models, held_out, document.reason)
    models = tuple(
        _audited_model(rule, level, 0 if rule.numbers is None else len(rule.numbers.values))
        for rule in document.rules
    )
    return RuleFront(models, held_out, document.reason, tuple(map(_audited_numbers, said)))


def _audited_numbers(numbers: _Numbers | None) -> RuleNumbers:
    if numbers is None:
        raise ModelFileError("Every rule that predicts numbers must have them.")
    _check_numbers(numbers.values)
    if not numbers.r2 <= 1 or not 0 <= numbers.mae < math.inf:
        raise ModelFileError(
            "A rule must have an r2 of at most 1 and a finite mae of at least 0. "
            f"Got {numbers.r2} and {numbers.mae}."
        )
    return RuleNumbers(tuple(numbers.values), numbers.r2, numbers.mae)


def _check_numbers(values: Sequence[object]) -> None:
    """Refuse what are not finite numbers from low to high."""
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    rising = all(low < high for low, high in pairwise(numbers))
    if not values or len(numbers) != len(values) or not rising:
        raise ModelFileError(
            f"The numbers of a rule must be finite and rise. Got {list(values)[:8]}."
        )


def check_class_labels(classes: list[Any]) -> None:
    """Refuse labels that do not stay what they are on the way to JSON, to numpy and back."""
    types = {type(label) for label in classes}
    if len(types) != 1 or not types <= {bool, int, str} or len(set(classes)) != len(classes):
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


def _prunings_from_document(prunings: list[_Pruning], final: Tree) -> Prunings:
    alphas = tuple(pruning.alpha for pruning in prunings)
    cuts = tuple(frozenset(pruning.cut) for pruning in prunings)
    rising = all(a < b for a, b in pairwise(alphas))
    if not alphas or alphas[0] != 0 or not rising or not math.isfinite(alphas[-1]):
        raise ModelFileError("The alphas of the prunings must rise from 0.")
    if any(not 0 <= node < final.n_nodes for cut in cuts for node in cut):
        raise ModelFileError("A pruning cuts a node that is not there.")
    return Prunings(final, alphas, cuts)
