"""What an earlier call of `write_shards` left in a folder, and how to go on behind it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._files import remove_leftovers
from gnn2logic.exceptions import StoreError
from gnn2logic.storage.containers import open_container
from gnn2logic.storage.documents import (
    MANIFEST,
    PLAN,
    Manifest,
    Plan,
    ShardNote,
    data_folder,
    read_document,
)
from gnn2logic.storage.shard_files import PackedShard, read_header, read_labels
from gnn2logic.storage.stored_shard import activation_path, shard_path

__all__ = ["Earlier", "find_earlier", "find_replacement", "remove_older", "remove_shards"]

_SHARD = re.compile(r"shard-(\d{6,})\.bin")
_GENERATION = re.compile(r"generation-([1-9]\d*)")


@dataclass(frozen=True, eq=False)
class Earlier:
    """The shards in a folder that need not be written again.

    Parameters
    ----------
    folder : Path
        The folder of the store.
    replaced : int
        How often the store was replaced when this one is finished.
    plan : Plan or None
        None if nothing was begun.
    is_finished : bool
        Whether the manifest is there, so that nothing is missing.
    notes : sequence of ShardNote
        The shards that are complete, from the first on.
    may_differ : bool
        Whether shards of other graphs are written anew; otherwise they are an error.
    """

    folder: Path
    replaced: int = 0
    plan: Plan | None = None
    is_finished: bool = False
    notes: Sequence[ShardNote] = ()
    may_differ: bool = False

    @property
    def data(self) -> Path:
        """Where the shards are."""
        return data_folder(self.folder, self.replaced)

    def has(self, number: int, shard: PackedShard, labels: npt.NDArray[Any] | None) -> bool:
        """Whether a shard is complete already; one of other graphs is an error or is removed."""
        if number >= len(self.notes):
            if self.is_finished:
                raise self.other("it has fewer graphs")
            return False
        if self.notes[number].checksum == shard.checksum:
            return True
        if not self.may_differ:
            raise self.other(self._difference(number, shard, labels))
        # Nobody must take what follows for the rest of these graphs.
        remove_shards(self.data, number)
        return False

    def check_end(self, n_shards: int) -> None:
        """Refuse to end before all graphs that are stored were given again."""
        if n_shards < len(self.notes) and not self.may_differ:
            raise self.other("it has more graphs")

    def _difference(self, number: int, shard: PackedShard, labels: npt.NDArray[Any] | None) -> str:
        note, header = self.notes[number], shard.header
        if (note.n_graphs, note.n_nodes) != (header.n_graphs, header.n_nodes):
            return (
                f"its shard {number} has {note.n_graphs} graphs with {note.n_nodes} nodes, not "
                f"{header.n_graphs} with {header.n_nodes}"
            )
        file = open_container(shard_path(self.data, number))
        known = read_labels(file, read_header(file))
        if known is not None and labels is not None and not np.array_equal(known, labels):
            return f"the labels in its shard {number} are different"
        return f"the graphs in its shard {number} are different"

    def other(self, why: str) -> StoreError:
        """Return the error that says that the folder has a store of something else."""
        return StoreError(
            f"{str(self.folder)!r} must be empty or hold a store of the same graphs, made by the "
            f"same call. It holds another one: {why}. Choose another folder, or replace the store "
            "with overwrite=True (--overwrite)."
        )


def find_earlier(folder: Path) -> Earlier:
    """Return what is in a folder already."""
    remove_leftovers(folder)
    if not (folder / MANIFEST).is_file():
        return _unfinished(Earlier(folder))
    manifest, _ = read_document(folder / MANIFEST, Manifest)
    notes = _complete_shards(data_folder(folder, manifest.replaced), manifest.plan)
    if notes[: len(manifest.shards)] != manifest.shards:
        raise StoreError(
            f"The store in {str(folder)!r} is damaged: a shard is missing or not the one that was "
            "written. Write it anew with overwrite=True (--overwrite)."
        )
    return Earlier(folder, manifest.replaced, manifest.plan, True, manifest.shards)


def find_replacement(folder: Path) -> Earlier:
    """Return what was written already of a store that takes the place of the one in a folder."""
    remove_leftovers(folder)
    replaced = 0
    if (folder / MANIFEST).is_file():
        try:
            replaced = read_document(folder / MANIFEST, Manifest)[0].replaced + 1
        except StoreError:
            replaced = max([number for number, _ in _generations(folder)], default=0) + 1
    nothing = Earlier(folder, replaced, may_differ=True)
    remove_leftovers(nothing.data)
    try:
        return _unfinished(nothing)
    except StoreError:
        # A damaged plan; whoever replaces a store does not want what is left of another.
        return nothing


def _unfinished(nothing: Earlier) -> Earlier:
    """Return what there is of a store without a manifest."""
    if not (nothing.data / PLAN).is_file():
        return nothing
    plan, _ = read_document(nothing.data / PLAN, Plan)
    return Earlier(
        nothing.folder,
        nothing.replaced,
        plan,
        notes=_complete_shards(nothing.data, plan),
        may_differ=nothing.may_differ,
    )


def _complete_shards(data: Path, plan: Plan) -> list[ShardNote]:
    """Return what there is to know about the sound shards of a plan, from the first on."""
    notes: list[ShardNote] = []
    while (path := shard_path(data, len(notes))).exists():
        try:
            file = open_container(path)
            file.verify()
            header = read_header(file)
        except StoreError:
            break
        if (header.plan, header.number) != (plan.key, len(notes)):
            break
        notes.append(ShardNote.of(header, file.checksum))
    return notes


# Removing -------------------------------------------------------------------------------------


def remove_shards(data: Path, first: int) -> None:
    """Remove the files of the shards from a number on, and what was stored beside them."""
    for path in sorted(data.glob("shard-*.bin")):
        match = _SHARD.fullmatch(path.name)
        if match is not None and int(match[1]) >= first:
            path.unlink(missing_ok=True)
            activation_path(data, int(match[1])).unlink(missing_ok=True)


def remove_older(folder: Path, replaced: int) -> None:
    """Remove what is left of the stores that the one of the manifest has replaced, and its plan.

    What came later stays: somebody may be writing it.
    """
    (data_folder(folder, replaced) / PLAN).unlink(missing_ok=True)
    older = [path for number, path in _generations(folder) if number < replaced]
    for data in (*older, *([folder] if replaced else [])):
        remove_shards(data, 0)
        (data / PLAN).unlink(missing_ok=True)
        for emptied in (data / "activations", data):
            # Something else may be in there, which is nobody's business here.
            with contextlib.suppress(OSError):
                if emptied != folder:
                    emptied.rmdir()


def _generations(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in sorted(folder.iterdir()):
        if match := _GENERATION.fullmatch(path.name):
            yield int(match[1]), path
