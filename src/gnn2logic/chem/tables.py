"""Tables of molecules with labels, and splits by scaffold."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
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

__all__ = ["read_csv", "scaffold_split", "scaffolds"]

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
    check_choice("task", task, ("classes", "regression"))
    if smiles == label:
        raise ParameterError(f"label must be another column than smiles. Got {label!r} twice.")
    columns = csv_columns(Path(path), (smiles, label))
    texts, labels = columns[smiles], columns[label]
    known = [row for row, text in enumerate(labels) if not is_missing(text)]
    name = Path(path).stem if name is None else name
    if not known:
        raise LabelError(f"{os.fspath(path)}: column {label!r} must hold classes. It is empty.")
    read = from_smiles(
        [texts[row] for row in known],
        errors=errors,
        explicit_hydrogens=explicit_hydrogens,
        stereo=stereo,
        verbose=verbose,
    )
    rows = np.array(known, dtype=np.int64)[read.rows]
    problems = tuple(Problem(known[one.row], one.text, one.reason) for one in read.problems)
    molecules = Molecules(read.graphs, read.mols, rows, problems)
    if task == "regression":
        data = Dataset(
            name,
            molecules.graphs,
            np.zeros(len(rows), dtype=np.int64),
            (label,),
            _description(label, molecules).replace("the class is", "the number is"),
            numbers=_numbers([labels[row] for row in rows], path, label),
        )
        return data, molecules
    names = [_class_name(labels[row]) for row in rows]
    classes = sorted(set(names), key=_class_order)
    if len(classes) > _MOST_CLASSES:
        raise LabelError(
            f"{os.fspath(path)}: column {label!r} must hold classes, at most {_MOST_CLASSES} of "
            f"them. Got {len(classes)} different values, such as {classes[0]!r}; numbers are no "
            "classes: task='regression' is for these."
        )
    y = np.array([classes.index(name) for name in names])
    return Dataset(
        name, molecules.graphs, y, tuple(classes), _description(label, molecules)
    ), molecules


def _description(label: str, molecules: Molecules) -> str:
    left_out = f" {len(molecules.problems)} rows could not be read." if molecules.problems else ""
    return f"{len(molecules)} molecules; the class is {label}.{left_out}"


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
