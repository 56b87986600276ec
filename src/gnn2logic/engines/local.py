"""Shards in this process, one after the other or on threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from gnn2logic.engines.protocol import Maker, Worker, added

__all__ = ["LocalEngine"]


class LocalEngine:
    """Runs shards in this process.

    Parameters
    ----------
    n_threads : int
        Shards that are worked on at the same time. With 1 they take turns, and the loops inside of
        a shard may use several threads instead.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads

    def place(self, makers: Sequence[Maker]) -> LocalCrew:
        """Make the state of every shard."""
        return LocalCrew([make() for make in makers], self.n_threads)


class LocalCrew:
    """The states of the shards."""

    def __init__(self, workers: Sequence[Worker], n_threads: int) -> None:
        self._workers = workers
        self._pool = None
        if n_threads > 1 and len(workers) > 1:
            self._pool = ThreadPoolExecutor(n_threads, initializer=_one_thread_each)
        self._n_threads = n_threads

    def ask(self, request: str, *arguments: Any) -> Any:
        """Ask all shards and return the sum of their answers."""
        total = None
        for answer in self._answers(request, arguments):
            total = added(total, answer)
        return total

    def _answers(self, request: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        if self._pool is None:
            for worker in self._workers:
                yield worker.ask(request, *arguments)
            return
        # Answers can be large: no more of them than there are threads wait to be added.
        running: deque[Future[Any]] = deque()
        for worker in self._workers:
            running.append(self._pool.submit(worker.ask, request, *arguments))
            if len(running) > self._n_threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()

    def close(self) -> None:
        """Forget the shards."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._workers = ()


def _one_thread_each() -> None:
    """Let the compiled loops of a thread run on that thread alone."""
    import numba

    numba.set_num_threads(1)
