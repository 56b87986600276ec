"""What an engine has to do: place shards, ask all of them, add their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, runtime_checkable

__all__ = ["Crew", "Engine", "Maker", "added"]

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Maker(Protocol):
    """Makes the state of a shard. It can be sent to another process."""

    @property
    def work_bytes(self) -> int:
        """About how much memory the shard needs while it answers, without what it keeps."""

    @property
    def row_bytes(self) -> int:
        """About how much memory its labels take for the one who learns, from beginning to end."""

    def __call__(self, scratch: Path | None = None) -> Any:
        """Return the state of the shard before it was asked anything.

        Its large arrays are kept in memory, or in files in the folder `scratch`.
        """


class Crew(Protocol):
    """Shards that have been placed."""

    @property
    def cells(self) -> int:
        """About how many numbers the answer to one request may have."""

    def ask(
        self,
        request: Callable[Concatenate[Any, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        """Ask all shards and return the sum of their answers.

        A request is a function of the state of a shard, which it may change: a state follows from
        its maker and the requests so far alone. Functions are sent to other processes by their
        name, so a request must be one that can be imported there, such as a method of the state.
        """

    def close(self) -> None:
        """Forget the shards."""


@runtime_checkable
class Engine(Protocol):
    """Places shards."""

    def place(self, makers: Sequence[Maker]) -> Crew:
        """Make the state of every shard, wherever it will stay."""


def added(first: Any, second: Any) -> Any:
    """Return the sum of two answers: of arrays, or part by part of lists and tuples of answers.

    Examples
    --------
    >>> import numpy as np
    >>> added((np.array([1, 2]), [3]), (np.array([10, 20]), [30]))
    (array([11, 22]), [33])
    """
    if first is None:
        return second
    if isinstance(first, list | tuple):
        return type(first)(added(a, b) for a, b in zip(first, second, strict=True))
    return first + second
