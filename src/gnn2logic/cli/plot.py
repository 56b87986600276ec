"""``gnn2logic plot``: a model as a picture."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gnn2logic.cli.files import PICTURES, check_output, save_picture
from gnn2logic.cli.options import ModelArgument, QuietOption
from gnn2logic.cli.output import talker

__all__ = ["EXAMPLES", "plot"]

EXAMPLES = (
    "gnn2logic plot shapes.idt.json --out shapes.png",
    "gnn2logic plot shapes.idt.json --what rules --out trade-off.svg",
)


class Subject(StrEnum):
    """What is drawn of a model."""

    IDT = "idt"
    TREE = "tree"
    RULES = "rules"


def plot(
    model: ModelArgument,
    out: Annotated[Path, typer.Option(help="NAME.png, .svg or .pdf.")],
    what: Annotated[
        Subject,
        typer.Option(
            help="All layers, the final tree alone, or size against accuracy of all rules."
        ),
    ] = Subject.IDT,
    quiet: QuietOption = False,
) -> None:
    """Draw a model."""
    say = talker(quiet)
    check_output(out, PICTURES)
    from gnn2logic._optional import import_optional
    from gnn2logic.idt import load

    idt = load(model)
    import_optional("matplotlib", extra="plot", purpose="A picture").use("Agg")
    from gnn2logic import plotting

    draw: dict[Subject, Callable[[object], object]] = {
        Subject.IDT: plotting.plot_idt,
        Subject.TREE: plotting.plot_tree,
        Subject.RULES: plotting.plot_rules,
    }
    save_picture(draw[what](idt), out)
    say(f"A picture is in {out}.")
