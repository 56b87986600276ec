"""`reproduce`: the paper's experiments, run where rows are missing; then tables and pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnn2logic._validation import check_whole
from gnn2logic.experiments.catalogue import (
    ABLATIONS,
    BASELINES,
    DATASETS,
    PAPER_MODELS,
    Model,
    choose,
    model_named,
)
from gnn2logic.experiments.fold_scores import score_fold
from gnn2logic.experiments.folds import fold_of
from gnn2logic.experiments.plans import RunSettings
from gnn2logic.experiments.results import describe_environment, write_results
from gnn2logic.experiments.rows import AnyRow, Row, RowFile, problem_with
from gnn2logic.experiments.runner import Unit, run_experiment
from gnn2logic.plotting.axes import needs_matplotlib

__all__ = ["MAX_SEED", "PaperExperiment", "reproduce"]

_SMOKE_FOLDS = 2
# What scikit-learn takes for a seed.
MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class PaperExperiment:
    """The paper's models on some of its data sets.

    Parameters
    ----------
    datasets : tuple of str
    models : tuple of Model
    run : RunSettings
    """

    datasets: tuple[str, ...]
    models: tuple[Model, ...]
    run: RunSettings

    def row_file(self, path: Path) -> RowFile[AnyRow]:
        """Return the file of rows at a path."""
        return RowFile(path, Row)

    def problem_with(self, row: AnyRow) -> str | None:
        """Return in words why a row does not belong to the run, or None if it does."""
        return problem_with(row, self.run)

    def missing(self, rows: Sequence[AnyRow]) -> list[Unit]:
        """Return what is left to do: one fold of every data set, then the next fold of all."""
        done = {row.key for row in rows}
        units = []
        for fold in range(self.run.folds):
            for name in self.datasets:
                left = [each.name for each in self.models if (name, fold, each.name) not in done]
                if left:
                    units.append(Unit(name, fold, tuple(left)))
        return units

    def check(self, units: Sequence[Unit]) -> None:
        """Load the data: what is not there, or too small for so many folds, is told now."""
        for name in dict.fromkeys(unit.dataset for unit in units):
            fold_of(name, 0, self.run)

    def score(self, unit: Unit) -> Iterator[AnyRow]:
        """Make the rows of a unit."""
        models = [model_named(name) for name in unit.models]
        return score_fold(unit.dataset, unit.fold, models, self.run)

    def rank(self, row: AnyRow) -> tuple[int, ...]:
        """Return where a row stands in a sorted file: data set, model, fold."""
        order = [model.name for model in (*PAPER_MODELS, *BASELINES, *ABLATIONS)]
        return DATASETS.index(row.dataset), order.index(row.model), row.fold


def reproduce(
    out: str | os.PathLike[str],
    *,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    folds: int = 10,
    n_jobs: int = 1,
    dask: str | None = None,
    random_state: int = 0,
    smoke: bool = False,
    baselines: bool = False,
    ablation: bool = False,
    command: str = "",
) -> list[Row]:
    """Run the paper's experiments and write rows, tables and pictures into a folder.

    A run that was stopped goes on where it was when it is started again: rows that are there are
    kept, a row that was cut short is made anew.

    Parameters
    ----------
    out : path
    datasets, models : sequence of str, optional
        Names as in the paper; all seven of each by default.
    folds : int
        Of the stratified cross-validation.
    n_jobs : int
        Processes; each works on a fold of its own, on one thread.
    dask : str, optional
        The address of a Dask scheduler: folds run on the workers of its cluster instead, one at a
        time in each process. All workers need the files of the data sets.
    random_state : int
    smoke : bool
        Few graphs, two folds, few epochs: everything is run, nothing is learned.
    baselines, ablation : bool
        More models, see `gnn2logic.experiments.catalogue`.
    command : str
        The command line, for the record.

    Returns
    -------
    list of Row
        All rows of the folder.
    """
    # Not after hours of work.
    needs_matplotlib("The plots of the results")
    chosen = _choose_models(models, baselines=baselines, ablation=ablation)
    names = choose("data set", datasets, DATASETS)
    run = RunSettings(
        folds=_SMOKE_FOLDS if smoke else check_whole("folds", folds, least=2),
        seed=check_whole("random_state", random_state, least=0, most=MAX_SEED),
        smoke=smoke,
    )
    n_jobs = check_whole("n_jobs", n_jobs, least=1)
    folder = Path(out)
    experiment = PaperExperiment(names, chosen, run)
    every = run_experiment(experiment, folder, n_jobs=n_jobs, dask=dask)
    rows = [row for row in every if isinstance(row, Row)]
    record = {
        "command": command,
        "folds": run.folds,
        "seed": run.seed,
        "smoke": run.smoke,
        "jobs": n_jobs,
        "settings": {name: run.digest(name) for name in sorted({row.dataset for row in rows})},
        **describe_environment(),
    }
    write_results(folder, rows, record)
    return rows


def _choose_models(
    names: Sequence[str] | None, *, baselines: bool, ablation: bool
) -> tuple[Model, ...]:
    more = (*(BASELINES if baselines else ()), *(ABLATIONS if ablation else ()))
    wanted = choose("model", names, [model.name for model in PAPER_MODELS])
    return (*(model for model in PAPER_MODELS if model.name in wanted), *more)
