"""Shards on the workers of a Dask cluster: which go together, and how they are asked."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate

import numpy as np

from gnn2logic._validation import is_number
from gnn2logic._version import __version__
from gnn2logic.engines.cluster_watch import Watch, needs_distributed
from gnn2logic.engines.protocol import Answer, Maker, P
from gnn2logic.exceptions import EngineError, ParameterError

__all__ = ["Bundle", "DaskEngine", "bundles", "connected"]

# Every bundle means some more tasks at each request, which take Dask milliseconds. With several on
# a thread, though, many workers share the work of one that died, and new ones have something to do.
_BUNDLES_PER_THREAD = 4
# So small bundles, by the bytes that shards work on, are not worth their tasks.
_WORTH_A_TASK = 2**31


@dataclass(frozen=True)
class Bundle:
    """Shards that one task asks one after the other, and the worker they go to, if that matters."""

    makers: Sequence[Maker]
    worker: str | None


def bundles(makers: Sequence[Maker], threads: Mapping[str, int]) -> list[Bundle]:
    """Deal out shards, in their order.

    Parameters
    ----------
    makers : sequence of Maker
    threads : mapping
        How many threads each worker has. Without any worker every shard is a bundle, so that they
        can go to all workers that may come.
    """
    slots = [worker for worker, number in threads.items() for _ in range(number)]
    if not slots:
        return [Bundle([make], None) for make in makers]
    sizes = np.array([max(make.work_bytes, 1) for make in makers], dtype=float)
    per_thread = int(sizes.sum() / (_WORTH_A_TASK * len(slots)))
    n_bundles = len(slots) * min(max(per_thread, 1), _BUNDLES_PER_THREAD)
    # Bundles are equal shares of the sum of all sizes. A shard that lies across the border of two
    # shares goes to the one with its middle, so a bundle is too large by half a shard at most.
    middles = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
    starts = np.flatnonzero(np.diff(np.floor(n_bundles * middles), prepend=-1)).tolist()
    cut = [makers[start:end] for start, end in itertools.pairwise([*starts, len(makers)])]
    # Neighbours are on one worker, where their answers can be added.
    return [
        Bundle(shards, slots[number * len(slots) // len(cut)]) for number, shards in enumerate(cut)
    ]


_TIMEOUT = 30.0
_CELLS = 2**22
# Arguments of more bytes are sent to the cluster once, smaller ones with the task of each shard.
_SMALL = 2**14
# Answers that one task adds up.
_ADDED_AT_ONCE = 4
# So few answers are fetched and added here: the same bytes on their way, and one step less.
_ADDED_HERE = 2
# How often a shard whose state was lost half way is made anew in one request.
_ATTEMPTS = 3
# Shards of graphs in memory have to be sent, and kept by the scheduler in case a worker dies.
_LARGE_IS_FINE = {"distributed.admin.large-graph-warning-threshold": "1 PB"}


class DaskEngine:
    """Runs shards on a Dask cluster, where each of them stays on one worker.

    The model is the same, bit for bit, as one that was learned on one machine. Workers may come and
    go: the shards of a worker that died are loaded again and brought up to date on another one. The
    work is dealt out among the workers that are there when a fit begins, so wait for all of them
    (``client.wait_for_workers``).

    Graphs in memory are sent to the cluster. Shards of a store (`gnn2logic.write_shards`) are read
    by the workers, so its folder must have the same path for all of them.

    Parameters
    ----------
    client : distributed.Client
        It stays open.
    timeout : float
        Seconds without any worker, or without a word of the scheduler or of a worker that has a
        part of the work, until a fit gives up.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from distributed import Client
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> learner = gl.IDTClassifier(n_shards=8, engine=DaskEngine(client))  # doctest: +SKIP
    """

    def __init__(self, client: Any, *, timeout: float = _TIMEOUT) -> None:
        if not isinstance(client, needs_distributed().Client):
            raise ParameterError(
                f"client must be a distributed.Client. Got {type(client).__name__} instead."
            )
        if client.asynchronous:
            raise ParameterError(
                "client must be a client that waits for results. Got one with asynchronous=True; "
                "make another one with Client(address)."
            )
        self.client = client
        self.timeout = _seconds(timeout)
        self.watch = Watch(client, self.timeout)

    def place(self, makers: Sequence[Maker]) -> DaskCrew:
        """Make the state of every shard on a worker."""
        return DaskCrew(self.client, self.watch, makers)


class DaskCrew:
    """Shards on the workers of a cluster, in bundles; to Dask a bundle is one shard.

    The state of a shard after a request is the result of a task, which Dask can compute again from
    the state before; in the end from the maker. Only the latest states are kept in memory.
    """

    cells = _CELLS

    def __init__(self, client: Any, watch: Watch, makers: Sequence[Maker]) -> None:
        # cloudpickle comes with distributed.
        from gnn2logic.engines import shard_tasks

        self._tasks = shard_tasks
        self._client = client
        self._watch = watch
        self._requests: list[bytes] = []
        placed = bundles(makers, watch.threads())
        self._makers = [shard_tasks.packed(*bundle.makers) for bundle in placed]
        self._states: list[Any] = []
        self._passing: list[Any] = []
        self._left_pool = _leave_pool()
        with self._closed_on_error():
            self._states = [self._made(shard, bundle.worker) for shard, bundle in enumerate(placed)]
            self._watch.unbind(self._states)

    def ask(
        self,
        request: Callable[Concatenate[Any, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        """Ask all shards and return the sum of their answers."""
        if not self._states:
            raise EngineError("The shards were forgotten after close or an error. Place them anew.")
        with self._closed_on_error():
            self._watch.expect_connection()
            number = len(self._requests)
            self._requests.append(self._tasks.packed(request, arguments, named))
            parcel = self._sent(self._requests[-1])
            self._passing += self._states
            self._states = [self._asked(state, number, parcel) for state in self._states]
            total: Answer = self._total(number)
            self._release()
            return total

    def close(self) -> None:
        """Forget the shards, and stop what is still to be done."""
        futures = [*self._states, *self._passing]
        self._states = []
        if futures and self._client.status == "running":
            with contextlib.suppress(Exception):
                self._client.cancel(futures, force=True)
        self._release()
        if self._left_pool:
            self._left_pool = False
            needs_distributed().rejoin()

    def _release(self) -> None:
        """Let go of all results but the states; references may be left in frames of tracebacks."""
        passing, self._passing = self._passing, []
        for future in passing:
            future.release()

    @contextlib.contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _total(self, number: int) -> Any:
        attempts: Counter[int] = Counter()
        while max(attempts.values(), default=0) < _ATTEMPTS:
            answers = [self._submit(self._tasks.answer_of, state, number) for state in self._states]
            self._passing += answers
            try:
                sums = self._sums(answers)
                needed = [*self._states, *self._passing]
                return self._tasks.add_up(*self._watch.results(sums, needed))
            except self._tasks.StaleShardError as error:
                for shard, state in enumerate(self._states):
                    if shard == error.shard or state.status == "error":
                        attempts[shard] += 1
                        self._passing.append(state)
                        self._states[shard] = self._rebuilt(shard)
        raise EngineError(
            f"The state of a shard was lost {_ATTEMPTS} times during one request. Give the workers "
            "more memory, or keep the cluster from moving data while a model is learned."
        )

    def _sums(self, answers: list[Any]) -> list[Any]:
        """Return a few sums of all answers, by a tree of tasks that keeps their order."""
        while len(answers) > _ADDED_HERE:
            answers = [
                self._submit(self._tasks.add_up, *answers[start : start + _ADDED_AT_ONCE])
                for start in range(0, len(answers), _ADDED_AT_ONCE)
            ]
            self._passing += answers
        return answers

    # Tasks of shards --------------------------------------------------------------------------

    def _made(self, shard: int, worker: str | None = None) -> Any:
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        arguments = self._makers[shard], shard, __version__
        with _large_graphs():
            return self._submit(self._tasks.make_shard, *arguments, **where)

    def _asked(self, state: Any, number: int, parcel: Any) -> Any:
        return self._submit(self._tasks.answer_next, state, number, parcel)

    def _rebuilt(self, shard: int) -> Any:
        """Return a new state of a shard that answers all requests once more."""
        state = self._made(shard)
        for number, parcel in enumerate(self._requests):
            state = self._asked(state, number, self._sent(parcel))
        return state

    def _sent(self, parcel: bytes) -> Any:
        if len(parcel) <= _SMALL:
            return parcel
        with _large_graphs():
            sent = self._submit(self._tasks.unchanged, parcel)
        self._passing.append(sent)
        return sent

    def _submit(self, task: Any, *arguments: Any, **where: Any) -> Any:
        # Dask runs a task where its largest argument is, so shards stay where they were made.
        return self._client.submit(task, *arguments, pure=False, **where)


def _seconds(timeout: Any) -> float:
    if not is_number(timeout) or not 0 < timeout < math.inf:
        raise ParameterError(f"timeout must be a number of seconds above 0. Got {timeout!r}.")
    return float(timeout)


def _large_graphs() -> Any:
    """Return a context in which Dask does not warn about large tasks."""
    import dask

    return dask.config.set(_LARGE_IS_FINE)


def _leave_pool() -> bool:
    """Give the thread of a task free for others, if this runs in one; return whether it does."""
    distributed = needs_distributed()
    try:
        distributed.get_worker()
        distributed.secede()
    except (ValueError, AttributeError, KeyError):
        # Not in a task, or one that has left the pool before.
        return False
    return True


@contextlib.contextmanager
def connected(address: str, *, timeout: float = _TIMEOUT) -> Iterator[DaskEngine]:
    """Connect to the scheduler of a cluster, for as long as the context lasts.

    Parameters
    ----------
    address : str
        Such as ``tcp://10.0.0.1:8786``.
    timeout : float
        As that of `DaskEngine`, and for the connection itself.
    """
    distributed = needs_distributed()
    try:
        client = distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise EngineError(
            f"There must be a Dask scheduler at {address!r}. None answered within {timeout:g} "
            f"seconds; start one with 'dask scheduler', or check the address. Dask says: {error}"
        ) from error
    try:
        yield DaskEngine(client, timeout=timeout)
    finally:
        client.close(timeout)
