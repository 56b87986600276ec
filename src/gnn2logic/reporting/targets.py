"""Reports of several targets: one page, on which a target is picked."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._files import write_atomically
from gnn2logic._text import visible_json
from gnn2logic._validation import to_numpy
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import read_once
from gnn2logic.multi_target.labels import TargetColumn, target_columns
from gnn2logic.multi_target.predictor import MultiTargetPredictor
from gnn2logic.reporting.pages import figure, measures_of, scores_to_markdown, targets_to_html

__all__ = ["TargetReports", "one_of_several"]


class TargetReports:
    """One report for each of several targets, as one page, one text, or plain data.

    ``reports["name"]`` is the `Report` of one of them.

    Parameters
    ----------
    title : str
    reports : dict of str to Report
    """

    def __init__(self, title: str, reports: dict[str, Any]) -> None:
        self._title = title
        self._reports = reports

    def __getitem__(self, target: str) -> Any:
        """Return the report of one target."""
        if target not in self._reports:
            raise ParameterError(
                f"There is no target {target!r}. The targets are {', '.join(self._reports)}."
            )
        return self._reports[target]

    def to_dict(self) -> dict[str, Any]:
        """Return everything the reports say as plain data."""
        return {
            "format": "gnn2logic-report-of-targets",
            "version": 1,
            "title": self._title,
            "targets": {name: report.to_dict() for name, report in self._reports.items()},
        }

    def scores(self) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the rows of the table of all targets, as people read them."""
        documents = {name: report.to_dict() for name, report in self._reports.items()}
        measures = measures_of(next(iter(documents.values())))
        rows = [
            [name, str(document["data"]["n_rows"])]
            + [figure(document["scores"][0][key], key) for _, key in measures]
            for name, document in documents.items()
        ]
        level = next(iter(documents.values()))["level"]
        return ["Target", f"{level.capitalize()}s", *(title for title, _ in measures)], rows

    def to_json(self) -> str:
        """Return everything the reports say as JSON."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        return visible_json(text) + "\n"

    def to_markdown(self) -> str:
        """Return the scores of all targets, and then one report after the other."""
        reports = (report.to_markdown().strip() for report in self._reports.values())
        return "\n\n".join([scores_to_markdown(self._title, *self.scores()), *reports]) + "\n"

    def to_html(self) -> str:
        """Return one page that needs no network and no other file."""
        heads, rows = self.scores()
        pages = {name: report.to_html() for name, report in self._reports.items()}
        return targets_to_html(self._title, heads, rows, pages)

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `to_html` to a file."""
        write_atomically(path, self.to_html().encode("utf-8", errors="replace"))

    def write_markdown(self, path: str | os.PathLike[str]) -> None:
        """Write the text of `to_markdown` to a file."""
        write_atomically(path, self.to_markdown().encode("utf-8", errors="replace"))

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the text of `to_json` to a file."""
        write_atomically(path, self.to_json().encode("utf-8", errors="replace"))

    def __repr__(self) -> str:
        return f"TargetReports({self._title!r}, {len(self._reports)} targets)"


def one_of_several(
    model: MultiTargetPredictor,
    graphs: object,
    y: object,
    *,
    teacher: object,
    mask: object,
    title: str | None,
    graph_names: Sequence[object] | None,
) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the title, and for each target what `report` is to be given about it."""
    if isinstance(graphs, Dataset):
        graphs = graphs.inputs
    graphs = read_once(graphs)
    encoded = model.encoder_.transform(graphs)
    count = encoded.n_graphs if model.level == "graph" else encoded.n_nodes
    columns: list[TargetColumn | None] = [None] * len(model)
    if y is not None:
        columns = [
            *target_columns(y, count, of=model.level, names=model.target_names_, skip_missing=True)
        ]
    heading = f"{len(model)} targets" if title is None else title
    several = {}
    for number, (name, column) in enumerate(zip(model.target_names_, columns, strict=True)):
        known = np.ones(count, dtype=bool) if column is None else column.known
        given: dict[str, Any] = {
            "model": model[name],
            "graphs": graphs,
            "y": None if column is None else column.values,
            "teacher": _teacher_of(teacher, (number, name), len(model), count),
            "mask": mask,
            "title": f"{heading}: {name}",
            "graph_names": graph_names,
        }
        if model.level == "node":
            chosen = known if mask is None else known & np.asarray(to_numpy(mask), dtype=bool)
            given["mask"] = chosen
        elif not known.all():
            given |= _rows_of(given, known, encoded.n_graphs)
        several[name] = given
    return heading, several


def _rows_of(given: dict[str, Any], known: npt.NDArray[np.bool_], count: int) -> dict[str, Any]:
    """Return graphs, labels and names where a label is known."""
    numbers = np.flatnonzero(known)
    graphs, names = given["graphs"], given["graph_names"]
    if isinstance(graphs, GraphBatch):
        graphs = graphs.take(numbers)
    elif isinstance(graphs, list | tuple) and len(graphs) == count:
        graphs = [graphs[number] for number in numbers]
    else:
        raise LabelError(
            "Labels are missing, and graphs must be a list or a GraphBatch then, of which some "
            f"can be taken. Got {type(graphs).__name__} instead."
        )
    if names is None:
        names = [f"Graph {number}" for number in range(count)]
    teacher = given["teacher"]
    return {
        "graphs": graphs,
        "y": given["y"][numbers],
        "graph_names": [names[number] for number in numbers],
        "teacher": teacher[numbers] if isinstance(teacher, np.ndarray) else teacher,
    }


def _teacher_of(teacher: object, target: tuple[int, str], n_targets: int, count: int) -> Any:
    """Return what taught one target: an output of a network, or a column of answers."""
    number, name = target
    if teacher is None:
        return None
    if hasattr(teacher, "head") or callable(getattr(teacher, "forward", None)):
        # A network, so torch is there.
        from gnn2logic.distillation import as_teacher

        return as_teacher(teacher).head(number, n_targets, name)
    answers = np.asarray(to_numpy(teacher))
    if answers.shape != (count, n_targets):
        raise LabelError(
            f"teacher must be a network, or its answers of shape {(count, n_targets)}. "
            f"Got shape {answers.shape} instead."
        )
    return answers[:, number]
