"""What the workers of a cluster do: make shards, answer requests, add answers up.

The state of a shard is changed in place, but to Dask it is the result of one task and the input of
the next, which it may copy, or compute once more from the task before. So a state counts the
requests that it has answered. A request that meets a state of another count, or a copy that was
taken while the state was changing, is refused: no shard ever answers a request twice, or skips one.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import threading
from collections.abc import Callable
from typing import Any, Concatenate

import cloudpickle

from gnn2logic._version import __version__
from gnn2logic.engines.local import LocalEngine
from gnn2logic.engines.protocol import Answer, Crew, P, added
from gnn2logic.engines.threads import one_thread
from gnn2logic.exceptions import EngineError

__all__ = [
    "PlacedShard",
    "StaleShardError",
    "add_up",
    "answer_next",
    "answer_of",
    "make_shard",
    "packed",
    "unchanged",
]

_CHANGING = None


class StaleShardError(Exception):
    """The state of a shard, given by its number, has not answered the requests it should have."""

    def __init__(self, shard: int) -> None:
        super().__init__(shard)
        self.shard = shard


class PlacedShard:
    """The state of a shard, the number of requests it has answered, and its last answer.

    Parameters
    ----------
    shard : int
        Its number.
    crew : Crew
        The shard, or several that answer together.
    answered : int or None
        None while it changes.
    answer : object
    """

    def __init__(
        self, shard: int, crew: Crew, answered: int | None = 0, answer: Any = None
    ) -> None:
        self.shard = shard
        self._crew = crew
        self._answered = answered
        self._answer = answer
        # Held while the state is copied, and for a moment when it begins to change.
        self._lock = threading.Lock()
        self._size = _size_of(crew)

    def ask(
        self,
        number: int,
        request: Callable[Concatenate[Any, P], object],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> None:
        """Answer the request of this number, and keep the answer."""
        with self._lock:
            self._expect(number)
            # It stays like this if the request fails: half changed, it is of no use.
            self._answered = _CHANGING
            self._answer = None
        answer = self._crew.ask(request, *arguments, **named)
        size = _size_of(self._crew)
        with self._lock:
            self._answer, self._size, self._answered = answer, size, number + 1

    def answer(self, number: int) -> Any:
        """Return the answer to the request of this number."""
        with self._lock:
            self._expect(number + 1)
            return self._answer

    def _expect(self, answered: int) -> None:
        if self._answered != answered:
            raise StaleShardError(self.shard)

    def __sizeof__(self) -> int:
        # So that Dask knows what it would cost to move it.
        return self._size

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            contents = None
            if self._answered != _CHANGING:
                # What cannot be copied is made anew where it is needed.
                with contextlib.suppress(Exception):
                    contents = cloudpickle.dumps((self._crew, self._answered, self._answer))
        return _copied, (self.shard, contents)


def _copied(shard: int, contents: bytes | None) -> PlacedShard:
    if contents is None:
        return PlacedShard(shard, _Nobody(), _CHANGING)
    return PlacedShard(shard, *cloudpickle.loads(contents))


class _Nobody:
    """Stands where the state of a shard could not be copied."""

    cells = 0

    def ask(
        self,
        request: Callable[Concatenate[Any, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        raise AssertionError(f"{request} with {len(arguments)} arguments must have been refused")

    def close(self) -> None:
        """There is nothing to forget."""


def _size_of(crew: Crew) -> int:
    """Return about how many bytes a state takes; arrays are looked at, not copied."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        rest = cloudpickle.dumps(crew, protocol=5, buffer_callback=buffers.append)
    except Exception:
        return 0
    return len(rest) + sum(buffer.raw().nbytes for buffer in buffers)


# Tasks ----------------------------------------------------------------------------------------


def packed(*values: Any) -> bytes:
    """Return values as bytes, which Dask passes on without a look at them.

    In lists and texts it looks for tasks, which takes long and may find what was not meant.
    """
    contents: bytes = cloudpickle.dumps(values)
    return contents


def unchanged(parcel: bytes) -> bytes:
    """Return what was given: as the result of a task it is sent to the cluster once."""
    return parcel


def make_shard(parcel: bytes, shard: int, version: str) -> PlacedShard:
    """Make the state of a shard, which may be several shards that answer together."""
    if version != __version__:
        raise EngineError(
            f"All workers must have the version of gnn2logic of the client, {version}, or the "
            f"model could differ. One has {__version__}; install the same version everywhere."
        )
    makers = cloudpickle.loads(parcel)
    with one_thread():
        return PlacedShard(shard, LocalEngine().place(makers))


def answer_next(placed: PlacedShard, number: int, parcel: bytes) -> PlacedShard:
    """Answer a request, which changes the state of the shard, and return it."""
    request, arguments, named = cloudpickle.loads(parcel)
    with one_thread():
        placed.ask(number, request, *arguments, **named)
    return placed


def answer_of(placed: PlacedShard, number: int) -> Any:
    """Return the answer to the request of this number, which was the last one."""
    return placed.answer(number)


def add_up(*answers: Any) -> Any:
    """Return the sum of some answers, in the order of the shards."""
    return functools.reduce(added, answers)
