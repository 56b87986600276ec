"""How a command ends: its exit code, and one line about what went wrong."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from gnn2logic._text import visible
from gnn2logic.exceptions import (
    FormulaError,
    Gnn2LogicError,
    MissingDependencyError,
    ParameterError,
)

__all__ = ["exit_code_of"]

_OK, _USAGE, _BAD_DATA, _INTERRUPTED = 0, 2, 3, 130


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code; what went wrong is on stderr.

    Errors that are nobody's fault but ours are not caught: their traceback is what we need.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            found = command()
        sys.stdout.flush()
    except BrokenPipeError:
        return _pipe_was_closed()
    except SystemExit as end:
        # typer makes this of a pipe that was closed.
        if isinstance(end.__context__, OSError) and end.__context__.errno == errno.EPIPE:
            return _pipe_was_closed()
        raise
    except typer.Abort:
        return _INTERRUPTED
    except Gnn2LogicError as error:
        usage = isinstance(error, ParameterError | FormulaError | MissingDependencyError)
        return _failed(str(error), _USAGE if usage else _BAD_DATA)
    except OSError as error:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return _failed(f"{where}{error.strerror or error}", _BAD_DATA)
    except Exception as error:
        # The usage errors of typer; their class is called differently from version to version.
        if not hasattr(error, "format_message"):
            raise
        return _failed(_usage_message(error), _USAGE)
    return found if isinstance(found, int) else _OK


def _failed(message: str, code: int) -> int:
    sys.stderr.write(f"error: {visible(message)}\n")
    return code


def _usage_message(error: Any) -> str:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    return f"{message.rstrip('.')}. Try '{context.command_path} --help'."


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Say a warning in one line, without the place in the code."""
    sys.stderr.write(f"warning: {visible(str(message))}\n")


def _pipe_was_closed() -> int:
    """End quietly: whoever read the output has seen enough."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:
            continue
        try:
            stream.flush()
        except (OSError, ValueError):
            # What is left in the buffer would fail again when Python closes it.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return _OK
