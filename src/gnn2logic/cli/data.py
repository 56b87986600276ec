"""Data sets as commands name them, and the classes of models in the words of a data set."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnn2logic import datasets
from gnn2logic.cli.options import DataSplit, settings_from
from gnn2logic.exceptions import DataSetError, LabelError, ParameterError

if TYPE_CHECKING:
    from gnn2logic.chem import Molecules
    from gnn2logic.chem.tables import TableTarget
    from gnn2logic.graphs import GraphBatch

__all__ = [
    "Chosen",
    "choose",
    "class_names_for",
    "load_targets",
    "load_whole",
    "numbers_in",
    "read_data",
    "with_class_names",
]

_SHOWN_PROBLEMS = 5
# Of every class, each graph of that number is for testing.
_ONE_IN = 5


@dataclass(frozen=True, eq=False)
class Chosen:
    """The graphs of a data set that a command is about.

    Parameters
    ----------
    data : Dataset
    numbers : array of int
        Their numbers in the whole data set.
    """

    data: datasets.Dataset
    numbers: npt.NDArray[np.int64]

    @property
    def graphs(self) -> Any:
        """What rules read."""
        return self.data.inputs

    @property
    def network_graphs(self) -> Any:
        """What networks read, and rules as well: numbers at the nodes are not cut into predicates.

        Only where there are such numbers is torch needed.
        """
        return self.data.graphs if self.data.attributes is None else self.data.to_pyg()

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The name of the class of every graph; of data sets of numbers, its number."""
        if self.data.numbers is not None:
            return self.data.numbers
        return np.array(self.data.class_names)[self.data.y]

    def take(self, position: int) -> Chosen:
        """Return one of the graphs."""
        return Chosen(self.data.take([position]), self.numbers[[position]])


def read_data(name: str, options: Iterable[str] | None, split: DataSplit) -> Chosen:
    """Return a split of a data set, by its name or its folder."""
    return choose(load_whole(name, options), split)


def choose(whole: datasets.Dataset, split: DataSplit) -> Chosen:
    """Return a split of a data set."""
    numbers = numbers_in(split, whole.y, whole.name)
    return Chosen(whole if split is DataSplit.ALL else whole.take(numbers), numbers)


def numbers_in(split: DataSplit, y: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.int64]:
    """Return the numbers of the graphs of a split, for graphs of these classes."""
    numbers = np.flatnonzero(_is_in(split, y))
    if not len(numbers):
        raise DataSetError(
            f"{name} has only {len(y)} graphs, too few to hold some back for a test. "
            "Take them all with --split all."
        )
    return numbers


def load_whole(name: str, options: Iterable[str] | None) -> datasets.Dataset:
    """Return a data set by its name, its folder or its CSV file; known names come first."""
    if Path(name).suffix.lower() == ".csv":
        return _molecules(Path(name), options)
    # The keys are checked by `load_from`, which knows what goes with the name.
    keys = [text.partition("=")[0] for text in options or ()]
    return datasets.load_from(name, **settings_from("--data", options, keys))


def _molecules(table: Path, options: Iterable[str] | None) -> datasets.Dataset:
    """Return the molecules of a CSV file; rows that cannot be read are left out and named."""
    from gnn2logic.chem import read_csv

    known = list(inspect.signature(read_csv).parameters)[1:]
    settings = settings_from("--data", options, known)
    for key in ("smiles", "label"):
        if key not in settings:
            raise DataSetError(
                f"{table} is a table. Say which column holds the "
                f"{'molecules' if key == 'smiles' else 'classes'} with --{key} COLUMN."
            )
    data, molecules = read_csv(table, **{"errors": "skip"} | settings)
    _tell_problems(molecules, table)
    return data


def load_targets(
    name: str, options: Iterable[str] | None, labels: Sequence[str], *, numbers: bool
) -> tuple[GraphBatch, dict[str, TableTarget]]:
    """Return the molecules of a CSV file, and what each of several columns says about them."""
    from gnn2logic.chem.tables import read_targets

    table = Path(name)
    if table.suffix.lower() != ".csv":
        raise ParameterError(
            f"--label may be given more than once for CSV files of molecules. Got {name!r}."
        )
    known = ("smiles", "name", "errors", "explicit_hydrogens", "stereo")
    settings = settings_from("--data", options, known)
    if "smiles" not in settings:
        raise DataSetError(
            f"{table} is a table. Say which column holds the molecules with --smiles COLUMN."
        )
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ParameterError(f"--label must name different columns. Got {label!r} twice.")
    task = "regression" if numbers else "classes"
    try:
        molecules, targets = read_targets(
            table, labels=labels, task=task, **{"errors": "skip"} | settings
        )
    except LabelError as error:
        raise LabelError(
            f"{error} All columns of --label must be of one sort: learn classes and numbers with "
            "a command each."
        ) from None
    _tell_problems(molecules, table)
    return molecules.graphs, targets


def _tell_problems(molecules: Molecules, table: Path) -> None:
    if molecules.problems:
        shown = "; ".join(map(str, molecules.problems[:_SHOWN_PROBLEMS]))
        more = len(molecules.problems) - _SHOWN_PROBLEMS
        warnings.warn(
            f"{len(molecules.problems)} rows of {table} were left out: {shown}"
            + (f"; and {more} more." if more > 0 else "."),
            UserWarning,
            stacklevel=3,
        )


def _is_in(split: DataSplit, y: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which graphs belong to a split; the share of every class is the same in both."""
    if split is DataSplit.ALL:
        return np.ones(len(y), dtype=bool)
    is_test = np.zeros(len(y), dtype=bool)
    order = np.random.default_rng(0).permutation(len(y))
    for label in np.unique(y):
        of_class = order[y[order] == label]
        is_test[of_class[_ONE_IN - 1 :: _ONE_IN]] = True
    return is_test if split is DataSplit.TEST else ~is_test


# Classes --------------------------------------------------------------------------------------


def class_names_for(classes: Iterable[Any], data: datasets.Dataset) -> list[str]:
    """Return what a data set calls the classes of a model: numbers are positions in its list."""
    labels, names = list(classes), data.class_names
    if all(isinstance(label, int) and 0 <= label < len(names) for label in labels):
        return [names[label] for label in labels]
    texts = [str(label) for label in labels]
    if not set(texts) <= set(names):
        raise LabelError(
            f"The model must have classes of the data set {data.name!r}, {', '.join(names)}. "
            f"Its classes are {', '.join(texts)}."
        )
    return texts


def with_class_names(idt: Any, data: datasets.Dataset) -> Any:
    """Return a model, or a classifier network, that answers with the class names of the data."""
    if getattr(idt, "level", "graph") == "node":
        # The names are those of graphs.
        return idt
    named = copy.copy(idt)
    named.classes_ = np.array(class_names_for(idt.classes_.tolist(), data))
    return named
