"""Where a shard keeps its large arrays: in memory, or in files."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from gnn2logic._files import naming

__all__ = ["DiskShelf", "MemoryShelf", "Shelf"]

Array = npt.NDArray[Any]

# Smaller arrays are not worth a file.
_SMALL = 2**14
_ADVICE = ". Choose a folder for temporary files with more room: LocalEngine(scratch=...)"


class Shelf(Protocol):
    """Arrays by name."""

    def __getitem__(self, name: str) -> Array:
        """Return an array; it must not be written to."""

    def __setitem__(self, name: str, array: Array) -> None:
        """Keep an array, in place of what had this name."""

    def __contains__(self, name: str) -> bool:
        """Return whether there is an array of this name."""

    def clear(self, prefix: str = "") -> None:
        """Forget the arrays whose names begin like this."""


class MemoryShelf:
    """Keeps arrays in memory."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __setitem__(self, name: str, array: Array) -> None:
        self._arrays[name] = array

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def clear(self, prefix: str = "") -> None:
        """Forget the arrays whose names begin like this."""
        for name in [name for name in self._arrays if name.startswith(prefix)]:
            del self._arrays[name]


class DiskShelf:
    """Keeps large arrays in files of a folder of its own, and maps them when they are wanted.

    The files are for this process alone and are removed with the folder.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._arrays: dict[str, Array] = {}
        self._files: dict[str, _ArrayFile] = {}

    def __getitem__(self, name: str) -> Array:
        if name in self._arrays:
            return self._arrays[name]
        return self._files[name].mapped()

    def __setitem__(self, name: str, array: Array) -> None:
        old = self._files.pop(name, None)
        self._arrays.pop(name, None)
        if array.nbytes < _SMALL:
            self._arrays[name] = np.array(array)
        else:
            # A new file each time: the old one may still be mapped.
            self._files[name] = _ArrayFile.written(self._folder, array)
        if old is not None:
            old.path.unlink()

    def __contains__(self, name: str) -> bool:
        return name in self._arrays or name in self._files

    def clear(self, prefix: str = "") -> None:
        """Forget the arrays whose names begin like this, and remove their files."""
        for name in [name for name in self._arrays if name.startswith(prefix)]:
            del self._arrays[name]
        for name in [name for name in self._files if name.startswith(prefix)]:
            self._files.pop(name).path.unlink()


@dataclass(frozen=True)
class _ArrayFile:
    """The plain bytes of an array in a file; what they mean is known to this process alone."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @classmethod
    def written(cls, folder: Path, array: Array) -> _ArrayFile:
        """Write an array, in the order in which it is in memory."""
        order: Literal["C", "F"] = "F" if array.flags.fnc else "C"
        # numpy.save would not even say that the disk is full.
        with naming(folder, _ADVICE):
            handle, path = tempfile.mkstemp(suffix=".bin", dir=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(array.ravel(order).view(np.uint8).data)
        return cls(Path(path), array.dtype, array.shape, order)

    def mapped(self) -> Array:
        """Return the array. To compiled loops, one that is copied on write is like any other."""
        return np.asarray(
            np.memmap(self.path, dtype=self.dtype, mode="c", shape=self.shape, order=self.order)
        )
