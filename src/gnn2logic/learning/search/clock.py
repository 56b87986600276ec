"""How long a search goes on: until its time is up, or the user interrupts it."""

from __future__ import annotations

import time

__all__ = ["Clock", "is_interrupt"]


class Clock:
    """Says whether a search goes on: until its time is up, or the user interrupts it.

    Parameters
    ----------
    max_seconds : float or None
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        self._ends = None if max_seconds is None else time.monotonic() + max_seconds
        self.interrupted = False

    def goes_on(self) -> bool:
        """Whether another step may be begun."""
        if self.interrupted:
            return False
        return self._ends is None or time.monotonic() < self._ends

    def stop(self) -> None:
        """Begin nothing new."""
        self.interrupted = True


def is_interrupt(error: BaseException | None) -> bool:
    """Whether the user caused an error: an interrupt within a kernel comes as a SystemError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
