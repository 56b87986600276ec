"""``gnn2logic report``: a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    DataSplit,
    JsonOption,
    LabelOption,
    ModelArgument,
    QuietOption,
    SeedOption,
    SmilesOption,
    SplitOption,
    TargetOption,
    TeacherOption,
    with_columns,
)
from gnn2logic.cli.output import check_output, emit_json, talker, writing_to
from gnn2logic.exceptions import ParameterError

__all__ = ["EXAMPLES", "report"]

EXAMPLES = (
    "gnn2logic report shapes.idt.json BAMultiShapes --teacher shapes.safetensors --out shapes.html",
    "gnn2logic report mutag.idt.json MUTAG --title 'What MUTAG learned' --out mutag.md",
    "gnn2logic report mutag.idt.json MUTAG --teacher mutag.safetensors --certificate sample.json "
    "--out mutag.html",
)

_ENDINGS = (".html", ".md", ".json")
_MOST_BYTES = 2**20


def report(
    model: ModelArgument,
    dataset: DataArgument,
    out: Annotated[Path, typer.Option(help="NAME.html, .md or .json.")],
    teacher: TeacherOption = None,
    title: Annotated[str | None, typer.Option(help="The heading.", show_default=False)] = None,
    certificates: Annotated[
        list[Path] | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="What certify --json printed about this model; may be repeated.",
            show_default=False,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Graphs of each class to show.")] = 6,
    split: SplitOption = DataSplit.TEST,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    target: TargetOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a page about a model, with graphs to look at.

    The HTML page is one file that needs no network. Markdown and JSON have the same content.
    """
    say = talker(quiet)
    data = with_columns(data, smiles, label)
    check_output(out, _ENDINGS)
    from gnn2logic import reporting
    from gnn2logic.cli.subjects import arguments_of, load_named

    idt, chosen = load_named(model, dataset, data, split, target)
    page = reporting.report(
        idt,
        **arguments_of(idt, chosen, teacher),
        title=title,
        certificates=[_certificate(path) for path in certificates or ()],
        n_examples=examples,
        random_state=seed,
    )
    write = {".html": page.write_html, ".md": page.write_markdown, ".json": page.write_json}
    with writing_to(out):
        write[out.suffix.lower()](out)
    if as_json:
        emit_json({"dataset": chosen.data.name, "graphs": len(chosen.data), "file": str(out)})
    say(f"The report is in {out}.")


def _certificate(path: Path) -> dict[str, Any]:
    from gnn2logic._files import read_whole
    from gnn2logic._json import strict_json

    try:
        plain = strict_json(read_whole(path, _MOST_BYTES))
    except ValueError as error:
        raise ParameterError(
            f"--certificate must be a file with what certify --json printed. {path} is none: "
            f"{error}"
        ) from None
    if not isinstance(plain, dict):
        raise ParameterError(
            f"--certificate must be a file with what certify --json printed. {path} is none."
        )
    return plain
