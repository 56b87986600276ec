"""Files of plain arrays behind a JSON header: written whole, mapped into memory, verified once.

A file is ``magic, length of the header, checksum, header, array, array, ...`` with every array at
a multiple of 64 bytes. The checksum is of all that follows it. Which arrays there are is known from
the header, so a file holds no types, names or paths that would have to be trusted.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._digests import digest_of_bytes
from gnn2logic._files import write_atomically
from gnn2logic._json import strict_json
from gnn2logic.exceptions import StoreError

__all__ = ["ArrayType", "Container", "Piece", "open_container", "packed", "write_container"]

Piece = bytes | memoryview

_MAGIC = b"G2LSTORE"
_DIGEST_SIZE = 32
_START = len(_MAGIC) + 8 + _DIGEST_SIZE
_ALIGNED = 64
_MOST_HEADER_BYTES = 2**30

# What was verified by this process, by device and inode. Learning makes many passes over a store.
_VERIFIED: dict[tuple[int, int], tuple[object, ...]] = {}


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type and shape of one array in a file."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        """How long it is; a Python number, so that no size that a file claims can overflow."""
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)


def write_container(path: Path, header: object, arrays: Iterable[npt.NDArray[Any]]) -> str:
    """Write a file, whole or not at all, and return its checksum."""
    checksum, pieces = packed(header, arrays)
    write_atomically(path, pieces)
    return checksum


def packed(header: object, arrays: Iterable[npt.NDArray[Any]]) -> tuple[str, list[Piece]]:
    """Return the checksum of a file and what is in it, piece by piece."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    pieces: list[Piece] = [text, bytes(-(_START + len(text)) % _ALIGNED)]
    for array in arrays:
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        pieces += [flat.data, bytes(-flat.nbytes % _ALIGNED)]
    checksum = digest_of_bytes(pieces, size=_DIGEST_SIZE)
    start = _MAGIC + len(text).to_bytes(8, "little") + bytes.fromhex(checksum)
    return checksum, [start, *pieces]


class Container:
    """A file that is mapped into memory, read-only.

    Attributes
    ----------
    header : object
        Plain data of JSON, not checked any further.
    checksum : str
    is_verified : bool
        Whether this process has looked through the same file before and found it good.
    """

    def __init__(self, path: Path, buffer: mmap.mmap, status: os.stat_result) -> None:
        self.path = path
        self._buffer = buffer
        self._inode = (status.st_dev, status.st_ino)
        length = int.from_bytes(buffer[len(_MAGIC) : len(_MAGIC) + 8], "little")
        most = min(len(buffer) - _START, _MOST_HEADER_BYTES)
        if buffer[: len(_MAGIC)] != _MAGIC or length > most:
            raise self.bad("it is not a file of a shard store")
        self.checksum = buffer[_START - _DIGEST_SIZE : _START].hex()
        self._mark = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, self.checksum)
        self.is_verified = _VERIFIED.get(self._inode) == self._mark
        try:
            self.header = strict_json(buffer[_START : _START + length])
        except ValueError as error:
            raise self.bad(f"its header cannot be read: {error}") from None
        self._first = _START + length + (-(_START + length) % _ALIGNED)

    def verify(self) -> None:
        """Compare the checksum, unless this process has found the file good before."""
        if self.is_verified:
            return
        with memoryview(self._buffer) as view, view[_START:] as rest:
            computed = digest_of_bytes([rest], size=_DIGEST_SIZE)
        if computed != self.checksum:
            raise self.bad("its checksum does not fit, so it is damaged")

    def arrays(self, array_types: Sequence[ArrayType]) -> list[npt.NDArray[Any]]:
        """Return the arrays, which must fill the file exactly; they are views of the file."""
        offsets = [self._first]
        for array_type in array_types:
            offsets.append(offsets[-1] + array_type.n_bytes + (-array_type.n_bytes % _ALIGNED))
        if offsets[-1] != len(self._buffer):
            raise self.bad(f"it must have {offsets[-1]} bytes. It has {len(self._buffer)}")
        return [
            np.frombuffer(
                self._buffer,
                dtype=array_type.dtype,
                count=math.prod(array_type.shape),
                offset=offset,
            ).reshape(array_type.shape)
            for array_type, offset in zip(array_types, offsets[:-1], strict=True)
        ]

    def remember(self) -> None:
        """Say that the contents were found good; an unchanged file is not looked through again."""
        _VERIFIED[self._inode] = self._mark

    def bad(self, why: str) -> StoreError:
        """Return the error that says why this file cannot be used."""
        return StoreError(f"Cannot read {str(self.path)!r}: {why}.")


def open_container(path: Path) -> Container:
    """Map a file and read its header; nothing else of it is looked at or verified yet."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise StoreError(f"Cannot read {str(path)!r}: it is not a regular file.")
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size < _START:
                raise StoreError(f"Cannot read {str(path)!r}: the file is too short.")
            buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise StoreError(f"Cannot read {str(path)!r}: the file is missing.") from None
    return Container(path, buffer, status)
