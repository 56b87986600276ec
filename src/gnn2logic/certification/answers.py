"""Asking a rule and a network about the same graphs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch_geometric.data import Data

from gnn2logic.distillation.agreement import fidelity
from gnn2logic.distillation.conversion import as_teacher, teacher_of_classes
from gnn2logic.distillation.counterexamples import as_read
from gnn2logic.distillation.disagreements import Disagreement, Disagreements
from gnn2logic.exceptions import ParameterError, UnseenCategoryWarning
from gnn2logic.fitted_models import fitted_classifier

__all__ = ["ModelPair"]

# Counterexamples that are kept; nobody looks at more.
_MOST_KEPT = 20


class ModelPair:
    """A rule and a network, asked together; differences are counted by graph and some are kept."""

    def __init__(self, model: object, teacher: object) -> None:
        rule = fitted_classifier(model, reason="certify compares classes")
        self.rule = rule
        self.level = rule._level
        self.teacher = teacher_of_classes(as_teacher(teacher), len(rule.classes_))
        self.n_compared = 0
        self.n_disagreements = 0
        self._kept: list[Disagreement] = []

    def ask(self, graphs: Sequence[Data], origins: Sequence[int] | None = None) -> int:
        """Compare on some graphs; return on how many of them the two differ."""
        items = list(graphs)
        ours, theirs = self._answers(items)
        differs = np.asarray(ours != theirs)
        starts = np.arange(len(items))
        if self.level == "node":
            starts = np.cumsum([0, *(data.num_nodes for data in items[:-1])])
            differs = np.logical_or.reduceat(differs, starts)
        self.n_compared += len(items)
        disagreeing = np.flatnonzero(differs).tolist()
        self.n_disagreements += len(disagreeing)
        for number in disagreeing[: _MOST_KEPT - len(self._kept)]:
            self._keep(items[number], number if origins is None else origins[number])
        return len(disagreeing)

    def _answers(self, items: list[Data]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            ours = self.rule.predict(as_read(items))
        answers = self.teacher.run(items, activations=False)
        if answers.level != self.level and not answers.either_level:
            raise ParameterError(
                f"Both must classify the same things. The rule classifies {self.level}s and the "
                f"network {answers.level}s."
            )
        fidelity(ours, answers.labels, None)  # refuses labels of two kinds
        # Where the network says nothing, nothing can differ.
        said = (
            answers.labels
            if answers.asked is None
            else np.where(answers.asked, answers.labels, ours)
        )
        return ours, said

    def _keep(self, data: Data, origin: int) -> None:
        # Asked alone, so that what is reported is what anybody sees who runs the two on it.
        ours, theirs = self._answers([data])
        rows = np.flatnonzero(ours != theirs)
        if not len(rows):
            return
        row = int(rows[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            graph = self.rule.encoder_.transform(as_read([data]))
        self._kept.append(
            Disagreement(
                index=origin,
                node=row if self.level == "node" else None,
                graph=graph,
                data=data,
                model=ours[row],
                teacher=theirs[row],
            )
        )

    @property
    def counterexamples(self) -> Disagreements:
        """The differences that were kept, smallest graphs first."""
        order = sorted(self._kept, key=lambda item: (item.graph.n_nodes, item.graph.n_edges))
        return Disagreements(order, self.n_compared, self.level)
