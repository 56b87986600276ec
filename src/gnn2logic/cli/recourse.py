"""``gnn2logic recourse``: the smallest change of a graph after which it has another class."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    DataSplit,
    IndexArgument,
    JsonOption,
    LabelOption,
    ModelArgument,
    QuietOption,
    SmilesOption,
    TeacherOption,
    with_columns,
)
from gnn2logic.cli.output import emit, emit_json, talker

__all__ = ["EXAMPLES", "recourse"]

EXAMPLES = (
    "gnn2logic recourse shapes.idt.json BAMultiShapes 17",
    "gnn2logic recourse mutag.idt.json MUTAG 0 --teacher mutag.safetensors --allow edges",
)


class Edits(StrEnum):
    """Which edits may be made."""

    PREDICATES = "predicates"
    EDGES = "edges"
    NODES = "nodes"


def recourse(
    model: ModelArgument,
    dataset: DataArgument,
    index: IndexArgument,
    node: Annotated[
        int | None,
        typer.Option(min=0, help="The node whose class shall change, for models of nodes."),
    ] = None,
    teacher: TeacherOption = None,
    max_edits: Annotated[int, typer.Option(min=1, help="How many edits a change may have.")] = 3,
    allow: Annotated[
        list[Edits] | None,
        typer.Option(help="What may be changed; may be repeated. Everything by default."),
    ] = None,
    max_graphs: Annotated[int, typer.Option(min=1, help="How many graphs are tried.")] = 20_000,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the smallest change of a graph that changes the answer.

    With --teacher the network has to say something else as well. The exit code is 1 if no such
    change was found.
    """
    talker(quiet)
    from gnn2logic import explanation
    from gnn2logic.cli.subjects import graph_numbered, load_classes, load_named
    from gnn2logic.cli.teachers import find_teacher

    load_classes(model)
    idt, chosen = load_named(model, dataset, with_columns(data, smiles, label), DataSplit.ALL)
    one = graph_numbered(chosen, index)
    network = find_teacher(teacher, chosen.data)
    graph = one.graphs if network is None else one.network_graphs
    change = explanation.recourse(
        idt,
        graph[0] if isinstance(graph, list) else graph,
        network,
        max_edits,
        node=node,
        allowed=tuple(map(str, allow or Edits)),
        max_graphs=max_graphs,
        verbose=0 if quiet else None,
    )
    if as_json:
        emit_json({"dataset": chosen.data.name, "graph": index} | change.to_dict())
    else:
        emit(f"Graph {index} of {chosen.data.name}, whose class is {chosen.labels[index]}")
        emit(change)
    if not change:
        raise typer.Exit(1)
