"""Which class the numbers mean that a network returns, or why they are no classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from gnn2logic._notices import warn_caller
from gnn2logic.distillation.declarations import Declaration
from gnn2logic.exceptions import TeacherError, TeacherWarning

__all__ = ["NOT_ASKED", "OUTPUTS", "OutputsOption", "Reading", "as_logits", "reading_of"]

OutputsOption = Literal["auto", "scores", "logit", "probability"]
Reading = Literal["scores", "logit", "probability"]
OUTPUTS: tuple[OutputsOption, ...] = ("auto", "scores", "logit", "probability")

# The number of classes where nobody wants to know which of them the network means.
NOT_ASKED = 0

FloatArray = npt.NDArray[np.float32]

# Below this number of rows nothing is said about their range.
_FEWEST_ROWS = 5
# Probabilities of two exclusive classes sum to about 1 in most rows, also where each has its own
# sigmoid. Of more classes that tells little: three sigmoids of a few answers of yes sum to about 1
# as well, so that there only a softmax is taken for exclusive classes.
_MOST_OFF, _MOST_ROWS_OFF = 0.5, 0.1
_MOST_OFF_BY_ROUNDING = 1e-3
_CUT = (
    "Its sign at a threshold makes two classes of a quantity: Teacher(module, forward=lambda m, b: "
    "m(b.x, b.edge_index, b.batch) - threshold, outputs='logit')."
)


def reading_of(
    scores: FloatArray,
    level: str,
    *,
    outputs: OutputsOption,
    squashed: bool,
    declared: Declaration | None,
    n_classes: int | None,
) -> Reading:
    """Return how to read the outputs of a network, or refuse what does not look like classes.

    Parameters
    ----------
    scores : array
        One row for each graph or node.
    level : str
        What the rows are.
    outputs : {"auto", "scores", "logit", "probability"}
        What the user says.
    squashed : bool
        Whether the numbers come from a sigmoid or softmax.
    declared : Declaration or None
        What the network says.
    n_classes : int or None
        How many classes there are, if names or labels tell; `NOT_ASKED` accepts everything.
    """
    if n_classes == NOT_ASKED:
        return "logit" if scores.shape[1] == 1 else "scores"
    if outputs != "auto":
        return _as_told(scores, level, outputs)
    if scores.shape[1] == 1:
        return _single(scores, level, squashed, declared, n_classes)
    if n_classes == scores.shape[1]:
        return "scores"
    _refuse_other_tasks(scores, level, squashed, declared)
    return "scores"


def as_logits(scores: FloatArray, reading: Reading) -> FloatArray:
    """Return one probability as its logit, and other scores as they are."""
    if reading != "probability":
        return scores
    # Rounded to 0 or 1 it would be infinite.
    least = 2.0**-126
    values = np.clip(scores.astype(np.float64), least, 1 - 2.0**-53)
    return np.asarray(np.log(values) - np.log1p(-values), dtype=np.float32)


def _as_told(scores: FloatArray, level: str, outputs: Any) -> Reading:
    n_columns = scores.shape[1]
    if (outputs == "scores") == (n_columns == 1):
        wanted = "two or more numbers" if outputs == "scores" else "one number"
        raise TeacherError(
            f"outputs={outputs!r} means {wanted} for each {level}. The network returns {n_columns}."
        )
    if outputs == "probability" and not _within(scores):
        raise TeacherError(
            "outputs='probability' means numbers from 0 to 1. The network returns numbers "
            f"{_range(scores)}; outputs='logit' is for those of any size."
        )
    told: Reading = outputs
    return told


def _single(
    scores: FloatArray,
    level: str,
    squashed: bool,
    declared: Declaration | None,
    n_classes: int | None,
) -> Reading:
    meaning = None if declared is None else declared.task
    if n_classes == 1:
        return "logit"
    if meaning == "regression" and n_classes != 2:
        assert declared is not None
        raise TeacherError(
            f"The network must tell classes. It says {declared.source}: its one number for each "
            f"{level} is a quantity; distill(..., task='regression') learns it as "
            f"such. {_CUT}"
        )
    if squashed or (meaning == "probability" and _within(scores)):
        return "probability"
    if meaning == "logit" or np.isin(scores, (-1, 0, 1)).all():
        return "logit"
    if n_classes == 2:
        if _looks_like_probabilities(scores):
            warn_caller(
                "The network returns one number from 0 to 1 for each row. It is read as a logit, "
                "so that all rows are of the second class; if it is a probability, say "
                "Teacher(module, outputs='probability').",
                TeacherWarning,
            )
        return "logit"
    raise TeacherError(
        f"The network returns one number for each {level}, {_range(scores)}, which may be the "
        "logit of a binary task or a quantity. For a quantity say distill(..., "
        "task='regression'). If there are two classes say so: Teacher(module, outputs='logit') "
        "for the second class above 0, "
        "outputs='probability' for the second class above 1/2, or classes=[...] with their names. "
        f"{_CUT}"
    )


def _refuse_other_tasks(
    scores: FloatArray, level: str, squashed: bool, declared: Declaration | None
) -> None:
    meaning = None if declared is None else declared.task
    n_columns = scores.shape[1]
    if declared is not None and meaning == "regression":
        raise TeacherError(
            f"The network must tell classes. It says {declared.source}: its {n_columns} numbers "
            f"for each {level} are quantities. Distil all of them, distill(..., targets=[...], "
            "task='regression') with their names, or one of them: distill(Teacher(module).head(0), "
            "..., task='regression'). If the largest of them tells the class all the same, say "
            "Teacher(module, outputs='scores')."
        )
    if meaning != "independent":
        each_alone = squashed or meaning in ("logit", "probability")
        shares = scores if squashed or _within(scores) else expit(scores)
        if meaning == "classes":
            return
        if not each_alone:
            if len(scores) >= _FEWEST_ROWS and _sums_are_off(shares, _MOST_OFF):
                _warn_of_possible_sigmoids(scores)
            return
        if n_columns > 2:
            if not _sums_are_off(shares, _MOST_OFF_BY_ROUNDING):
                return
        elif len(scores) < _FEWEST_ROWS or not _sums_are_off(shares, _MOST_OFF):
            return
    seen = f"and says {declared.source}" if declared is not None else "each from a sigmoid"
    seen += "" if meaning == "independent" else "; they do not sum to 1"
    raise TeacherError(
        f"The network must tell exclusive classes. It returns {n_columns} numbers for each "
        f"{level}, {_range(scores)}, {seen}: that looks like {n_columns} answers of yes or no, of "
        "which several may hold. Distil all of them, distill(..., targets=[...]) with their names, "
        "or one of them: Teacher(module).head(0). If the largest number tells the class, say "
        "Teacher(module, outputs='scores')."
    )


def _sums_are_off(shares: npt.NDArray[Any], most: float) -> bool:
    off = np.abs(shares.sum(axis=1, dtype=np.float64) - 1) > most
    return bool(off.mean() > _MOST_ROWS_OFF)


def _warn_of_possible_sigmoids(scores: FloatArray) -> None:
    """Warn of numbers between 0 and 1 that come close to both; logits hardly ever do."""
    is_spread = scores.min() < 0.05 and scores.max() > 0.95
    if not _within(scores) or not is_spread or (scores == np.round(scores)).all():
        return
    warn_caller(
        f"The network returns {scores.shape[1]} numbers from 0 to 1 for each row, which do not sum "
        "to 1. They are read as scores of exclusive classes, of which the largest wins. If they "
        "are answers of yes or no, of which several may hold, distil one of them with "
        "Teacher(module, forward=..., outputs='probability'); if not, outputs='scores' says so.",
        TeacherWarning,
    )


def _within(scores: FloatArray) -> bool:
    return bool(((scores >= 0) & (scores <= 1)).all())


def _range(scores: FloatArray) -> str:
    return f"from {float(scores.min()):.3g} to {float(scores.max()):.3g}"


def _looks_like_probabilities(scores: FloatArray) -> bool:
    """Whether numbers that never are 0 or less are rather probabilities than logits."""
    inside = bool(((scores > 0) & (scores <= 1)).all())
    # A few logits may happen to lie there.
    return len(scores) >= _FEWEST_ROWS and inside and bool((scores <= 0.5).any())
