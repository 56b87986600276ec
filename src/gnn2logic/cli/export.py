"""``gnn2logic export``: a model as a query, as code, as patterns or as a picture to be typeset."""

from __future__ import annotations

import json
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnn2logic._text import one_line
from gnn2logic.cli.options import (
    JsonOption,
    ModelArgument,
    QuietOption,
    TargetOption,
    settings_from,
)
from gnn2logic.cli.output import check_output, emit, emit_json, talker
from gnn2logic.exceptions import ParameterError, UnsupportedInputError

if TYPE_CHECKING:
    from gnn2logic.idt import IDTPredictor
    from gnn2logic.scorecards import ScorecardPredictor

    Model = IDTPredictor | ScorecardPredictor

__all__ = ["EXAMPLES", "export"]

EXAMPLES = (
    "gnn2logic export shapes.idt.json --to sql | sqlite3 graphs.db",
    "gnn2logic export mutag.idt.json --to sql --name nodes=atoms --name undirected=true",
    "gnn2logic export mutag.idt.json --to cypher --name label=Atom",
    "gnn2logic export shapes.idt.json --to python --out rule.py",
    "gnn2logic export toxic.json --target NR-AhR --to smarts",
)


class Language(StrEnum):
    """What a model is written as."""

    SQL = "sql"
    CYPHER = "cypher"
    PYTHON = "python"
    SMARTS = "smarts"
    JSON = "json"
    DOT = "dot"
    TIKZ = "tikz"


def export(
    model: ModelArgument,
    to: Annotated[Language, typer.Option("--to", help="The language.", show_default=False)],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="KEY=VALUE",
            help="For sql and cypher: what something is called there, such as nodes=atoms, "
            "edges=bonds, graph=molecule (sql) or label=Atom, edge=BOND (cypher); "
            "undirected=true where each edge is stored once.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A file to write; by default it goes to stdout.", show_default=False),
    ] = None,
    target: TargetOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a model for other programs.

    A query gives the prediction for each graph (or node) from tables of nodes and edges, whose
    columns are those of the graphs that the model was fitted on. The function in Python takes a
    networkx graph or adjacency lists and imports nothing. SMARTS is for models of molecules: each
    class as patterns to count. JSON has the formula of each class, or the lines of a scorecard of
    numbers; dot and tikz draw an Iterated Decision Tree.
    """
    say = talker(quiet)
    if names and to not in (Language.SQL, Language.CYPHER):
        raise ParameterError("--name is for --to sql and --to cypher.")
    if out is not None:
        check_output(out)
    from gnn2logic.cli.subjects import load_one

    text = _written(load_one(model, target), to, names).rstrip("\n")
    if as_json:
        where = {"text": text} if out is None else {"file": str(out)}
        emit_json({"language": to.value, **where})
    elif out is None:
        emit(text)
    if out is None:
        return
    from gnn2logic._files import write_atomically

    write_atomically(out, f"{text}\n".encode())
    say(f"The model is in {out}.")


def _written(model: Model, to: Language, names: list[str] | None) -> str:
    from gnn2logic.logic.export import CypherNames, SqlTables

    if to is Language.SQL:
        return model.to_sql(tables=SqlTables(**_settings(SqlTables, names)))
    if to is Language.CYPHER:
        return model.to_cypher(names=CypherNames(**_settings(CypherNames, names)))
    if to is Language.PYTHON:
        return model.to_python()
    if to is Language.JSON:
        return json.dumps(_plain(model), indent=1, ensure_ascii=False)
    if to is Language.SMARTS:
        return _patterns(model)
    from gnn2logic.idt import IDTPredictor
    from gnn2logic.idt.export import export_dot, export_tikz

    if not isinstance(model, IDTPredictor):
        raise UnsupportedInputError(
            f"--to {to} draws Iterated Decision Trees. {type(model).__name__} has no tree; "
            "try sql, cypher, python or json."
        )
    return export_dot(model) if to is Language.DOT else export_tikz(model)


def _plain(model: Model) -> dict[str, Any]:
    """Return the formula of each class; of a scorecard of numbers its lines and what they add."""
    if hasattr(model, "classes_"):
        labels = model.classes_.tolist()
        return {str(label): json.loads(model.formula(label).to_json()) for label in labels}
    card: Any = model.card_  # type: ignore[union-attr]
    lines = [
        {"points": points[0], "formula": json.loads(formula.to_json())}
        for line in card.lines
        for formula, points in line.cases
    ]
    number = {"intercept": card.intercept, "slope": card.slope, "base": card.base[0]}
    return {**number, "lines": lines}


def _patterns(model: Model) -> str:
    """Return SMARTS of each class: of atoms one pattern, of molecules patterns to count."""
    from gnn2logic.chem import smarts_rule, to_smarts

    if not hasattr(model, "classes_"):
        raise UnsupportedInputError(
            "--to smarts is for rules and for scorecards of classes. This is a scorecard of "
            "numbers; try sql, cypher, python or json."
        )
    shown = []
    for label in model.classes_.tolist():
        formula = model.formula(label)
        says = to_smarts(formula) if model.level == "node" else smarts_rule(formula)
        shown.append(f"# {one_line(str(label))}\n{says}\n")
    return "\n".join(shown)


def _settings(layout: Any, names: list[str] | None) -> dict[str, Any]:
    return settings_from("--name", names, [field.name for field in fields(layout)])
