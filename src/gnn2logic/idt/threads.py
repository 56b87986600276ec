"""How many threads the compiled loops use, without a trace in anybody else's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from threadpoolctl import ThreadpoolController

from gnn2logic.idt.settings import check_whole

__all__ = ["limited_threads"]


@contextlib.contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads of the compiled loops; None means all there are.

    Linear algebra gets one thread: its matrices are small, and where other work is running, waiting
    for a second thread takes longer than doing without.

    When numba starts its threads it sets the number of threads of OpenMP, which torch shares. So
    that number is put back: a network would be trained with other threads after a fit than before.
    """
    controller = ThreadpoolController()
    pools = controller.select(user_api="openmp").lib_controllers
    sizes = [pool.num_threads for pool in pools]
    try:
        import numba

        before = numba.get_num_threads()
        if n_jobs is not None and n_jobs != -1:
            # More threads than numba has started cannot be asked for.
            numba.set_num_threads(min(check_whole("n_jobs", n_jobs, least=1), before))
        try:
            with controller.limit(limits=1, user_api="blas"):
                yield
        finally:
            numba.set_num_threads(before)
    finally:
        for pool, size in zip(pools, sizes, strict=True):
            pool.set_num_threads(size)
