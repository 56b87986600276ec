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
from gnn2logic.experiments.catalogue import Model, model_named
from gnn2logic.experiments.fold_scores import score_fold
from gnn2logic.experiments.plans import RunSettings
from gnn2logic.experiments.rows import Row, RowFile, problem_with
from gnn2logic.experiments.runner import ROWS_NAME

__all__ = ["RowCheck", "verify"]

# How far the accuracy of a network on one fold may be off on another machine.
_TOLERANCE = 0.1
_MOST_BYTES = 2**24


@dataclass(frozen=True)
class RowCheck:
    """How a row compares with the same row made anew.

    Parameters
    ----------
    old, new : Row
    ok : bool
    finding : str
        In words.
    """

    old: Row
    new: Row
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
    rows, _ = RowFile(folder / ROWS_NAME).read()
    if not rows:
        raise DataSetError(f"{folder.name} must hold {ROWS_NAME} with rows. There are none.")
    run = _settings_of(folder)
    rng = np.random.default_rng(random_state)
    chosen = rng.choice(len(rows), size=min(n_rows, len(rows)), replace=False)
    return [_check(rows[number], run) for number in sorted(chosen)]


def _settings_of(folder: Path) -> RunSettings:
    try:
        return msgspec.json.decode(read_whole(folder / "run.json", _MOST_BYTES), type=RunSettings)
    except (OSError, ValueError) as error:
        raise DataSetError(
            f"{folder.name} must hold the run.json of a finished run. Got this instead: {error}"
        ) from None


def _check(old: Row, run: RunSettings) -> RowCheck:
    if (problem := problem_with(old, run)) is not None:
        raise DataSetError(
            f"There is a row of {old.model} on fold {old.fold} of {old.dataset}, which this "
            f"version cannot make anew: {problem}. Install the version that made it."
        )
    model: Model = model_named(old.model)
    (new,) = score_fold(old.dataset, old.fold, [model], run)
    if _results_of(old) == _results_of(new):
        return RowCheck(old, new, True, "the same bit for bit")
    if old.evidence == new.evidence:
        return RowCheck(old, new, False, "different although learned from the same")
    off = abs(old.accuracy - new.accuracy)
    finding = f"the network came out differently here; accuracy is off by {off:.3f}"
    return RowCheck(old, new, off <= _TOLERANCE, finding)


def _results_of(row: Row) -> bytes:
    """Return all of a row that must not change: everything but times and versions."""
    same = msgspec.structs.asdict(row)
    return msgspec.json.encode({k: v for k, v in same.items() if k not in ("seconds", "versions")})
