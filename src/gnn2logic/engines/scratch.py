"""Folders for temporary files, which are removed even if their process was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from gnn2logic._processes import left_behind, name_of_this_process

__all__ = ["scratch_folder"]

_PREFIX = "gnn2logic-"


def scratch_folder(parent: str | os.PathLike[str] | None) -> tempfile.TemporaryDirectory[str]:
    """Make a folder; remove those that processes of this machine left behind when they died.

    Parameters
    ----------
    parent : path, optional
        Where to make it; by default the system's folder for temporary files.
    """
    where = Path(tempfile.gettempdir() if parent is None else parent)
    if where.is_dir():
        for folder in left_behind(where, _PREFIX):
            shutil.rmtree(folder, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=name_of_this_process(_PREFIX), dir=where)
