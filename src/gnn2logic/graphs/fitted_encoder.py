"""A fitted encoder: what was learned about features, and graphs as predicates by it.

Apart from `PredicateEncoder`, so that a saved model predicts without scikit-learn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self

import msgspec
import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_fitted, check_name, check_names, some_of
from gnn2logic.exceptions import FeatureError, ParameterError, UnseenCategoryWarning
from gnn2logic.graphs.alignment import (
    aligned_columns,
    aligned_types,
    unseen_relations,
    with_relations,
)
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawGraphs, join_predicates, predicate_names
from gnn2logic.graphs.edge_features import EdgeFeatures, edge_relations, edges_by_feature
from gnn2logic.graphs.encoded_columns import (
    ColumnTest,
    EncodedColumn,
    FeatureType,
    encode_column,
    unseen_warnings,
)
from gnn2logic.graphs.inputs import node_locator
from gnn2logic.graphs.reading import read_graphs
from gnn2logic.graphs.structural import add_structure
from gnn2logic.graphs.structure_names import (
    Families,
    check_families,
    structure_predicates,
    structure_relations,
)

__all__ = ["FORMAT_VERSION", "EncoderState", "FittedEncoder", "from_document", "to_document"]

FORMAT = "gnn2logic.predicate_encoder"
# Version 2 has the setting `structure`, and version 3 relations of `edge_features`; older files are
# read as without it. Encoders without such relations are written as version 2.
FORMAT_VERSION = 3
# What settings are called in files, where that is not their name.
_NAMES_IN_FILES = {"feature_types": "kinds"}


@dataclass(frozen=True, slots=True)
class EncoderState:
    """All there is to a fitted encoder: its settings and what it learned."""

    settings: Mapping[str, Any]
    columns: tuple[EncodedColumn, ...]
    relations: tuple[str, ...]
    edge_columns: tuple[EncodedColumn, ...] = ()


class _Column(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, frozen=True):
    name: str


class _Binary(_Column, tag="binary", frozen=True):
    pass


class _Categorical(_Column, tag="categorical", frozen=True):
    categories: list[int | float | str]


class _Continuous(_Column, tag="continuous", frozen=True):
    thresholds: list[float]


class _Settings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    feature_names: list[str] | dict[str, list[str]] | None
    feature_types: dict[str, FeatureType] | None = msgspec.field(name="kinds")
    max_categories: int
    n_thresholds: int
    edge_types: str | bool | None
    node_attributes: list[str] | None
    edge_attributes: list[str] | None
    structure: list[str] | None = None
    edge_features: str | list[str] | dict[str, list[str]] | None = None


class _EncoderDocument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: Literal["gnn2logic.predicate_encoder"]
    version: int
    settings: _Settings
    columns: list[_Binary | _Categorical | _Continuous]
    relations: list[str]
    edge_columns: list[_Binary | _Categorical | _Continuous] = []


def to_document(state: EncoderState) -> dict[str, Any]:
    """Return plain data; ``json.dumps`` writes its numbers as shortest round-trip decimals."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": 2,
        "settings": {
            _NAMES_IN_FILES.get(name, name): _plain(value) for name, value in state.settings.items()
        },
        "columns": [_column_document(column) for column in state.columns],
        "relations": list(state.relations),
    }
    if state.settings["edge_features"] is None:
        del document["settings"]["edge_features"]
        return document
    edge_columns = [_column_document(column) for column in state.edge_columns]
    return document | {"version": FORMAT_VERSION, "edge_columns": edge_columns}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    assert isinstance(value, Sequence | np.ndarray)
    return [str(name) for name in value]


def _column_document(column: EncodedColumn) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": column.feature_type, "name": column.name}
    if column.feature_type == "categorical":
        document["categories"] = list(column.categories)
    elif column.feature_type == "continuous":
        document["thresholds"] = list(column.thresholds)
    return document


def from_document(document: object) -> EncoderState:
    """Return the state of an encoder from plain data, or raise a FeatureError that says why not."""
    if isinstance(document, dict):
        version = document.get("version")
        if isinstance(version, int) and not 1 <= version <= FORMAT_VERSION:
            raise FeatureError(
                f"An encoder document must have version {FORMAT_VERSION}, or an older one. "
                f"Got {version} instead; it was written by another version of gnn2logic."
            )
    try:
        parsed = msgspec.convert(document, _EncoderDocument)
    except msgspec.ValidationError as error:
        raise FeatureError(f"This is not a valid encoder document: {error}.") from error
    columns = tuple(_read_column(column) for column in parsed.columns)
    check_names([column.name for column in columns], what="Column")
    edge_columns = tuple(_read_column(column) for column in parsed.edge_columns)
    check_names([column.name for column in edge_columns], what="Edge feature")
    settings = msgspec.structs.asdict(parsed.settings)
    if settings["edge_types"] is True:
        raise FeatureError("This is not a valid encoder document: edge_types must not be true.")
    try:
        settings["structure"] = list(check_families(settings["structure"])) or None
    except ParameterError as error:
        raise FeatureError(f"This is not a valid encoder document: {error}") from error
    relations = check_names(parsed.relations, what="Relation")
    return EncoderState(settings, columns, relations, edge_columns)


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


_SETTINGS = (
    "feature_names",
    "feature_types",
    "max_categories",
    "n_thresholds",
    "edge_types",
    "node_attributes",
    "edge_attributes",
    "structure",
    "edge_features",
)


class FittedEncoder:
    """Turns graphs into predicates; parameters and attributes are those of `PredicateEncoder`."""

    columns_: list[EncodedColumn]
    edge_columns_: list[EncodedColumn]
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    names_: tuple[str, ...]
    relations_: tuple[str, ...]
    given_relations_: tuple[str, ...]
    structure_: tuple[str, ...]

    def __init__(
        self,
        *,
        feature_names: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        feature_types: Mapping[str, str] | None = None,
        max_categories: int = 32,
        n_thresholds: int = 8,
        edge_types: str | bool | None = None,
        node_attributes: Sequence[str] | None = None,
        edge_attributes: Sequence[str] | None = None,
        structure: Families | None = None,
        edge_features: EdgeFeatures = None,
    ) -> None:
        self.feature_names = feature_names
        self.feature_types = feature_types
        self.max_categories = max_categories
        self.n_thresholds = n_thresholds
        self.edge_types = edge_types
        self.node_attributes = node_attributes
        self.edge_attributes = edge_attributes
        self.structure = structure
        self.edge_features = edge_features

    def transform(self, graphs: Any) -> GraphBatch:
        """Return the graphs with the predicates that were learned.

        A value of a categorical column, or an edge relation, that was not in the training graphs
        gives an `UnseenCategoryWarning` and belongs to no predicate or relation.
        """
        check_fitted(self, "columns_")
        batch, unseen = self._encode(self._read(graphs))
        for message in unseen:
            warnings.warn(message, UnseenCategoryWarning, stacklevel=2)
        return batch

    def to_document(self) -> dict[str, Any]:
        """Return the fitted encoder as plain data for JSON."""
        check_fitted(self, "columns_")
        settings = {name: getattr(self, name) for name in _SETTINGS}
        settings["structure"] = self.structure_ or None
        return to_document(
            EncoderState(
                settings, tuple(self.columns_), self.given_relations_, tuple(self.edge_columns_)
            )
        )

    @property
    def tests_(self) -> dict[str, ColumnTest]:
        """How each predicate follows from a column of the graphs."""
        check_fitted(self, "columns_")
        return {
            name: test
            for column in self.columns_
            for name, test in zip(column.names, column.tests, strict=True)
        }

    def edges_by_feature(self, data: Any) -> dict[str, npt.NDArray[np.intp]]:
        """Return the columns of ``edge_index`` in each relation of `edge_features`."""
        raw = self._with_all_types(self._read(data))
        if raw.edges is None:
            return {}
        return edges_by_feature(raw.structure, raw.edges, self.edge_columns_)[0]

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Return the fitted encoder that `to_document` described; everything is checked."""
        state = from_document(document)
        encoder = cls(**state.settings)
        encoder._set_learned(list(state.columns), state.relations, list(state.edge_columns))
        return encoder

    def _read(self, graphs: Any) -> RawGraphs:
        return read_graphs(
            graphs,
            feature_names=self.feature_names,
            edge_types=self.edge_types,
            node_attributes=self.node_attributes,
            edge_attributes=self.edge_attributes,
            edge_features=self.edge_features,
        )

    def _set_learned(
        self,
        columns: list[EncodedColumn],
        relations: tuple[str, ...],
        edge_columns: list[EncodedColumn],
    ) -> None:
        families = check_families(self.structure)
        pairs = [(name, column.name) for column in columns for name in column.names]
        shapes = [(name, "structure") for name in structure_predicates(families)]
        every_name = predicate_names([*pairs, *shapes])
        added = structure_relations(families)
        by_edges = [name for column in edge_columns for name in column.names]
        self.relations_ = check_names((*relations, *by_edges, *added), what="Relation")
        self.edge_columns_ = edge_columns
        self.given_relations_ = relations
        self.structure_ = families
        self.names_ = every_name
        self.columns_ = columns
        self.n_features_in_ = len(columns)
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)

    # Encoding ---------------------------------------------------------------------------------

    def _encode(self, raw: RawGraphs) -> tuple[GraphBatch, list[str]]:
        """Return the encoded graphs, and what to warn of."""
        names = [learned.name for learned in self.columns_]
        raw = self._with_all_types(raw)
        where = node_locator(raw.structure.ptr)
        blocks: list[npt.NDArray[np.bool_]] = []
        unseen: list[str] = []
        for learned, column in zip(self.columns_, aligned_columns(raw.columns, names), strict=True):
            blocks.append(encode_column(learned, column, where))
            unseen += unseen_warnings(learned, column, blocks[-1], where)
        structure = raw.structure
        if self.given_relations_ and not structure.relations and structure.n_edges:
            raise FeatureError(
                f"The graphs must say which relation their edges belong to, as the training graphs "
                f"did: {some_of(self.given_relations_)}. Got edges without any relation."
            )
        by_edges, unseen_on_edges = edge_relations(structure, raw.edges, self.edge_columns_)
        unseen += unseen_on_edges
        if by_edges or set(structure.relations) != set(self.given_relations_):
            unseen.extend(unseen_relations(structure, self.relations_))
            structure = with_relations(structure, self.given_relations_, by_edges)
        n_read = sum(block.shape[1] for block in blocks)
        batch = join_predicates(structure, blocks, self.names_[:n_read])
        return add_structure(batch, self.structure_), unseen

    def _with_all_types(self, raw: RawGraphs) -> RawGraphs:
        columns, edge_columns = (
            [learned.name for learned in every] for every in (self.columns_, self.edge_columns_)
        )
        return aligned_types(raw, columns, edge_columns, self.given_relations_)
