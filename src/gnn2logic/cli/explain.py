"""``gnn2logic explain``: why one graph is of its class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    TargetOption,
    TeacherOption,
    with_columns,
)
from gnn2logic.cli.output import PICTURES, check_output, emit, emit_json, save_picture, talker

if TYPE_CHECKING:
    from gnn2logic.explanation import Explanation, ScoreExplanation

__all__ = ["EXAMPLES", "explain"]

EXAMPLES = (
    "gnn2logic explain shapes.idt.json BAMultiShapes 17",
    "gnn2logic explain mutag.idt.json MUTAG 0 --teacher mutag.safetensors --picture why.png",
)


def explain(
    model: ModelArgument,
    dataset: DataArgument,
    index: IndexArgument,
    node: Annotated[
        int | None,
        typer.Option(min=0, help="The node to explain, for models that classify nodes."),
    ] = None,
    teacher: TeacherOption = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw it as well, into NAME.png, .svg or .pdf.")
    ] = None,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    target: TargetOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Explain why the rules give a graph its class.

    In words, with all counts, the nodes that are counted, and the smallest change of counts that
    would give another class.
    """
    say = talker(quiet)
    data = with_columns(data, smiles, label)
    if picture is not None:
        check_output(picture, PICTURES)
    from gnn2logic import explanation
    from gnn2logic.chem.words import molecule_words
    from gnn2logic.cli.subjects import graph_numbered, load_named
    from gnn2logic.cli.teachers import find_teacher

    idt, chosen = load_named(model, dataset, data, DataSplit.ALL, target)
    one = graph_numbered(chosen, index)
    network = find_teacher(teacher, chosen.data)
    graph = one.graphs if network is None else one.network_graphs
    reasons = explanation.explain(idt, graph, network, node=node)
    number, known = idt.target, chosen.labels[index]
    truth = str(known) if number is None else number.rounded(float(known))
    if as_json:
        plain = {"dataset": chosen.data.name, "graph": index}
        plain |= {"true_class": truth} if number is None else {"true_number": float(known)}
        emit_json(plain | reasons.to_dict())
    else:
        noun = "class" if number is None else number.noun.removeprefix("the ")
        emit(f"Graph {index} of {chosen.data.name}, whose {noun} is {truth}")
        emit(reasons.to_text(molecule_words(chosen.data.graphs)))
    if picture is not None:
        _draw(reasons, picture)
        say(f"A picture is in {picture}.")


def _draw(reasons: Explanation | ScoreExplanation, picture: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from gnn2logic.plotting import plot_explanation

    save_picture(plot_explanation(reasons), picture)
