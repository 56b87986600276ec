"""The files that commands write: checked before the work, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gnn2logic._files import file_behind, write_atomically
from gnn2logic.exceptions import ParameterError

__all__ = ["PICTURES", "check_output", "save_picture", "writing_to"]

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
        place = path if target is None else target.parent
        if target is not None and not place.is_dir():
            number = errno.ENOTDIR if place.exists() else errno.ENOENT
            raise OSError(number, os.strerror(number))
        if not os.access(place, os.W_OK if target is None else os.W_OK | os.X_OK):
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
    kind = path.suffix.lower().removeprefix(".")
    ax.figure.savefig(picture, format=kind, dpi=_DPI, bbox_inches="tight")
    plt.close(ax.figure)
    with writing_to(path):
        write_atomically(path, picture.getvalue())
