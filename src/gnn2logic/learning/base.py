"""What the estimators share: settings and learning."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from gnn2logic._digests import digest_of_values
from gnn2logic._progress import Progress
from gnn2logic._validation import (
    is_whole,
    seed_from,
)
from gnn2logic._version import __version__
from gnn2logic.engines.threads import limited_threads
from gnn2logic.exceptions import ModelFileError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder
from gnn2logic.idt.files import read_contents
from gnn2logic.idt.model import IDT, Prunings, RuleFront
from gnn2logic.idt.parameters import parameters_from_document, parameters_to_document
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.learning.checkpoints import Checkpoint, CheckpointFile
from gnn2logic.learning.data import CheckedRows, KeptGraphs, RowLabels, TrainingData, training_data
from gnn2logic.learning.graph_estimator import DEFAULT_LAYERS, GraphEstimator
from gnn2logic.learning.inputs import check_scores
from gnn2logic.learning.settings import (
    check_algorithm,
    final_settings,
    layer_modalities,
    layer_settings,
    search_options,
)
from gnn2logic.learning.targets import integer_weights
from gnn2logic.storage import ShardStore

__all__ = ["IDTEstimator"]

# Longer columns of the inner layers are no small part of a rule that people read.
_LONGEST_PROPOSED = 12


class IDTEstimator(IDTPredictor, ClassifierMixin, GraphEstimator):  # type: ignore[misc]
    """What both estimators share: learning the inner layers; what follows is the predictor's."""

    _learned = "model_"
    # In notebooks an estimator has a diagram of its settings before it has a model.
    _repr_html_ = GraphEstimator._repr_html_

    def __init__(
        self,
        n_layers: int | None = None,
        *,
        algorithm: str = "search",
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
        scores: object,
        rows: CheckedRows,
    ) -> None:
        """Learn everything, from graphs as they were `given` and as they were encoded.

        What was learned before is replaced at the very end: if anything fails, it is still there.
        """
        # A subclass may have other parameters, and other defaults.
        algorithm = check_algorithm(self, IDTEstimator().get_params(deep=False))
        encoder, graphs = encoded
        kept = KeptGraphs.with_weight(graphs, rows.absent)
        kept_rows = kept.graphs if self._level == "graph" else kept.nodes
        if isinstance(graphs, GraphBatch) and not kept.graphs.all():
            encoder = self._new_encoder()
            graphs = encoder.fit_transform_some(given, kept.graphs)
        data = training_data(graphs, activations, kept, self._whole("n_shards", least=1))
        labels = RowLabels(
            rows.codes[kept_rows], integer_weights(rows.weights[kept_rows]), len(rows.classes)
        )
        numbers = None if scores is None else check_scores(scores, kept_rows)
        with limited_threads(self.n_jobs):
            if algorithm == "search":
                learned = self._by_search(graphs, data, labels, numbers)
            else:
                if numbers is not None:
                    raise ParameterError(
                        "scores are for algorithm='search'; layers learn from activations and "
                        "labels. Leave scores out."
                    )
                learned = self._by_layers(graphs, data, labels)
        self.encoder_ = encoder
        self.classes_ = rows.classes
        self.front_, self.prunings_, self.chosen_, self.model_ = learned

    def _by_layers(
        self, graphs: GraphBatch | ShardStore, data: TrainingData, labels: RowLabels
    ) -> tuple[RuleFront | None, Prunings, int, IDT]:
        """Learn as the paper does: inner layers, then the final tree."""
        # numba is slow to import and only learning needs it.
        from gnn2logic.learning.fit import fit

        n_layers = self._n_layers(data)
        modalities = layer_modalities(self.modalities, graphs, n_layers)
        inner = [layer_settings(self, of_layer) for of_layer in modalities[:-1]]
        final = final_settings(self, self._level, modalities[-1])
        identity, seed = self._identity(data, labels, [*inner, final])
        checkpoint = None if identity is None else Checkpoint(*identity)
        if checkpoint is not None:
            done = checkpoint.read()
            seed = self._checked_seed(seed, None if done is None else done.seed, checkpoint)
        with Progress("fit", n_layers + 1, verbose=self.verbose) as progress:
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
        chosen = fitted.prunings.index(fitted.alpha)
        tree = fitted.prunings.tree(chosen)
        model = IDT(fitted.columns, fitted.layers, tree, self._level)
        return None, fitted.prunings, chosen, model

    def _by_search(
        self,
        graphs: GraphBatch | ShardStore,
        data: TrainingData,
        labels: RowLabels,
        scores: npt.NDArray[np.float64] | None,
    ) -> tuple[RuleFront | None, Prunings, int, IDT]:
        """Search for short rules; columns that a network's layers suggest take part."""
        from gnn2logic.learning.fit import learn_columns
        from gnn2logic.learning.search.checkpoints import SearchCheckpoint
        from gnn2logic.learning.search.fit import fit_by_search

        n_layers = data.n_activation_layers if data.guided else 0
        depth = min(DEFAULT_LAYERS, n_layers) if data.guided else DEFAULT_LAYERS
        if self.n_layers is not None:
            depth = self._whole("n_layers", least=0)
        modalities = layer_modalities(self.modalities, graphs, depth)[-1]
        if self.n_layers is not None and self._level == "node":
            # After the inner layers a rule about nodes looks at neighbours once more, where a rule
            # about graphs counts nodes.
            depth += 1
        options = search_options(self, modalities, depth=depth)
        inner = [layer_settings(self, modalities)] * n_layers
        # How long it takes and which rule is chosen in the end changes no stage.
        stages = replace(options, max_size=None, max_time=None)
        given = [stages, *inner, *([] if scores is None else [digest_of_values([scores])])]
        identity, seed = self._identity(data, labels, given)
        checkpoint = None if identity is None else SearchCheckpoint(*identity)
        if checkpoint is not None:
            seed = self._checked_seed(seed, checkpoint.seed(), checkpoint)
        engine = self._engine(graphs)
        with Progress("search", None, verbose=self.verbose) as progress:
            formulas = []
            if inner:
                formulas = learn_columns(
                    data, labels, self._level, inner, seed=[seed], engine=engine, progress=progress
                )
            front, chosen = fit_by_search(
                data,
                labels,
                self._level,
                options,
                scores=scores,
                proposed=[phi for phi in formulas if phi.size <= _LONGEST_PROPOSED],
                seed=[seed],
                engine=engine,
                progress=progress,
                checkpoint=checkpoint,
            )
        model = front.models[chosen]
        return front, Prunings.of_one(model.final), chosen, model

    def _identity(
        self, data: TrainingData, labels: RowLabels, settings: Sequence[object]
    ) -> tuple[tuple[Path, str] | None, int]:
        """Return the file of the checkpoint and what identifies the fit, if wanted; the seed."""
        seed = seed_from(self.random_state)
        if self.checkpoint is None:
            return None, seed
        if not isinstance(self.checkpoint, str | os.PathLike):
            raise ParameterError(
                f"checkpoint must be the path of a file, or None. Got {self.checkpoint!r} instead."
            )
        # A seed that was drawn is read from the file, any other one belongs to the settings.
        known = seed if is_whole(self.random_state) else None
        text = repr([__version__, self._level, known, data.names, data.guided])
        rows = (labels.classes, labels.weights, np.array(labels.n_classes))
        identity = digest_of_values([text, *map(repr, settings), data.digest(), *rows])
        return (Path(self.checkpoint), identity), seed

    def _checked_seed(self, seed: int, in_file: int | None, checkpoint: CheckpointFile) -> int:
        """Return the seed of a fit that may go on from a checkpoint."""
        if in_file is not None and is_whole(self.random_state) and in_file != seed:
            raise checkpoint.unsound("its seed is not that of the fit")
        return seed if in_file is None else in_file

    def _n_layers(self, data: TrainingData) -> int:
        given = self.n_layers
        if given is not None:
            self._whole("n_layers", least=0)
        if not data.guided:
            return DEFAULT_LAYERS if given is None else given
        if given is not None and given != data.n_activation_layers:
            raise ParameterError(
                f"n_layers={given} was given together with activations of "
                f"{data.n_activation_layers} layers. Leave n_layers out: the activations say how "
                "many inner layers there are."
            )
        return data.n_activation_layers

    def _model_html(self) -> str:
        return IDTPredictor._repr_html_(self)

    def _parameters_to_save(self) -> dict[str, Any]:
        return parameters_to_document(self)
