"""Labels as small numbers: the distinct ones in the header of a file, one number for each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import LabelError

__all__ = ["Label", "LabelTable", "LabelType", "Level", "decoded", "label_table", "type_of_labels"]

Level = Literal["graph", "node"]
LabelType = Literal["bool", "int", "str"]
Label = bool | int | str


class LabelTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the numbers stand for, and whether the rows are graphs or nodes."""

    level: Level
    classes: Annotated[list[Label], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        type_of_labels(self.classes)
        if any(isinstance(label, int) and not -(2**63) <= label < 2**63 for label in self.classes):
            raise ValueError("classes must be below 2**63")
        if len(set(self.classes)) != len(self.classes):
            raise ValueError("classes must be distinct")


def type_of_labels(classes: Iterable[object]) -> LabelType:
    """Return what all of the labels are."""
    label_types = {type(label) for label in classes}
    names: dict[type, LabelType] = {bool: "bool", int: "int", str: "str"}
    if len(label_types) == 1 and (label_type := label_types.pop()) in names:
        return names[label_type]
    raise ValueError("classes must be of one kind: whole numbers, strings or truth values")


def label_table(
    labels: npt.NDArray[Any], level: Level, classes: Sequence[Label] | None = None
) -> tuple[LabelTable, npt.NDArray[np.int32]]:
    """Return checked labels as a table and a number for each row.

    Parameters
    ----------
    labels : array of int, str or bool
    classes : list, optional
        All classes there are, in their order; by default those that occur, sorted.
    """
    distinct, codes = np.unique(labels, return_inverse=True)
    known = distinct.tolist() if classes is None else list(classes)
    for label in known:
        try:
            str(label).encode()
        except UnicodeEncodeError:
            raise LabelError(
                f"Labels must be valid Unicode text. Got {label!r}, which cannot be encoded."
            ) from None
    number_of = {label: number for number, label in enumerate(known)}
    strange = [label for label in distinct.tolist() if label not in number_of]
    if strange:
        raise LabelError(f"Labels must be among the classes, {known}. Got {strange[0]!r}.")
    numbers = np.array([number_of[label] for label in distinct.tolist()], dtype=np.int32)
    return LabelTable(level, known), numbers[codes.reshape(-1)]


def decoded(table: LabelTable, codes: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """Return the labels of all rows."""
    return np.asarray(np.array(table.classes)[codes])
