"""Models of several targets in use: predicting, reading, saving."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._files import write_atomically
from gnn2logic._labels import check_labels, check_numbers, check_weights
from gnn2logic._text import did_you_mean, one_line
from gnn2logic._validation import check_fitted, is_whole
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.idt.graph_model import EncodedGraphs, WithEncoder, r_squared
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.multi_target.documents import models_to_bytes
from gnn2logic.multi_target.labels import target_columns
from gnn2logic.scorecards.predictor import ScorecardPredictor
from gnn2logic.storage import ShardStore

__all__ = ["MultiTargetPredictor", "TargetModel"]

TargetModel = IDTPredictor | ScorecardPredictor


class MultiTargetPredictor(WithEncoder):
    """One model for each of several targets, as `gnn2logic.load` returns them.

    ``model["name"]`` is the model of one target, which everything else takes: `explain`,
    `plot_tree`, `recourse`, `certify`, the exports. ``len`` counts the targets, and iteration gives
    their names.

    Attributes
    ----------
    estimators_ : list of models
        One for each target.
    target_names_ : tuple of str
    classes_ : list of array
        The classes of every target; of targets that are numbers, those of the leaves, and nothing
        for scorecards.
    encoder_ : FittedEncoder
        The encoder that all models share.
    """

    estimators_: list[Any]
    target_names_: tuple[str, ...]

    # One target --------------------------------------------------------------------------------

    def __getitem__(self, target: str | int) -> Any:
        """Return the model of one target, by its name or its number."""
        check_fitted(self, "estimators_")
        if is_whole(target) and 0 <= int(target) < len(self.estimators_):
            return self.estimators_[int(target)]
        if target in self.target_names_:
            return self.estimators_[self.target_names_.index(str(target))]
        hint = did_you_mean(target, list(self.target_names_)) if isinstance(target, str) else ""
        raise ParameterError(
            f"There is no target {target!r}. The targets are {', '.join(self.target_names_)}.{hint}"
        )

    def __len__(self) -> int:
        check_fitted(self, "estimators_")
        return len(self.estimators_)

    def __iter__(self) -> Iterator[str]:
        check_fitted(self, "estimators_")
        return iter(self.target_names_)

    @property
    def level(self) -> Literal["graph", "node"]:
        """What is predicted for: "graph" or "node"."""
        level: Literal["graph", "node"] = self[0].level
        return level

    @property
    def classes_(self) -> list[npt.NDArray[Any]]:
        """The classes of every target."""
        check_fitted(self, "estimators_")
        none = np.array([])
        return [getattr(model, "classes_", none) for model in self.estimators_]

    # Predicting --------------------------------------------------------------------------------

    def _encoded(self, graphs: object) -> object:
        """Return graphs that no model has to encode again; those of a store are predicates."""
        check_fitted(self, "estimators_")
        if isinstance(graphs, ShardStore):
            return graphs
        return EncodedGraphs(self.encoder_.transform(graphs))

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the class, or number, of every graph (or node): one column for each target.

        Where some targets have texts as classes and others numbers, it is an array of objects.
        """
        encoded = self._encoded(graphs)
        answers = [model.predict(encoded) for model in self.estimators_]
        if len({answer.dtype.kind in "US" for answer in answers}) > 1:
            # Numbers would become texts.
            answers = [answer.astype(object) for answer in answers]
        return np.column_stack(answers)

    def predict_proba(self, graphs: object) -> list[npt.NDArray[np.float64]]:
        """Return the probability of every class: a list with one array for each target."""
        encoded = self._encoded(graphs)
        return [model.predict_proba(encoded) for model in self.estimators_]

    def target_scores(
        self, graphs: object, y: object, sample_weight: object = None
    ) -> dict[str, float]:
        """Return the accuracy, or R2 for numbers, of every target where its label is known."""
        encoded = self._encoded(graphs)
        answers = [model.predict(encoded) for model in self.estimators_]
        count, level = len(answers[0]), self.level
        columns = target_columns(y, count, of=level, names=self.target_names_, skip_missing=True)
        weights = check_weights(sample_weight, count, of=level)
        scores = {}
        for column, model, answer in zip(columns, self.estimators_, answers, strict=True):
            seen = column.known & (weights > 0)
            if not seen.any():
                raise LabelError(f"No known label of target {column.name!r} has any weight.")
            if model.target is None:
                labels = check_labels(column.values, count, of=level)
                right = (answer == labels)[seen]
                scores[column.name] = float(np.average(right, weights=weights[seen]))
            else:
                numbers = check_numbers(column.values, count, of=level)
                scores[column.name] = r_squared(numbers[seen], answer[seen], weights[seen])
        return scores

    def score(self, graphs: object, y: object, sample_weight: object = None) -> float:
        """Return the mean of `target_scores`."""
        return float(np.mean(list(self.target_scores(graphs, y, sample_weight).values())))

    # Files and texts ---------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all models to one JSON file that `gnn2logic.load` reads back."""
        check_fitted(self, "estimators_")
        models = [model._to_bytes() for model in self.estimators_]
        write_atomically(path, models_to_bytes(self.target_names_, models))

    def __str__(self) -> str:
        if not hasattr(self, "estimators_"):
            return repr(self)
        return "\n\n".join(
            f"{one_line(name)}: {model}"
            for name, model in zip(self.target_names_, self.estimators_, strict=True)
        )
