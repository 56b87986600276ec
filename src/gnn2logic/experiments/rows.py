"""What one model did on one fold, as rows; whether one belongs to a run; the file of rows."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from gnn2logic._files import naming, read_whole, write_atomically
from gnn2logic.exceptions import DataSetError
from gnn2logic.experiments.catalogue import ABLATIONS, BASELINES, DATASETS, PAPER_MODELS
from gnn2logic.experiments.plans import RunSettings

__all__ = ["AnyRow", "ComparedRow", "NumberRow", "Row", "RowFile", "Seconds", "problem_with"]

_MOST_BYTES = 2**30


class Seconds(msgspec.Struct, frozen=True):
    """Where the time of one core went: training and asking a network, fitting, and tuning.

    The time of the processor, so that other work on the same machine does not count.
    """

    train: float = 0.0
    capture: float = 0.0
    fit: float = 0.0
    tune: float = 0.0

    def rounded(self) -> Seconds:
        """Return the same in milliseconds."""
        return Seconds(*(round(each, 3) for each in msgspec.structs.astuple(self)))


class AnyRow(msgspec.Struct, frozen=True):
    """Where a row belongs, whatever was measured.

    Parameters
    ----------
    dataset, fold, model, seed
    settings : str
        The digest of the settings, see `RunSettings.digest`.
    """

    dataset: str
    fold: int
    model: str
    seed: int
    settings: str

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes a row unique."""
        return self.dataset, self.fold, self.model


class Row(AnyRow, frozen=True):
    """One model on one fold.

    Parameters
    ----------
    dataset, fold, model, seed, settings
        As of `AnyRow`.
    predictions : list of int
        The class of every test graph, in the order of the data set. All that is measured can be
        computed from it, agreement with other models as well.
    accuracy, macro_f1 : float
    size, depth, leaves : int or None
        Of an IDT: the size and the modal depth of its formula, the leaves of its final tree.
    tuned : dict
        What was chosen from the grid.
    evidence : str
        The digest of what a model learned from or of what it answered: of the node representations
        for a guided IDT, of the scores for a network. Where it differs, so may the row.
    seconds : Seconds
    versions : dict
    """

    predictions: list[int]
    accuracy: float
    macro_f1: float
    size: int | None
    depth: int | None
    leaves: int | None
    tuned: dict[str, Any]
    evidence: str
    seconds: Seconds
    versions: dict[str, str]


class ComparedRow(Row, frozen=True):
    """One model on one fold with one seed, in a comparison.

    Parameters
    ----------
    repeat : int
        Which seed of several it is, from 0 on.
    auroc : float or None
        None where the test part has one class.
    lines : int or None
        Of a scorecard.
    held_out : float or None
        How often models like this were right within the training part about what they were not
        learned from: about labels, or about what the network says.
    text : str
        The model as people read it; empty for others.
    """

    repeat: int = 0
    auroc: float | None = None
    lines: int | None = None
    held_out: float | None = None
    text: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes a row unique."""
        return self.dataset, self.fold, self.model, self.repeat


class NumberRow(AnyRow, frozen=True):
    """One model on one fold with one seed, in a comparison about numbers.

    Parameters
    ----------
    dataset, fold, model, seed, settings, size, depth, tuned, evidence, seconds, versions, repeat, \
lines, text
        As of `ComparedRow`.
    predictions : list of float
        The number of every test graph, in the order of the data set.
    mae, r2 : float
    held_out : float or None
        R2 of models like this, within the training part, on what they were not learned from.
    """

    predictions: list[float]
    mae: float
    r2: float
    size: int | None
    depth: int | None
    tuned: dict[str, Any]
    evidence: str
    seconds: Seconds
    versions: dict[str, str]
    repeat: int = 0
    lines: int | None = None
    held_out: float | None = None
    text: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes a row unique."""
        return self.dataset, self.fold, self.model, self.repeat


R = TypeVar("R", bound=AnyRow)


class RowFile(Generic[R]):
    """Rows as lines of JSON, in a file that many processes append to and that may be cut short.

    Parameters
    ----------
    path : Path
    row_types : type
        What the lines are: rows of the paper's experiment, or of a comparison. A line is of the
        first of these that has its fields.
    """

    def __init__(self, path: Path, *row_types: type[R]) -> None:
        self.path = path
        self.row_types = row_types

    def append(self, row: AnyRow) -> None:
        """Add a line: all of it in one write, and on the disk before this returns."""
        line = msgspec.json.encode(row) + b"\n"
        with naming(self.path):
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                if os.write(handle, line) != len(line):
                    # A part of a line would cost the next row as well.
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(handle)
            finally:
                os.close(handle)

    def read(self) -> tuple[list[R], int]:
        """Return the rows, the first one of each key, and how many lines are no rows.

        A line is no row when the process that wrote it was stopped half way.
        """
        if not self.path.exists():
            return [], 0
        rows: dict[tuple[Any, ...], R] = {}
        broken = 0
        # What follows the last newline was cut short, even if it happens to read well.
        try:
            *lines, rest = read_whole(self.path, _MOST_BYTES).split(b"\n")
        except ValueError as error:
            raise DataSetError(f"Cannot read {str(self.path)!r}. {error}.") from None
        for line in lines:
            row = self._row(line)
            if row is None:
                broken += 1
            else:
                rows.setdefault(row.key, row)
        return list(rows.values()), broken + bool(rest)

    def _row(self, line: bytes) -> R | None:
        for row_type in self.row_types:
            with contextlib.suppress(msgspec.DecodeError):
                return msgspec.json.decode(line, type=row_type)
        return None

    def write(self, rows: Iterable[AnyRow]) -> None:
        """Replace the file by these rows, in one step."""
        lines = [msgspec.json.encode(row) + b"\n" for row in rows]
        write_atomically(self.path, b"".join(lines))


_MODELS = frozenset(model.name for model in (*PAPER_MODELS, *BASELINES, *ABLATIONS))


def problem_with(row: AnyRow, run: RunSettings) -> str | None:
    """Return in words why a row does not belong to a run, or None if it does.

    Examples
    --------
    >>> from gnn2logic.experiments.rows import Seconds
    >>> run = RunSettings(folds=2)
    >>> row = Row("psi_0", 7, "GCN", 0, run.digest("psi_0"), [], 1, 1, *[None] * 3, {}, "",
    ...           Seconds(), {})
    >>> problem_with(row, run)
    'there are folds 0 to 1'
    """
    if row.dataset not in DATASETS:
        return f"the data sets are {', '.join(DATASETS)}"
    if row.model not in _MODELS:
        return "there is no such model"
    if row.settings != run.digest(row.dataset):
        return "it was made with other folds, seeds or hyper-parameters"
    if not 0 <= row.fold < run.folds:
        return f"there are folds 0 to {run.folds - 1}"
    return None
