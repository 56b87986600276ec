"""What every fitted model does with graphs before it predicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_fitted, some_of
from gnn2logic.exceptions import FeatureError, TranslationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.logic.export import CypherNames, Question, SqlTables, to_cypher, to_python, to_sql
from gnn2logic.logic.export.questions import Answer
from gnn2logic.logic.walk import predicate_names, relation_names
from gnn2logic.storage import ShardStore

__all__ = ["EncodedGraphs", "GraphModel", "WithEncoder", "r_squared"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EncodedGraphs:
    """Graphs as predicates already, for several models that share their encoder."""

    batch: GraphBatch


class WithEncoder:
    """What has a fitted encoder, by which it reads the graphs of users."""

    encoder_: FittedEncoder

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the graphs: features, or predicates if they had those."""
        check_fitted(self, "encoder_")
        return self.encoder_.n_features_in_

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of these columns."""
        check_fitted(self, "encoder_")
        return self.encoder_.feature_names_in_


class GraphModel(WithEncoder):
    """A model with an encoder that turns the graphs of users into predicates.

    Attributes
    ----------
    encoder_ : FittedEncoder
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.
    """

    _level: Literal["graph", "node"]

    def _terms(self) -> tuple[set[str], set[str]]:
        """Return the predicates and the relations that the model speaks of."""
        raise NotImplementedError

    def _batches(self, graphs: object) -> Iterator[GraphBatch]:
        """Give the graphs as predicates, those of a store shard by shard."""
        if isinstance(graphs, EncodedGraphs):
            yield graphs.batch
            return
        if not isinstance(graphs, ShardStore):
            yield self.encoder_.transform(graphs)
            return
        # Graphs of a store are predicates already, so the encoder has nothing to do with them.
        self._check_terms(graphs)
        yield from graphs

    def _check_terms(self, graphs: ShardStore | GraphBatch) -> None:
        """Refuse graphs, as they are in a store, that lack what the model speaks of."""
        predicates, relations = self._terms()
        _check_known("predicate", predicates, graphs.names)
        _check_known("relation", relations, graphs.relation_names)

    def _truth(self, graphs: object, y: object) -> object:
        """Return the labels that were given, or else those in a store."""
        if y is None and isinstance(graphs, ShardStore) and graphs.label_level == self._level:
            return graphs.y
        return y

    # For other programs ------------------------------------------------------------------------

    def _asked(self) -> Answer:
        """Return what the model asks of graphs."""
        raise NotImplementedError

    def _question(self) -> Question:
        answer, tests = self._asked(), self.encoder_.tests_
        given = {*tests, *self.encoder_.given_relations_}
        used = {*predicate_names(*answer.formulas), *relation_names(*answer.formulas)}
        measured = sorted(used - given)
        by_edges = {name for column in self.encoder_.edge_columns_ for name in column.names}
        if measured and measured[0] in by_edges:
            raise TranslationError(
                f"{measured[0]!r} follows from a number on edges, and the query reads edges of a "
                "relation, no numbers on them. Store such edges as a relation of this name, and "
                "export the formula: model.formula(label).to_sql()."
            )
        if measured:
            raise TranslationError(
                f"{measured[0]!r} is measured on whole graphs and is no column of them, so the "
                "query cannot compute it. Store what gnn2logic.structure measures as columns, and "
                "export the formula: model.formula(label).to_sql()."
            )
        return Question(answer, self._level, tests)

    def to_sql(self, *, tables: SqlTables | None = None) -> str:
        """Return the model as an SQL query: a row with the prediction for each graph (or node).

        The table of nodes has the columns of the graphs that the model was fitted on, such as
        ``atom``, not the predicates that are made of them: see `gnn2logic.logic.export.to_sql`.
        """
        return to_sql(self._question(), tables=tables)

    def to_cypher(self, *, names: CypherNames | None = None) -> str:
        """Return the model as a Cypher query, on the properties that it was fitted on.

        See `gnn2logic.logic.export.to_cypher`.
        """
        return to_cypher(self._question(), names=names)

    def to_python(self, *, name: str | None = None) -> str:
        """Return the source of a function that predicts and imports nothing.

        It reads the properties that the model was fitted on: see
        `gnn2logic.logic.export.to_python`.
        """
        return to_python(self._question(), name=name)

    @property
    def level(self) -> Literal["graph", "node"]:
        """What is predicted for: "graph" or "node"."""
        return self._level


def r_squared(truth: FloatArray, predicted: FloatArray, weights: FloatArray) -> float:
    """Return the share of the variance that is explained; 0 for the mean, also of one value."""
    mean = np.average(truth, weights=weights)
    total = float(weights @ (truth - mean) ** 2)
    rest = float(weights @ (truth - predicted) ** 2)
    if total == 0:
        return 1.0 if rest == 0 else 0.0
    return 1 - rest / total


def _check_known(what: str, wanted: set[str], known: Any) -> None:
    if missing := sorted(wanted - set(known)):
        raise FeatureError(
            f"The store must have the {what}s that the model uses. It has no {missing[0]!r}, "
            f"only {some_of(known)}. Write the graphs with the encoder of the model: "
            "write_shards(..., encoder=model.encoder_)."
        )
