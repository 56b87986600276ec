"""`verify`: make some rows of earlier results anew and compare."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from gnn2logic._files import read_whole
from gnn2logic._validation import check_whole
from gnn2logic.exceptions import DataSetError
from gnn2logic.experiments.comparison.experiment import ComparisonExperiment
from gnn2logic.experiments.comparison.record import is_comparison, read_comparison
from gnn2logic.experiments.plans import RunSettings
from gnn2logic.experiments.reproduction import PaperExperiment
from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow, Row, RowFile
from gnn2logic.experiments.runner import ROWS_NAME, Experiment, Unit

__all__ = ["RowCheck", "verify"]

# How far the accuracy (or R2) of a network on one fold may be off on another machine.
_TOLERANCE = 0.1
_MOST_BYTES = 2**24


@dataclass(frozen=True)
class RowCheck:
    """How a row compares with the same row made anew.

    Parameters
    ----------
    old, new : AnyRow
    ok : bool
    finding : str
        In words.
    """

    old: AnyRow
    new: AnyRow
    ok: bool
    finding: str


def verify(
    results: str | os.PathLike[str], *, n_rows: int = 3, random_state: int | None = None
) -> list[RowCheck]:
    """Make some rows of a folder of results anew and compare them.

    Given the same node representations an IDT is the same bit for bit, everywhere. Networks are
    the same on the same machine with the same versions; elsewhere sums may be rounded in another
    way. So where a network came out differently (its digest tells), only the accuracy is compared,
    with a tolerance.

    Parameters
    ----------
    results : path
        The folder that `reproduce` wrote.
    n_rows : int
    random_state : int, optional
        For the choice of rows; another choice every time by default.
    """
    folder = Path(results)
    n_rows = check_whole("n_rows", n_rows, least=1)
    # The rows of a comparison are read as those of the paper as well.
    if not RowFile[AnyRow](folder / ROWS_NAME, Row, NumberRow).read()[0]:
        raise DataSetError(f"{folder.name} must hold {ROWS_NAME} with rows. There are none.")
    rng = np.random.default_rng(random_state)
    experiment: Experiment
    if is_comparison(folder):
        experiment = ComparisonExperiment(read_comparison(folder), (), ())
    else:
        experiment = PaperExperiment((), (), _settings_of(folder))
    rows, _ = experiment.row_file(folder / ROWS_NAME).read()
    chosen = rng.choice(len(rows), size=min(n_rows, len(rows)), replace=False)
    return [_check(rows[number], experiment) for number in sorted(chosen)]


def _settings_of(folder: Path) -> RunSettings:
    try:
        return msgspec.json.decode(read_whole(folder / "run.json", _MOST_BYTES), type=RunSettings)
    except (OSError, ValueError) as error:
        raise DataSetError(
            f"{folder.name} must hold the run.json of a finished run. Got this instead: {error}"
        ) from None


def _check(old: AnyRow, experiment: Experiment) -> RowCheck:
    if (problem := experiment.problem_with(old)) is not None:
        raise DataSetError(
            f"There is a row of {old.model} on fold {old.fold} of {old.dataset}, which this "
            f"version cannot make anew: {problem}. Install the version that made it."
        )
    repeat = old.repeat if isinstance(old, ComparedRow | NumberRow) else 0
    (new,) = experiment.score(Unit(old.dataset, old.fold, (old.model,), repeat))
    if _results_of(old) == _results_of(new):
        return RowCheck(old, new, True, "the same bit for bit")
    if _evidence(old) == _evidence(new):
        return RowCheck(old, new, False, "different although learned from the same")
    measure = "R2" if isinstance(old, NumberRow) else "accuracy"
    off = abs(_success(old) - _success(new))
    finding = f"the network came out differently here; {measure} is off by {off:.3f}"
    return RowCheck(old, new, off <= _TOLERANCE, finding)


def _evidence(row: AnyRow) -> str:
    assert isinstance(row, Row | NumberRow)
    return row.evidence


def _success(row: AnyRow) -> float:
    assert isinstance(row, Row | NumberRow)
    return row.r2 if isinstance(row, NumberRow) else row.accuracy


def _results_of(row: AnyRow) -> bytes:
    """Return all of a row that must not change: everything but times and versions."""
    same = msgspec.structs.asdict(row)
    return msgspec.json.encode({k: v for k, v in same.items() if k not in ("seconds", "versions")})
