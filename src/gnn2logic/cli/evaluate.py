"""``gnn2logic evaluate``: how good a model is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    JsonOption,
    ModelArgument,
    Part,
    PartOption,
    QuietOption,
    TeacherOption,
)
from gnn2logic.cli.output import emit, emit_json, emit_table, talker

if TYPE_CHECKING:
    from gnn2logic.cli.stores import StoredSubject
    from gnn2logic.reporting.subject import Subject

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = (
    "gnn2logic evaluate shapes.idt.json BAMultiShapes --teacher shapes.safetensors",
    "gnn2logic evaluate mutag.idt.json MUTAG --part all --json",
)


def evaluate(
    model: ModelArgument,
    dataset: DataArgument,
    teacher: TeacherOption = None,
    part: PartOption = Part.TEST,
    data: DataOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure a model against labels and its network.

    Accuracy and macro F1 are against the true labels, fidelity is against the network. The baseline
    is the most common class. Of a model that classifies nodes only the fidelity is known. The data
    set may be a folder that gnn2logic shard wrote; it is read in parts.
    """
    talker(quiet)
    from gnn2logic.reporting.scores import score_table, table_of_counts
    from gnn2logic.storage import is_store

    subject: Subject | StoredSubject
    if is_store(dataset) and teacher is None:
        from gnn2logic.cli.stores import open_store, stored_subject

        subject = stored_subject(model, open_store(dataset, data), part)
    else:
        from gnn2logic.cli.subjects import subject_of

        subject = subject_of(model, dataset, data, part, teacher)
    answers, classes = subject.answers, list(subject.classes)
    tables = {
        "confusion": None
        if answers.truth is None
        else table_of_counts(answers.truth, answers.predicted, classes),
        "agreement": None
        if answers.teacher is None
        else table_of_counts(answers.teacher, answers.predicted, classes),
    }
    scores = score_table(answers)
    if as_json:
        plain: dict[str, Any] = {
            "dataset": subject.dataset_name,
            "part": str(part),
            "scores": scores,
            "classes": list(subject.classes.values()),
        }
        emit_json(plain | tables)
        return
    emit(f"{len(answers.rows)} {subject.level}s of {subject.dataset_name} ({part})\n")
    heads = ("who", "accuracy", "macro_f1", "fidelity")
    shown = [key for key in heads if scores[0][key] is not None]
    emit_table(
        [key.replace("_", " ") for key in shown], [[row[key] for key in shown] for row in scores]
    )
    titles = {"confusion": "true class", "agreement": "teacher says"}
    for kind, counts in tables.items():
        if counts is not None:
            emit()
            names = list(subject.classes.values())
            emit_table(
                [titles[kind], *(f"rule: {name}" for name in names)],
                [[name, *row] for name, row in zip(names, counts, strict=True)],
            )
