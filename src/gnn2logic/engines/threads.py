"""How many threads work uses: linear algebra, compiled loops, OpenMP. Nobody else notices.

The numbers of linear algebra are those of the whole process, those of numba and OpenMP of a thread.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from gnn2logic._validation import check_whole

__all__ = ["limited_threads", "one_blas_thread", "one_loop_thread", "one_thread"]

_LOCK = threading.Lock()
# How many are inside, and how many threads each library had before the first of them.
_inside = 0
_before: list[tuple[Any, int]] = []


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have linear algebra use one thread, until the last one who wants this is done.

    The number of threads is that of the whole process. If everybody put back what he has seen, the
    first of two would take the limit from the second, who in turn would leave it behind for ever.
    """
    global _inside
    with _LOCK:
        if _inside == 0:
            libraries = _libraries(len(sys.modules))
            _before[:] = [(library, library.num_threads) for library in libraries]
            for library, _ in _before:
                _set_threads(library, 1)
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0:
                for library, number in _before:
                    # What others have set meanwhile is theirs.
                    if library.num_threads == 1:
                        _set_threads(library, number)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Have the compiled loops and linear algebra run on the thread that asks alone."""
    import numba

    before = numba.get_num_threads()
    one_loop_thread()
    try:
        with one_blas_thread():
            yield
    finally:
        numba.set_num_threads(before)


def one_loop_thread() -> None:
    """Let the compiled loops of the thread that asks run on it alone, from now on."""
    import numba

    numba.set_num_threads(1)


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


def _set_threads(library: Any, number: int) -> None:
    # threadpoolctl has a thread own the threads of OpenBLAS while it limits them, and does nothing
    # for any other. Here the last one is not the first one, and the lock keeps them apart.
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(number)
    if release is not None:
        release(force=True)


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> tuple[Any, ...]:
    """Look which libraries are loaded, once for each number of modules: a look takes a while."""
    # numpy's is there anyway, and this brings scipy's.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def _openmp() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="openmp").lib_controllers)


def _usual_threads() -> int:
    """Return how many threads OpenMP uses when nobody has said anything in the program."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first) > 0:
        return int(first)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
