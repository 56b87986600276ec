"""What estimators share that search for rules: settings, checkpoints, files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gnn2logic._digests import digest_of_values
from gnn2logic._progress import Progress
from gnn2logic._validation import is_whole, seed_from
from gnn2logic._version import __version__
from gnn2logic.exceptions import ModelFileError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder
from gnn2logic.idt.files import read_contents
from gnn2logic.idt.model import IDT, Prunings, RuleFront
from gnn2logic.idt.parameters import PARAMETERS, parameters_from_document, parameters_to_document
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.learning.checkpoints import CheckpointFile
from gnn2logic.learning.data import RowLabels, TrainingData
from gnn2logic.learning.graph_estimator import DEFAULT_LAYERS, GraphEstimator
from gnn2logic.learning.settings import layer_modalities, layer_settings, search_options
from gnn2logic.storage import ShardStore

if TYPE_CHECKING:
    from gnn2logic.learning.search.numbers import NumberTargets

__all__ = ["RuleEstimator"]

# Longer columns of the inner layers are no small part of a rule that people read.
_LONGEST_PROPOSED = 12


class RuleEstimator(IDTPredictor, GraphEstimator):
    """Searches for rules; what follows is the predictor's."""

    _learned = "model_"
    # In notebooks an estimator has a diagram of its settings before it has a model.
    _repr_html_ = GraphEstimator._repr_html_

    n_layers: int | None
    modalities: object
    checkpoint: str | os.PathLike[str] | None
    random_state: object
    verbose: int | None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved model as an estimator that can be fitted again with the same settings."""
        contents = read_contents(path)
        if (contents.model.level, contents.answer) != (cls._level, cls._answer):
            raise ModelFileError(
                f"Cannot load {os.fspath(path)!r}. It must hold a model that gives {cls._level}s "
                f"a {cls._answer}. Got one that gives {contents.model.level}s a "
                f"{contents.answer}; use gnn2logic.load."
            )
        encoder = PredicateEncoder.from_document(contents.encoder)
        parameters = parameters_from_document(contents.parameters)
        estimator = cls._with_settings(parameters, encoder)
        estimator._take(contents, encoder)
        return estimator

    def _by_search(
        self,
        graphs: GraphBatch | ShardStore,
        data: TrainingData,
        labels: RowLabels,
        *,
        scores: npt.NDArray[np.float64] | None = None,
        numbers: NumberTargets | None = None,
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
        inner = [layer_settings(self, modalities)] * n_layers if n_layers else []
        # How long it takes and which rule is chosen in the end changes no stage.
        stages = replace(options, max_size=None, max_time=None)
        given: list[object] = [stages, *inner]
        if scores is not None:
            given.append(digest_of_values([scores]))
        if numbers is not None:
            given += [numbers.loss, digest_of_values([numbers.numbers])]
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
                numbers=numbers,
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

    def _model_html(self) -> str:
        return IDTPredictor._repr_html_(self)

    def _parameters_to_save(self) -> dict[str, Any]:
        return parameters_to_document(self, [name for name in PARAMETERS if hasattr(self, name)])
