"""Files: written so that a reader never sees half of one, read so that none is too much."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = [
    "check_regular",
    "file_behind",
    "left_behind",
    "name_of_this_process",
    "naming",
    "read_whole",
    "remove_leftovers",
    "write_atomically",
]


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


# A file, or its parts one after the other, so that large arrays need not be copied.
Data = bytes | Sequence[bytes | memoryview]

_PREFIX, _SUFFIX = ".gnn2logic-", ".part"

# Folders that this process has looked through for leftovers: once is enough, for stores have many
# files.
_TIDIED: set[Path] = set()


def write_atomically(path: str | os.PathLike[str], data: Data) -> None:
    """Write a file, or leave the old one as it was.

    The data goes to a new file in the same folder, to the disk, and then takes the place of the
    old one in one step. An old file keeps its permissions; a new one gets the usual ones. Links
    are followed. A device or a pipe is written to as it is.

    Raises
    ------
    OSError
        If that is not possible, with the name of the file.
    """
    with naming(path):
        target = file_behind(path)
        if target is None:
            with open(path, "wb") as file:
                file.writelines(_pieces(data))
            return
        if target.parent not in _TIDIED:
            remove_leftovers(target.parent)
            _TIDIED.add(target.parent)
        # The name of the target is no part of the new one: it may be as long as names can be.
        handle, fresh = tempfile.mkstemp(
            dir=target.parent, prefix=name_of_this_process(_PREFIX), suffix=_SUFFIX
        )
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(_pieces(data))
                file.flush()
                os.fsync(file.fileno())
            os.chmod(fresh, _mode(target))
            os.replace(fresh, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(fresh)
            raise


def file_behind(path: str | os.PathLike[str]) -> Path | None:
    """Return the file, there or not, that `path` leads to; None for a device or a pipe.

    Raises
    ------
    OSError
        If it is a folder, or links lead nowhere.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        return None
    target = Path(os.path.realpath(path))
    # An open file that has lost its name, such as one behind /dev/stdout, has nothing to replace.
    is_same = target.exists() and os.path.samestat(status, target.stat())
    return target if is_same else None


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed left in a folder; running ones keep theirs."""
    for leftover in left_behind(folder, _PREFIX):
        if leftover.suffix == _SUFFIX:
            # What cannot be removed, such as files of other people, disturbs nobody.
            with contextlib.suppress(OSError):
                leftover.unlink()


@contextlib.contextmanager
def naming(path: str | os.PathLike[str], advice: str = "") -> Iterator[None]:
    """Name this file in all errors of the system; those of a full disk name none."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or str(error)
        raise OSError(error.errno, problem + advice, os.fspath(path)) from error


# Reading --------------------------------------------------------------------------------------


def check_regular(path: str | os.PathLike[str]) -> int:
    """Return the size of a file; refuse devices and pipes, which may have no end.

    Raises
    ------
    OSError
        If there is no file, or it is a folder.
    ValueError
        If it is something else than a regular file.
    """
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("It must be a regular file, not a device, pipe or socket")
    return status.st_size


def read_whole(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return what is in a file.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is no regular file, or has more than `limit` bytes.
    """
    size = check_regular(path)
    if size > limit:
        raise ValueError(f"It must have at most {limit:,} bytes. It has {size:,}")
    with naming(path), open(path, "rb") as file:
        data = file.read(size + 1)
    if len(data) > size:
        raise ValueError(f"It must not change while it is read. It has more than {size:,} bytes")
    return data


def _pieces(data: Data) -> Sequence[bytes | memoryview]:
    return (data,) if isinstance(data, bytes) else data


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
