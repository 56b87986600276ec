"""`distill` with several targets: one model for each output of a network."""

from __future__ import annotations

from typing import Any

from gnn2logic.distillation.behaviour import read_of_edges
from gnn2logic.distillation.node_types import among
from gnn2logic.distillation.regression import NUMBER_STUDENTS, Task, is_regression
from gnn2logic.distillation.soft_labels import log_shares
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning import (
    IDTClassifier,
    IDTNodeClassifier,
    MultiTargetEstimator,
    ScorecardClassifier,
    ScorecardNodeClassifier,
)
from gnn2logic.multi_target.labels import check_target_names
from gnn2logic.storage import ShardStore

__all__ = ["distill_targets"]

_CLASS_STUDENTS: dict[str, tuple[Any, Any]] = {
    "idt": (IDTClassifier, IDTNodeClassifier),
    "scorecard": (ScorecardClassifier, ScorecardNodeClassifier),
}


def distill_targets(
    teacher: Teacher,
    graphs: object,
    targets: object,
    task: Task,
    mask: object,
    params: dict[str, Any],
    others: dict[str, object],
    *,
    into: str,
) -> MultiTargetEstimator:
    """Learn rules, or a scorecard, for every output of a network; `others` are refused."""
    if given_too := [name for name, value in others.items() if value is not None]:
        raise ParameterError(
            f"{given_too[0]} must be left out with targets: every target is what the network says. "
            "Labels are learned by MultiTargetEstimator; for the rest distil one output, "
            "Teacher(module).head(0)."
        )
    names = check_target_names(targets)
    if isinstance(graphs, ShardStore):
        raise ParameterError(
            "A store cannot be given with targets: it has room for one answer of a network. Give "
            "graphs in memory."
        )
    numbers = is_regression(task, teacher, None)
    students = NUMBER_STUDENTS[into] if numbers else _CLASS_STUDENTS[into]
    # Unknown names are told before the teacher is asked, which takes time.
    settings = students[0]().set_params(**params).get_params(deep=False)
    given = read_once(graphs)
    heads = [teacher.head(number, len(names), name) for number, name in enumerate(names)]
    answers: list[dict[str, Any]] = []
    activations: Any = None
    for head in heads:
        if numbers:
            values, level, either = head.numbers(given)
            answers.append({"y": values})
            continue
        # The layers are the same for all outputs.
        with_layers = into == "idt" and activations is None
        said = head.run(given, activations=with_layers)
        level, either = said.level, said.either_level
        activations = said.activations or None if with_layers else activations
        answers.append({"y": said.labels, "classes": said.classes})
        if into == "idt":
            answers[-1]["activations"] = activations
        else:
            answers[-1]["scores"] = log_shares(said.classes, said.probabilities)
    teacher._with_heads(names).check(given, **read_of_edges(params.get("encoder")))
    is_node = level == "node" or (either and mask is not None)
    if mask is not None and not is_node:
        raise ParameterError("mask is for teachers of nodes. This one is about graphs.")
    mask = among(mask, teacher.asked_nodes(given)) if is_node else mask
    model = MultiTargetEstimator(students[is_node](**settings), targets=list(names))
    student = model._student()
    encoder, batch = student._encode(given)
    more = {"mask": mask} if is_node and mask is not None else {}
    named = {name: answer | more for name, answer in zip(names, answers, strict=True)}
    return model._fit_each(encoder, batch, named)
