"""``gnn2logic evaluate``: how good a model is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from gnn2logic.cli.output import emit, emit_json, emit_table, talker

if TYPE_CHECKING:
    from gnn2logic.reporting.comparison import Comparison
    from gnn2logic.reporting.number_comparison import NumberComparison

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = (
    "gnn2logic evaluate shapes.idt.json BAMultiShapes --teacher shapes.safetensors",
    "gnn2logic evaluate mutag.idt.json MUTAG --split all --json",
)


def evaluate(
    model: ModelArgument,
    dataset: DataArgument,
    teacher: TeacherOption = None,
    split: SplitOption = DataSplit.TEST,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    target: TargetOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure a model against labels and its network.

    Accuracy, macro F1 and AUROC (for two classes) are against the true labels, fidelity is against
    the network. The baseline is the most common class. Of models that predict numbers it is R2 and
    the mean absolute error (MAE), and the baseline is the mean. Of a model that classifies nodes
    only the fidelity is known. The data set may be a folder that gnn2logic shard wrote; it is read
    in parts.
    """
    talker(quiet)
    data = with_columns(data, smiles, label)
    from gnn2logic.storage import is_store

    comparison: Comparison
    name: str | None
    if is_store(dataset) and teacher is None:
        from gnn2logic.cli.stores import compare_on_store, open_store

        store = open_store(dataset, data)
        comparison, name = compare_on_store(model, store, split, target), store.path.name
    else:
        from gnn2logic.cli.subjects import subject_of
        from gnn2logic.reporting.number_comparison import NumberComparison

        subject = subject_of(model, dataset, data, split, teacher, target)
        if isinstance(subject.comparison, NumberComparison):
            _tell_numbers(subject.comparison, subject.dataset_name, split, as_json=as_json)
            return
        comparison, name = subject.comparison, subject.dataset_name
    class_names = list(comparison.class_names.values())
    tables = {"confusion": comparison.confusion(), "agreement": comparison.agreement()}
    scores = comparison.scores()
    if as_json:
        plain: dict[str, Any] = {
            "dataset": name,
            "split": str(split),
            "scores": scores,
            "classes": class_names,
        }
        emit_json(plain | tables)
        return
    emit(f"{len(comparison.rows)} {comparison.level}s of {name} ({split})\n")
    heads = ("who", "accuracy", "macro_f1", "auroc", "fidelity")
    shown = [key for key in heads if scores[0][key] is not None]
    emit_table(
        [key.replace("_", " ") for key in shown], [[row[key] for key in shown] for row in scores]
    )
    titles = {"confusion": "true class", "agreement": "teacher says"}
    for table, counts in tables.items():
        if counts is not None:
            emit()
            emit_table(
                [titles[table], *(f"rule: {class_name}" for class_name in class_names)],
                [[first, *row] for first, row in zip(class_names, counts, strict=True)],
            )


def _tell_numbers(
    comparison: NumberComparison, name: str | None, split: DataSplit, *, as_json: bool
) -> None:
    """Write how near a model that predicts numbers is to the truth, and to its network."""
    scores = comparison.scores()
    if as_json:
        target = comparison.target.to_dict()
        emit_json({"dataset": name, "split": str(split), "scores": scores, "target": target})
        return
    emit(f"{len(comparison.rows)} {comparison.level}s of {name} ({split})\n")
    heads = {"who": "who", "r2": "R2", "mae": "MAE", "fidelity_r2": "R2 to the network"}
    shown = [key for key in heads if scores[0][key] is not None]
    emit_table([heads[key] for key in shown], [[row[key] for key in shown] for row in scores])
