"""What commands say and write: results on stdout or in files, everything else on stderr."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, TextIO

import typer

from gnn2logic._files import file_behind, write_atomically
from gnn2logic._text import visible, visible_json
from gnn2logic.exceptions import ParameterError

__all__ = [
    "PICTURES",
    "any_text_is_fine",
    "check_output",
    "emit",
    "emit_json",
    "emit_scores",
    "emit_table",
    "fitting",
    "save_picture",
    "talker",
    "writing_to",
]


def any_text_is_fine() -> None:
    """Let no character be an error, whatever the locale: escapes stand for what it lacks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def emit(text: object = "") -> None:
    """Write a result; a terminal never sees control characters of names."""
    typer.echo(visible(str(text)))


def fitting(text: str, stream: TextIO) -> str:
    """Return sentences in lines that a terminal has room for; files and pipes get them whole."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        line if len(line) <= width else _broken(line, width) for line in text.split("\n")
    )


def _broken(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def emit_json(plain: object) -> None:
    """Write a result for programs."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    text = json.dumps(plain, ensure_ascii=not is_unicode, allow_nan=False, indent=2)
    emit(visible_json(text))


def emit_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table: with lines and colours for people, plainly for files and pipes.

    Numbers have four decimals; None is left empty. The first column is of texts.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    if sys.stdout.isatty():
        _emit_framed(heads, cells)
        return
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for row in (heads, *cells):
        first, *others = (
            text.ljust(width) if number == 0 else text.rjust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        emit("  ".join([first, *others]).rstrip())


def emit_scores(scores: Sequence[Mapping[str, object]]) -> None:
    """Write a table of rows that have the same names, without those that are None everywhere."""
    shown = [key for key in scores[0] if any(row[key] is not None for row in scores)]
    emit_table(
        [key.replace("_", " ") for key in shown], [[row[key] for key in shown] for row in scores]
    )


def _emit_framed(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number == 0 else "right")
    for row in cells:
        table.add_row(*map(Text, row))
    Console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else visible(str(value), keep="")


def talker(quiet: bool) -> Callable[[object], None]:
    """Return what says to people, on stderr, how things are going; `quiet` stops warnings too."""
    if quiet:
        warnings.simplefilter("ignore")

    def say(text: Any) -> None:
        if not quiet:
            typer.echo(visible(str(text)), err=True)

    return say


PICTURES = (".png", ".svg", ".pdf")
_DPI = 150


def check_output(path: Path, endings: tuple[str, ...] = ()) -> None:
    """Refuse a file that cannot be written, before anybody waits for what would go into it."""
    if endings and path.suffix.lower() not in endings:
        raise ParameterError(
            f"The name of the file must end in {' or '.join(endings)}. Got {str(path)!r} instead."
        )
    with writing_to(path):
        target = file_behind(path)
        # A device is written to; a file is replaced, which is a matter of its folder.
        checked = path if target is None else target.parent
        if target is not None and not checked.is_dir():
            number = errno.ENOTDIR if checked.exists() else errno.ENOENT
            raise OSError(number, os.strerror(number))
        if not os.access(checked, os.W_OK if target is None else os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))


@contextlib.contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Say which file was meant when something on the way to it fails."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot be written. {error.strerror}", str(path)) from error


def save_picture(ax: Any, path: Path) -> None:
    """Write the figure of `ax` in the format that the name of the file asks for."""
    import matplotlib.pyplot as plt

    picture = io.BytesIO()
    file_format = path.suffix.lower().removeprefix(".")
    ax.figure.savefig(picture, format=file_format, dpi=_DPI, bbox_inches="tight")
    plt.close(ax.figure)
    with writing_to(path):
        write_atomically(path, picture.getvalue())
