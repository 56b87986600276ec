"""Progress with the time that is left, on stderr: a line that moves, or a log in a file."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import TextIO

__all__ = ["Countdown"]

_BAR = 24


class Countdown:
    """Says how many of `total` steps are done and how long the others will take."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._done = 0
        self._started = time.monotonic()
        self._moves = self._stream.isatty()
        self._show("starting")

    def step(self, what: str) -> None:
        """Say that a step is done."""
        self._done += 1
        self._show(what)

    def _show(self, what: str) -> None:
        if not self._total:
            return
        full = _BAR * self._done // self._total
        line = f"[{'#' * full}{'.' * (_BAR - full)}] {self._done}/{self._total}, {self._left()}"
        text = f"\r{line}, {what:<30}" if self._moves else f"{line}, {what}\n"
        self._stream.write(text)
        self._stream.flush()

    def _left(self) -> str:
        if not self._done:
            return "time left unknown"
        passed = time.monotonic() - self._started
        left = passed / self._done * (self._total - self._done)
        return f"{timedelta(seconds=round(left))} left"

    def close(self) -> None:
        """Leave the line."""
        if self._moves and self._total:
            self._stream.write("\n")
            self._stream.flush()
