"""Columns of texts: of lists, of tables, and of CSV files."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gnn2logic._text import did_you_mean
from gnn2logic._validation import some_of
from gnn2logic.exceptions import DataSetError, ParameterError, UnsupportedInputError

__all__ = ["column_texts", "csv_columns", "is_missing"]

# What tables have in place of a value that nobody knows.
_MISSING = frozenset(["", "na", "n/a", "nan", "null"])


def is_missing(text: str) -> bool:
    """Return whether a cell of a CSV file holds no value.

    >>> is_missing(" "), is_missing("NaN"), is_missing("0")
    (True, True, False)
    """
    return text.strip().lower() in _MISSING


def column_texts(given: Any, column: str | None) -> list[str]:
    """Return the texts of a sequence, of a column of a table, or of a column of a CSV file."""
    if isinstance(given, str | os.PathLike):
        if column is None:
            raise ParameterError(
                f"column must name the column with the SMILES of the file {os.fspath(given)!r}. "
                "A single molecule is given in a list: [smiles]."
            )
        return csv_columns(Path(given), (column,))[column]
    if hasattr(given, "columns"):
        names = [str(name) for name in given.columns]
        if column is None or names.count(column) != 1:
            raise ParameterError(
                f"column must be one of {some_of(tuple(names))}, and only one. "
                f"Got {column!r} instead."
            )
        return [text if isinstance(text, str) else "" for text in given[column]]
    if column is not None:
        raise ParameterError("column is for tables and CSV files. Leave it out for a sequence.")
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise UnsupportedInputError(
            "smiles must be a sequence of strings, a table or a path. "
            f"Got {type(given).__name__} instead."
        )
    return [_cell(text, number) for number, text in enumerate(given)]


def _cell(value: Any, number: int) -> str:
    """Return a text; nothing for what tables have in place of one that is missing."""
    if isinstance(value, str):
        return value
    # NaN is the only number that is not equal to itself.
    if value is None or (isinstance(value, float) and value != value):
        return ""
    raise UnsupportedInputError(
        f"smiles must hold strings. Got {type(value).__name__} at position {number} instead."
    )


def csv_columns(path: Path, columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts of some columns of a CSV file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            names = tuple(reader.fieldnames or ())
            for column in columns:
                _check_column(path, column, names)
            rows = []
            for number, row in enumerate(reader):
                # Without quotes, a comma in a name moves all that follows by one column.
                if any(row.get(None) or ()):
                    raise DataSetError(
                        f"{path}: row {number} has more cells than there are columns, "
                        f"{len(names)}. Cells with commas must be in quotes."
                    )
                rows.append(row)
            return {column: [row[column] or "" for row in rows] for column in columns}
    except UnicodeDecodeError as error:
        raise DataSetError(
            f"{path} cannot be read as a CSV file: it must be in UTF-8. {error}."
        ) from error
    except (OSError, csv.Error) as error:
        raise DataSetError(f"{path} cannot be read as a CSV file: {error}.") from error


def _check_column(path: Path, column: str, names: tuple[str, ...]) -> None:
    copies = names.count(column)
    if copies == 1:
        return
    once, hint = (" only once", "") if copies else ("", did_you_mean(column, names))
    if len(names) == 1 and re.search(r"[;\t]", names[0]):
        hint = " Cells must be divided by commas."
    raise DataSetError(
        f"{path}: there must be a column {column!r}{once}. Got {some_of(names)} instead.{hint}"
    )
