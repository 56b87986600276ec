"""Where folds run: in processes of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from joblib import Parallel, delayed, parallel_config

from gnn2logic.engines import connected

__all__ = ["in_processes", "on_cluster"]

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
