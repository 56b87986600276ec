"""`reproduce`: run what is missing, keep every row as it comes, then write tables and pictures."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from joblib import Parallel, delayed, parallel_config

from gnn2logic._progress import Progress
from gnn2logic._validation import check_whole
from gnn2logic.engines import connected
from gnn2logic.exceptions import ParameterError
from gnn2logic.experiments.catalogue import (
    ABLATIONS,
    BASELINES,
    DATASETS,
    PAPER_MODELS,
    Model,
    choose,
)
from gnn2logic.experiments.fold_scores import score_fold
from gnn2logic.experiments.folds import fold_of
from gnn2logic.experiments.plans import RunSettings
from gnn2logic.experiments.results import ROWS_NAME, describe_environment, write_results
from gnn2logic.experiments.rows import Row, RowFile, problem_with
from gnn2logic.plotting.axes import needs_matplotlib

__all__ = ["in_processes", "on_cluster", "reproduce"]

Task = Callable[..., Any]

# Networks are trained with torch's global random numbers, which are those of the whole process.
_ALONE = threading.Lock()
_LOOK_EVERY = 1.0


def in_processes(task: Task, calls: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Call a function with each of the arguments; give the results as they come."""
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(task)(*arguments) for arguments in calls)


def on_cluster(
    task: Task, calls: Sequence[tuple[Any, ...]], address: str, *, timeout: float = 30.0
) -> Iterator[Any]:
    """Do the same on a Dask cluster, and give up when it is gone.

    joblib waits for results of lost clusters for ever. So it does in a thread, and the cluster is
    watched from here.
    """
    if not calls:
        return
    results: SimpleQueue[Any] = SimpleQueue()

    def collect(client: Any) -> None:
        try:
            # It has a timeout of its own, but what it says then is no help.
            waits = {"wait_for_workers_timeout": 2 * timeout}
            with parallel_config(backend="dask", client=client, **waits):
                # Workers may join later: nothing is held back for those that are there.
                pool = Parallel(
                    n_jobs=-1, return_as="generator_unordered", batch_size=1, pre_dispatch="all"
                )
                for result in pool(delayed(_alone)(task, *arguments) for arguments in calls):
                    results.put(result)
        except BaseException as error:
            results.put(_Failed(error))

    with connected(address, timeout=timeout) as engine:
        threading.Thread(target=collect, args=[engine.client], daemon=True).start()
        last_busy = time.monotonic()
        for _ in calls:
            while True:
                try:
                    result = results.get(timeout=_LOOK_EVERY)
                    break
                except Empty:
                    last_busy = engine.watch.look(last_busy)
            if isinstance(result, _Failed):
                engine.watch.raise_from(result.error)
            yield result


class _Failed:
    """An error, in place of a result."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _alone(task: Task, *arguments: Any) -> Any:
    """Call a function while no other thread of this process does."""
    with _ALONE:
        return task(*arguments)


_SMOKE_FOLDS = 2
# What scikit-learn takes for a seed.
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class _Unit:
    """The models that are missing on one fold."""

    dataset: str
    fold: int
    models: tuple[Model, ...]


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
        seed=check_whole("random_state", random_state, least=0, most=_MAX_SEED),
        smoke=smoke,
    )
    n_jobs = check_whole("n_jobs", n_jobs, least=1)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    file = RowFile(folder / ROWS_NAME)
    rows = _kept_rows(file, run)
    units = _missing(names, chosen, rows, run)
    for name in dict.fromkeys(unit.dataset for unit in units):
        # Data that is not there, or too small for so many folds, is told now and not hours later.
        fold_of(name, 0, run)
    _run_units(units, file, run, n_jobs, dask)
    rows = sorted(file.read()[0], key=_rank)
    file.write(rows)
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


def _kept_rows(file: RowFile, run: RunSettings) -> list[Row]:
    """Return the rows of an earlier run after a look at them; lines cut short are dropped."""
    rows, broken = file.read()
    for row in rows:
        if (problem := problem_with(row, run)) is not None:
            raise ParameterError(
                f"{file.path.name} in the output folder must hold rows made with the same "
                f"settings. It has a row of {row.model} on fold {row.fold} of {row.dataset}, but "
                f"{problem}; choose another folder, or delete it."
            )
    if broken:
        sys.stderr.write(f"{broken} lines were cut short and are made anew.\n")
        file.write(rows)
    return rows


def _missing(
    names: Sequence[str], models: Collection[Model], rows: Collection[Row], run: RunSettings
) -> list[_Unit]:
    """Return what is left to do: one fold of every data set, then the next fold of all."""
    done = {row.key for row in rows}
    units = []
    for fold in range(run.folds):
        for name in names:
            left = tuple(model for model in models if (name, fold, model.name) not in done)
            if left:
                units.append(_Unit(name, fold, left))
    return units


def _run_units(
    units: list[_Unit], file: RowFile, run: RunSettings, n_jobs: int, dask: str | None
) -> None:
    if dask is None:
        finished = in_processes(_run_unit, [(unit, run, file) for unit in units], n_jobs)
    else:
        # Workers need not see the files of this machine.
        finished = on_cluster(_run_unit, [(unit, run, None) for unit in units], dask)
    with Progress("reproduce", len(units), verbose=1) as progress:
        for unit, rows in finished:
            for row in rows:
                file.append(row)
            progress.step(f"{unit.dataset} fold {unit.fold}, unit")


def _run_unit(unit: _Unit, run: RunSettings, file: RowFile | None) -> tuple[_Unit, list[Row]]:
    """Score one fold; return the rows, or put each into the file as soon as it is made."""
    rows = score_fold(unit.dataset, unit.fold, unit.models, run)
    if file is None:
        return unit, list(rows)
    for row in rows:
        file.append(row)
    return unit, []


def _rank(row: Row) -> tuple[int, int, int]:
    """Return where a row stands in a sorted file: data set, model, fold."""
    order = [model.name for model in (*PAPER_MODELS, *BASELINES, *ABLATIONS)]
    return DATASETS.index(row.dataset), order.index(row.model), row.fold
