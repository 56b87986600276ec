"""A model, the graphs to show it on, and the network beside it, as several commands need them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gnn2logic.cli.data import Chosen, read_data, with_class_names
from gnn2logic.cli.options import Part
from gnn2logic.cli.teachers import find_teacher
from gnn2logic.idt import IDTPredictor, load
from gnn2logic.reporting.subject import Subject, read_subject

__all__ = ["arguments_of", "load_named", "subject_of"]


def load_named(
    model: Path, dataset: str, options: Iterable[str] | None, part: Part
) -> tuple[IDTPredictor, Chosen]:
    """Return a model that speaks of the classes of a data set, and graphs of it."""
    idt = load(model)
    chosen = read_data(dataset, options, part)
    return with_class_names(idt, chosen.data), chosen


def arguments_of(idt: IDTPredictor, chosen: Chosen, teacher: str | None) -> dict[str, Any]:
    """Return what `gnn2logic.report` is called with beside the model."""
    return {
        "graphs": chosen.graphs if teacher is None else chosen.network_graphs,
        "y": chosen.labels if idt.model_.level == "graph" else None,
        "teacher": find_teacher(teacher, chosen.data),
        "dataset_name": chosen.data.name,
        "graph_names": [f"Graph {number}" for number in chosen.numbers.tolist()],
    }


def subject_of(
    model: Path, dataset: str, options: Iterable[str] | None, part: Part, teacher: str | None
) -> Subject:
    """Return all answers of a model, and those of the network if there is one."""
    idt, chosen = load_named(model, dataset, options, part)
    given = arguments_of(idt, chosen, teacher)
    return read_subject(idt, **given, mask=None, title=None, class_names=None)
