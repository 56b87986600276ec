"""The text files of the TU collection as tables of numbers; every error says the file and line.

A file is checked and read as a whole by compiled code. Only when that fails is it walked through
line by line, to find the line that is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import DataSetError

__all__ = ["NumberTable", "read_floats", "read_integers"]

# 18 digits always fit into 64 bits.
_INTEGER = rb"[+-]?[0-9]{1,18}+"
_FLOAT = rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,9}+)?"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The numbers of one file, one row per line.

    Parameters
    ----------
    path : Path
    values : array, shape (n_lines, n_columns)
        A file without any line has the number of columns that was asked for, or one.
    """

    path: Path
    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    def error(self, row: int, problem: str) -> DataSetError:
        """Return an error about one row: which file, which line, and what is wrong there."""
        return _error(self.path, row + 1, problem)

    def check_length(self, count: int, *, of: str, source: str) -> None:
        """Raise unless there is one line for each of `count` things."""
        if len(self) == count:
            return
        line, problem = len(self) + 1, "the file ends too early"
        if len(self) > count:
            line, problem = count + 1, "the file goes on too long"
        raise _error(
            self.path,
            line,
            f"{problem}. It must have one line for each of the {count} {of} of {source}. "
            f"Got {len(self)} lines.",
        )


def read_integers(path: Path, *, n_columns: int | None = None) -> NumberTable:
    """Return a file of whole numbers, divided by commas; None means as many as line 1 has."""
    values = _read(path, n_columns, _INTEGER, np.int64, "whole numbers of at most 18 digits")
    return NumberTable(path, values)


def read_floats(path: Path) -> NumberTable:
    """Return a file of finite numbers, divided by commas, as many in each line as in line 1."""
    table = NumberTable(path, _read(path, None, _FLOAT, np.float64, "finite numbers"))
    finite = np.isfinite(table.values).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise table.error(row, "numbers must be finite. Got a number too large for 64 bits.")
    return table


def _read(
    path: Path, n_columns: int | None, number: bytes, dtype: Any, expected: str
) -> npt.NDArray[Any]:
    data = _bytes_of(path)
    # An empty line at the end says nothing; an empty line elsewhere is a missing entry.
    data = data.removeprefix(_BOM).replace(b"\r\n", b"\n").rstrip(b" \t\n")
    if not data:
        return np.zeros((0, n_columns or 1), dtype=dtype)
    first = data.partition(b"\n")[0]
    width = first.count(b",") + 1 if n_columns is None else n_columns
    if not _lines(number, width).fullmatch(data):
        raise _first_bad_line(path, data, number, width, expected)
    # Checked just now, so this reader, which is lenient, has nothing to forgive.
    flat = np.fromstring(data.replace(b",", b" ").decode("ascii"), dtype=dtype, sep=" ")
    return flat.reshape(-1, width)


def _bytes_of(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        # A pipe or a device would be read for ever.
        raise DataSetError(f"{path}: the file cannot be read: it is not a plain file.")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataSetError(
            f"{path}: the file is missing. A TU data set NAME must have NAME_A.txt, "
            "NAME_graph_indicator.txt and NAME_graph_labels.txt in one folder."
        ) from None
    except OSError as error:
        raise DataSetError(f"{path}: the file cannot be read: {error.strerror}.") from error


@lru_cache(maxsize=64)
def _lines(number: bytes, width: int) -> re.Pattern[bytes]:
    """Return what lines with `width` numbers look like; it never tries an alternative twice."""
    one = rb"[ \t]*+" + number + rb"[ \t]*+"
    line = one + rb"(?:," + one + rb"){%d}" % (width - 1)
    return re.compile(line + rb"(?:\n" + line + rb")*+")


def _first_bad_line(
    path: Path, data: bytes, number: bytes, width: int, expected: str
) -> DataSetError:
    """Return the error about the first line that is not what it should be."""
    good = _lines(number, width)
    for at, line in enumerate(data.split(b"\n"), start=1):
        if not good.fullmatch(line):
            count = f"{width} {expected}, divided by commas" if width > 1 else f"one of {expected}"
            got = "an empty line" if not line.strip() else _shown(line)
            return _error(path, at, f"a line must hold {count}. Got {got} instead.")
    raise AssertionError("a text whose lines are all good is good")  # pragma: no cover


def _shown(line: bytes, limit: int = 60) -> str:
    text = line[:limit].decode("ascii", errors="backslashreplace")
    return repr(text) + ("..." if len(line) > limit else "")


def _error(path: Path, line: int, problem: str) -> DataSetError:
    return DataSetError(f"{path}, line {line}: {problem}")
