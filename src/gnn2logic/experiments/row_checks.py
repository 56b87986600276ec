"""Whether a row that was found in a file can be a row of a run."""

from __future__ import annotations

from gnn2logic.experiments.catalogue import ABLATIONS, BASELINES, DATASETS, PAPER_MODELS
from gnn2logic.experiments.plans import RunSettings
from gnn2logic.experiments.rows import Row

__all__ = ["problem_with"]

_MODELS = frozenset(model.name for model in (*PAPER_MODELS, *BASELINES, *ABLATIONS))


def problem_with(row: Row, run: RunSettings) -> str | None:
    """Return in words why a row does not belong to a run, or None if it does.

    Examples
    --------
    >>> from gnn2logic.experiments.rows import Seconds
    >>> run = RunSettings(folds=2)
    >>> row = Row("psi_0", 7, "GCN", 0, run.digest("psi_0"), [], 1, 1, *[None] * 3, {}, "",
    ...           Seconds(), {})
    >>> problem_with(row, run)
    'there are folds 0 to 1'
    """
    if row.dataset not in DATASETS:
        return f"the data sets are {', '.join(DATASETS)}"
    if row.model not in _MODELS:
        return "there is no such model"
    if row.settings != run.digest(row.dataset):
        return "it was made with other folds, seeds or hyper-parameters"
    if not 0 <= row.fold < run.folds:
        return f"there are folds 0 to {run.folds - 1}"
    return None
