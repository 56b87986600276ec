"""What the estimators share: settings and learning."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from gnn2logic._digests import digest_of_values
from gnn2logic._progress import Progress
from gnn2logic._validation import (
    check_choice,
    check_number,
    check_whole,
    is_whole,
    seed_from,
    some_of,
)
from gnn2logic._version import __version__
from gnn2logic.engines import Engine, LocalEngine, as_engine
from gnn2logic.engines.threads import limited_threads
from gnn2logic.exceptions import LabelError, ModelFileError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder, graph_tags
from gnn2logic.idt.files import read_contents
from gnn2logic.idt.model import IDT, Prunings
from gnn2logic.idt.parameters import parameters_from_document, parameters_to_document
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.learning.checkpoints import Checkpoint
from gnn2logic.learning.data import CheckedRows, KeptGraphs, RowLabels, TrainingData, training_data
from gnn2logic.learning.settings import (
    check_measures,
    final_settings,
    layer_modalities,
    layer_settings,
)
from gnn2logic.learning.targets import integer_weights
from gnn2logic.storage import ShardStore

__all__ = ["IDTEstimator"]

_DEFAULT_LAYERS = 3
# What a search has no use for.
_LAYERS_ONLY = (
    "width",
    "layer_depth",
    "max_features",
    "max_samples",
    "random_thresholds",
    "leaf_sets",
    "max_depth",
    "ccp_alpha",
    "projection",
    "n_shards",
    "engine",
    "checkpoint",
)
# What a fit on a store takes unless an engine says otherwise.
_STORE_MEMORY = "1 GiB"


class IDTEstimator(IDTPredictor, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: learning the inner layers; what follows is the predictor's."""

    def __init__(
        self,
        n_layers: int | None = None,
        *,
        algorithm: str = "layers",
        max_size: int | None = None,
        max_time: float | None = None,
        width: int = 32,
        layer_depth: int = 2,
        modalities: object = "auto",
        absolute: bool = True,
        relative: bool = True,
        max_features: float = 1 / 3,
        max_samples: float | None = None,
        random_thresholds: bool = False,
        leaf_sets: str = "nested",
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        ccp_alpha: float | str = "auto",
        projection: int | None = 16,
        class_weight: object = None,
        encoder: object = None,
        n_shards: int = 1,
        engine: object = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int | None = None,
    ) -> None:
        self.n_layers = n_layers
        self.algorithm = algorithm
        self.max_size = max_size
        self.max_time = max_time
        self.width = width
        self.layer_depth = layer_depth
        self.modalities = modalities
        self.absolute = absolute
        self.relative = relative
        self.max_features = max_features
        self.max_samples = max_samples
        self.random_thresholds = random_thresholds
        self.leaf_sets = leaf_sets
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.ccp_alpha = ccp_alpha
        self.projection = projection
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_shards = n_shards
        self.engine = engine
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved model as an estimator that can be fitted again with the same settings."""
        contents = read_contents(path)
        if contents.model.level != cls._level:
            raise ModelFileError(
                f"Cannot load {os.fspath(path)!r}. It must hold a model for {cls._level}s. "
                f"Got one for {contents.model.level}s instead; use gnn2logic.load."
            )
        encoder = PredicateEncoder.from_document(contents.encoder)
        estimator = cls(**parameters_from_document(contents.parameters))
        settings = encoder.get_params()
        if settings != PredicateEncoder().get_params():
            estimator.encoder = PredicateEncoder(**settings)
        estimator._take(contents, encoder)
        return estimator

    # Learning --------------------------------------------------------------------------------

    def _learn(
        self,
        encoded: tuple[PredicateEncoder, GraphBatch | ShardStore],
        given: object,
        activations: object,
        rows: CheckedRows,
    ) -> None:
        """Learn everything, from graphs as they were `given` and as they were encoded.

        What was learned before is replaced at the very end: if anything fails, it is still there.
        """
        # numba is slow to import and only learning needs it.
        from gnn2logic.learning.fit import fit

        algorithm = check_choice("algorithm", self.algorithm, ("layers", "search"))
        if algorithm == "search":
            self._learn_by_search(encoded, given, activations, rows)
            return
        for name in ("max_size", "max_time"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    f"{name} belongs to algorithm='search'. Got it with algorithm='layers'."
                )
        encoder, graphs = encoded
        kept = KeptGraphs.with_weight(graphs, rows.absent)
        kept_rows = kept.graphs if self._level == "graph" else kept.nodes
        if isinstance(graphs, GraphBatch) and not kept.graphs.all():
            encoder = self._new_encoder()
            graphs = encoder.fit_transform_some(given, kept.graphs)
        data = training_data(graphs, activations, kept, self._whole("n_shards", least=1))
        n_layers = self._n_layers(data)
        modalities = layer_modalities(self.modalities, graphs, n_layers)
        inner = [layer_settings(self, of_layer) for of_layer in modalities[:-1]]
        final = final_settings(self, self._level, modalities[-1])
        weights = integer_weights(rows.weights[kept_rows])
        labels = RowLabels(rows.codes[kept_rows], weights, len(rows.classes))
        checkpoint, seed = self._checkpoint(data, labels, [*inner, final])
        with (
            Progress("fit", n_layers + 1, verbose=self.verbose) as progress,
            limited_threads(self.n_jobs),
        ):
            fitted = fit(
                data,
                labels,
                inner,
                final,
                seed=[seed],
                engine=self._engine(graphs),
                progress=progress,
                checkpoint=checkpoint,
            )
        self.encoder_ = encoder
        self.classes_ = rows.classes
        self.front_ = None
        self.prunings_ = fitted.prunings
        self.chosen_ = fitted.prunings.index(fitted.alpha)
        chosen = fitted.prunings.tree(self.chosen_)
        self.model_ = IDT(fitted.columns, fitted.layers, chosen, self._level)

    def _learn_by_search(
        self,
        encoded: tuple[PredicateEncoder, GraphBatch | ShardStore],
        given: object,
        activations: object,
        rows: CheckedRows,
    ) -> None:
        """Learn rules by search, from labels alone."""
        from gnn2logic.learning.search.fit import SearchOptions, fit_by_search

        if activations is not None:
            raise ParameterError(
                "algorithm='search' learns from labels alone. Leave activations out, or choose "
                "algorithm='layers'."
            )
        defaults = type(self)().get_params(deep=False)
        for name in _LAYERS_ONLY:
            if getattr(self, name) != defaults[name]:
                raise ParameterError(
                    f"{name} belongs to algorithm='layers'. Got {name}={getattr(self, name)!r} "
                    "with algorithm='search'."
                )
        encoder, graphs = encoded
        kept = KeptGraphs.with_weight(graphs, rows.absent)
        kept_rows = kept.graphs if self._level == "graph" else kept.nodes
        if isinstance(graphs, ShardStore):
            graphs = GraphBatch.concat(graphs)
            graphs = graphs.take(kept.graphs)
        elif not kept.graphs.all():
            encoder = self._new_encoder()
            graphs = encoder.fit_transform_some(given, kept.graphs)
        n_layers = _DEFAULT_LAYERS if self.n_layers is None else self._whole("n_layers", least=0)
        check_measures(self)
        options = SearchOptions(
            modalities=layer_modalities(self.modalities, graphs, n_layers)[-1],
            absolute=bool(self.absolute),
            relative=bool(self.relative),
            depth=n_layers,
            min_rows=self._whole("min_samples_leaf", least=1),
            max_size=None if self.max_size is None else self._whole("max_size", least=1),
            max_time=None if self.max_time is None else check_number("max_time", self.max_time),
        )
        labels = RowLabels(
            rows.codes[kept_rows], integer_weights(rows.weights[kept_rows]), len(rows.classes)
        )
        with (
            Progress("search", None, verbose=self.verbose) as progress,
            limited_threads(self.n_jobs),
        ):
            front, chosen = fit_by_search(
                graphs,
                labels,
                self._level,
                options,
                seed=[seed_from(self.random_state)],
                progress=progress,
            )
        self.encoder_ = encoder
        self.classes_ = rows.classes
        self.front_ = front
        self.chosen_ = chosen
        self.model_ = front.models[chosen]
        self.prunings_ = Prunings.of_one(self.model_.final)

    def _engine(self, graphs: GraphBatch | ShardStore) -> Engine:
        """Return who does the work; graphs on disk are never all in memory."""
        if self.engine is None and isinstance(graphs, ShardStore):
            every = self.n_jobs is None or self.n_jobs == -1
            n_threads = os.cpu_count() or 1 if every else self._whole("n_jobs", least=1)
            return LocalEngine(n_threads, max_memory=_STORE_MEMORY)
        return as_engine(self.engine)

    def _checkpoint(
        self, data: TrainingData, labels: RowLabels, settings: Sequence[object]
    ) -> tuple[Checkpoint | None, int]:
        """Return the checkpoint, if one is wanted, and the seed of the fit."""
        if self.checkpoint is None:
            return None, seed_from(self.random_state)
        if not isinstance(self.checkpoint, str | os.PathLike):
            raise ParameterError(
                f"checkpoint must be the path of a file, or None. Got {self.checkpoint!r} instead."
            )
        # A seed that was drawn is read from the file, any other one belongs to the settings.
        drawn = not is_whole(self.random_state)
        seed = seed_from(self.random_state)
        text = repr([__version__, self._level, None if drawn else seed, data.names, data.guided])
        rows = (labels.classes, labels.weights, np.array(labels.n_classes))
        identity = digest_of_values([text, *map(repr, settings), data.digest(), *rows])
        checkpoint = Checkpoint(Path(self.checkpoint), identity)
        done = checkpoint.read()
        if done is not None and not drawn and done.seed != seed:
            raise checkpoint.unsound("its seed is not that of the fit")
        return checkpoint, seed if done is None else done.seed

    def _n_layers(self, data: TrainingData) -> int:
        given = self.n_layers
        if given is not None:
            self._whole("n_layers", least=0)
        if not data.guided:
            return _DEFAULT_LAYERS if given is None else given
        if given is not None and given != data.n_activation_layers:
            raise ParameterError(
                f"n_layers={given} was given together with activations of "
                f"{data.n_activation_layers} layers. Leave n_layers out: the activations say how "
                "many inner layers there are."
            )
        return data.n_activation_layers

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

    # In notebooks: scikit-learn's diagram of the settings before fit, the rules afterwards.

    def _repr_html_inner(self) -> str:
        if hasattr(self, "model_"):
            return IDTPredictor._repr_html_(self)
        diagram: str = super()._repr_html_inner()
        return diagram

    @property
    def _repr_html_(self) -> Any:
        return BaseEstimator._repr_html_.fget(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "model_") and "text/html" in shown:
            shown["text/html"] = self._repr_html_inner()
        return shown

    def _parameters_to_save(self) -> dict[str, Any]:
        return parameters_to_document(self)
