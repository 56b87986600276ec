"""How many threads the compiled loops use, without a trace in anybody else's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController

from gnn2logic._validation import check_whole
from gnn2logic.engines.threads import one_blas_thread

__all__ = ["limited_threads"]


@contextlib.contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads of the compiled loops; None means all there are.

    Linear algebra gets one thread: its matrices are small, and where other work is running, waiting
    for a second thread takes longer than doing without.

    When numba starts its threads it sets the number of threads of OpenMP, which torch shares. So
    that number is put back: a network would be trained with other threads after a fit than before.
    OpenMP and numba keep their numbers by thread, so fits on several threads do not meet there.
    """
    sizes = {pool.filepath: pool.num_threads for pool in _openmp()}
    try:
        import numba

        before = numba.get_num_threads()
        if n_jobs is not None and n_jobs != -1:
            # More threads than numba has started cannot be asked for.
            numba.set_num_threads(min(check_whole("n_jobs", n_jobs, least=1), before))
        try:
            with one_blas_thread():
                yield
        finally:
            numba.set_num_threads(before)
    finally:
        # Libraries that numba has loaded meanwhile get what they would have begun with.
        for pool in _openmp():
            pool.set_num_threads(sizes.get(pool.filepath, _usual_threads()))


def _openmp() -> list[Any]:
    return list(ThreadpoolController().select(user_api="openmp").lib_controllers)


def _usual_threads() -> int:
    """Return how many threads OpenMP uses when nobody has said anything in the program."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first) > 0:
        return int(first)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
