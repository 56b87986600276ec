"""`compare`: models on data of anybody's choice, run where rows are missing; then tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnn2logic._validation import check_whole
from gnn2logic.datasets.cache import check_name
from gnn2logic.exceptions import ParameterError
from gnn2logic.experiments.comparison.data import (
    SCAFFOLD,
    DataSource,
    check_numbers,
    find_splits,
    read_source,
    scaffold_folds,
)
from gnn2logic.experiments.comparison.learners import check_teacher
from gnn2logic.experiments.comparison.names import ALL_MODELS, choose_models
from gnn2logic.experiments.comparison.pages import write_comparison
from gnn2logic.experiments.comparison.record import (
    ComparisonPlan,
    earlier_commands,
    keep,
    together_with,
)
from gnn2logic.experiments.comparison.scores import score_unit
from gnn2logic.experiments.comparison.settings import check_for_numbers, read_settings
from gnn2logic.experiments.results import describe_environment
from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow, RowFile
from gnn2logic.experiments.runner import Unit, run_experiment

__all__ = ["ComparisonExperiment", "compare"]

# What scikit-learn takes for a seed.
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class ComparisonExperiment:
    """Some models on some data sets of a comparison.

    Parameters
    ----------
    comparison : ComparisonPlan
    datasets, models : tuple of str
        What is asked for now; the folder may have more.
    first : int or None
        Run so many folds only.
    seeds : int
        How often every model is learned on a fold.
    """

    comparison: ComparisonPlan
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    first: int | None = None
    seeds: int = 1

    def row_file(self, path: Path) -> RowFile[AnyRow]:
        """Return the file of rows at a path."""
        return RowFile(path, ComparedRow, NumberRow)

    def problem_with(self, row: AnyRow) -> str | None:
        """Return in words why a row does not belong to the comparison, or None if it does."""
        return self.comparison.problem_with(row)

    def missing(self, rows: Sequence[AnyRow]) -> list[Unit]:
        """Return what is left: one fold of every data set, then the next of all, seed by seed."""
        done = {row.key for row in rows}
        most = {name: self.comparison.n_folds(name) for name in self.datasets}
        if self.first is not None:
            most = {name: min(self.first, count) for name, count in most.items()}
        units = []
        for repeat in range(self.seeds):
            for fold in range(max(most.values())):
                for name in self.datasets:
                    left = [
                        model for model in self.models if (name, fold, model, repeat) not in done
                    ]
                    if left and fold < most[name]:
                        units.append(Unit(name, fold, tuple(left), repeat))
        return units

    def check(self, units: Sequence[Unit]) -> None:
        """Make the folds: what is not there, or too small, is told now and not hours later."""
        for name in dict.fromkeys(unit.dataset for unit in units):
            self.comparison.fold(name, 0)
            data = read_source(self.comparison.sources[name])
            check_numbers(data, self.comparison.splits_of(name))

    def score(self, unit: Unit) -> Iterator[AnyRow]:
        """Make the rows of a unit."""
        return score_unit(unit, self.comparison)

    def rank(self, row: AnyRow) -> tuple[int, ...]:
        """Return where a row stands in a sorted file: data set, model, fold, seed."""
        assert isinstance(row, ComparedRow | NumberRow)
        datasets, models = list(self.comparison.sources), list(ALL_MODELS)
        return (datasets.index(row.dataset), models.index(row.model), row.fold, row.repeat)


def compare(
    out: str | os.PathLike[str],
    datasets: Sequence[str],
    *,
    options: Mapping[str, Any] | None = None,
    models: Sequence[str] | None = None,
    splits: str | os.PathLike[str] | None = None,
    settings: str | os.PathLike[str] | None = None,
    teacher: str | None = None,
    folds: int = 10,
    first: int | None = None,
    seeds: int = 1,
    n_jobs: int = 1,
    dask: str | None = None,
    random_state: int = 0,
    command: str = "",
) -> list[AnyRow]:
    """Compare models on data of your choice and write rows and tables into a folder.

    A run that was stopped goes on when it is started again. Data sets, models, folds and seeds can
    be added to a folder later.

    Parameters
    ----------
    out : path
    datasets : sequence of str
        Names that `gnn2logic.datasets.load` knows, folders in TU format, or CSV files of molecules.
    options : mapping, optional
        Options for reading all of them, such as ``node_attributes=True``; for a CSV file `smiles`
        and `label`, the names of its columns, and ``task="regression"`` where labels are numbers.
    models : sequence of str, optional
        Names as in `gnn2logic.experiments.comparison.names`; None means the usual ones.
    splits : path, optional
        Folds of yours or public ones: a JSON file, or a folder with one for each data set. Where
        there is none, folds are drawn from the seed. ``"scaffold"`` is one fold of molecules of a
        CSV file, by `gnn2logic.chem.scaffold_split`.
    settings : path, optional
        A TOML file that changes what it names in ``settings/comparison.toml``.
    teacher : str, optional
        ``module:function``: a function of yours that trains a network. It is called with
        `graphs` and `validation`, lists of PyTorch Geometric graphs with their class in ``y``, and
        `random_state`, once for every fold and seed, and never sees the test part.
    folds : int
        Where the folds are not given.
    first : int, optional
        Run only so many of the folds.
    seeds : int
        How often every model is learned on each fold, which shows how stable it is.
    n_jobs : int
        Processes; each works on a fold of its own, on one thread.
    dask : str, optional
        The address of a Dask scheduler, as in `reproduce`.
    random_state : int
    command : str
        The command line, for the record.

    Returns
    -------
    list of ComparedRow or NumberRow
        All rows of the folder.
    """
    if isinstance(datasets, str) or not datasets:
        raise ParameterError(f"datasets must be a list of names or folders. Got {datasets!r}.")
    sources: dict[str, DataSource] = {}
    for where in datasets:
        source = DataSource(where, dict(options or {}))
        # It becomes a part of the names of files.
        name = check_name(read_source(source).name)
        if name in sources:
            raise ParameterError(f"Each data set must be given once. Got {name} twice.")
        sources[name] = source
    how = read_settings(settings)
    of_numbers = _are_of_numbers(sources)
    if of_numbers:
        check_for_numbers(how)
    chosen = choose_models(models, has_teacher=teacher is not None, numbers=of_numbers)
    check_teacher(teacher, chosen)
    comparison = ComparisonPlan(
        sources=sources,
        settings=how,
        folds=check_whole("folds", folds, least=2),
        seed=check_whole("random_state", random_state, least=0, most=_MAX_SEED),
        teacher=teacher,
        splits=_given_splits(splits, sources),
    )
    folder = Path(out)
    comparison = together_with(folder, comparison)
    experiment = ComparisonExperiment(
        comparison,
        tuple(sources),
        tuple(model.name for model in chosen),
        None if first is None else check_whole("first", first, least=1),
        check_whole("seeds", seeds, least=1),
    )
    n_jobs = check_whole("n_jobs", n_jobs, least=1)
    commands = list(dict.fromkeys([*earlier_commands(folder), command]))
    record = {"commands": commands, "jobs": n_jobs, **describe_environment()}
    # A folder that says what nobody can run would be in the way of those who try again.
    experiment.check(experiment.missing([]))
    # Before the first row: whoever goes on must know what it belongs to.
    keep(comparison, folder, record)
    rows = run_experiment(experiment, folder, n_jobs=n_jobs, dask=dask)
    write_comparison(folder, rows, comparison, record)
    return rows


def _are_of_numbers(sources: Mapping[str, DataSource]) -> bool:
    """Whether the labels of all data sets are numbers; they are learned by other models."""
    of_numbers = [
        name for name, source in sources.items() if read_source(source).numbers is not None
    ]
    others = [name for name in sources if name not in of_numbers]
    if of_numbers and others:
        raise ParameterError(
            f"The labels of {', '.join(of_numbers)} are numbers, those of {', '.join(others)} are "
            "classes. Compare one sort after the other; they may go into the same folder."
        )
    return bool(of_numbers)


def _given_splits(
    file_or_folder: str | os.PathLike[str] | None, sources: dict[str, DataSource]
) -> dict[str, Any]:
    if file_or_folder is None:
        return {}
    if os.fspath(file_or_folder) == SCAFFOLD:
        return {name: scaffold_folds(source) for name, source in sources.items()}
    if not Path(file_or_folder).is_dir() and len(sources) > 1:
        raise ParameterError(
            f"splits must be a folder for {len(sources)} data sets, with a file for each. "
            f"Got {os.fspath(file_or_folder)!r} instead."
        )
    splits_by_name = {
        name: find_splits(file_or_folder, name, len(read_source(source)))
        for name, source in sources.items()
    }
    given = {name: splits for name, splits in splits_by_name.items() if splits is not None}
    if not given:
        raise ParameterError(
            f"splits must have folds of {', '.join(sources)}: NAME.json or NAME_splits.json. "
            f"There are none in {os.fspath(file_or_folder)!r}."
        )
    return given
