"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["write_atomically", "write_together"]

# A file, or its parts one after the other, so that large arrays need not be copied.
Data = bytes | Sequence[bytes | memoryview]


def write_atomically(path: str | os.PathLike[str], data: Data) -> None:
    """Write a file, or leave the old one as it was.

    The data goes to a new file in the same folder, to the disk, and then takes the place of the
    old one in one step. An old file keeps its permissions; a new one gets the usual ones.
    """
    write_together({Path(path): data})


def write_together(files: Mapping[Path, Data]) -> None:
    """Write several files as `write_atomically` does; none is replaced before all are on disk."""
    parts: dict[str, Path] = {}
    try:
        for target, data in files.items():
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
            # The name of the target is no part of the new one: it may be as long as names can be.
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=".gnn2logic-", suffix=".part")
            parts[name] = target
            with os.fdopen(handle, "wb") as file:
                file.writelines((data,) if isinstance(data, bytes) else data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, _mode(target))
        for name, target in parts.items():
            os.replace(name, target)
    except BaseException:
        for name in parts:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
        raise


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
