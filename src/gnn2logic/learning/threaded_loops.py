"""Loops compiled twice, for one thread and for all; each when it is first needed.

A loop for all threads takes twice as long to compile, and short work is over before other threads
are awake. So the first fit on little data waits half as long for the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import event

from gnn2logic._progress import say

__all__ = ["ThreadedLoop", "threaded"]

P = ParamSpec("P")
R = TypeVar("R")

# Steps of a loop that are worth waking other threads up for: about ten milliseconds. On a busy
# machine the others may have to wait that long for their turn.
WORTH_THREADS = 20_000_000


class _Announcement(event.Listener):
    """Says once that loops are being compiled, so that nobody thinks that the program hangs."""

    def __init__(self) -> None:
        self._is_said = False

    def on_start(self, event: Any) -> None:
        loop = event.data["dispatcher"].py_func
        if not self._is_said and loop.__module__.startswith("gnn2logic."):
            self._is_said = True
            say("gnn2logic compiles its loops, once after an installation (10 to 15 s)")

    def on_end(self, event: Any) -> None:
        """Nothing: the work goes on, and shows its own progress."""


# What is found in the cache of an earlier run is not announced.
event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


class ThreadedLoop:
    """A loop over ``numba.prange``, run by one thread or by all, as its number of steps says."""

    def __init__(self, loop: Any) -> None:
        self.serial = numba.njit(cache=True, nogil=True)(loop)
        # Under another name: files of compiled code are looked up by name, and the first of two
        # with one name would be taken for both, with threads or without.
        twin = FunctionType(loop.__code__, loop.__globals__, loop.__name__)
        twin.__qualname__ = f"{loop.__qualname__}_on_all_threads"
        self.parallel = numba.njit(cache=True, nogil=True, parallel=True)(twin)

    def __call__(self, steps: int, *arguments: Any) -> Any:
        """Run the loop on `arguments`, in about so many steps."""
        # Loops that use several threads must not be run from several threads.
        alone = steps <= WORTH_THREADS or numba.get_num_threads() == 1
        return (self.serial if alone else self.parallel)(*arguments)


def threaded(count_steps: Callable[..., int]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a loop as a `ThreadedLoop`.

    Parameters
    ----------
    count_steps : callable
        Is given the arguments of the loop, and returns about how many steps it will take.
    """

    def compiled(loop: Callable[P, R]) -> Callable[P, R]:
        versions = ThreadedLoop(loop)

        @wraps(loop)
        def run(*arguments: P.args, **_: P.kwargs) -> R:
            answer: R = versions(count_steps(*arguments), *arguments)
            return answer

        run.versions = versions  # type: ignore[attr-defined]
        return run

    return compiled
