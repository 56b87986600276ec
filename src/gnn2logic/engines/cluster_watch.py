"""Waiting for a Dask cluster, with an eye on whether it is still there."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import EngineError

__all__ = ["Watch", "needs_distributed"]

# Seconds between two looks at the cluster while a result is not there.
_LOOK_EVERY = 1.0
# Seconds between two looks whether tasks have arrived.
_ARRIVAL = 0.01
# Workers say every half second that they are there, and less often where they are many; one that is
# hard at work may be late. After so many seconds, and some more for each worker, it is not.
_SILENCE = 5.0
_SILENCE_PER_WORKER = 0.02
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


def needs_distributed() -> Any:
    """Import `distributed`, or say how to install it."""
    return import_optional("distributed", extra="dask", purpose="Learning on a Dask cluster")


class Watch:
    """Waits for results of a cluster and says so when they will not come.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds without any worker, or without a word of the scheduler or of a worker that has a
        part of the work, until it gives up.
    """

    def __init__(self, client: Any, timeout: float) -> None:
        distributed = needs_distributed()
        self._killed = distributed.KilledWorker
        self._closed = distributed.comm.CommClosedError
        self._client = client
        self._timeout = timeout
        # What the scheduler said when it heard of each worker, and when it said something new.
        self._heard: dict[str, tuple[float, float]] = {}

    def expect_connection(self) -> None:
        """Raise an error unless the client is connected."""
        if self._client.status != "running":
            self._lost(None)

    def results(self, futures: Sequence[Any], needed: Sequence[Any] = ()) -> list[Any]:
        """Return the results of tasks; errors raised by a task are raised as they are.

        `needed` are tasks that these are made from: whoever has them must be there as well.
        """
        keys = {future.key for future in (*futures, *needed)}
        # Not `future.result(timeout=...)`: a client that was stopped while it was fetching a result
        # may never fetch one again. So it is left to itself, and the cluster is watched from here.
        fetching = asyncio.run_coroutine_threadsafe(
            self._client.gather(list(futures), asynchronous=True), self._client.loop.asyncio_loop
        )
        last_busy = time.monotonic()
        while not concurrent.futures.wait([fetching], timeout=_LOOK_EVERY).done:
            if all(future.status == "finished" for future in futures):
                # They are on their way, and nobody has to work any more.
                last_busy = time.monotonic()
            last_busy = self.look(last_busy, keys)
        try:
            answers: list[Any] = fetching.result()
            return answers
        except (Exception, *_CANCELLED) as error:
            self.raise_from(error)

    def raise_from(self, error: BaseException) -> NoReturn:
        """Raise what came instead of a result; say so if that is the fault of the cluster."""
        if isinstance(error, self._killed):
            raise EngineError(
                "A part of the work was given up because every worker that took it died. Often "
                "that is a lack of memory: cut the data into smaller shards (n_shards), or give "
                f"the workers more memory. Dask says: {error}"
            ) from error
        if isinstance(error, (self._closed, *_CANCELLED)) or self._client.status != "running":
            self._lost(error)
        raise error

    def look(self, last_busy: float, keys: Collection[str] = ()) -> float:
        """Return when a worker was last seen at work, or raise an error if that was too long ago.

        Parameters
        ----------
        last_busy : float
            What the last look returned; ``time.monotonic()`` before the first.
        keys : collection of str
            The tasks that are needed; by default all of the client.
        """
        now = time.monotonic()
        tasks = self._tasks_of_workers()
        silent = self._silent_workers(now)
        if silent:
            self._expect_nothing_from(silent, tasks, keys or self._client.futures)
        if any(running for worker, running in tasks.items() if worker not in silent):
            return now
        if now - last_busy > self._timeout:
            self._give_up("All of them did nothing" if tasks else "It had none")
        return last_busy

    def _silent_workers(self, now: float) -> set[str]:
        """Return the workers that have not been heard of for too long.

        A worker that was stopped, or whose machine hangs, keeps its tasks for minutes. Only whether
        the time that the scheduler gives is a new one is looked at: it may have another clock.
        """
        workers = self._told("identity")["workers"]
        for worker, about in workers.items():
            if self._heard.get(worker, (None,))[0] != about["last_seen"]:
                self._heard[worker] = about["last_seen"], now
        self._heard = {worker: self._heard[worker] for worker in workers}
        limit = max(self._timeout, _SILENCE + _SILENCE_PER_WORKER * len(workers))
        return {worker for worker, (_, since) in self._heard.items() if now - since > limit}

    def _expect_nothing_from(
        self, silent: set[str], tasks: dict[str, Any], keys: Collection[str]
    ) -> None:
        """Raise an error if what is needed can come from silent workers alone."""
        holders = self._told("who_has", keys=list(keys))
        stuck = {worker for worker in silent if any(key in keys for key in tasks.get(worker, ()))}
        for workers in holders.values():
            if workers and silent.issuperset(workers):
                stuck.update(workers)
        if stuck:
            raise EngineError(
                f"The workers of the Dask cluster must be heard of. Nothing came from {min(stuck)} "
                f"for more than {self._timeout:g} seconds, and it has a part of the work: it was "
                "stopped, or its machine does not answer. Wake or end it and fit again, or give "
                "DaskEngine a longer timeout."
            )

    def threads(self) -> dict[str, int]:
        """Return how many threads each worker has."""
        threads: dict[str, int] = self._told("ncores")
        return threads

    def unbind(self, futures: Sequence[Any]) -> None:
        """Let tasks that have been given to a worker, if they must run again, run on any.

        Dask never runs a task for which a worker was named when that worker died along with all
        others, not even when it may run elsewhere and new workers come.
        """
        anywhere = {future.key: None for future in futures}
        end = time.monotonic() + self._timeout
        # Tasks take another way to the scheduler, and may not have arrived.
        while None in self._told("get_task_status", keys=list(anywhere)).values():
            if time.monotonic() > end:
                self._lost(None)
            time.sleep(_ARRIVAL)
        self._told("set_restrictions", worker=anywhere)

    def _tasks_of_workers(self) -> dict[str, Any]:
        """Return the workers, each with what it is working on."""
        running: dict[str, Any] = self._told("processing")
        return running

    def _told(self, question: str, **arguments: Any) -> Any:
        """Return what the scheduler answers."""
        self.expect_connection()
        ask = getattr(self._client.scheduler, question)
        try:
            return self._client.sync(ask, callback_timeout=self._timeout, **arguments)
        except OSError as error:
            self._lost(error)

    def _give_up(self, what: str) -> NoReturn:
        raise EngineError(
            f"The Dask cluster must have workers that work. {what} for {self._timeout:g} seconds. "
            "Start workers and fit again, or give DaskEngine a longer timeout."
        )

    def _lost(self, error: BaseException | None) -> NoReturn:
        said = " ".join(str(error or "").split())
        raise EngineError(
            "The Dask cluster was lost: its client is closed, the scheduler is gone, or it was "
            f"restarted (the client is {self._client.status!r}). Connect a client to a running "
            f"cluster and fit again.{' Dask says: ' if said else ''}{said}"
        ) from error
