"""Networks with one numeric output: their numbers are learned, and compared by R2."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_numbers, check_weights
from gnn2logic._notices import telling_caller
from gnn2logic._validation import to_numpy
from gnn2logic.distillation.behaviour import read_of_edges
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.declarations import declared_task
from gnn2logic.distillation.node_types import among
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.reading import read_once
from gnn2logic.idt.graph_model import r_squared
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.learning import (
    IDTNodeRegressor,
    IDTRegressor,
    ScorecardNodeRegressor,
    ScorecardRegressor,
)
from gnn2logic.scorecards.predictor import ScorecardPredictor
from gnn2logic.storage import ShardStore

__all__ = [
    "NUMBER_STUDENTS",
    "Task",
    "distill_numbers",
    "is_regression",
    "number_fidelity",
    "predicts_numbers",
]

Task = Literal["auto", "classes", "regression"]

NUMBER_STUDENTS: dict[str, tuple[Any, Any]] = {
    "idt": (IDTRegressor, IDTNodeRegressor),
    "scorecard": (ScorecardRegressor, ScorecardNodeRegressor),
}


def is_regression(task: Task, teacher: Teacher, y: object) -> bool:
    """Whether numbers are to be learned: the user says so, or the network does and nobody else."""
    if task != "auto":
        return task == "regression"
    if _are_quantities(y):
        return True
    if y is not None or teacher.classes is not None or teacher.outputs != "auto":
        return False
    declared = declared_task(teacher.module, 1)
    return declared is not None and declared.task == "regression"


def _are_quantities(y: object) -> bool:
    """Whether labels can be no classes: finite numbers, not all of them whole."""
    values: Any = to_numpy(y)
    if isinstance(values, list | tuple):
        try:
            values = np.asarray(values)
        except ValueError:
            return False
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or values.ndim > 2:
        return False
    return bool(np.isfinite(values).all() and (values % 1 != 0).any())


def distill_numbers(
    teacher: Teacher,
    graphs: object,
    y: object,
    mask: object,
    params: dict[str, Any],
    *,
    into: str = "idt",
) -> Any:
    """Learn rules, or a scorecard, for the numbers that a network says about graphs or nodes."""
    of_graphs, of_nodes = NUMBER_STUDENTS[into]
    if y is not None:
        raise ParameterError(
            "True numbers must not be given to distill, which learns what the teacher says: leave "
            "y out and say task='regression'. To learn from them, without a teacher: "
            "IDTRegressor().fit(graphs, y). Classes must be whole numbers or texts."
        )
    if isinstance(graphs, ShardStore):
        raise ParameterError(
            "A store cannot be given with task='regression': it has no room for the numbers of a "
            "network. Give graphs in memory, or fit an IDTRegressor to numbers that you have."
        )
    # Unknown names are told before the teacher is asked, which takes time.
    regressor = of_graphs().set_params(**params)
    graphs = read_once(graphs)
    numbers, level, either_level = teacher.numbers(graphs)
    teacher.check(graphs, **read_of_edges(params.get("encoder")))
    if level == "graph" and mask is None:
        return telling_caller(lambda: regressor.fit(graphs, numbers))
    if level == "graph" and not either_level:
        raise ParameterError(
            "mask is for teachers that give nodes a number. This one gives graphs a number."
        )
    of_each_node = of_nodes(**regressor.get_params(deep=False))
    mask = among(mask, teacher.asked_nodes(graphs))
    return telling_caller(lambda: of_each_node.fit(graphs, numbers, mask=mask))


def predicts_numbers(model: object) -> bool:
    """Whether a fitted model of ours predicts numbers."""
    if isinstance(model, IDTPredictor):
        return model.target is not None
    return isinstance(model, ScorecardPredictor) and model.card_.answer == "number"


def number_fidelity(idt: Any, teacher: object, graphs: object, sample_weight: object) -> float:
    """Return R2 of the numbers of a model, with those of its teacher as the truth."""
    predicted: npt.NDArray[np.float64] = idt.predict(graphs)
    asked: npt.NDArray[np.bool_] | None = None
    if isinstance(teacher, Teacher) or callable(getattr(teacher, "forward", None)):
        network = as_teacher(teacher)
        truth, asked = network.numbers(graphs)[0], network.asked_nodes(graphs)
    elif callable(predict := getattr(teacher, "predict", None)):
        truth = predict(graphs)
    else:
        truth = teacher  # type: ignore[assignment]
    checked = check_numbers(truth, len(predicted), of="row")
    weights = check_weights(sample_weight, len(predicted), of="row")
    rows = np.ones(len(predicted), dtype=bool) if asked is None else asked
    return r_squared(checked[rows], predicted[rows], weights[rows])
