"""What every fitted model does with graphs before it predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_fitted, some_of
from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.storage import ShardStore

__all__ = ["GraphModel"]


class GraphModel:
    """A model with an encoder that turns the graphs of users into predicates.

    Attributes
    ----------
    encoder_ : FittedEncoder
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.
    """

    _level: Literal["graph", "node"]
    encoder_: FittedEncoder

    def _terms(self) -> tuple[set[str], set[str]]:
        """Return the predicates and the relations that the model speaks of."""
        raise NotImplementedError

    def _batches(self, graphs: object) -> Iterator[GraphBatch]:
        """Give the graphs as predicates, those of a store shard by shard."""
        if not isinstance(graphs, ShardStore):
            yield self.encoder_.transform(graphs)
            return
        # Graphs of a store are predicates already, so the encoder has nothing to do with them.
        predicates, relations = self._terms()
        _check_known("predicate", predicates, graphs.names)
        _check_known("relation", relations, graphs.relation_names)
        yield from graphs

    def _truth(self, graphs: object, y: object) -> object:
        """Return the labels that were given, or else those in a store."""
        if y is None and isinstance(graphs, ShardStore) and graphs.label_level == self._level:
            return graphs.y
        return y

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


def _check_known(what: str, wanted: set[str], known: Any) -> None:
    if missing := sorted(wanted - set(known)):
        raise FeatureError(
            f"The store must have the {what}s that the model uses. It has no {missing[0]!r}, "
            f"only {some_of(known)}. Write the graphs with the encoder of the model: "
            "write_shards(..., encoder=model.encoder_)."
        )
