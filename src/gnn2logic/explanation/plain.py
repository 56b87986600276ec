"""Parts of explanations as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.flips import Flip
from gnn2logic.explanation.parts import FormulaPart
from gnn2logic.explanation.path import Condition
from gnn2logic.explanation.subject import TeacherAnswer

__all__ = ["condition_to_dict", "flip_to_dict", "numbers_of", "teacher_to_dict"]


def numbers_of(nodes: npt.NDArray[np.bool_]) -> list[int]:
    """Return the numbers of the nodes that are marked."""
    numbers: list[int] = np.flatnonzero(nodes).tolist()
    return numbers


def condition_to_dict(condition: Condition, parts: Sequence[FormulaPart]) -> dict[str, Any]:
    """Return a condition, with the parts of what it counts."""
    threshold = condition.threshold
    return {
        "formula": str(condition.formula),
        "english": condition.formula.to_english(),
        "modality": str(condition.modality),
        "inner": str(condition.inner),
        "count": condition.count,
        "size": condition.size,
        "threshold": threshold if isinstance(threshold, int) else str(threshold),
        "met": condition.met,
        "margin": condition.margin,
        "nodes": numbers_of(condition.nodes),
        "counted": numbers_of(condition.counted),
        "parts": [
            {
                "formula": str(part.formula),
                "english": part.formula.to_english(),
                "nodes": numbers_of(part.nodes),
            }
            for part in parts
        ],
    }


def flip_to_dict(flip: Flip) -> dict[str, Any]:
    """Return a change of counts."""
    return {
        "label": flip.label,
        "total": flip.total,
        "changes": [
            {
                "formula": str(change.formula),
                "english": change.formula.to_english(),
                "modality": str(change.modality),
                "inner": str(change.inner),
                "before": change.before,
                "after": change.after,
            }
            for change in flip.changes
        ],
    }


def teacher_to_dict(teacher: TeacherAnswer | None) -> dict[str, Any] | None:
    """Return the answer of a teacher, if there is one."""
    if teacher is None:
        return None
    return {
        "label": teacher.label,
        "probability": teacher.probability,
        "agrees": teacher.agrees,
    }
