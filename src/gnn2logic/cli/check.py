"""``gnn2logic check``: a model checker for data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnn2logic.cli.formula import parsed
from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    DataSplit,
    JsonOption,
    LabelOption,
    QuietOption,
    SmilesOption,
    SplitOption,
    with_columns,
)
from gnn2logic.cli.output import emit, emit_json, emit_table, talker

if TYPE_CHECKING:
    from gnn2logic.cli.formula_checks import FormulaCheck

__all__ = ["EXAMPLES", "check"]

EXAMPLES = (
    "gnn2logic check '1(A true > 3) > 2' BAMultiShapes",
    "gnn2logic check '1 true > 12' AIDS --json",
    "gnn2logic check 'A U0 > 6' psi_2 --list",
    "gnn2logic formula psi_2.idt.json --class true | gnn2logic check - psi_2",
)

# Without --list, so many graphs are named.
_SHOWN = 20


def check(
    formula: Annotated[
        str,
        typer.Argument(
            metavar="FORMULA",
            help="A formula, as gnn2logic formula writes it; - reads it from stdin.",
            show_default=False,
        ),
    ],
    dataset: DataArgument,
    show_all: Annotated[
        bool, typer.Option("--list", help="Name all graphs and nodes where it is true.")
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Read numbers at the nodes as this model does, for formulas such as 'x > 0.5'.",
            show_default=False,
        ),
    ] = None,
    split: SplitOption = DataSplit.ALL,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check where a formula is true, and what it predicts.

    Says in which graphs and at which nodes it is true, and how well that tells each class.

    A formula is true in a graph if it is true at all of its nodes; "1(phi) > 0" asks for one node.
    The data set may be a folder that gnn2logic shard wrote; it is read in parts. The exit code is 1
    if the formula is true in no graph.
    """
    say = talker(quiet)
    data = with_columns(data, smiles, label)
    wanted = parsed(formula)
    from gnn2logic.cli.data import read_data
    from gnn2logic.cli.formula_checks import check_formula
    from gnn2logic.cli.subjects import load_one
    from gnn2logic.storage import is_store

    reader = None if model is None else load_one(model)
    if is_store(dataset):
        from gnn2logic.cli.stores import check_store, open_store

        checked = check_store(wanted, open_store(dataset, data), split, reader)
    else:
        checked = check_formula(wanted, read_data(dataset, data, split), reader)
    if as_json:
        emit_json(checked.plain())
    else:
        _emit(checked, show_all)
    if not checked.graphs.any():
        if checked.nodes.any():
            say("It is true at some nodes. Ask for graphs that have such a node by 1(...) > 0.")
        raise typer.Exit(1)


def _emit(checked: FormulaCheck, show_all: bool) -> None:
    from gnn2logic.explanation import in_steps

    graphs_with_nodes = checked.graphs_with_nodes()
    n_graphs, n_nodes = int(checked.graphs.sum()), int(checked.nodes.sum())
    emit(f"formula   {checked.formula}")
    first, *steps = in_steps(checked.formula).splitlines()
    emit(f"in words  {first}")
    for line in steps:
        emit(f"{'':8}{line}")
    emit(f"graphs    true in {n_graphs} of {len(checked.graphs)} of {checked.dataset_name}")
    emit(f"nodes     true at {n_nodes} of {len(checked.nodes)}, in {len(graphs_with_nodes)} graphs")
    emit()
    heads = ["class", "graphs", "accuracy", "precision", "recall", "F1", ""]
    emit_table(
        heads,
        [
            [
                score.name,
                score.graphs,
                score.accuracy,
                score.precision,
                score.recall,
                score.f1,
                "best" if score is checked.best else "",
            ]
            for score in checked.scores
        ],
    )
    if show_all:
        emit()
        for graph in graphs_with_nodes:
            mark = "true" if graph["satisfied"] else "some"
            nodes = ", ".join(map(str, graph["nodes"]))
            emit(f"{mark}  graph {graph['graph']} ({graph['class']}): nodes {nodes}")
    elif n_graphs:
        numbers = [str(graph["graph"]) for graph in graphs_with_nodes if graph["satisfied"]]
        more = ", ... (--list names all)" if len(numbers) > _SHOWN else ""
        emit(f"\ntrue in graphs {', '.join(numbers[:_SHOWN])}{more}")
