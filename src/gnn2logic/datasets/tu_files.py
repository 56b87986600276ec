"""The text files of the TU collection as tables of numbers; every error says the file and line.

A file is checked and read by compiled code, block by block, so that it takes hardly more memory
than its numbers do. Only when a block is wrong is it walked through line by line, to find the line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gnn2logic._files import check_regular
from gnn2logic.exceptions import DataSetError

__all__ = ["Documented", "Labels", "NumberTable", "documented", "read_floats", "read_integers"]

# 18 digits always fit into 64 bits.
_INTEGER = rb"[+-]?[0-9]{1,18}+"
_FLOAT = rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,9}+)?"
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_BLOCK_BYTES = 2**20
_MOST_LINE_BYTES = 2**24


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The numbers of one file, one row per line.

    Parameters
    ----------
    path : Path
    values : array, shape (n_lines, n_columns)
        Whole numbers have 32 bits where these are enough. A file without any line has the number
        of columns that was asked for, or one.
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
    expected = "whole numbers of at most 18 digits"
    return NumberTable(path, _read(path, n_columns, _INTEGER, np.dtype(np.int64), expected))


def read_floats(path: Path) -> NumberTable:
    """Return a file of finite numbers, divided by commas, as many in each line as in line 1."""
    table = NumberTable(path, _read(path, None, _FLOAT, np.dtype(np.float64), "finite numbers"))
    finite = np.isfinite(table.values).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise table.error(row, "numbers must be finite. Got a number too large for 64 bits.")
    return table


def _read(
    path: Path, n_columns: int | None, number: bytes, dtype: np.dtype[Any], expected: str
) -> npt.NDArray[Any]:
    with _opened(path) as file:
        end, n_lines = _extent(file)
        file.seek(0)
        table: npt.NDArray[Any] | None = None
        n_read = 0
        for block in _blocks(file, path, end):
            if table is None:
                first = block.partition(b"\n")[0]
                width = first.count(b",") + 1 if n_columns is None else n_columns
                # A number takes two bytes at least; lines may be shorter than the first promises.
                n_rows = min(n_lines, (end + 1) // (2 * width))
                small = np.dtype(np.int32) if dtype.kind == "i" else dtype
                # Columns are read more often than lines, so they are kept in one piece.
                table = np.empty((width, n_rows), dtype=small).T
            if not _lines(number, width).fullmatch(block):
                raise _first_bad_line(path, block, n_read, number, width, expected)
            # Checked just now, so this reader, which is lenient, has nothing to forgive.
            flat = np.fromstring(block.replace(b",", b" ").decode("ascii"), dtype=dtype, sep=" ")
            if table.dtype != dtype and (flat != flat.astype(table.dtype)).any():
                table = table.astype(dtype)
            rows = flat.reshape(-1, width)
            if n_read + len(rows) > len(table):
                raise DataSetError(f"{path}: the file must not change while it is read.")
            table[n_read : n_read + len(rows)] = rows
            n_read += len(rows)
    if table is None:
        return np.zeros((0, n_columns or 1), dtype=dtype)
    return table[:n_read]


def _opened(path: Path) -> IO[bytes]:
    try:
        check_regular(path)
        return path.open("rb")
    except FileNotFoundError:
        raise DataSetError(
            f"{path}: the file is missing. A TU data set NAME must have NAME_A.txt, "
            "NAME_graph_indicator.txt and NAME_graph_labels.txt in one folder."
        ) from None
    except (IsADirectoryError, ValueError):
        # A pipe or a device would be read for ever.
        raise DataSetError(f"{path}: the file cannot be read: it is not a plain file.") from None
    except OSError as error:
        raise DataSetError(f"{path}: the file cannot be read: {error.strerror}.") from error


def _extent(file: IO[bytes]) -> tuple[int, int]:
    """Return where the text ends and how many lines it has, without what is blank at the end.

    An empty line at the end says nothing; an empty line elsewhere is a missing entry.
    """
    end = n_lines = newlines = position = 0
    while piece := file.read(_BLOCK_BYTES):
        length = len(piece.rstrip(_BLANK))
        if length:
            end = position + length
            n_lines = newlines + piece.count(b"\n", 0, length) + 1
        newlines += piece.count(b"\n")
        position += len(piece)
    return end, n_lines


def _blocks(file: IO[bytes], path: Path, end: int) -> Iterator[bytes]:
    """Give the text up to `end` in blocks of whole lines, each without the newline at its end."""
    rest = file.read(min(len(_BOM), end))
    left = end - len(rest)
    rest = rest.removeprefix(_BOM)
    n_lines = 0
    while left and (piece := file.read(min(_BLOCK_BYTES, left))):
        left -= len(piece)
        lines, newline, rest = (rest + piece).rpartition(b"\n")
        if newline:
            yield (lines + newline).replace(b"\r\n", b"\n")[:-1]
            n_lines += lines.count(b"\n") + 1
        if len(rest) > _MOST_LINE_BYTES:
            problem = f"a line must have at most {_MOST_LINE_BYTES} bytes. It has more."
            raise _error(path, n_lines + 1, problem)
    if rest:
        yield rest.replace(b"\r\n", b"\n")


@lru_cache(maxsize=64)
def _lines(number: bytes, width: int) -> re.Pattern[bytes]:
    """Return what lines with `width` numbers look like; it never tries an alternative twice."""
    one = rb"[ \t]*+" + number + rb"[ \t]*+"
    line = one + rb"(?:," + one + rb"){%d}" % (width - 1)
    return re.compile(line + rb"(?:\n" + line + rb")*+")


def _first_bad_line(
    path: Path, block: bytes, n_read: int, number: bytes, width: int, expected: str
) -> DataSetError:
    """Return the error about the first line that is not what it should be."""
    good = _lines(number, width)
    for at, line in enumerate(block.split(b"\n"), start=n_read + 1):
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


# What the numbers mean, as far as the text that comes with them says -------------------------
#
# The collection has no fixed form for this. Two are common: a section ``Node labels:`` or ``Node
# labels were converted to integer values using this map:`` with lines of a number and a name, in
# either order, and a line ``Node labels: [symbol]`` with the names of columns. This is written for
# people, so whatever is not understood is left out, and nothing in it is an error.

_HEADING = re.compile(
    r"(node|edge|class|graph) (labels?|attributes?)\b([^\[\]]*)(?:\[(.*)\])?", re.I
)
_COMPONENT = re.compile(r"component (\d{1,3}):\s*", re.I)
_ENTRY = re.compile(r"\s+(-?\d{1,18})\s+(\S[ -~]{0,39}?)\s*")
# The data sets of the NCI have the number behind the name, which is an element.
_REVERSED = re.compile(r"\s*([A-Z][a-z]?)\s+(\d{1,3})\s*")
_MAX_BYTES = 1_000_000

# The text of MUTAG says this in a sentence; those of the screens of the NCI do not say it.
_SCREENS = (
    *("MCF-7", "MOLT-4", "NCI-H23", "OVCAR-8", "P388", "PC-3"),
    *("SF-295", "SN12C", "SW-620", "UACC257", "Yeast"),
)
_COLUMN_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "MUTAG": {"node": ("symbol",)},
    **{
        f"{name}{end}": {"node": ("symbol",), "edge": ("valence",)}
        for name in _SCREENS
        for end in ("", "H")
    },
}


@dataclass
class Labels:
    """The names of label columns and, for each column, of its values."""

    columns: tuple[str, ...] = ()
    values: dict[int, dict[int, str]] = field(default_factory=dict)

    def column(self, number: int, count: int, default: str) -> str:
        """Return the name of one of `count` columns."""
        if len(self.columns) == count and len(set(self.columns)) == count:
            return self.columns[number]
        return default if count == 1 else f"{default}{number}"

    def named(self, number: int, codes: Sequence[int]) -> list[str]:
        """Return the names of values, or the numbers where the names would not tell them apart."""
        names = self.values.get(number, {})
        named = [names.get(code, str(code)) for code in codes]
        return named if len(set(named)) == len(named) else [str(code) for code in codes]


@dataclass
class Documented:
    """What the text says about node, edge and class labels and about node attributes."""

    nodes: Labels = field(default_factory=Labels)
    edges: Labels = field(default_factory=Labels)
    classes: Labels = field(default_factory=Labels)
    attributes: tuple[str, ...] = ()


def documented(folder: Path, name: str) -> Documented:
    """Return what the texts in a folder say about the data set `name`."""
    result = Documented()
    wanted = {f"{name}_label_readme.txt".lower(), f"{name}_readme.txt".lower(), "readme.txt"}
    with contextlib.suppress(OSError):  # the data can be read without its documentation
        for path in sorted(folder.iterdir()):
            if path.name.lower() in wanted and path.is_file():
                with path.open("rb") as file:
                    text = file.read(_MAX_BYTES).decode("utf-8", errors="replace")
                _read_text(text.splitlines(), result)
    for element, columns in _COLUMN_NAMES.get(name, {}).items():
        labels = result.nodes if element == "node" else result.edges
        labels.columns = labels.columns or columns
    return result


def _read_text(lines: Iterable[str], result: Documented) -> None:
    section: Labels | None = None
    component = 0
    for line in lines:
        if not line.strip():
            continue
        if heading := _HEADING.match(line):
            section, component = _section(heading, result), 0
        elif mark := _COMPONENT.fullmatch(line):
            component = int(mark[1])
        elif section is not None and (entry := _ENTRY.fullmatch(line)):
            section.values.setdefault(component, {})[int(entry[1])] = entry[2]
        elif section is not None and (entry := _REVERSED.fullmatch(line)):
            section.values.setdefault(component, {})[int(entry[2])] = entry[1]
        else:
            section = None


def _section(heading: re.Match[str], result: Documented) -> Labels | None:
    element, what, _, listed = heading.groups()
    names = tuple(word.strip() for word in (listed or "").split(",") if word.strip())
    names = tuple(word for word in names if word.isprintable())
    if what.lower().startswith("attribute"):
        if element.lower() == "node" and names:
            result.attributes = names
        return None
    labels = {"node": result.nodes, "edge": result.edges}.get(element.lower(), result.classes)
    if names:
        labels.columns = names
    return labels
