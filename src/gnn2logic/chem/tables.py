"""Tables of molecules with labels, and splits by scaffold."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic._validation import check_choice
from gnn2logic.chem.columns import csv_columns, is_missing
from gnn2logic.chem.molecules import Molecules, Problem, from_smiles
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import LabelError, ParameterError

__all__ = ["TableTarget", "read_csv", "read_targets", "scaffold_split", "scaffolds"]

_MOST_CLASSES = 20


def read_csv(
    path: str | os.PathLike[str],
    *,
    smiles: str,
    label: str,
    name: str | None = None,
    task: str = "classes",
    errors: str = "raise",
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    verbose: int | None = None,
) -> tuple[Dataset, Molecules]:
    """Read molecules and their classes from a CSV file.

    Parameters
    ----------
    path : str or path
    smiles, label : str
        The columns with the SMILES and with the classes. Rows without a class are left out: cells
        that are empty, or hold ``NA``, ``N/A``, ``NaN`` or ``null``.
    name : str, optional
        What the data set is called, by default as the file is: a table may have several columns to
        learn.
    task : {"classes", "regression"}
        Whether the column of labels holds classes, or numbers to predict: `Dataset.numbers`.
    errors, explicit_hydrogens, stereo, verbose
        As in `from_smiles`.

    Returns
    -------
    dataset : Dataset
        The graphs and their classes, named as in the file.
    molecules : Molecules
        The same molecules; `rows` are row numbers of the file, from 0, and `problems` those that
        were left out.
    """
    read = {"errors": errors, "explicit_hydrogens": explicit_hydrogens, "stereo": stereo}
    molecules, by_label = read_targets(
        path, smiles=smiles, labels=[label], name=name, task=task, verbose=verbose, **read
    )
    return by_label[label].data, molecules


@dataclass(frozen=True, eq=False)
class TableTarget:
    """One column of labels of a table.

    Parameters
    ----------
    data : Dataset
        The molecules whose label is known.
    positions : array of int
        Which of all molecules of the table these are.
    """

    data: Dataset
    positions: npt.NDArray[np.int64]


def read_targets(
    path: str | os.PathLike[str],
    *,
    smiles: str,
    labels: Sequence[str],
    name: str | None = None,
    task: str = "classes",
    verbose: int | None = None,
    **options: Any,
) -> tuple[Molecules, dict[str, TableTarget]]:
    """Read the molecules of a CSV file that have a label in any of some columns.

    Parameters are those of `read_csv`. For every column there is what `read_csv` would return.
    """
    check_choice("task", task, ("classes", "regression"))
    if smiles in labels:
        raise ParameterError(f"label must be another column than smiles. Got {smiles!r} twice.")
    columns = csv_columns(Path(path), (smiles, *labels))
    is_known = {label: np.array([not is_missing(t) for t in columns[label]]) for label in labels}
    for label, here in is_known.items():
        if not here.any():
            raise LabelError(f"{os.fspath(path)}: column {label!r} must hold classes. It is empty.")
    known = np.flatnonzero(np.any(list(is_known.values()), axis=0))
    texts = [columns[smiles][row] for row in known.tolist()]
    read = from_smiles(texts, verbose=verbose, **options)
    problems = tuple(Problem(int(known[one.row]), one.text, one.reason) for one in read.problems)
    molecules = Molecules(read.graphs, read.mols, known[read.rows], problems)
    name = Path(path).stem if name is None else name
    return molecules, {
        label: _target(label, columns[label], is_known[label], molecules, name, task, path)
        for label in labels
    }


def _target(
    label: str,
    texts: Sequence[str],
    is_known: npt.NDArray[np.bool_],
    molecules: Molecules,
    name: str,
    task: str,
    path: str | os.PathLike[str],
) -> TableTarget:
    """Return what a column of a table says about its molecules."""
    positions = np.flatnonzero(is_known[molecules.rows])
    everything = len(positions) == len(molecules)
    graphs = molecules.graphs if everything else molecules.graphs.take(positions)
    cells = [texts[row] for row in molecules.rows[positions].tolist()]
    description = _description(label, len(cells), sum(is_known[p.row] for p in molecules.problems))
    if task == "regression":
        data = Dataset(
            name,
            graphs,
            np.zeros(len(cells), dtype=np.int64),
            (label,),
            description.replace("the class is", "the number is"),
            numbers=_numbers(cells, path, label),
        )
        return TableTarget(data, positions)
    names = [_class_name(cell) for cell in cells]
    classes = sorted(set(names), key=_class_order)
    if len(classes) > _MOST_CLASSES:
        raise LabelError(
            f"{os.fspath(path)}: column {label!r} must hold classes, at most {_MOST_CLASSES} of "
            f"them. Got {len(classes)} different values, such as {classes[0]!r}; numbers are no "
            "classes: task='regression' is for these."
        )
    y = np.array([classes.index(each) for each in names])
    return TableTarget(Dataset(name, graphs, y, tuple(classes), description), positions)


def _description(label: str, count: int, n_problems: int) -> str:
    left_out = f" {n_problems} rows could not be read." if n_problems else ""
    return f"{count} molecules; the class is {label}.{left_out}"


def _numbers(
    texts: Sequence[str], path: str | os.PathLike[str], label: str
) -> npt.NDArray[np.float64]:
    numbers = []
    for text in texts:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise LabelError(
                f"{os.fspath(path)}: column {label!r} must hold numbers. Got {text!r}; rows whose "
                "number is not known must be empty there."
            )
        numbers.append(number)
    return np.array(numbers)


def _class_name(text: str) -> str:
    """Return a class as people write it: 1.0 is 1."""
    stripped = text.strip()
    return (
        stripped[:-2]
        if stripped.endswith(".0") and stripped[:-2].lstrip("-").isdigit()
        else stripped
    )


def _class_order(name: str) -> tuple[float, str]:
    return (float(name), "") if name.lstrip("-").isdigit() else (float("inf"), name)


def scaffolds(molecules: Molecules | Sequence[Any]) -> list[str]:
    """Return the Bemis-Murcko scaffold of every molecule as SMILES, without stereochemistry.

    Molecules without rings have the empty scaffold.
    """
    murcko = import_optional(
        "rdkit.Chem.Scaffolds.MurckoScaffold", extra="chem", purpose="scaffolds"
    )
    mols = molecules.mols if isinstance(molecules, Molecules) else molecules
    return [murcko.MurckoScaffoldSmiles(mol=mol, includeChirality=False) for mol in mols]


def scaffold_split(
    molecules: Molecules | Sequence[Any], fractions: tuple[float, float, float] = (0.8, 0.1, 0.1)
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Split molecules so that no scaffold is in two parts; nothing is drawn at random.

    Molecules with the same Bemis-Murcko scaffold (without stereochemistry) are one group. Groups
    are taken from the largest to the smallest; of two that are as large, the one whose first
    molecule stands further back goes first. Each goes to the training part if it still fits within
    its fraction, else to the validation part if it fits within both, else to the test part.

    Returns
    -------
    train, validation, test : arrays of int
        Numbers of molecules, rising.
    """
    if len(fractions) != 3 or min(fractions) < 0 or abs(sum(fractions) - 1) > 1e-9:
        raise ParameterError(f"fractions must be three shares of sum 1. Got {fractions!r} instead.")
    groups: dict[str, list[int]] = {}
    for number, scaffold in enumerate(scaffolds(molecules)):
        groups.setdefault(scaffold, []).append(number)
    ordered = sorted(groups.values(), key=lambda group: (len(group), group[0]), reverse=True)
    total = sum(map(len, ordered))
    train_limit, both_limit = fractions[0] * total, (fractions[0] + fractions[1]) * total
    train: list[int] = []
    validation: list[int] = []
    test: list[int] = []
    for group in ordered:
        if len(train) + len(group) <= train_limit:
            train += group
        elif len(train) + len(validation) + len(group) <= both_limit:
            validation += group
        else:
            test += group
    first, second, third = (
        np.array(sorted(one), dtype=np.int64) for one in (train, validation, test)
    )
    return first, second, third
