"""What all estimators on graphs share: encoding, engines, copies, how they show themselves."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from gnn2logic._validation import check_whole, some_of
from gnn2logic.engines import Engine, LocalEngine, as_engine
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder, graph_tags
from gnn2logic.learning.data import KeptGraphs, TrainingData, training_data
from gnn2logic.storage import ShardStore

__all__ = ["DEFAULT_LAYERS", "GraphEstimator"]

# How many modal parameters are nested unless somebody says otherwise.
DEFAULT_LAYERS = 3
# What a fit on a store takes unless an engine says otherwise.
_STORE_MEMORY = "1 GiB"


class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose input is graphs of any kind, or a store of them."""

    _level: Literal["graph", "node"]
    # What a fitted one has.
    _learned: str
    encoder: object
    engine: object
    n_jobs: int | None

    @classmethod
    def _with_settings(cls, parameters: Mapping[str, Any], encoder: PredicateEncoder) -> Self:
        """Return an estimator with the settings of a saved one, also those of its encoder."""
        known = cls._get_param_names()
        estimator = cls(**{name: value for name, value in parameters.items() if name in known})
        settings = encoder.get_params()
        if settings != PredicateEncoder().get_params():
            estimator.encoder = PredicateEncoder(**settings)
        return estimator

    def _engine(self, graphs: GraphBatch | ShardStore) -> Engine:
        """Return who does the work; graphs on disk are never all in memory."""
        if self.engine is None and isinstance(graphs, ShardStore):
            every = self.n_jobs is None or self.n_jobs == -1
            n_threads = os.cpu_count() or 1 if every else self._whole("n_jobs", least=1)
            return LocalEngine(n_threads, max_memory=_STORE_MEMORY)
        return as_engine(self.engine)

    def _whole(self, name: str, *, least: int) -> int:
        return check_whole(name, getattr(self, name), least=least)

    def _encode(self, graphs: object) -> tuple[PredicateEncoder, GraphBatch | ShardStore]:
        """Return a fitted encoder, and the training graphs as predicates.

        Graphs that can be walked through only once must have been made a list before.
        """
        if isinstance(graphs, ShardStore):
            if self.encoder is not None:
                raise ParameterError(
                    "encoder must be None for a store, whose graphs were encoded when it was "
                    "written. Give the encoder to write_shards."
                )
            return PredicateEncoder.from_document(graphs.encoder.to_document()), graphs
        encoder = self._new_encoder()
        return encoder, encoder.fit_transform(graphs)

    def _learned_from(
        self,
        encoded: tuple[PredicateEncoder, GraphBatch | ShardStore],
        given: object,
        activations: object,
        absent: npt.NDArray[np.bool_],
    ) -> tuple[PredicateEncoder, GraphBatch | ShardStore, TrainingData, npt.NDArray[np.bool_]]:
        """Return the graphs that some row of is learned from, their shards, and which rows are.

        Parameters
        ----------
        encoded : pair of PredicateEncoder and graphs
        given : object
            The graphs as users gave them: without those that are absent, another encoder may be
            learned.
        activations : object
        absent : array of bool
            Rows, graphs or nodes, that are as if they were not there.
        """
        encoder, graphs = encoded
        kept = KeptGraphs.with_weight(graphs, absent)
        if isinstance(graphs, GraphBatch) and not kept.graphs.all():
            encoder = self._new_encoder()
            graphs = encoder.fit_transform_some(given, kept.graphs)
        data = training_data(graphs, activations, kept, self._whole("n_shards", least=1))
        return encoder, graphs, data, kept.graphs if self._level == "graph" else kept.nodes

    def _new_encoder(self) -> PredicateEncoder:
        if self.encoder is not None and not isinstance(self.encoder, PredicateEncoder):
            raise ParameterError(
                f"encoder must be a PredicateEncoder or None. Got {self.encoder!r} instead."
            )
        encoder: PredicateEncoder = (
            PredicateEncoder() if self.encoder is None else clone(self.encoder)
        )
        return encoder

    def _given_labels(self, y: object, graphs: GraphBatch | ShardStore) -> object:
        """Return the labels that were given, or else those of the store."""
        if y is not None or not isinstance(graphs, ShardStore):
            return y
        if graphs.label_level != self._level:
            raise LabelError(
                f"y must be given for a store without labels of {self._level}s. The labels of the "
                f"store are of: {graphs.label_level or 'nothing'}."
            )
        return graphs.y

    def __sklearn_clone__(self) -> Self:
        # Who does the work is shared, not copied: a cluster has no copy.
        plain = {
            name: clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
            if name != "engine"
        }
        copied = type(self)(engine=self.engine, **plain)
        if hasattr(self, "_metadata_request"):
            copied._metadata_request = copy.deepcopy(self._metadata_request)
        return copied

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__())

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, as scikit-learn does."""
        # scikit-learn's message for unknown names would print the whole fitted model.
        for key in params:
            if key.partition("__")[0] not in (names := self._get_param_names()):
                raise ParameterError(
                    f"{key!r} is not a parameter. Parameters: {some_of(names, limit=30)}."
                )
        super().set_params(**params)
        return self

    # In notebooks: scikit-learn's diagram of the settings before fit, the model afterwards.

    def _model_html(self) -> str:
        """Return the fitted model for notebooks."""
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        if hasattr(self, self._learned):
            return self._model_html()
        diagram: str = super()._repr_html_inner()
        return diagram

    @property
    def _repr_html_(self) -> Any:
        return BaseEstimator._repr_html_.fget(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, self._learned) and "text/html" in shown:
            shown["text/html"] = self._repr_html_inner()
        return shown
