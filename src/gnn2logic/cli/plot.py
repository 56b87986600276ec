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
    DataSplit,
    JsonOption,
    LabelOption,
    ModelArgument,
    QuietOption,
    SmilesOption,
    SplitOption,
    TargetOption,
    TeacherOption,
    with_columns,
)
from gnn2logic.cli.output import PICTURES, check_output, emit_json, save_picture, talker
from gnn2logic.exceptions import ParameterError

__all__ = ["EXAMPLES", "plot"]

EXAMPLES = (
    "gnn2logic plot shapes.idt.json --out shapes.png",
    "gnn2logic plot shapes.idt.json --what rules --out trade-off.svg",
    "gnn2logic plot mutag.card.json --what path --out lines.png",
    "gnn2logic plot shapes.idt.json BAMultiShapes --what confusion --out confusion.pdf",
)


class Picture(StrEnum):
    """What is drawn of a model."""

    IDT = "idt"
    TREE = "tree"
    RULES = "rules"
    SCORECARD = "scorecard"
    PATH = "path"
    CONFUSION = "confusion"
    FIDELITY = "fidelity"


def plot(
    model: ModelArgument,
    dataset: Annotated[str | None, DataArgument.__metadata__[0]] = None,
    *,
    out: Annotated[Path, typer.Option(help="NAME.png, .svg or .pdf.")],
    what: Annotated[
        Picture | None,
        typer.Option(
            help="Of rules: all layers, the final tree alone, or size against accuracy. Of a "
            "scorecard: its table, or lines against accuracy. Of both: a table of the answers "
            "beside the true classes, or beside those of the network. By default the whole model.",
            show_default=False,
        ),
    ] = None,
    teacher: TeacherOption = None,
    split: SplitOption = DataSplit.TEST,
    data: DataOption = None,
    as_json: JsonOption = False,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    target: TargetOption = None,
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
    from gnn2logic.cli.subjects import load_one

    import_optional("matplotlib", extra="plot", purpose="A picture").use("Agg")
    if dataset is None or what not in (Picture.RULES, Picture.CONFUSION, Picture.FIDELITY):
        ax = _of_model(load_one(model, target), what)
    else:
        from gnn2logic.cli.subjects import load_classes, subject_of

        load_classes(model, target)
        ax = _of_answers(subject_of(model, dataset, data, split, teacher, target), what)
    save_picture(ax, out)
    if as_json:
        emit_json({"what": str(what), "dataset": dataset, "file": str(out)})
    say(f"A picture is in {out}.")


def _of_model(model: Any, what: Picture | None) -> Any:
    from gnn2logic import plotting
    from gnn2logic.scorecards import ScorecardPredictor

    draw: dict[Picture, Callable[[Any], Any]]
    if isinstance(model, ScorecardPredictor):
        form, whole = "a scorecard", Picture.SCORECARD
        draw = {
            Picture.SCORECARD: plotting.plot_scorecard,
            Picture.PATH: plotting.plot_card_path,
        }
    else:
        form, whole = "rules", Picture.IDT
        draw = {
            Picture.IDT: plotting.plot_idt,
            Picture.TREE: plotting.plot_tree,
            Picture.RULES: plotting.plot_rules,
        }
    picture = whole if what is None else what
    if picture not in draw:
        raise ParameterError(
            f"--what must be one of {', '.join(draw)} for {form}, confusion or fidelity. "
            f"Got {picture} instead."
        )
    return draw[picture](model)


def _of_answers(subject: Any, what: Picture | None) -> Any:
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
    if not hasattr(subject.predictor, "rules"):
        raise ParameterError("--what rules is for rules. Draw the path of a scorecard.")
    rules = subject.predictor.rules(subject.graphs, comparison.truth)
    if comparison.teacher is None:
        return plotting.plot_rules(rules)
    alike = subject.predictor.rules(subject.graphs, comparison.teacher)
    return plotting.plot_rules(rules, {rule.index: rule.accuracy for rule in alike})
