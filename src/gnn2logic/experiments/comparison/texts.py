"""What tables of classes and of numbers write alike: Markdown cells and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Protocol

from gnn2logic.experiments.rows import ComparedRow, NumberRow

__all__ = ["bar", "flat_rows", "length", "number", "over_folds", "summary_csv"]


class _Long(Protocol):
    @property
    def size(self) -> float | None: ...

    @property
    def lines(self) -> float | None: ...


def bar(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


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
