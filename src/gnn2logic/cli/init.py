"""``gnn2logic init``: a script for graphs and a network of one's own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from gnn2logic._files import write_atomically
from gnn2logic.cli.options import JsonOption, QuietOption
from gnn2logic.cli.output import check_output, emit_json, talker, writing_to
from gnn2logic.exceptions import ParameterError

__all__ = ["EXAMPLES", "init"]

EXAMPLES = ("gnn2logic init", "gnn2logic init toxic.py")


def init(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="The file to write, NAME.py.")
    ] = Path("my_rules.py"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a script for your own graphs and network.

    It runs as it is, on graphs that it makes, and says in comments what to replace.
    """
    say = talker(quiet)
    check_output(script, (".py",))
    if script.exists() and not overwrite:
        raise ParameterError(f"{script} is there already. Give another name, or --overwrite.")
    text = (files("gnn2logic.cli") / "own_script.txt").read_text(encoding="utf-8")
    with writing_to(script):
        write_atomically(script, text.replace("SCRIPT", script.name).encode())
    if as_json:
        emit_json({"file": str(script)})
    say(f"Try it: python {script}. Then put your graphs and your network into its parts 1 and 2.")
