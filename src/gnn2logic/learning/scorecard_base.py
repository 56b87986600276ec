"""What all scorecards share as scikit-learn estimators: graphs in, a path of cards out."""

from __future__ import annotations

import os
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from gnn2logic._progress import Progress
from gnn2logic._validation import seed_from
from gnn2logic.engines.threads import limited_threads
from gnn2logic.exceptions import ModelFileError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.encoder import PredicateEncoder
from gnn2logic.idt.parameters import parameters_from_document, parameters_to_document
from gnn2logic.learning.data import RowLabels
from gnn2logic.learning.graph_estimator import DEFAULT_LAYERS, GraphEstimator
from gnn2logic.learning.settings import card_options, layer_modalities
from gnn2logic.learning.targets import integer_weights
from gnn2logic.scorecards.documents import PARAMETERS, read_card
from gnn2logic.scorecards.predictor import ScorecardPredictor
from gnn2logic.storage import ShardStore

__all__ = ["ScorecardEstimator"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class ScorecardEstimator(ScorecardPredictor, GraphEstimator):
    """What all scorecards share: learning lines and points; what follows is the predictor's."""

    _learned = "path_"
    _answer: Literal["class", "number"]
    # How wrong numbers count; estimators of numbers let users choose.
    loss: Any = "squared"
    # In notebooks an estimator has a diagram of its settings before it has a model.
    _repr_html_ = GraphEstimator._repr_html_

    max_lines: int
    max_line_size: int
    max_points: int
    n_layers: int | None
    modalities: object
    random_state: object
    verbose: int | None
    n_shards: int

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved scorecard as an estimator that can be fitted again with its settings."""
        contents = read_card(path)
        card = contents.path.rows[contents.path.chosen].card
        if (card.level, card.answer) != (cls._level, cls._answer):
            raise ModelFileError(
                f"Cannot load {os.fspath(path)!r}. It must hold a scorecard that gives "
                f"{cls._level}s a {cls._answer}. Got one that gives {card.level}s a "
                f"{card.answer}; use gnn2logic.load."
            )
        encoder = PredicateEncoder.from_document(contents.encoder)
        parameters = parameters_from_document(contents.parameters, PARAMETERS)
        estimator = cls._with_settings(parameters, encoder)
        estimator._take(contents, encoder)
        return estimator

    def _learn(
        self,
        encoded: tuple[PredicateEncoder, GraphBatch | ShardStore],
        given: object,
        codes: npt.NDArray[np.int64],
        n_classes: int,
        weights: FloatArray,
        absent: BoolArray,
        values: FloatArray | None,
    ) -> None:
        """Learn lines and points from graphs as they were `given` and as they were encoded.

        What was learned before is replaced at the very end: if anything fails, it is still there.
        """
        # numba is slow to import and only learning needs it.
        from gnn2logic.learning.scoring.fit import CardTargets, fit_card

        encoder, graphs, data, kept_rows = self._learned_from(encoded, given, None, absent)
        labels = RowLabels(codes[kept_rows], integer_weights(weights[kept_rows]), n_classes)
        depth = DEFAULT_LAYERS if self.n_layers is None else self._whole("n_layers", least=0)
        modalities = layer_modalities(self.modalities, graphs, depth)[-1]
        if self._level == "node":
            # A line about nodes looks at neighbours once more, where one about graphs counts.
            depth += self.n_layers is not None
        options = card_options(self, modalities, depth=depth)
        targets = CardTargets(
            labels,
            self._answer,
            None if values is None else values[kept_rows],
            self.loss,
        )
        with (
            limited_threads(self.n_jobs),
            Progress("scorecard", None, verbose=self.verbose) as progress,
        ):
            path = fit_card(
                data,
                targets,
                self._level,
                options,
                seed=[seed_from(self.random_state)],
                engine=self._engine(graphs),
                progress=progress,
            )
        self.encoder_ = encoder
        self.path_ = path

    def _model_html(self) -> str:
        return ScorecardPredictor._repr_html_(self)

    def _parameters_to_save(self) -> dict[str, Any]:
        names = [name for name in PARAMETERS if name in self._get_param_names()]
        return parameters_to_document(self, names)
