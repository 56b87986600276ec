"""`Answers`: what a teacher says, as scores, classes and node representations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.distillation.outputs import class_numbers, probabilities

__all__ = ["Answers"]


@dataclass(frozen=True, eq=False)
class Answers:
    """What a teacher says about graphs, or about their nodes.

    Parameters
    ----------
    scores : array
        The output of the network, one row for each graph or node. One probability of a binary task
        is given as its logit.
    classes : array
        The classes in the order of the columns. A single column is the logit of the second class.
    level : {"graph", "node"}
        What the rows are.
    activations : list of array
        The node representations of every layer, one row for each node in the order of the graphs;
        empty if they were not asked for.
    layer_names : tuple of str
    either_level : bool
        Whether the rows are graphs and nodes alike: every graph has one node, and nobody said.
    asked : array of bool, optional
        Which nodes the network says something about, where it speaks of one type of nodes alone.
        The rows of all others are 0.
    """

    scores: npt.NDArray[np.float32]
    classes: npt.NDArray[Any]
    level: Literal["graph", "node"]
    activations: list[npt.NDArray[np.float32]] = field(default_factory=list)
    layer_names: tuple[str, ...] = ()
    either_level: bool = False
    asked: npt.NDArray[np.bool_] | None = None

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The predicted class of every row."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(self.scores))
        return np.asarray(self.classes[class_numbers(self.scores)])

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """The probability of every class, in the order of `classes`."""
        if len(self.classes) == 1:
            return np.ones((len(self.scores), 1))
        return probabilities(self.scores)
