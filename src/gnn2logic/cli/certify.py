"""``gnn2logic certify``: how sure it is that a rule says what its network says."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    DataSplit,
    JsonOption,
    ModelArgument,
    QuietOption,
    SeedOption,
    SplitOption,
)
from gnn2logic.cli.output import emit, emit_json, talker
from gnn2logic.exceptions import ParameterError

__all__ = ["EXAMPLES", "certify"]

EXAMPLES = (
    "gnn2logic certify shapes.idt.json BAMultiShapes --teacher shapes.safetensors",
    "gnn2logic certify mutag.idt.json MUTAG --teacher mutag.safetensors --source mutated",
    "gnn2logic certify psi_1.idt.json psi_1 --teacher psi_1.safetensors --grade exhaustive",
    "gnn2logic certify psi_1.idt.json psi_1 --teacher psi_1.safetensors --grade exhaustive "
    "--max-nodes 3 --graph-class directed --max-graphs 20000",
)


# As in `gnn2logic.certify`.
_MOST_GRAPHS, _MARGIN = 100_000, 1e-4


class Grade(StrEnum):
    """How it is shown."""

    STATISTICAL = "statistical"
    EXHAUSTIVE = "exhaustive"
    SYMBOLIC = "symbolic"


class GraphClass(StrEnum):
    """Which graphs are all of them."""

    SIMPLE = "simple"
    LOOPED = "looped"
    DIRECTED = "directed"
    DIRECTED_LOOPED = "directed-looped"


class Source(StrEnum):
    """Where graphs come from."""

    GIVEN = "given"
    MUTATED = "mutated"
    RANDOM = "random"


def certify(
    model: ModelArgument,
    dataset: DataArgument,
    teacher: Annotated[
        str,
        typer.Option(
            "--teacher",
            metavar="FILE|MODULE:FUNCTION",
            help="A network that train wrote, or package.module:factory.",
            show_default=False,
        ),
    ],
    grade: Annotated[
        Grade, typer.Option(help="A bound from a sample, all small graphs run, or a proof by z3.")
    ] = Grade.STATISTICAL,
    source: Annotated[
        Source,
        typer.Option(help="Of the sample: the graphs themselves, changes of them, or random ones."),
    ] = Source.GIVEN,
    n_graphs: Annotated[
        int, typer.Option("--graphs", min=1, help="How many are drawn from other sources.")
    ] = 1000,
    confidence: Annotated[float, typer.Option(help="How sure the bound is.")] = 0.95,
    max_nodes: Annotated[int, typer.Option(min=1, help="Of all graphs: their largest size.")] = 4,
    graph_class: Annotated[
        GraphClass, typer.Option(help="Of all graphs: undirected ones without loops, or others.")
    ] = GraphClass.SIMPLE,
    max_graphs: Annotated[
        int, typer.Option(min=1, help="Of all graphs: how many are run at most.")
    ] = _MOST_GRAPHS,
    margin: Annotated[
        float,
        typer.Option(
            min=0,
            help="Of a proof: graphs on which the network leads by less are run, because its "
            "numbers are rounded.",
        ),
    ] = _MARGIN,
    seconds: Annotated[float, typer.Option(help="For all small graphs, at most.")] = 60.0,
    split: SplitOption = DataSplit.TEST,
    data: DataOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say how sure it is that a rule and its network agree.

    The exit code is 1 if a graph was found on which they differ.
    """
    talker(quiet)
    for option, is_given, grades in (
        ("--graph-class", graph_class is not GraphClass.SIMPLE, (Grade.EXHAUSTIVE, Grade.SYMBOLIC)),
        ("--max-graphs", max_graphs != _MOST_GRAPHS, (Grade.EXHAUSTIVE, Grade.SYMBOLIC)),
        ("--margin", margin != _MARGIN, (Grade.SYMBOLIC,)),
    ):
        if is_given and grade not in grades:
            raise ParameterError(f"{option} goes with --grade {' or '.join(grades)} only.")
    from gnn2logic import certification
    from gnn2logic.cli.subjects import load_classes, load_named
    from gnn2logic.cli.teachers import find_teacher

    load_classes(model)
    idt, chosen = load_named(model, dataset, data, split)
    certificate = certification.certify(
        idt,
        find_teacher(teacher, chosen.data),
        chosen.network_graphs,
        grade=grade,
        source=source,
        n_graphs=n_graphs,
        confidence=confidence,
        max_nodes=max_nodes,
        graph_class=graph_class,
        max_graphs=max_graphs,
        margin=margin,
        time_limit=seconds,
        random_state=seed,
    )
    if as_json:
        emit_json(certificate.to_dict())
    else:
        emit(certificate)
        if len(certificate.counterexamples):
            emit(f"\n{certificate.counterexamples}")
    if certificate.n_disagreements:
        raise typer.Exit(1)
