"""``gnn2logic demo``: the whole way, on built-in graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnn2logic.cli.options import QuietOption
from gnn2logic.cli.output import emit, talker

__all__ = ["EXAMPLES", "demo"]

EXAMPLES = ("gnn2logic demo", "gnn2logic demo --out somewhere/else")


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the report and the pictures.")] = Path(
        "demo"
    ),
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of the network at most.")] = 60,
    quiet: QuietOption = False,
) -> None:
    """Go the whole way on built-in graphs.

    A network is trained on BAMultiShapes and distilled; the rules are printed, in logic and in
    words; a report and pictures are written.
    """
    say = talker(quiet)
    from gnn2logic.cli.demonstration import show

    show(out, epochs=epochs, emit=emit, say=say, verbose=int(not quiet))
