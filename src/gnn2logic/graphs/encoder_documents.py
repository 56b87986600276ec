"""A fitted `PredicateEncoder` as plain data for JSON, and back with every part checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np

from gnn2logic._validation import check_name, check_names
from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.encoded_columns import EncodedColumn

__all__ = ["FORMAT_VERSION", "EncoderState", "from_document", "to_document"]

FORMAT = "gnn2logic.predicate_encoder"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class EncoderState:
    """All there is to a fitted encoder: its settings and what it learned."""

    settings: Mapping[str, Any]
    columns: tuple[EncodedColumn, ...]
    relations: tuple[str, ...]


class _Column(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, frozen=True):
    name: str


class _Binary(_Column, tag="binary", frozen=True):
    pass


class _Categorical(_Column, tag="categorical", frozen=True):
    categories: list[int | float | str]


class _Continuous(_Column, tag="continuous", frozen=True):
    thresholds: list[float]


class _Settings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    feature_names: list[str] | None
    kinds: dict[str, Literal["binary", "categorical", "continuous"]] | None
    max_categories: int
    n_thresholds: int
    edge_types: str | bool | None
    node_attributes: list[str] | None
    edge_attributes: list[str] | None


class _EncoderDocument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: Literal["gnn2logic.predicate_encoder"]
    version: int
    settings: _Settings
    columns: list[_Binary | _Categorical | _Continuous]
    relations: list[str]


def to_document(state: EncoderState) -> dict[str, Any]:
    """Return plain data; ``json.dumps`` writes its numbers as shortest round-trip decimals."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "settings": {name: _plain(value) for name, value in state.settings.items()},
        "columns": [_column_document(column) for column in state.columns],
        "relations": list(state.relations),
    }


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): str(kind) for name, kind in value.items()}
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    assert isinstance(value, Sequence | np.ndarray)
    return [str(name) for name in value]


def _column_document(column: EncodedColumn) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": column.kind, "name": column.name}
    if column.kind == "categorical":
        document["categories"] = list(column.categories)
    elif column.kind == "continuous":
        document["thresholds"] = list(column.thresholds)
    return document


def from_document(document: object) -> EncoderState:
    """Return the state of an encoder from plain data, or raise a FeatureError that says why not."""
    if isinstance(document, dict):
        version = document.get("version")
        if isinstance(version, int) and version != FORMAT_VERSION:
            raise FeatureError(
                f"An encoder document must have version {FORMAT_VERSION}. Got {version} instead; "
                "it was written by another version of gnn2logic."
            )
    try:
        parsed = msgspec.convert(document, _EncoderDocument)
    except msgspec.ValidationError as error:
        raise FeatureError(f"This is not a valid encoder document: {error}.") from error
    columns = tuple(_read_column(column) for column in parsed.columns)
    check_names([column.name for column in columns], what="Column")
    settings = msgspec.structs.asdict(parsed.settings)
    if settings["edge_types"] is True:
        raise FeatureError("This is not a valid encoder document: edge_types must not be true.")
    return EncoderState(settings, columns, check_names(parsed.relations, what="Relation"))


def _read_column(column: _Binary | _Categorical | _Continuous) -> EncodedColumn:
    name = check_name(column.name, what="Column")
    if isinstance(column, _Categorical):
        values = column.categories
        types = {str if isinstance(value, str) else float for value in values}
        if len(types) != 1 or not _rising(values):
            raise FeatureError(
                f"The categories of column {name!r} must be rising numbers or sorted strings, at "
                f"least one. Got {values} instead."
            )
        # JSON does not tell 7 from 7.0, but the names of predicates must not depend on that.
        whole = [
            int(value)
            if isinstance(value, float) and value.is_integer() and abs(value) < 1e16
            else value
            for value in values
        ]
        return EncodedColumn(name, "categorical", categories=tuple(whole))
    if isinstance(column, _Continuous):
        if not _rising(column.thresholds):
            raise FeatureError(
                f"The thresholds of column {name!r} must be rising numbers. "
                f"Got {column.thresholds} instead."
            )
        return EncodedColumn(name, "continuous", thresholds=tuple(column.thresholds))
    return EncodedColumn(name, "binary")


def _rising(values: Sequence[Any]) -> bool:
    finite = all(isinstance(value, str | int) or math.isfinite(value) for value in values)
    return finite and all(low < high for low, high in pairwise(values))
