"""Checkpoints: the layers learned so far, so that a fit that was killed goes on after the last one.

A checkpoint holds columns and trees alone. What the shards have to know follows from them, and is
made again when the fit goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from gnn2logic._digests import digest_of_document
from gnn2logic._files import file_behind, read_whole, write_atomically
from gnn2logic._json import strict_json
from gnn2logic.exceptions import CheckpointError, ModelFileError
from gnn2logic.idt.model import Column, Layer, LeafSet
from gnn2logic.idt.tree_documents import (
    ColumnDocument,
    NodeDocument,
    Strict,
    check_references,
    column_from_document,
    column_to_document,
    layers_from_document,
    tree_to_document,
)

__all__ = ["Checkpoint", "CheckpointDocument", "CheckpointFile", "Progressed", "leaf_sets_of"]

_VERSION = 1
_MOST_BYTES = 2**28


class CheckpointDocument(Strict, frozen=True):
    """What every checkpoint says about the fit that it belongs to."""

    version: int
    fit: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    digest: str


Document = TypeVar("Document", bound=CheckpointDocument)


class _CheckpointDocument(CheckpointDocument, frozen=True):
    format: Literal["gnn2logic.checkpoint"]
    columns: list[ColumnDocument]
    layers: list[list[list[NodeDocument]]]


@dataclass(frozen=True)
class Progressed:
    """How far a fit has come."""

    seed: int
    columns: tuple[Column, ...]
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class CheckpointFile:
    """The file of a checkpoint.

    Parameters
    ----------
    path : Path
    fit : str
        Identifies data and settings; a fit never goes on with what another has learned.
    """

    path: Path
    fit: str

    def _read(self, document_type: type[Document], version: int) -> Document | None:
        """Return what is in the file; None if there is no file.

        Raises
        ------
        CheckpointError
            If the file is damaged or belongs to another fit.
        """
        try:
            data = read_whole(self.path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise CheckpointError(
                f"{os.fspath(self.path)!r} is no checkpoint. {error}. Choose another file."
            ) from None
        try:
            document = strict_json(data)
            checked = msgspec.convert(document, document_type)
            if checked.version != version or checked.digest != digest_of_document(document):
                raise ValueError("its version or its digest does not fit")
        except (ValueError, RecursionError) as error:
            raise self.unsound(str(error)) from None
        if checked.fit != self.fit:
            raise CheckpointError(
                f"{os.fspath(self.path)!r} belongs to a fit with other data or settings. "
                "Choose another file, or delete it to begin anew."
            )
        return checked

    def _write(self, document: dict[str, Any]) -> None:
        """Write a document in one step."""
        document["digest"] = digest_of_document(document)
        write_atomically(self.path, json.dumps(document, ensure_ascii=False).encode())

    def remove(self) -> None:
        """Remove the file after the fit has come to its end."""
        target = file_behind(self.path)
        if target is not None:
            target.unlink(missing_ok=True)

    def unsound(self, why: str) -> CheckpointError:
        """Return the error that says why the file cannot be used."""
        return CheckpointError(
            f"{os.fspath(self.path)!r} is no sound checkpoint: {why.rstrip('.')}. "
            "Delete it to begin anew."
        )


class Checkpoint(CheckpointFile):
    """The layers that were learned so far, in a file."""

    def read(self) -> Progressed | None:
        """Return how far the fit has come; None if there is no file."""
        checked = self._read(_CheckpointDocument, _VERSION)
        if checked is None:
            return None
        try:
            columns = tuple(column_from_document(c, n) for n, c in enumerate(checked.columns))
            layers = layers_from_document(checked.layers)
            check_references(columns, layers)
        except (ValueError, ModelFileError, RecursionError) as error:
            raise self.unsound(str(error)) from None
        return Progressed(checked.seed, columns, layers)

    def write(self, progressed: Progressed) -> None:
        """Write how far the fit has come, in one step."""
        self._write(
            {
                "format": "gnn2logic.checkpoint",
                "version": _VERSION,
                "fit": self.fit,
                "seed": progressed.seed,
                "columns": [column_to_document(column) for column in progressed.columns],
                "layers": [
                    [tree_to_document(t) for t in layer.trees] for layer in progressed.layers
                ],
            }
        )


def leaf_sets_of(
    columns: Sequence[Column], layer: int, n_trees: int
) -> list[list[tuple[int, ...]]]:
    """Return the sets of leaves of each tree of a layer that are columns."""
    sets: list[list[tuple[int, ...]]] = [[] for _ in range(n_trees)]
    for column in columns:
        if isinstance(column, LeafSet) and column.layer == layer:
            sets[column.tree].append(column.leaves)
    return sets
