"""Formulas as plain data and as JSON.

A document lists every distinct subformula once, children before parents, and refers to them by
position, so a heavily shared formula stays as small on disk as it is in memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import msgspec

from gnn2logic._json import strict_json
from gnn2logic.exceptions import FeatureError, FormulaError, UnsupportedInputError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Constant,
    Formula,
    Modal,
    Not,
    Or,
    Predicate,
    Threshold,
    conjunction,
    disjunction,
    modal,
    negation,
    predicate,
)
from gnn2logic.logic.walk import subformulas

__all__ = [
    "FORMAT_VERSION",
    "formula_from_document",
    "formula_to_document",
    "formulas_from_rows",
    "formulas_to_rows",
    "from_json",
    "threshold_from_document",
    "threshold_to_document",
    "to_json",
]

FORMAT_VERSION = 1

Index = msgspec.Meta(ge=0)


class _Row(msgspec.Struct, tag_field="op", forbid_unknown_fields=True, frozen=True):
    """One subformula; numbers refer to earlier rows."""


class _True(_Row, tag="true", frozen=True):
    pass


class _False(_Row, tag="false", frozen=True):
    pass


class _Predicate(_Row, tag="predicate", frozen=True):
    name: str


class _Not(_Row, tag="not", frozen=True):
    of: int


class _And(_Row, tag="and", frozen=True):
    of: list[int]


class _Or(_Row, tag="or", frozen=True):
    of: list[int]


class _Count(_Row, tag="modal", frozen=True):
    set: Literal["0", "1", "I", "A", "1-I", "1-A", "I+A", "1-I-A"]
    of: int
    more_than: int | str
    direction: Literal["out", "in", "either"] = "out"
    relation: str | None = None


_AnyRow = _True | _False | _Predicate | _Not | _And | _Or | _Count


class _FormulaDocument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: Literal["gnn2logic.formula"]
    version: int
    nodes: list[_AnyRow]


def formulas_to_rows(formulas: Sequence[Formula]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the rows of all subformulas and the position of each given formula in them."""
    nodes = subformulas(*formulas)
    position = {node: number for number, node in enumerate(nodes)}
    rows = [_row(node, [position[child] for child in node.children]) for node in nodes]
    return rows, [position[formula] for formula in formulas]


def _row(node: Formula, children: list[int]) -> dict[str, Any]:
    if isinstance(node, Constant):
        return {"op": "true" if node.value else "false"}
    if isinstance(node, Predicate):
        return {"op": "predicate", "name": node.name}
    if isinstance(node, Not):
        return {"op": "not", "of": children[0]}
    if isinstance(node, And):
        return {"op": "and", "of": children}
    if isinstance(node, Or):
        return {"op": "or", "of": children}
    assert isinstance(node, Modal)
    modality = node.modality
    return {
        "op": "modal",
        "set": modality.set_name,
        "direction": modality.edges.direction.value,
        "relation": modality.edges.relation,
        "of": children[0],
        "more_than": threshold_to_document(node.threshold),
    }


def formulas_from_rows(rows: Sequence[object]) -> list[Formula]:
    """Return the formula of every row; the rows are checked before anything is built."""
    try:
        checked = msgspec.convert(rows, list[_AnyRow])
    except msgspec.ValidationError as error:
        raise FormulaError(f"The rows of a formula are not valid: {error}.") from None
    built: list[Formula] = []
    for number, row in enumerate(checked):
        built.append(_build(row, number, built))
    return built


def _build(row: _AnyRow, number: int, built: list[Formula]) -> Formula:
    def at(index: int) -> Formula:
        if not 0 <= index < number:
            raise FormulaError(
                f"Row {number} of a formula must refer to an earlier row. Got {index} instead."
            )
        return built[index]

    try:
        match row:
            case _True():
                return TRUE
            case _False():
                return FALSE
            case _Predicate():
                return predicate(row.name)
            case _Not():
                return negation(at(row.of))
            case _And():
                return conjunction([at(index) for index in row.of])
            case _Or():
                return disjunction([at(index) for index in row.of])
            case _Count():
                edges = Edges(Direction(row.direction), row.relation)
                return modal(
                    Modality.from_set(row.set, edges),
                    at(row.of),
                    threshold_from_document(row.more_than),
                )
    except FeatureError as error:
        raise FormulaError(f"Row {number} of a formula is not valid: {error}") from None


def threshold_to_document(threshold: Threshold) -> int | str:
    """Return a count as a number and a share as "a/q"."""
    return str(threshold) if isinstance(threshold, Fraction) else threshold


def threshold_from_document(value: int | str) -> Any:
    """Return the threshold of a document, or raise `FormulaError`."""
    if isinstance(value, int):
        if isinstance(value, bool) or value < 0:
            raise FormulaError(f"A count threshold must be a whole number >= 0. Got {value!r}.")
        return value
    numerator, slash, denominator = value.partition("/")
    digits = (numerator, denominator)
    if not slash or not all(number.isascii() and number.isdigit() for number in digits):
        raise FormulaError(
            f"A share must be written as 'a/q' with whole numbers. Got {value!r} instead."
        )
    try:
        share = Fraction(int(numerator), int(denominator))
    except (ValueError, ZeroDivisionError):
        raise FormulaError(f"{value!r} is not a fraction.") from None
    if not 0 < share < 1:
        raise FormulaError(f"A ratio must be between 0 and 1, both excluded. Got {share}.")
    return share


def formula_to_document(formula: Formula) -> dict[str, Any]:
    """Return the formula as plain data: dicts, lists, strings and whole numbers.

    >>> from gnn2logic.logic import parse
    >>> formula_to_document(parse("!U0"))["nodes"]
    [{'op': 'predicate', 'name': 'U0'}, {'op': 'not', 'of': 0}]
    """
    rows, _ = formulas_to_rows([formula])
    return {"format": "gnn2logic.formula", "version": FORMAT_VERSION, "nodes": rows}


def formula_from_document(document: object) -> Formula:
    """Return the formula of a document; its last row is the formula itself."""
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version != FORMAT_VERSION:
        raise FormulaError(
            f"Formula documents of version {FORMAT_VERSION} can be read. Got version {version}; "
            "it was written by another version of gnn2logic."
        )
    try:
        checked = msgspec.convert(document, _FormulaDocument)
    except msgspec.ValidationError as error:
        raise FormulaError(f"This is not a formula document: {error}.") from None
    if not checked.nodes:
        raise FormulaError("A formula document must have at least one node. Got none.")
    return formulas_from_rows(msgspec.to_builtins(checked.nodes))[-1]


def to_json(formula: Formula) -> str:
    """Return the formula as a JSON document."""
    return json.dumps(formula_to_document(formula), ensure_ascii=False)


def from_json(text: str | bytes) -> Formula:
    """Return the formula of a JSON document, checked strictly.

    >>> from gnn2logic.logic import parse
    >>> from_json(to_json(parse("A U0 > 1/2"))) is parse("A U0 > 1/2")
    True
    """
    if not isinstance(text, str | bytes):
        raise UnsupportedInputError(f"from_json reads text. Got {type(text).__name__} instead.")
    try:
        document = strict_json(text)
    except ValueError as error:
        raise FormulaError(f"This is not a formula document: {error}.") from None
    return formula_from_document(document)
