"""``gnn2logic``: finds the command that is asked for."""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gnn2logic.cli.ending import exit_code_of
from gnn2logic.cli.output import any_text_is_fine, emit
from gnn2logic.exceptions import ParameterError

__all__ = ["COMMANDS", "app", "run"]

# Each is a module of this package with a function of the same name, in the order of a first visit.
COMMANDS = (
    "demo",
    "datasets",
    "train",
    "distill",
    "formula",
    "check",
    "evaluate",
    "explain",
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
        close = difflib.get_close_matches(args[0], COMMANDS, n=1)
        if args[0] not in COMMANDS and close and not args[0].startswith("-"):
            raise ParameterError(f"There is no command {args[0]!r}. Did you mean {close[0]!r}?")
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
