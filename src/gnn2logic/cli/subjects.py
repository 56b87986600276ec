"""A model, the graphs to show it on, and the network beside it: as commands need them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.cli.data import Chosen, choose, read_data, with_class_names
from gnn2logic.cli.options import DataSplit
from gnn2logic.cli.teachers import find_teacher
from gnn2logic.datasets import Dataset
from gnn2logic.exceptions import DataSetError, ParameterError
from gnn2logic.graphs import GraphBatch
from gnn2logic.idt import IDTPredictor
from gnn2logic.multi_target import MultiTargetPredictor
from gnn2logic.reporting.subject import ReportSubject, read_subject
from gnn2logic.saved_models import load
from gnn2logic.scorecards import ScorecardPredictor
from gnn2logic.storage import is_store

__all__ = [
    "Model",
    "arguments_of",
    "for_numbers",
    "graph_numbered",
    "load_classes",
    "load_formulas",
    "load_named",
    "load_one",
    "reading_predicates",
    "scores_by_split",
    "share",
    "subject_of",
]


Model = IDTPredictor | ScorecardPredictor


def load_one(model: Path | str, target: str | None = None) -> Model:
    """Return a saved model of one target, or that of a target in a model of several."""
    loaded: Model | MultiTargetPredictor = load(model)
    if isinstance(loaded, MultiTargetPredictor):
        if target is not None:
            one: Model = loaded[target]
            return one
        raise ParameterError(
            f"MODEL must be about one target. {str(model)!r} has models of "
            f"{', '.join(loaded.target_names_)}; choose one with --target where the command has "
            "it, or with gnn2logic.load in Python."
        )
    if target is not None:
        raise ParameterError(f"--target is for models of several targets. {str(model)!r} has one.")
    return loaded


def load_classes(model: Path | str, target: str | None = None) -> Model:
    """Return a saved model that tells classes: there are no numbers to compare with."""
    loaded = load_one(model, target)
    if loaded.target is not None:
        raise ParameterError(
            f"MODEL must tell classes. {str(model)!r} is {_form(loaded)} that predicts numbers; "
            "diff, evaluate, explain and report take it, with a CSV file of molecules."
        )
    return loaded


def load_formulas(model: Path | str, target: str | None) -> Model:
    """Return a saved model whose answers have formulas: not a scorecard of numbers."""
    loaded = load_one(model, target)
    if isinstance(loaded, IDTPredictor):
        return loaded
    return load_classes(model, target)


def _form(model: Model) -> str:
    return "a scorecard" if isinstance(model, ScorecardPredictor) else "a rule"


def load_named(
    model: Path,
    dataset: str,
    options: Iterable[str] | None,
    split: DataSplit,
    target: str | None = None,
) -> tuple[Model, Chosen]:
    """Return a model that speaks of the classes of a data set, and graphs of it."""
    idt = load_one(model, target)
    if idt.target is None:
        chosen = read_data(dataset, options, split)
        if is_store(dataset):
            idt = reading_predicates(idt, chosen.data.graphs)
        return with_class_names(idt, chosen.data), chosen
    try:
        options = for_numbers(dataset, options)
    except ParameterError as error:
        raise ParameterError(f"MODEL is {_form(idt)} that predicts numbers. {error}") from None
    return idt, read_data(dataset, options, split)


def reading_predicates(model: Model, graphs: GraphBatch) -> Model:
    """Return a model that reads graphs whose features were made into predicates already."""
    model._check_terms(graphs)
    reader = copy.copy(model)
    # Imported where it is needed: the encoder brings scikit-learn.
    from gnn2logic.graphs import PredicateEncoder

    reader.encoder_ = PredicateEncoder().fit(graphs)
    return reader


def graph_numbered(chosen: Chosen, index: int) -> Chosen:
    """Return one of the graphs by its number."""
    if index >= len(chosen.data):
        raise ParameterError(
            f"INDEX must be below {len(chosen.data)}, the number of graphs. Got {index} instead."
        )
    return chosen.take(index)


def for_numbers(dataset: str, options: Iterable[str] | None) -> list[str]:
    """Return the options of a data set whose numbers are wanted, not its classes."""
    path = Path(dataset)
    if is_store(dataset):
        raise ParameterError(
            "DATASET must be no folder of shards where numbers are predicted: these hold classes. "
            f"Got {dataset!r}. In Python numbers are given beside them: "
            "IDTRegressor().fit(gnn2logic.open_shards(folder), numbers)."
        )
    if path.suffix.lower() != ".csv" and not path.is_dir():
        raise ParameterError(
            "DATASET must be a CSV file of molecules, or a folder in TU format with the file "
            f"NAME_graph_attributes.txt, where numbers are predicted. Got {dataset!r}."
        )
    return [*(options or ()), 'task="regression"']


def arguments_of(idt: Model, chosen: Chosen, teacher: str | None) -> dict[str, Any]:
    """Return what `gnn2logic.report` is called with beside the model."""
    return {
        "graphs": chosen.graphs if teacher is None else chosen.network_graphs,
        "y": chosen.labels if idt.level == "graph" else None,
        "teacher": find_teacher(teacher, chosen.data),
        "dataset_name": chosen.data.name,
        "graph_names": [f"Graph {number}" for number in chosen.numbers.tolist()],
    }


def subject_of(
    model: Path,
    dataset: str,
    options: Iterable[str] | None,
    split: DataSplit,
    teacher: str | None,
    target: str | None = None,
) -> ReportSubject:
    """Return all answers of a model, and those of the network if there is one."""
    idt, chosen = load_named(model, dataset, options, split, target)
    given = arguments_of(idt, chosen, teacher)
    return read_subject(idt, **given, mask=None, title=None, class_names=None)


def scores_by_split(
    whole: Dataset, split: DataSplit, *, rule: Any = None, network: Any = None
) -> list[dict[str, Any]]:
    """Return accuracy and fidelity on what was learned from and on what was held back.

    Where all graphs were learned from, there is one row for them.
    """
    rows = []
    for measured in (
        (DataSplit.ALL,) if split is DataSplit.ALL else (DataSplit.TRAIN, DataSplit.TEST)
    ):
        try:
            chosen = choose(whole, measured)
        except DataSetError:
            continue
        graphs = chosen.graphs if network is None else chosen.network_graphs
        if chosen.data.numbers is not None:
            rows.append(_number_scores(chosen, measured, rule, network))
            continue
        ours, theirs = (
            None if model is None else model.predict(graphs) for model in (rule, network)
        )
        rows.append(
            {
                "split": str(measured),
                "graphs": len(chosen.data),
                "rule_accuracy": share(ours, chosen.labels),
                "network_accuracy": share(theirs, chosen.labels),
                "fidelity": share(ours, theirs),
            }
        )
    return rows


def _number_scores(chosen: Chosen, measured: DataSplit, rule: Any, network: Any) -> dict[str, Any]:
    """Return R2 and mean absolute errors on a split of a data set of numbers."""
    given = arguments_of(rule, chosen, None) | {"teacher": network}
    about: dict[str, Any] = {"mask": None, "title": None, "class_names": None}
    by_who = {row["who"]: row for row in read_subject(rule, **given, **about).comparison.scores()}
    theirs = by_who.get("teacher", {})
    return {
        "split": str(measured),
        "graphs": len(chosen.data),
        "rule_r2": by_who["rule"]["r2"],
        "rule_mae": by_who["rule"]["mae"],
        "network_r2": theirs.get("r2"),
        "network_mae": theirs.get("mae"),
        "fidelity_r2": by_who["rule"]["fidelity_r2"],
    }


def share(ours: npt.NDArray[Any] | None, theirs: npt.NDArray[Any] | None) -> float | None:
    """Return how often two say the same; None where they speak of different things."""
    if ours is None or theirs is None or ours.shape != theirs.shape:
        return None
    return float(np.mean(ours == theirs))
