"""`ComparisonPlan`: how a comparison is run, as the folder of its results keeps it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from gnn2logic._digests import sha256_of
from gnn2logic._files import read_whole, write_atomically
from gnn2logic.datasets.cache import check_name
from gnn2logic.exceptions import DataSetError, ParameterError
from gnn2logic.experiments.comparison.data import (
    ComparedFold,
    DataSource,
    FoldSplit,
    fingerprint,
    labels_of,
    read_source,
    read_splits,
    seeded_splits,
)
from gnn2logic.experiments.comparison.names import ALL_MODELS
from gnn2logic.experiments.comparison.settings import ComparisonSettings
from gnn2logic.experiments.folds import stream
from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow

__all__ = [
    "ComparisonPlan",
    "earlier_commands",
    "is_comparison",
    "keep",
    "read_comparison",
    "together_with",
]

_NAME = "run.json"
_SPLITS = "splits"
_MOST_BYTES = 2**24


class ComparisonPlan(msgspec.Struct, frozen=True):
    """How a comparison is run.

    Parameters
    ----------
    sources : dict of str to DataSource
        The data sets, by name.
    settings : ComparisonSettings
    folds : int
        Of data sets without folds of their own.
    seed : int
    teacher : str or None
        A function of the user that trains a network, ``module:function``.
    splits : dict of str to list of FoldSplit
        Folds that were given, by data set; in the folder they are files of their own.
    """

    sources: dict[str, DataSource]
    settings: ComparisonSettings
    folds: int = 10
    seed: int = 0
    teacher: str | None = None
    splits: dict[str, list[FoldSplit]] = {}

    def splits_of(self, dataset: str) -> list[FoldSplit]:
        """Return the folds of a data set, those that were given or seeded ones."""
        if dataset in self.splits:
            return self.splits[dataset]
        return seeded_splits(
            labels_of(read_source(self.sources[dataset])),
            dataset,
            folds=self.folds,
            share=self.settings.validation_share,
            seed=self.seed,
        )

    def n_folds(self, dataset: str) -> int:
        """Return how many folds a data set has."""
        return len(self.splits[dataset]) if dataset in self.splits else self.folds

    def fold(self, dataset: str, number: int) -> ComparedFold:
        """Return one fold of a data set."""
        data = read_source(self.sources[dataset])
        return ComparedFold.of(dataset, number, data, self.splits_of(dataset)[number])

    def predicts_numbers(self, dataset: str) -> bool:
        """Whether the labels of a data set are numbers, not classes."""
        return read_source(self.sources[dataset]).numbers is not None

    def stream(self, dataset: str, fold: int, repeat: int, purpose: str) -> int:
        """Return the seed of what is drawn for a purpose, on a fold, with one of several seeds."""
        purpose = f"{purpose}, seed {repeat}" if repeat else purpose
        return stream(self, dataset, fold, purpose)

    def digest(self, dataset: str) -> str:
        """Return a short text that changes whenever results on a data set may change.

        Where the data lies, which models are compared, and on how many folds and seeds, makes no
        other rows: these can be added to.
        """
        folds: Any = self.splits.get(dataset, self.folds)
        data = fingerprint(self.sources[dataset])
        contents = [dataset, data, folds, self.seed, self.teacher, self.settings]
        return sha256_of([msgspec.json.encode(contents, order="sorted")])[:16]

    def problem_with(self, row: AnyRow) -> str | None:
        """Return in words why a row does not belong to the comparison, or None if it does."""
        if not isinstance(row, ComparedRow | NumberRow) or row.dataset not in self.sources:
            return f"the data sets are {', '.join(self.sources)}"
        if row.model not in ALL_MODELS:
            return "there is no such model"
        if row.settings != self.digest(row.dataset):
            return "it was made with other data, folds, seeds, networks or settings"
        if not 0 <= row.fold < self.n_folds(row.dataset):
            return f"there are folds 0 to {self.n_folds(row.dataset) - 1}"
        return None


def _record(folder: Path) -> dict[str, Any]:
    """Return what is written about the run in a folder; nothing if there is none."""
    try:
        return msgspec.json.decode(read_whole(folder / _NAME, _MOST_BYTES), type=dict[str, Any])
    except (OSError, ValueError):
        return {}


def is_comparison(folder: Path) -> bool:
    """Return whether a folder holds the results of a comparison, not those of the paper."""
    return "comparison" in _record(folder)


def earlier_commands(folder: Path) -> list[str]:
    """Return the commands that made what is in a folder."""
    return [str(command) for command in _record(folder).get("commands", [])]


def keep(comparison: ComparisonPlan, folder: Path, more: dict[str, Any]) -> None:
    """Write how a comparison is run, and more about it, into the folder of its results."""
    folder.mkdir(parents=True, exist_ok=True)
    if comparison.splits:
        (folder / _SPLITS).mkdir(exist_ok=True)
    for name, splits in comparison.splits.items():
        write_atomically(folder / _SPLITS / f"{name}.json", msgspec.json.encode(splits) + b"\n")
    plain = msgspec.to_builtins(comparison)
    plain["splits"] = sorted(comparison.splits)
    text = json.dumps({"comparison": plain, **more}, indent=2) + "\n"
    write_atomically(folder / _NAME, text.encode())


def read_comparison(folder: Path) -> ComparisonPlan:
    """Return how the comparison in a folder was run."""
    try:
        record = msgspec.json.decode(read_whole(folder / _NAME, _MOST_BYTES))
        plain = dict(record["comparison"])
        names: list[str] = plain.pop("splits")
        comparison = msgspec.convert(plain, ComparisonPlan)
        for name in names:
            # It becomes a part of a path.
            if check_name(name) not in comparison.sources:
                raise ValueError(f"folds of {name!r}, which is no data set of it")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataSetError(
            f"{folder.name} must hold the {_NAME} of a comparison. Got this instead: {error}"
        ) from None
    # Whether there are so many graphs is seen when they are taken.
    splits = {name: read_splits(folder / _SPLITS / f"{name}.json") for name in names}
    return msgspec.structs.replace(comparison, splits=splits)


def together_with(folder: Path, comparison: ComparisonPlan) -> ComparisonPlan:
    """Return a comparison with the data sets that its folder has already."""
    if not (folder / _NAME).exists():
        return comparison
    if not is_comparison(folder):
        raise ParameterError(
            f"The output folder must be new or hold a comparison. {folder.name} holds the paper's "
            "experiments; choose another folder."
        )
    before = read_comparison(folder)
    for name in comparison.sources:
        if name in before.sources and before.digest(name) != comparison.digest(name):
            raise ParameterError(
                f"The output folder must hold results on {name} made with the same data, folds, "
                "seed, network and settings. It has others; choose another folder, or delete it."
            )
    for name in before.sources.keys() - comparison.sources.keys():
        shared = ["settings", "seed", "teacher", *(["folds"] if name not in before.splits else [])]
        other = [each for each in shared if getattr(before, each) != getattr(comparison, each)]
        if other:
            # The rows that are there would belong to nothing.
            raise ParameterError(
                f"The output folder holds results on {name} with other {', '.join(other)}. Give "
                "the same, or choose another folder."
            )
    return msgspec.structs.replace(
        comparison,
        sources={**before.sources, **comparison.sources},
        splits={**before.splits, **comparison.splits},
    )
