"""What a network says about its own task: the loss that it keeps, or a word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

__all__ = ["Declaration", "declared_task"]

DeclaredTask = Literal["classes", "logit", "probability", "independent", "regression"]

_LOSS_NAMES = ("criterion", "loss", "loss_fn", "loss_func", "loss_function", "objective")
_TASK_NAMES = ("task", "task_type", "problem_type")
_LOSSES: dict[str, DeclaredTask] = {
    "CrossEntropyLoss": "classes",
    "NLLLoss": "classes",
    "MultiMarginLoss": "classes",
    "BCEWithLogitsLoss": "logit",
    "SoftMarginLoss": "logit",
    "BCELoss": "probability",
    "MultiLabelMarginLoss": "independent",
    "MultiLabelSoftMarginLoss": "independent",
    "MSELoss": "regression",
    "L1Loss": "regression",
    "SmoothL1Loss": "regression",
    "HuberLoss": "regression",
    "GaussianNLLLoss": "regression",
    "PoissonNLLLoss": "regression",
}
_LOSS_FUNCTIONS: dict[str, DeclaredTask] = {
    "cross_entropy": "classes",
    "nll_loss": "classes",
    "multi_margin_loss": "classes",
    "binary_cross_entropy_with_logits": "logit",
    "soft_margin_loss": "logit",
    "binary_cross_entropy": "probability",
    "multilabel_margin_loss": "independent",
    "multilabel_soft_margin_loss": "independent",
    "mse_loss": "regression",
    "l1_loss": "regression",
    "smooth_l1_loss": "regression",
    "huber_loss": "regression",
    "gaussian_nll_loss": "regression",
    "poisson_nll_loss": "regression",
}


@dataclass(frozen=True)
class Declaration:
    """A task, and where it was read.

    Parameters
    ----------
    task : str
        Exclusive "classes", the "logit" or "probability" of every output alone, "independent"
        answers, or "regression".
    source : str
        Such as ``criterion=MSELoss``.
    """

    task: DeclaredTask
    source: str


def declared_task(module: nn.Module, n_columns: int) -> Declaration | None:
    """Return what a module with so many outputs says about its task; None if it says nothing."""
    # Only what is there: a property might do anything.
    known: dict[str, Any] = {**vars(module), **module._modules}
    for name in _LOSS_NAMES:
        loss = known.get(name)
        if isinstance(loss, nn.Module):
            text = next((cls.__name__ for cls in type(loss).__mro__ if cls.__name__ in _LOSSES), "")
        else:
            text = getattr(loss, "__name__", "")
        task = _LOSSES.get(text) or _LOSS_FUNCTIONS.get(text)
        if task is not None:
            return Declaration(task, f"{name}={text}")
    for name in _TASK_NAMES:
        word = known.get(name)
        task = _task_of(word) if isinstance(word, str) else None
        if task is not None:
            return Declaration(task, f"{name}={word!r}")
    n_tasks = known.get("num_tasks")
    if isinstance(n_tasks, int) and n_tasks == n_columns > 1:
        return Declaration("independent", f"num_tasks={n_tasks}")
    return None


def _task_of(word: str) -> DeclaredTask | None:
    letters = re.sub("[^a-z]", "", word.lower())
    if "regression" in letters:
        return "regression"
    if "multilabel" in letters or "multitask" in letters:
        return "independent"
    return "logit" if "binary" in letters else None
