"""Data sets and folds of a comparison: names, folders or files; public folds or seeded ones."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, train_test_split

from gnn2logic._files import read_whole
from gnn2logic.chem import Molecules, read_csv, scaffold_split
from gnn2logic.datasets import Dataset, load_from
from gnn2logic.exceptions import DataSetError, LabelError, ParameterError
from gnn2logic.experiments.folds import stratified_folds
from gnn2logic.experiments.networks import evidence_of

__all__ = [
    "SCAFFOLD",
    "ComparedFold",
    "DataSource",
    "FoldSplit",
    "check_numbers",
    "find_splits",
    "fingerprint",
    "is_table",
    "labels_of",
    "read_source",
    "read_splits",
    "scaffold_folds",
    "seeded_splits",
]

# What is written for folds where other data sets have a file.
SCAFFOLD = "scaffold"
_MOST_BYTES = 2**28
_LEAST_TESTED = 2


class DataSource(msgspec.Struct, frozen=True):
    """Where a data set comes from: a name, a folder or a file, and options for reading it."""

    where: str
    options: dict[str, Any] = {}


def read_source(source: DataSource) -> Dataset:
    """Return the data set of a source; the last few are kept."""
    return _read(source.where, msgspec.json.encode(source.options, order="sorted"))


@lru_cache(maxsize=4)
def _read(where: str, options: bytes) -> Dataset:
    settings = msgspec.json.decode(options)
    if is_table(where):
        return _molecules(where, settings)[0]
    return load_from(where, **settings)


def is_table(where: str) -> bool:
    """Return whether a data set is a CSV file of molecules."""
    return Path(where).suffix.lower() == ".csv"


def _molecules(where: str, settings: dict[str, Any]) -> tuple[Dataset, Molecules]:
    known = list(inspect.signature(read_csv).parameters)[1:]
    if not {"smiles", "label"} <= set(settings) <= set(known):
        raise ParameterError(
            f"{where} is a table. Its options must say which columns hold the molecules and their "
            f"labels, smiles and label; others are {', '.join(known)}. "
            f"Got {', '.join(settings) or 'none'}."
        )
    return read_csv(where, **settings)


@lru_cache(maxsize=64)
def _fingerprint(where: str, options: bytes) -> str:
    data = _read(where, options)
    graphs = data.graphs
    arrays: list[npt.NDArray[Any]] = [data.y, graphs.ptr, graphs.predicates]
    for matrix in (graphs.adjacency, *graphs.relations.values()):
        arrays += [matrix.indptr, matrix.indices, matrix.data]
    if data.attributes is not None:
        arrays.append(data.attributes.values)
    if data.numbers is not None:
        arrays.append(data.numbers)
    return evidence_of(arrays)


def fingerprint(source: DataSource) -> str:
    """Return a short text that differs when graphs or labels do, wherever they come from."""
    return _fingerprint(source.where, msgspec.json.encode(source.options, order="sorted"))


# Folds ----------------------------------------------------------------------------------------


class FoldSplit(msgspec.Struct, frozen=True):
    """The numbers of the graphs that are learned from, watched in training, and tested on."""

    train: list[int]
    validation: list[int]
    test: list[int]


class _Selection(msgspec.Struct, frozen=True):
    train: list[int]
    validation: list[int]


class _PublicFold(msgspec.Struct, frozen=True):
    test: list[int]
    model_selection: list[_Selection]


def find_splits(
    file_or_folder: str | os.PathLike[str], name: str, n_graphs: int
) -> list[FoldSplit] | None:
    """Return the folds of a data set from a file, or from a folder with one file for each.

    In a folder the file is NAME.json, NAME_splits.json or NAME_..._splits.json; None if there is
    none.
    """
    path = Path(file_or_folder)
    if not path.is_dir():
        return read_splits(path, n_graphs)
    exact = [path / f"{name}.json", path / f"{name}_splits.json"]
    there = [file for file in exact if file.is_file()] or sorted(path.glob(f"{name}_*_splits.json"))
    if len(there) > 1:
        raise DataSetError(
            f"{path.name} must hold one file with the folds of {name}. "
            f"Got {', '.join(file.name for file in there)}; name the file itself."
        )
    return read_splits(there[0], n_graphs) if there else None


def read_splits(path: Path, n_graphs: int | None = None) -> list[FoldSplit]:
    """Return the folds in a file, after a look at their numbers."""
    try:
        folds = _decoded(read_whole(path, _MOST_BYTES))
    except ValueError as error:
        raise DataSetError(
            f"{path.name} must be a JSON list of folds, each with lists of graph numbers under "
            '"train", "validation" and "test" (the first two may be in a "model_selection" of '
            f"one). Got this instead: {error}"
        ) from None
    if not folds:
        raise DataSetError(f"{path.name} must hold at least one fold. Got none.")
    for number, fold in enumerate(folds):
        if (problem := _problem_with(fold, n_graphs)) is not None:
            raise DataSetError(f"Fold {number} of {path.name} {problem}")
    return folds


def _decoded(text: bytes) -> list[FoldSplit]:
    folds = []
    for raw in msgspec.json.decode(text, type=list[msgspec.Raw]):
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        if "model_selection" in fields:
            public = msgspec.json.decode(raw, type=_PublicFold)
            if len(public.model_selection) != 1:
                raise ValueError(f"{len(public.model_selection)} entries in model_selection")
            inner = public.model_selection[0]
            folds.append(FoldSplit(inner.train, inner.validation, public.test))
        else:
            folds.append(msgspec.json.decode(raw, type=FoldSplit))
    return folds


def _problem_with(fold: FoldSplit, n_graphs: int | None) -> str | None:
    numbers = [*fold.train, *fold.validation, *fold.test]
    if not (fold.train and fold.test):
        return "must have graphs to learn from and graphs to test on. One of them is empty."
    if len(set(numbers)) != len(numbers):
        return "must have every graph once. Some number is there twice."
    if min(numbers) < 0:
        return f"must have numbers from 0 on. Got {min(numbers)}."
    if n_graphs is not None and max(numbers) >= n_graphs:
        return (
            f"must have numbers from 0 to {n_graphs - 1}, because there are {n_graphs} graphs. "
            f"Got numbers from {min(numbers)} to {max(numbers)}; are these the folds of other data?"
        )
    return None


def scaffold_folds(source: DataSource) -> list[FoldSplit]:
    """Return the one fold of a table of molecules whose parts have no scaffold in common."""
    if not is_table(source.where):
        raise ParameterError(
            f"splits={SCAFFOLD!r} is for CSV files of molecules. Got {source.where!r}."
        )
    parts = scaffold_split(_molecules(source.where, source.options)[1])
    fold = FoldSplit(*(part.tolist() for part in parts))
    if (problem := _problem_with(fold, None)) is not None:
        raise DataSetError(f"The split of {source.where} by scaffolds {problem}")
    return [fold]


def labels_of(data: Dataset) -> npt.NDArray[Any]:
    """Return what is learned: the class of every graph, or its number (float)."""
    return data.y if data.numbers is None else data.numbers


def seeded_splits(
    y: npt.NDArray[Any], name: str, *, folds: int, share: float, seed: int
) -> list[FoldSplit]:
    """Return folds that are drawn from a seed, each with a validation part.

    Of every class each fold has the same share; numbers (floats) have no classes.
    """
    make = _folds_of_numbers if y.dtype.kind == "f" else stratified_folds
    splits = []
    for learned, test in make(y, name, folds, seed):
        train, validation = _held_out(learned, y, share, seed)
        splits.append(FoldSplit(train.tolist(), validation.tolist(), test.tolist()))
    return splits


def _folds_of_numbers(
    y: npt.NDArray[Any], name: str, n_folds: int, seed: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    # R2 of one graph says nothing.
    most = len(y) // _LEAST_TESTED
    if not 2 <= n_folds <= most:
        raise ParameterError(
            f"{name} has {len(y)} graphs with a number, enough for {most} folds with "
            f"{_LEAST_TESTED} to test on each; at least 2 folds are needed. Got folds={n_folds}."
        )
    return list(KFold(n_folds, shuffle=True, random_state=seed).split(y))


def check_numbers(data: Dataset, splits: Sequence[FoldSplit]) -> None:
    """Refuse numbers of which nothing can be learned or measured, before anything runs."""
    numbers = data.numbers
    if numbers is None:
        return
    if np.ptp(numbers) == 0:
        raise LabelError(
            f"The numbers of {data.name} must differ to be learned. All {len(numbers)} are "
            f"{numbers[0]:g}; is this the right column?"
        )
    for number, split in enumerate(splits):
        if len(split.test) < _LEAST_TESTED:
            raise DataSetError(
                f"Fold {number} of {data.name} must have {_LEAST_TESTED} or more graphs to test "
                f"on, because R2 of one says nothing. Got {len(split.test)}."
            )
        if np.ptp(numbers[[*split.train, *split.validation]]) == 0:
            raise LabelError(
                f"Fold {number} of {data.name} must have different numbers to learn from. All "
                "graphs of its training part have the same."
            )


def _held_out(
    learned: npt.NDArray[np.int64], y: npt.NDArray[Any], share: float, seed: int
) -> Sequence[npt.NDArray[np.int64]]:
    strata = None if y.dtype.kind == "f" else y[learned]
    try:
        parts = train_test_split(learned, test_size=share, stratify=strata, random_state=seed)
    except ValueError:
        # Too few graphs, or of a class, for a validation part: training then draws its own.
        return learned, learned[:0]
    return [np.sort(rows) for rows in parts]


@dataclass(frozen=True)
class ComparedFold:
    """One round of cross-validation.

    Parameters
    ----------
    dataset : str
    number : int
    train : Dataset
        What is learned from, the validation part included.
    validation : array of bool
        Which of these the networks watch.
    test : Dataset
    """

    dataset: str
    number: int
    train: Dataset
    validation: npt.NDArray[np.bool_]
    test: Dataset

    @classmethod
    def of(cls, name: str, number: int, data: Dataset, split: FoldSplit) -> ComparedFold:
        """Return a fold of a data set; graphs are in the order of the data set."""
        learned = np.sort(np.array([*split.train, *split.validation], dtype=np.int64))
        watched = np.isin(learned, split.validation)
        test = np.sort(np.array(split.test, dtype=np.int64))
        return cls(name, number, data.take(learned), watched, data.take(test))
