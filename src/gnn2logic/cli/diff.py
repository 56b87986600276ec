"""``gnn2logic diff``: what changed between two models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnn2logic.cli.options import (
    DataOption,
    DataSplit,
    JsonOption,
    LabelOption,
    QuietOption,
    SmilesOption,
    SplitOption,
    with_columns,
)
from gnn2logic.cli.output import emit, emit_json, talker
from gnn2logic.exceptions import ParameterError

__all__ = ["EXAMPLES", "diff"]

EXAMPLES = (
    "gnn2logic diff old.idt.json new.idt.json",
    "gnn2logic diff old.idt.json new.idt.json MUTAG --split all --json",
)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A saved model.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.", show_default=False)],
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATASET]",
            help="A name, a folder or a CSV file: graphs on which they are compared as well.",
            show_default=False,
        ),
    ] = None,
    max_nodes: Annotated[
        int, typer.Option(min=1, help="Compare on all graphs with at most so many nodes.")
    ] = 3,
    seconds: Annotated[float, typer.Option(help="For each class on these, at most.")] = 20.0,
    split: SplitOption = DataSplit.TEST,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say what changed between two models.

    It compares them on data, on small graphs and in their conditions.

    The exit code is 1 if a difference was seen.
    """
    talker(quiet)
    from gnn2logic import explanation
    from gnn2logic.cli.data import with_class_names
    from gnn2logic.cli.subjects import load_named, load_one

    graphs = None
    if dataset is None:
        if data or smiles or label or split is not DataSplit.TEST:
            raise ParameterError(
                "--data, --smiles, --label and --split are about a data set. Name one behind the "
                "models, or leave them out."
            )
        before, after = load_one(old), load_one(new)
    else:
        before, chosen = load_named(old, dataset, with_columns(data, smiles, label), split)
        after, graphs = load_one(new), chosen.graphs
        if after.target is None and before.target is None:
            after = with_class_names(after, chosen.data)
    difference = explanation.diff(before, after, graphs, max_nodes=max_nodes, time_limit=seconds)
    if as_json:
        emit_json(difference.to_dict())
    else:
        emit(difference)
    if difference:
        raise typer.Exit(1)
