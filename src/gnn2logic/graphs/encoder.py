"""`PredicateEncoder`: features of any kind as named Boolean predicates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gnn2logic._validation import some_of
from gnn2logic.exceptions import FeatureError, UnseenCategoryWarning
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawColumn, RawGraphs, join_predicates, predicate_names
from gnn2logic.graphs.encoded_columns import (
    KINDS,
    EncodedColumn,
    Kind,
    encode_column,
    learn_column,
    unseen_values,
)
from gnn2logic.graphs.encoder_documents import EncoderState, from_document, to_document
from gnn2logic.graphs.inputs import locate, node_place
from gnn2logic.graphs.reading import read_graphs

__all__ = ["PredicateEncoder"]


class PredicateEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """Turn the features of graphs into named predicates, learned on training graphs.

    A column of 0 and 1 stays a predicate. A column of whole numbers with few values, or of
    strings, gives one predicate ``name=value`` per value. Any other column of numbers gives
    predicates ``name > t`` with a few thresholds chosen on the training graphs.

    Parameters
    ----------
    feature_names : sequence of str, optional
        Names of the columns of feature matrices, ``U0, U1, ...`` by default.
    kinds : mapping of str to {"binary", "categorical", "continuous"}, optional
        What to make of the named columns, instead of what their values suggest.
    max_categories : int, default=32
        A column of whole numbers with more values than this is cut by thresholds; one of strings
        is refused.
    n_thresholds : int, default=8
        The largest number of thresholds of one column.
    edge_types : str, optional
        For PyG graphs, see `from_pyg`.
    node_attributes, edge_attributes : sequence of str, optional
        For networkx graphs, see `from_networkx`.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        What was learned about each column: name, kind, categories or thresholds.
    names_ : tuple of str
        The names of the predicates, in the order of their columns.
    relations_ : tuple of str
        The edge relations of the training graphs; transformed graphs have exactly these.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = 1 - np.eye(3, dtype=int)
    >>> features = np.array([[7, 0.12], [8, 0.48], [7, 0.97]])
    >>> encoder = PredicateEncoder(feature_names=["atom", "charge"])
    >>> encoder.fit([(triangle, features)]).names_
    ('atom=7', 'atom=8', 'charge > 0.3', 'charge > 0.7')
    >>> encoder.transform([(triangle, features)]).column("charge > 0.3").astype(int)
    array([0, 1, 1])
    """

    def __init__(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
        max_categories: int = 32,
        n_thresholds: int = 8,
        edge_types: str | bool | None = None,
        node_attributes: Sequence[str] | None = None,
        edge_attributes: Sequence[str] | None = None,
    ) -> None:
        self.feature_names = feature_names
        self.kinds = kinds
        self.max_categories = max_categories
        self.n_thresholds = n_thresholds
        self.edge_types = edge_types
        self.node_attributes = node_attributes
        self.edge_attributes = edge_attributes

    def fit(self, graphs: Any, y: object = None) -> PredicateEncoder:
        """Learn categories and thresholds on training graphs; `y` is ignored."""
        self._learn(self._read(graphs))
        return self

    def transform(self, graphs: Any) -> GraphBatch:
        """Return the graphs with the predicates that were learned.

        A value of a categorical column, or an edge relation, that was not in the training graphs
        gives an `UnseenCategoryWarning` and belongs to no predicate or relation.
        """
        check_is_fitted(self)
        batch, unseen = self._encode(self._read(graphs))
        for message in unseen:
            warnings.warn(message, UnseenCategoryWarning, stacklevel=2)
        return batch

    def fit_transform(self, graphs: Any, y: object = None) -> GraphBatch:
        """Fit on `graphs` and return them with the predicates; they are read only once."""
        raw = self._read(graphs)
        self._learn(raw)
        return self._encode(raw)[0]

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Any:
        """Return the names of the predicates as an array.

        `input_features`, when given, must be the names of the columns seen at fit.
        """
        check_is_fitted(self)
        if input_features is not None:
            expected = tuple(column.name for column in self.columns_)
            if tuple(input_features) != expected:
                raise FeatureError(
                    f"input_features must be the columns seen at fit: {some_of(expected)}. "
                    f"Got {some_of(tuple(input_features))} instead."
                )
        return np.array(self.names_, dtype=object)

    def to_document(self) -> dict[str, Any]:
        """Return the fitted encoder as plain data for JSON."""
        check_is_fitted(self)
        return to_document(
            EncoderState(self.get_params(deep=False), tuple(self.columns_), self.relations_)
        )

    @classmethod
    def from_document(cls, document: object) -> PredicateEncoder:
        """Return the fitted encoder that `to_document` described; everything is checked."""
        state = from_document(document)
        encoder = cls(**state.settings)
        encoder._set_learned(list(state.columns), state.relations)
        return encoder

    # Learning ---------------------------------------------------------------------------------

    def _read(self, graphs: Any) -> RawGraphs:
        return read_graphs(
            graphs,
            feature_names=self.feature_names,
            edge_types=self.edge_types,
            node_attributes=self.node_attributes,
            edge_attributes=self.edge_attributes,
        )

    def _learn(self, raw: RawGraphs) -> None:
        for option in ("max_categories", "n_thresholds"):
            value = getattr(self, option)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise FeatureError(f"{option} must be a whole number >= 1. Got {value!r} instead.")
        kinds = self._checked_kinds(tuple(column.name for column in raw.columns))
        where = node_place(raw.structure.ptr)
        columns = [
            learn_column(
                column,
                kinds.get(column.name),
                max_categories=self.max_categories,
                n_thresholds=self.n_thresholds,
                where=where,
            )
            for column in raw.columns
        ]
        self._set_learned(columns, tuple(raw.structure.relations))

    def _checked_kinds(self, names: Sequence[str]) -> Mapping[str, Kind]:
        kinds = {} if self.kinds is None else self.kinds
        if not isinstance(kinds, Mapping):
            raise FeatureError(
                f"kinds must map column names to one of {some_of(KINDS)}. Got {kinds!r} instead."
            )
        for name, kind in kinds.items():
            if name not in names:
                raise FeatureError(
                    f"kinds must name columns of the graphs: {some_of(names)}. "
                    f"Got {name!r} instead."
                )
            if kind not in KINDS:
                raise FeatureError(
                    f"The kind of column {name!r} must be one of {some_of(KINDS)}. "
                    f"Got {kind!r} instead."
                )
        return cast("Mapping[str, Kind]", kinds)

    def _set_learned(self, columns: list[EncodedColumn], relations: tuple[str, ...]) -> None:
        pairs = ((name, column.name) for column in columns for name in column.names)
        self.names_ = predicate_names(pairs)
        self.columns_ = columns
        self.relations_ = relations

    # Encoding ---------------------------------------------------------------------------------

    def _encode(self, raw: RawGraphs) -> tuple[GraphBatch, list[str]]:
        """Return the encoded graphs, and what to warn of."""
        where = node_place(raw.structure.ptr)
        blocks: list[npt.NDArray[np.bool_]] = []
        unseen: list[str] = []
        for learned, column in zip(self.columns_, self._aligned(raw.columns), strict=True):
            blocks.append(encode_column(learned, column, where))
            if learned.kind == "categorical":
                values, first = unseen_values(column, blocks[-1])
                if values:
                    unseen.append(
                        f"Column {learned.name!r} has values that were not in the training graphs: "
                        f"{some_of(values)}, first at {where(first)}. They belong to none of its "
                        "categories."
                    )
        structure = raw.structure
        if self.relations_ and not structure.relations and structure.n_edges:
            raise FeatureError(
                f"The graphs must say which relation their edges belong to, as the training graphs "
                f"did: {some_of(self.relations_)}. Got edges without any relation."
            )
        if set(structure.relations) != set(self.relations_):
            unseen.extend(self._unseen_relations(structure))
            structure = self._with_relations(structure)
        return join_predicates(structure, blocks, self.names_), unseen

    def _aligned(self, columns: Sequence[RawColumn]) -> list[RawColumn]:
        """Return the columns in the order of the training graphs."""
        by_name = {column.name: column for column in columns}
        expected = tuple(learned.name for learned in self.columns_)
        if set(by_name) != set(expected):
            raise FeatureError(
                f"The graphs must have the {len(expected)} columns seen at fit "
                f"({some_of(expected)}). Got {len(by_name)} ({some_of(tuple(by_name))})."
            )
        return [by_name[name] for name in expected]

    def _unseen_relations(self, structure: GraphBatch) -> list[str]:
        new = {
            name: matrix
            for name, matrix in structure.relations.items()
            if name not in self.relations_ and matrix.nnz
        }
        if not new:
            return []
        first = min(int(np.argmax(np.diff(matrix.indptr) > 0)) for matrix in new.values())
        return [
            "The graphs have edge relations that were not in the training graphs: "
            f"{some_of(tuple(new))}, first in graph {locate(structure.ptr, first)[0]}. "
            "Their edges count as edges of no relation."
        ]

    def _with_relations(self, structure: GraphBatch) -> GraphBatch:
        """Return the graphs with exactly the relations of the training graphs."""
        found = structure.relations
        shape = structure.adjacency.shape
        relations = {
            name: found[name] if name in found else sp.csr_array(shape, dtype=np.int32)
            for name in self.relations_
        }
        return GraphBatch(None, structure.adjacency, ptr=structure.ptr, relations=relations)
