"""One thread for linear algebra while work is done, whoever else works in this process."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["one_blas_thread"]

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
