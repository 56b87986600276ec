"""Fetching an archive over https and unpacking it, both with limits and without trust."""

from __future__ import annotations

import hashlib
import http.client
import lzma
import ssl
import stat
import struct
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gnn2logic._progress import Progress
from gnn2logic.exceptions import DownloadError

__all__ = ["Limits", "Opener", "fetch", "open_https", "unpack"]

_CHUNK = 1 << 16
_TIMEOUT = 30.0

_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ssl.SSLError,
    TimeoutError,
    ConnectionError,
)

# What zipfile and the decompressors below it raise on damaged or strange archives.
_ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)

# Opens an address for reading; tests give their own.
Opener = Callable[[str], Any]


@dataclass(frozen=True)
class Limits:
    """How much is taken from an archive at most, in bytes and files."""

    archive: int = 1 << 29
    unpacked: int = 1 << 32
    files: int = 100


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follow no redirect away from https: what comes after it could be anybody's."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        if not newurl.lower().startswith("https://"):
            raise DownloadError(
                f"{req.full_url} redirects to {newurl}, which is not https. Nothing was read."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def open_https(url: str) -> Any:
    """Open an https address; the certificate is verified."""
    if not url.startswith("https://"):
        raise DownloadError(f"Data is downloaded over https only. Got {url} instead.")
    context = ssl.create_default_context()
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _OnlyHttps())
    return opener.open(url, timeout=_TIMEOUT)


def fetch(url: str, target: Path, *, name: str, opener: Opener, limits: Limits) -> str:
    """Store what is at an address in a new file and return its SHA-256.

    Raises
    ------
    DownloadError
        If it cannot be had, is too large, or ends early.
    """
    try:
        with opener(url) as response, target.open("xb") as file:
            size = _announced(response)
            with Progress(f"download {name}", 100, patience=0.0) as progress:
                taken, checksum = _copy(response, file, size, progress, url, limits)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 404:
            problem = f"The TU collection has no data set {name!r}: {url} is not there."
        else:
            problem = f"{url} could not be read: {error.code} {error.reason}."
        raise DownloadError(problem) from None
    except _NETWORK_ERRORS as error:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise DownloadError(f"{url} could not be reached or broke off: {reason}.") from error
    if size is not None and taken != size:
        raise DownloadError(f"{url} broke off after {taken} of {size} bytes. Try again.")
    return checksum


def _copy(
    response: Any, file: Any, size: int | None, progress: Progress, url: str, limits: Limits
) -> tuple[int, str]:
    """Copy to a file and return the number of bytes and their SHA-256."""
    digest = hashlib.sha256()
    taken = shown = 0
    if size is not None and size > limits.archive:
        raise _too_large(url, limits)
    while chunk := response.read(_CHUNK):
        taken += len(chunk)
        if taken > limits.archive:
            raise _too_large(url, limits)
        digest.update(chunk)
        file.write(chunk)
        while size and shown < min(100, 100 * taken // size):
            progress.step("percent")
            shown += 1
    return taken, digest.hexdigest()


def _announced(response: Any) -> int | None:
    text = response.headers.get("Content-Length") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _too_large(url: str, limits: Limits) -> DownloadError:
    return DownloadError(
        f"{url} must have at most {limits.archive} bytes. Got more; nothing was kept."
    )


def unpack(archive: Path, folder: Path, *, limits: Limits) -> dict[str, str]:
    """Unpack the text files of an archive into a folder; return their SHA-256 by name.

    All files end up in `folder` itself, whatever folders they are in inside the archive. Names
    that lead elsewhere, links, and more than the limits allow are refused.
    """
    left = limits.unpacked
    digests: dict[str, str] = {}
    try:
        with zipfile.ZipFile(archive) as contents:
            for member in contents.infolist():
                name = _file_name(member)
                if name is None:
                    continue
                if name in digests:
                    raise DownloadError(f"The archive must have one file {name!r}. Got two.")
                if len(digests) == limits.files:
                    raise DownloadError(
                        f"The archive must have at most {limits.files} text files. Got more."
                    )
                digest = hashlib.sha256()
                with (folder / name).open("xb") as file:
                    for chunk in _pieces(contents, member):
                        # What is counted is what comes out, not what the archive says of itself.
                        left -= len(chunk)
                        if left < 0:
                            raise DownloadError(
                                f"The archive must unpack to at most {limits.unpacked} bytes. "
                                "Got more; nothing was kept."
                            )
                        digest.update(chunk)
                        file.write(chunk)
                digests[name] = digest.hexdigest()
    except DownloadError:
        raise
    except _ARCHIVE_ERRORS as error:
        raise DownloadError(f"What was downloaded is not a sound zip archive: {error}.") from error
    return digests


def _pieces(contents: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Give what is in a member, piece by piece.

    Damage shows as an OSError too, which must not be mistaken for one of writing to the disk.
    """
    try:
        with contents.open(member) as source:
            while chunk := source.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise zipfile.BadZipFile(f"{member.filename!r} cannot be read: {error}") from error


def _file_name(member: zipfile.ZipInfo) -> str | None:
    """Return the name to store a member under, or None for what is no text file."""
    path = PurePosixPath(member.filename)
    steps = path.parts
    unsafe = path.is_absolute() or ".." in steps or any(set(step) & set("\\:\0") for step in steps)
    if unsafe or stat.S_ISLNK(member.external_attr >> 16):
        raise DownloadError(
            f"The archive must hold plain files. Got {member.filename!r}, which leads out of it. "
            "Nothing was kept."
        )
    if member.is_dir() or "__MACOSX" in steps or path.suffix.lower() != ".txt":
        return None
    return path.name
