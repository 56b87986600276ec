"""What tables of classes and of numbers write alike: Markdown cells and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

from gnn2logic.experiments.rows import ComparedRow, NumberRow

__all__ = [
    "flat_rows",
    "length",
    "markdown_table",
    "number",
    "over_folds",
    "summary_csv",
    "with_folds",
]


class _Long(Protocol):
    @property
    def size(self) -> float | None: ...

    @property
    def lines(self) -> float | None: ...


class _Folded(Protocol):
    @property
    def n_folds(self) -> int: ...


def markdown_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table without the columns that nothing is known of."""
    shown = [column for column in range(len(heads)) if any(line[column] for line in lines)]
    cells = [[line[column] for column in shown] for line in (heads, ["---"] * len(heads), *lines)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def with_folds(dataset: str, models: Sequence[_Folded], folds: Mapping[str, str]) -> str:
    """Return a data set with the number of its folds, and whose they are."""
    count = max(model.n_folds for model in models)
    words = [str(count), folds.get(dataset, ""), "fold" if count == 1 else "folds"]
    return f"{dataset} ({' '.join(word for word in words if word)})"


def number(value: float | None, digits: int) -> str:
    """Return a number, or nothing where it is not known."""
    return "" if value is None else f"{value:.{digits}f}"


def over_folds(mean: str, deviation: str, n_folds: int) -> str:
    """Return a mean with its deviation; one fold has none."""
    return mean if n_folds == 1 else f"{mean} ± {deviation}"


def length(model: _Long | None) -> str:
    """Return how long a readable model is."""
    if model is None:
        return ""
    lines = "" if model.lines is None else f" in {_lines(round(model.lines))}"
    return f"{number(model.size, 0)}{lines}"


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count != 1)}"


def summary_csv(summary_type: Any, models: Sequence[Any]) -> str:
    """Return the figures of all models on one data set, a column for each field but the text."""
    names = [field.name for field in fields(summary_type) if field.name != "text"]
    lines = [
        [model.model.name if n == "model" else getattr(model, n) for n in names] for model in models
    ]
    return _csv_text([names, *lines])


def flat_rows(rows: Sequence[ComparedRow] | Sequence[NumberRow], measured: Sequence[str]) -> str:
    """Return what was measured in every row; predictions and texts are in the file of rows."""
    plain = ("dataset", "model", "fold", "repeat", *measured)
    seconds = ("train", "capture", "fit", "tune")
    heads = [*plain, *(f"{each}_seconds" for each in seconds)]
    lines = [
        [*(getattr(row, each) for each in plain), *(getattr(row.seconds, s) for s in seconds)]
        for row in rows
    ]
    return _csv_text([heads, *lines])


def _csv_text(lines: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
