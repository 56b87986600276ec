"""Several targets of one table of molecules, as commands learn them: one model for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnn2logic.chem.words import molecule_words
from gnn2logic.cli.data import choose, load_targets
from gnn2logic.cli.options import DataSplit
from gnn2logic.cli.stores import learner
from gnn2logic.cli.subjects import scores_by_split

if TYPE_CHECKING:
    from gnn2logic.chem.tables import TableTarget
    from gnn2logic.learning.multi_target import MultiTargetEstimator
    from gnn2logic.logic.printing.english_words import Names

__all__ = ["LearnedTargets", "learn_targets"]


@dataclass(frozen=True, eq=False)
class LearnedTargets:
    """A model of several targets and how right it is about each.

    Parameters
    ----------
    dataset : str
    model : MultiTargetEstimator
    scores : list of dict
        One for each target and split.
    words : mapping or None
        How the molecules are told.
    """

    dataset: str
    model: MultiTargetEstimator
    scores: list[dict[str, Any]]
    words: Names | None

    def scores_of(self, target: str) -> list[dict[str, Any]]:
        """Return the scores of one target."""
        return [row for row in self.scores if row["target"] == target]

    def to_text(self) -> str:
        """Return all models as text, each with the name of its target above."""
        return "\n\n".join(f"{name}: {self.model[name].to_text(self.words)}" for name in self.model)


def learn_targets(
    table: str,
    options: Iterable[str] | None,
    labels: Sequence[str],
    split: DataSplit,
    into: str,
    settings: dict[str, Any],
    *,
    numbers: bool,
    say: Callable[[str], None],
) -> LearnedTargets:
    """Learn each column from the molecules that a command for it alone would learn it from.

    So what is held back of a target is the same wherever commands test it; the molecules of its
    test are gaps.
    """
    from gnn2logic.learning import MultiTargetEstimator

    graphs, targets = load_targets(table, options, labels, numbers=numbers)
    y = np.full((graphs.n_graphs, len(labels)), np.nan, dtype=float if numbers else object)
    for column, target in enumerate(targets.values()):
        _fill(y, column, target, split)
    rows = np.flatnonzero((y == y).any(axis=1))  # NaN differs from itself
    name = next(iter(targets.values())).data.name
    say(f"Learning {len(labels)} targets from {len(rows)} graphs of {name} ...")
    student = learner(into, "graph", numbers=numbers)().set_params(**settings)
    model = MultiTargetEstimator(student, targets=list(labels), missing="skip")
    model.fit(graphs.take(rows), y[rows])
    scores = [
        {"target": label, **row}
        for label, target in targets.items()
        for row in scores_by_split(target.data, split, rule=model[label])
    ]
    return LearnedTargets(name, model, scores, molecule_words(graphs.take(rows)))


def _fill(y: Any, column: int, target: TableTarget, split: DataSplit) -> None:
    chosen = choose(target.data, split)
    y[target.positions[chosen.numbers], column] = chosen.labels
