"""How far long work is: a line that moves on a terminal, a bar in a notebook, lines in a log."""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from html import escape
from types import TracebackType
from typing import Any, Protocol, TextIO

__all__ = ["Progress", "say"]

# Seconds: work that takes longer is shown on a terminal without being asked for, a log has a line
# this often, and a bar in a notebook moves this often.
_PATIENCE = 5.0
_LOG_EVERY = 5.0
_BAR_EVERY = 0.2
_WIDTH = 70


def say(line: str, stream: TextIO | None = None) -> None:
    """Say why it takes a while, to somebody who waits at a terminal or a notebook."""
    view = _view(None, stream)
    display = _notebook_display() if view is None and stream is None else None
    if display is not None:
        view = _Notebook(display)
    if view is not None:
        view.show(line, 0, None)
        view.close()


class Progress:
    """How many steps are done: ``fit: layer 3/8, 2.1 s``.

    It is for the ``with`` statement, so that the line is left whatever happens.

    Parameters
    ----------
    title : str
    total : int or None
        The number of steps; None where nobody knows.
    verbose : int or None
        0 keeps quiet and 1 shows everything: on a terminal in a line that is rewritten, in a
        notebook in a bar that is redrawn, elsewhere in a line every few seconds and at the end.
        None shows work that takes longer than `patience`, and only on a terminal.
    patience : float
        Seconds.
    stream : text file, optional
        stderr by default.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        *,
        verbose: int | None = None,
        patience: float = _PATIENCE,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._total = total
        self._clock = clock
        self._started = clock()
        self._done = 0
        self._what = ""
        self._patience = patience if verbose is None else 0.0
        self._view = _view(verbose, stream)
        self._shown = 0
        self._shown_at = self._started

    def step(self, what: str) -> None:
        """Say that another step is done."""
        self._done += 1
        self._what = what
        if self._view is None:
            return
        now = self._clock()
        is_due = now - self._shown_at >= self._view.every
        if now - self._started >= self._patience and is_due:
            self._show(now)

    def close(self) -> None:
        """Show the last step, and leave the line."""
        if self._view is None:
            return
        now = self._clock()
        is_waited_for = self._shown > 0 or now - self._started >= self._patience
        if self._done > self._shown and is_waited_for:
            self._show(now)
        if self._shown:
            self._view.close()
        self._view = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _show(self, now: float) -> None:
        assert self._view is not None
        passed = now - self._started
        of_all = "" if self._total is None else f"/{self._total}"
        line = f"{self._title}: {self._what} {self._done}{of_all}, {passed:.1f} s"
        if self._total is not None and passed >= _PATIENCE and self._done < self._total:
            left = passed / self._done * (self._total - self._done)
            line += f", {timedelta(seconds=round(left))} left"
        self._view.show(line, self._done, self._total)
        self._shown, self._shown_at = self._done, now


class _View(Protocol):
    """Where progress is shown; `every` are the seconds between two lines at least."""

    every: float

    def show(self, line: str, done: int, total: int | None) -> None: ...

    def close(self) -> None: ...


class _Terminal:
    every = 0.0

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = _WIDTH

    def show(self, line: str, done: int, total: int | None) -> None:
        # Nothing of a longer line before may stay.
        self._width = max(self._width, len(line))
        self._stream.write(f"\r{line:<{self._width}}")
        self._stream.flush()

    def close(self) -> None:
        self._stream.write("\n")
        self._stream.flush()


class _Log:
    every = _LOG_EVERY

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, line: str, done: int, total: int | None) -> None:
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: lines end by themselves."""


class _Notebook:
    every = _BAR_EVERY

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, line: str, done: int, total: int | None) -> None:
        bar = "" if total is None else f'<progress value="{done}" max="{total}"></progress> '
        data = {"text/plain": line, "text/html": f"{bar}{escape(line)}"}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def close(self) -> None:
        """Leave the bar where it is."""


def _view(verbose: int | None, stream: TextIO | None) -> _View | None:
    """Return where to show progress; None where nobody wants to see it."""
    if verbose is not None and not verbose:
        return None
    output = sys.stderr if stream is None else stream
    # Python without a console has no stderr.
    if output is None:
        return None
    if output.isatty():
        return _Terminal(output) if verbose or _is_alone() else None
    if not verbose:
        return None
    display = _notebook_display() if stream is None else None
    return _Log(output) if display is None else _Notebook(display)


def _is_alone() -> bool:
    """Return whether no other work of this program is likely to write to the same terminal."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and multiprocessing.parent_process() is None


def _notebook_display() -> Callable[..., Any] | None:
    """Return what shows things in the notebook that this runs in; None elsewhere."""
    # Whoever runs in a notebook has IPython already; nobody else should have to load it.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    show: Callable[..., Any] = importlib.import_module("IPython.display").display
    return show
