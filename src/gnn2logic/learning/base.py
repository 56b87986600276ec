"""What the estimators share: settings and learning."""

from __future__ import annotations

import os

from sklearn.base import ClassifierMixin

from gnn2logic._progress import Progress
from gnn2logic.engines.threads import limited_threads
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder
from gnn2logic.idt.model import IDT, Prunings, RuleFront
from gnn2logic.learning.checkpoints import Checkpoint
from gnn2logic.learning.data import CheckedRows, RowLabels, TrainingData
from gnn2logic.learning.graph_estimator import DEFAULT_LAYERS
from gnn2logic.learning.inputs import check_scores
from gnn2logic.learning.rule_estimator import RuleEstimator
from gnn2logic.learning.settings import (
    check_algorithm,
    final_settings,
    layer_modalities,
    layer_settings,
)
from gnn2logic.learning.targets import integer_weights
from gnn2logic.storage import ShardStore

__all__ = ["IDTEstimator"]


class IDTEstimator(ClassifierMixin, RuleEstimator):  # type: ignore[misc]
    """What both classifiers share: learning by layers or by search."""

    _answer = "class"
    # scikit-learn's does not know the labels of a store.
    score = RuleEstimator.score

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
        encoder, graphs, data, kept_rows = self._learned_from(
            encoded, given, activations, rows.absent
        )
        labels = RowLabels(
            rows.codes[kept_rows], integer_weights(rows.weights[kept_rows]), len(rows.classes)
        )
        numbers = None if scores is None else check_scores(scores, kept_rows)
        with limited_threads(self.n_jobs):
            if algorithm == "search":
                learned = self._by_search(graphs, data, labels, scores=numbers)
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
