"""Where the files of a data set are: the user's folder, the cache, or else the web.

A data set in the cache is a folder ``tu/NAME`` with its text files and ``checksums.json``, which
are compared with each other whenever it is read. ``tu/NAME.sha256`` beside it keeps the checksum
of the archive, also when the folder is deleted, so that a later download is compared with it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from gnn2logic._files import check_regular, read_whole, write_atomically
from gnn2logic._json import strict_json
from gnn2logic.datasets.download import Limits, Opener, fetch, open_https, unpack
from gnn2logic.exceptions import DataSetError, DownloadError

__all__ = ["cache_folder", "check_name", "find_folder"]

_ADDRESS = "https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_CHECKSUMS = "checksums.json"
_MOST_BYTES = 2**24
_STALE_SECONDS = 24 * 3600


def check_name(name: object) -> str:
    """Return a name that is safe as a part of paths and addresses."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DataSetError(
            "The name of a data set must consist of letters, digits, '_' and '-'. "
            f"Got {name!r} instead."
        )
    return name


def cache_folder() -> Path:
    """Return the folder for downloaded data.

    ``GNN2LOGIC_CACHE`` where it is set, else ``gnn2logic`` in the user's cache folder
    (``XDG_CACHE_HOME``, else ``~/.cache``).
    """
    if chosen := os.environ.get("GNN2LOGIC_CACHE"):
        return Path(chosen).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser() / "gnn2logic"
    return Path("~/.cache/gnn2logic").expanduser()


def find_folder(
    name: str,
    *,
    download: bool = True,
    opener: Opener = open_https,
    limits: Limits | None = None,
) -> Path:
    """Return the folder with the files of a TU data set; download it if it is nowhere.

    Parameters
    ----------
    name : str
    download : bool
        False refuses to use the network.
    opener, limits
        How to open addresses and how much to take; for tests.
    """
    check_name(name)
    if (given := _given_folder(name)) is not None:
        return given
    folder = cache_folder() / "tu" / name
    if folder.is_dir():
        _verify(folder)
        return folder
    help_text = (
        f"To use the data set without a network, put the files {name}_A.txt, "
        f"{name}_graph_indicator.txt, {name}_graph_labels.txt and so on into a folder {name} (or "
        f"{name}/raw) and set GNN2LOGIC_DATA to the folder around it, or put them into {folder}."
    )
    if not download:
        raise DataSetError(f"The data set {name!r} is not on this computer. {help_text}")
    try:
        _download(name, folder, opener, limits or Limits())
    except DownloadError as error:
        raise DownloadError(f"{error} {help_text}") from error
    except OSError as error:
        raise DownloadError(
            f"The data set {name!r} could not be stored in {folder.parent}: {error}. Make room "
            "there, or set GNN2LOGIC_CACHE to a folder that can be written."
        ) from error
    return folder


def _given_folder(name: str) -> Path | None:
    """Return the data set in the folder that the user names, if it is there."""
    root = os.environ.get("GNN2LOGIC_DATA")
    if not root:
        return None
    if not Path(root).is_dir():
        raise DataSetError(f"GNN2LOGIC_DATA must name a folder. Got {root!r}, which is none.")
    for folder in (Path(root) / name / "raw", Path(root) / name):
        if folder.is_dir():
            return folder
    return None


def _download(name: str, folder: Path, opener: Opener, limits: Limits) -> None:
    """Bring a data set into the cache, whole or not at all."""
    parent = folder.parent
    parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".", suffix=".part") as work:
        archive, fresh = Path(work) / "archive.zip", Path(work) / name
        fresh.mkdir()
        url = _ADDRESS.format(name=name)
        checksum = fetch(url, archive, name=name, opener=opener, limits=limits)
        _compare_archive(parent / f"{name}.sha256", checksum, url)
        files = unpack(archive, fresh, limits=limits)
        if f"{name}_A.txt" not in files:
            raise DownloadError(f"The archive of {name!r} must hold {name}_A.txt. It does not.")
        record = {"url": url, "sha256": checksum, "files": files}
        text = json.dumps(record, indent=2, sort_keys=True) + "\n"
        write_atomically(fresh / _CHECKSUMS, text.encode())
        try:
            fresh.rename(folder)
        except OSError as error:
            # Somebody else was quicker; what they stored is as good as ours.
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY) or not folder.is_dir():
                raise
            _verify(folder)
        write_atomically(parent / f"{name}.sha256", f"{checksum}  {name}.zip\n".encode())


def _compare_archive(record: Path, checksum: str, url: str) -> None:
    """Raise when an archive is not the one that was downloaded the last time."""
    try:
        known = read_whole(record, _MOST_BYTES).decode("ascii").split()[0]
    except (FileNotFoundError, IndexError, ValueError):
        return
    if known != checksum:
        raise DownloadError(
            f"{url} is not what it was when it was downloaded before: its SHA-256 must be {known}. "
            f"Got {checksum}. If the change is meant, delete {record}."
        )


def _verify(folder: Path) -> None:
    """Raise when files in the cache are not what was unpacked; files put there by hand may be."""
    record = folder / _CHECKSUMS
    if not record.exists():
        return
    advice = f"Delete {folder} to download the data set again."
    try:
        known = strict_json(read_whole(record, _MOST_BYTES))
        files = dict(known["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataSetError(f"{record}: the checksums cannot be read. {advice}") from error
    for file, expected in files.items():
        path = folder / Path(str(file)).name
        try:
            check_regular(path)
            with path.open("rb") as stream:
                computed = hashlib.file_digest(stream, "sha256").hexdigest()
        except (OSError, ValueError) as error:
            raise DataSetError(f"{folder / file}: the file cannot be read. {advice}") from error
        if computed != expected:
            raise DataSetError(
                f"{folder / file}: the file has changed since it was downloaded: its SHA-256 must "
                f"be {expected}. Got {computed}. {advice}"
            )


def _remove_stale(parent: Path) -> None:
    """Remove what downloads left behind that were killed long ago."""
    for path in parent.glob(".*.part"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(path)
