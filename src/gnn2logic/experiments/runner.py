"""Running what is missing of an experiment: in processes or on a cluster, row by row."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config

from gnn2logic._progress import Progress
from gnn2logic.engines import connected
from gnn2logic.exceptions import ParameterError
from gnn2logic.experiments.rows import AnyRow, RowFile

__all__ = ["ROWS_NAME", "Experiment", "Unit", "in_processes", "on_cluster", "run_experiment"]

ROWS_NAME = "rows.jsonl"

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


@dataclass(frozen=True)
class Unit:
    """The models that are missing on one fold, with one seed."""

    dataset: str
    fold: int
    models: tuple[str, ...]
    repeat: int = 0


class Experiment(Protocol):
    """What is run and how rows are made; it is sent to the processes that run it."""

    def row_file(self, path: Path) -> RowFile[AnyRow]:
        """Return the file of rows at a path."""
        ...

    def problem_with(self, row: AnyRow) -> str | None:
        """Return in words why a row does not belong here, or None if it does."""
        ...

    def missing(self, rows: Sequence[AnyRow]) -> list[Unit]:
        """Return what is left to do when these rows are there."""
        ...

    def check(self, units: Sequence[Unit]) -> None:
        """Raise now what would be raised hours later."""
        ...

    def score(self, unit: Unit) -> Iterator[AnyRow]:
        """Make the rows of a unit, each as soon as it is there."""
        ...

    def rank(self, row: AnyRow) -> tuple[int, ...]:
        """Return where a row stands in a sorted file."""
        ...


def run_experiment(
    experiment: Experiment, folder: Path, *, n_jobs: int, dask: str | None
) -> list[AnyRow]:
    """Run what a folder does not have yet; return all its rows, sorted."""
    folder.mkdir(parents=True, exist_ok=True)
    file = experiment.row_file(folder / ROWS_NAME)
    units = experiment.missing(_kept_rows(file, experiment))
    experiment.check(units)
    _run_units(units, file, experiment, n_jobs, dask)
    rows = sorted(file.read()[0], key=experiment.rank)
    file.write(rows)
    return rows


def _kept_rows(file: RowFile[AnyRow], experiment: Experiment) -> list[AnyRow]:
    """Return the rows of an earlier run after a look at them; lines cut short are dropped."""
    rows, broken = file.read()
    for row in rows:
        if (problem := experiment.problem_with(row)) is not None:
            raise ParameterError(
                f"{file.path.name} in the output folder must hold rows made with the same "
                f"settings. It has a row of {row.model} on fold {row.fold} of {row.dataset}, but "
                f"{problem}; choose another folder, or delete it."
            )
    if broken:
        sys.stderr.write(f"{broken} lines were cut short and are made anew.\n")
        file.write(rows)
    return rows


def _run_units(
    units: list[Unit], file: RowFile[AnyRow], experiment: Experiment, n_jobs: int, dask: str | None
) -> None:
    if dask is None:
        finished = in_processes(_run_unit, [(unit, experiment, file) for unit in units], n_jobs)
    else:
        # Workers need not see the files of this machine.
        finished = on_cluster(_run_unit, [(unit, experiment, None) for unit in units], dask)
    with Progress("reproduce", len(units), verbose=1) as progress:
        for unit, rows in finished:
            for row in rows:
                file.append(row)
            progress.step(f"{unit.dataset} fold {unit.fold}, unit")


def _run_unit(
    unit: Unit, experiment: Experiment, file: RowFile[AnyRow] | None
) -> tuple[Unit, list[AnyRow]]:
    """Score one fold; return the rows, or put each into the file as soon as it is made."""
    rows = experiment.score(unit)
    if file is None:
        return unit, list(rows)
    for row in rows:
        file.append(row)
    return unit, []
