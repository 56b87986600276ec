"""A fitted encoder: what was learned about features, and graphs as predicates by it.

Apart from `PredicateEncoder`, so that a saved model predicts without scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_fitted, some_of
from gnn2logic.exceptions import FeatureError, UnseenCategoryWarning
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawColumn, RawGraphs, join_predicates, predicate_names
from gnn2logic.graphs.encoded_columns import EncodedColumn, encode_column, unseen_values
from gnn2logic.graphs.encoder_documents import EncoderState, from_document, to_document
from gnn2logic.graphs.inputs import locate, node_locator
from gnn2logic.graphs.reading import read_graphs

__all__ = ["FittedEncoder"]

_SETTINGS = (
    "feature_names",
    "kinds",
    "max_categories",
    "n_thresholds",
    "edge_types",
    "node_attributes",
    "edge_attributes",
)


class FittedEncoder:
    """Turns graphs into predicates; parameters and attributes are those of `PredicateEncoder`."""

    columns_: list[EncodedColumn]
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    names_: tuple[str, ...]
    relations_: tuple[str, ...]

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
        return to_document(EncoderState(settings, tuple(self.columns_), self.relations_))

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Return the fitted encoder that `to_document` described; everything is checked."""
        state = from_document(document)
        encoder = cls(**state.settings)
        encoder._set_learned(list(state.columns), state.relations)
        return encoder

    def _read(self, graphs: Any) -> RawGraphs:
        return read_graphs(
            graphs,
            feature_names=self.feature_names,
            edge_types=self.edge_types,
            node_attributes=self.node_attributes,
            edge_attributes=self.edge_attributes,
        )

    def _set_learned(self, columns: list[EncodedColumn], relations: tuple[str, ...]) -> None:
        pairs = ((name, column.name) for column in columns for name in column.names)
        self.names_ = predicate_names(pairs)
        self.columns_ = columns
        self.n_features_in_ = len(columns)
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.relations_ = relations

    # Encoding ---------------------------------------------------------------------------------

    def _encode(self, raw: RawGraphs) -> tuple[GraphBatch, list[str]]:
        """Return the encoded graphs, and what to warn of."""
        where = node_locator(raw.structure.ptr)
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
                f"The graphs must have the {len(expected)} columns that the model was made for "
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
        given = structure.relations
        shape = structure.adjacency.shape
        relations = {
            name: given[name] if name in given else sp.csr_array(shape, dtype=np.int32)
            for name in self.relations_
        }
        return GraphBatch(None, structure.adjacency, ptr=structure.ptr, relations=relations)
