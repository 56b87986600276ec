"""Names of temporary files from which anybody can tell whether their process still runs."""

from __future__ import annotations

import os
import platform
from pathlib import Path

__all__ = ["left_behind", "name_of_this_process"]


def name_of_this_process(prefix: str) -> str:
    """Return how names of temporary files of this process begin."""
    return f"{_name_of_this_machine(prefix)}{os.getpid()}-"


def left_behind(folder: Path, prefix: str) -> list[Path]:
    """Return the files and folders that processes of this machine left when they were killed."""
    here = _name_of_this_machine(prefix)
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(here))
    except OSError:
        # Whoever goes on to write there gets the error that matters.
        return []
    return [folder / name for name in names if _is_dead(name.removeprefix(here).split("-")[0])]


def _name_of_this_machine(prefix: str) -> str:
    # Processes of other machines may use the same disk, and their numbers say nothing here.
    return f"{prefix}{platform.node()}-"


def _is_dead(process: str) -> bool:
    # Elsewhere signal 0 is not a mere question.
    if os.name != "posix" or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        # It belongs to somebody else.
        return False
    return False
