"""``gnn2logic plot``: a model as a picture."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    DataPart,
    JsonOption,
    LabelOption,
    ModelArgument,
    PartOption,
    QuietOption,
    SmilesOption,
    TeacherOption,
    with_columns,
)
from gnn2logic.cli.output import PICTURES, check_output, emit_json, save_picture, talker
from gnn2logic.exceptions import ParameterError

__all__ = ["EXAMPLES", "plot"]

EXAMPLES = (
    "gnn2logic plot shapes.idt.json --out shapes.png",
    "gnn2logic plot shapes.idt.json --what rules --out trade-off.svg",
    "gnn2logic plot shapes.idt.json BAMultiShapes --what confusion --out confusion.pdf",
)


class Picture(StrEnum):
    """What is drawn of a model."""

    IDT = "idt"
    TREE = "tree"
    RULES = "rules"
    CONFUSION = "confusion"
    FIDELITY = "fidelity"


def plot(
    model: ModelArgument,
    dataset: Annotated[str | None, DataArgument.__metadata__[0]] = None,
    *,
    out: Annotated[Path, typer.Option(help="NAME.png, .svg or .pdf.")],
    what: Annotated[
        Picture,
        typer.Option(
            help="All layers, the final tree alone, size against accuracy of all rules, or a table "
            "of the answers of the rules beside the true classes, or beside those of the network."
        ),
    ] = Picture.IDT,
    teacher: TeacherOption = None,
    part: PartOption = DataPart.TEST,
    data: DataOption = None,
    as_json: JsonOption = False,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    quiet: QuietOption = False,
) -> None:
    """Draw a model, or how good it is.

    The tables need a data set, and fidelity a teacher too. Rules are measured on the data set if
    there is one, and else on what they were learned from.
    """
    say = talker(quiet)
    data = with_columns(data, smiles, label)
    check_output(out, PICTURES)
    if dataset is None and what in (Picture.CONFUSION, Picture.FIDELITY):
        raise ParameterError(f"--what {what} needs a DATASET to measure the model on.")
    if teacher is None and what is Picture.FIDELITY:
        raise ParameterError("--what fidelity needs a --teacher to compare the model with.")
    from gnn2logic._optional import import_optional
    from gnn2logic.idt import load

    import_optional("matplotlib", extra="plot", purpose="A picture").use("Agg")
    if dataset is None or what in (Picture.IDT, Picture.TREE):
        ax = _of_model(load(model), what)
    else:
        from gnn2logic.cli.subjects import subject_of

        ax = _of_answers(subject_of(model, dataset, data, part, teacher), what)
    save_picture(ax, out)
    if as_json:
        emit_json({"what": str(what), "dataset": dataset, "file": str(out)})
    say(f"A picture is in {out}.")


def _of_model(idt: Any, what: Picture) -> Any:
    from gnn2logic import plotting

    draw: dict[Picture, Callable[[Any], Any]] = {
        Picture.IDT: plotting.plot_idt,
        Picture.TREE: plotting.plot_tree,
        Picture.RULES: plotting.plot_rules,
    }
    return draw[what](idt)


def _of_answers(subject: Any, what: Picture) -> Any:
    from gnn2logic import plotting

    comparison = subject.comparison
    if what is Picture.FIDELITY:
        return plotting.plot_fidelity(
            comparison.teacher,
            comparison.predicted,
            comparison.truth,
            class_names=subject.class_names,
        )
    if comparison.truth is None:
        raise ParameterError(f"--what {what} with a data set is for models that classify graphs.")
    if what is Picture.CONFUSION:
        return plotting.plot_confusion(
            comparison.truth, comparison.predicted, class_names=subject.class_names
        )
    rules = subject.idt.rules(subject.graphs, comparison.truth)
    if comparison.teacher is None:
        return plotting.plot_rules(rules)
    alike = subject.idt.rules(subject.graphs, comparison.teacher)
    return plotting.plot_rules(rules, {rule.index: rule.accuracy for rule in alike})
