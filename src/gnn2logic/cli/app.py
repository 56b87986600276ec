"""``gnn2logic``: finds the command that is asked for, and says how it ended."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gnn2logic._text import did_you_mean, visible
from gnn2logic.cli.output import any_text_is_fine, emit, fitting
from gnn2logic.exceptions import (
    FormulaError,
    Gnn2LogicError,
    MissingDependencyError,
    ParameterError,
)

__all__ = ["COMMANDS", "app", "exit_code_of", "run"]

_OK, _USAGE, _BAD_DATA, _INTERRUPTED = 0, 2, 3, 130


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code; what went wrong is on stderr.

    Errors that are nobody's fault but ours are not caught: their traceback is what we need.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            result = command()
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
    return result if isinstance(result, int) else _OK


def _failed(message: str, code: int) -> int:
    sys.stderr.write(fitting(f"error: {visible(message)}", sys.stderr) + "\n")
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


# Each is a module of this package with a function of the same name, in the order of a first visit.
COMMANDS = (
    "demo",
    "init",
    "datasets",
    "train",
    "distill",
    "formula",
    "export",
    "check",
    "evaluate",
    "certify",
    "explain",
    "recourse",
    "diff",
    "plot",
    "report",
    "shard",
    "reproduce",
)


# People try both.
_HELP = {"help_option_names": ["-h", "--help"]}


def _markup() -> Any:
    """Return how help is drawn: with frames and colours for people, plainly for files and pipes."""
    return "rich" if sys.stdout.isatty() else None


class _LazyGroup(TyperGroup):
    """Imports a command when it is asked for: help and errors should not wait for the others."""

    # typer has a click of its own in some versions, so contexts are of no type that can be named.
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"gnn2logic.cli.{cmd_name}")
        markup = _markup()
        single = typer.Typer(add_completion=False, rich_markup_mode=markup)
        epilog = _examples(getattr(module, "EXAMPLES", ()), framed=markup is not None)
        single.command(cmd_name, epilog=epilog, context_settings=_HELP)(getattr(module, cmd_name))
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        close = did_you_mean(args[0], COMMANDS)
        if args[0] not in COMMANDS and close and not args[0].startswith("-"):
            raise ParameterError(f"There is no command {args[0]!r}.{close}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **options: Any) -> Any:
        alone = options.get("standalone_mode", True)
        options["standalone_mode"] = False

        def called() -> Any:
            return super(_LazyGroup, self).main(*args, **options)

        if not alone:
            return called()
        sys.exit(exit_code_of(called))


def _examples(lines: tuple[str, ...], *, framed: bool) -> str | None:
    if not lines:
        return None
    if framed:
        from rich.markup import escape

        return "\n".join(["Examples:", *(f"  {escape(line)}" for line in lines)])
    # \b keeps the lines apart.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


app = typer.Typer(
    cls=_LazyGroup,
    rich_markup_mode=_markup(),
    context_settings=_HELP,
    pretty_exceptions_enable=False,
    help="Distil graph neural networks into logic that people can read, check and run.",
    epilog=_examples(
        (
            "gnn2logic demo",
            "gnn2logic distill BAMultiShapes --out shapes.idt.json",
            "gnn2logic formula shapes.idt.json --as english",
            "gnn2logic check '1(A true > 3) > 2' BAMultiShapes",
        ),
        framed=_markup() is not None,
    ),
)


def _print_version(asked: bool) -> None:
    if asked:
        from gnn2logic import __version__

        emit(f"gnn2logic {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Make this a group of commands, however many there are."""


def run() -> None:
    """Run the command line: 0 is fine, 1 a negative answer, 2 wrong usage, 3 bad data."""
    any_text_is_fine()
    app(sys.argv[1:] or ["--help"], prog_name="gnn2logic")
