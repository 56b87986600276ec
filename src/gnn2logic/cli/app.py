"""``gnn2logic``: finds the command that is asked for, and says what went wrong in one line."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from gnn2logic.exceptions import Gnn2LogicError, ParameterError

__all__ = ["app", "run"]

# Each is a module of this package with a function of the same name.
COMMANDS = ("reproduce",)

_USAGE, _BAD_DATA = 2, 3


class _LazyGroup(TyperGroup):
    """Imports a command when it is asked for: help and errors should not wait for the others."""

    # typer has a click of its own in some versions, so contexts are of no type that can be named.
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"gnn2logic.cli.{cmd_name}")
        single = typer.Typer(add_completion=False)
        single.command(cmd_name)(getattr(module, cmd_name))
        return typer.main.get_command(single)


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Distil graph neural networks into logic that people can read, check and run.",
)


@app.callback()
def _root() -> None:
    """Make this a group of commands, however many there are."""


def run() -> None:
    """Run the command line; 2 means wrong usage, 3 bad data."""
    try:
        app()
    except Gnn2LogicError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(_USAGE if isinstance(error, ParameterError) else _BAD_DATA)
