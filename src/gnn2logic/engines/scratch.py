"""Folders for temporary files, which are removed even if their process was killed."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from pathlib import Path

__all__ = ["scratch_folder"]


def scratch_folder(parent: str | os.PathLike[str] | None) -> tempfile.TemporaryDirectory[str]:
    """Make a folder; remove those that processes of this machine left behind when they died.

    Parameters
    ----------
    parent : path, optional
        Where to make it; by default the system's folder for temporary files.
    """
    # Processes of other machines may use the same disk, and their numbers say nothing here.
    own = f"gnn2logic-{platform.node()}-"
    where = Path(tempfile.gettempdir() if parent is None else parent)
    if where.is_dir():
        for folder in where.glob(f"{own}*-*"):
            process = folder.name.removeprefix(own).split("-")[0]
            if process.isdecimal() and not _is_running(int(process)):
                shutil.rmtree(folder, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{own}{os.getpid()}-", dir=where)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        # Elsewhere signal 0 is not a mere question.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # It belongs to somebody else.
        return True
    return True
