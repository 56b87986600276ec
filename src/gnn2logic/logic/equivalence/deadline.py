"""One time limit for all the steps of a search."""

from __future__ import annotations

import math
import time

__all__ = ["Deadline", "OutOfTimeError"]


class OutOfTimeError(Exception):
    """The time limit has passed; callers turn this into an undecided result."""


class Deadline:
    """The moment at which a search gives up, counted from the making of this object."""

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def remaining(self) -> float:
        """The seconds that are left, infinite without a time limit, never negative."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise `OutOfTimeError` if no time is left."""
        if self.remaining <= 0:
            raise OutOfTimeError
