"""Progress on the terminal: on stderr, and only where somebody looks at it."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Progress"]


class Progress:
    """A line such as ``fit: layer 3/8, 2.1 s`` that is rewritten in place.

    Parameters
    ----------
    title : str
    total : int or None
        The number of steps; None where nobody knows.
    enabled : bool
        False keeps quiet. It also keeps quiet when `stream` is not a terminal.
    """

    def __init__(
        self, title: str, total: int | None, *, enabled: bool = True, stream: TextIO | None = None
    ) -> None:
        self._title = title
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._on = enabled and self._stream.isatty()
        self._started = time.monotonic()
        self._done = 0

    def step(self, what: str) -> None:
        """Say that another step is done."""
        self._done += 1
        if self._on:
            seconds = time.monotonic() - self._started
            of = "" if self._total is None else f"/{self._total}"
            line = f"{self._title}: {what} {self._done}{of}, {seconds:.1f} s"
            self._stream.write(f"\r{line:<70}")
            self._stream.flush()

    def close(self) -> None:
        """Leave the line."""
        if self._on and self._done:
            self._stream.write("\n")
            self._stream.flush()
