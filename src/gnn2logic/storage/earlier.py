"""What an earlier call of `write_shards` left in a folder, and how to go on behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnn2logic.exceptions import StoreError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.storage.containers import open_container
from gnn2logic.storage.documents import MANIFEST, PLAN, Manifest, Plan, ShardNote, read_document
from gnn2logic.storage.label_codes import Level
from gnn2logic.storage.shard_files import read_header, read_labels
from gnn2logic.storage.sources import Item
from gnn2logic.storage.stored_shard import shard_path

__all__ = ["Earlier", "find_earlier"]


@dataclass(frozen=True, eq=False)
class Earlier:
    """The shards in a folder that need not be written again.

    Parameters
    ----------
    folder : Path
    plan : Plan or None
        None for a folder in which nothing was begun.
    encoder : FittedEncoder or None
        The encoder of the plan.
    is_finished : bool
        Whether the manifest is there, so that nothing is missing.
    notes : sequence of ShardNote
        The shards that are complete, from the first on.
    labels : list or None
        All labels in these shards.
    """

    folder: Path
    plan: Plan | None = None
    encoder: FittedEncoder | None = None
    is_finished: bool = False
    notes: Sequence[ShardNote] = ()
    labels: list[Any] | None = None

    @property
    def n_graphs(self) -> int:
        """The number of graphs in the complete shards."""
        return sum(note.n_graphs for note in self.notes)

    def skip(self, items: Iterator[Item], level: Level) -> Iterator[Item]:
        """Leave out the graphs that are in complete shards.

        Their sizes and labels must be those that were stored; more would cost as much as to write
        them again.
        """
        left = self.n_graphs
        nodes = rows = 0
        for item in items:
            if not left:
                yield item
                continue
            inside = min(left, item.n_graphs)
            left -= inside
            inside_nodes = int(item.sizes[:inside].sum())
            nodes += inside_nodes
            own = inside if level == "graph" else inside_nodes
            self._compare(item.labels, rows, own)
            rows += own
            if not left:
                self._check_nodes(nodes)
            if inside < item.n_graphs:
                labels = None if item.labels is None else item.labels[own:]
                yield replace(item, labels=labels, skip=inside)
        if left:
            raise self.other("it has more graphs")

    def _compare(self, labels: list[Any] | None, start: int, count: int) -> None:
        known = None if self.labels is None else self.labels[start : start + count]
        if known != (None if labels is None else labels[:count]):
            raise self.other("its labels are different")

    def _check_nodes(self, nodes: int) -> None:
        known = sum(note.n_nodes for note in self.notes)
        if nodes != known:
            raise self.other(f"its first {self.n_graphs} graphs have {known} nodes, not {nodes}")

    def other(self, why: str) -> StoreError:
        """Return the error that says that the folder has a store of something else."""
        return StoreError(
            f"{str(self.folder)!r} must be empty or hold a store of the same graphs, made by the "
            f"same call. It holds another one: {why}. Choose another folder, or replace the store "
            "with overwrite=True (--overwrite)."
        )


def find_earlier(folder: Path) -> Earlier:
    """Return what is in a folder already."""
    is_finished = (folder / MANIFEST).is_file()
    if is_finished:
        manifest, encoder = read_document(folder / MANIFEST, Manifest)
        plan = manifest.plan
    elif (folder / PLAN).is_file():
        plan, encoder = read_document(folder / PLAN, Plan)
    else:
        return Earlier(folder)
    notes: list[ShardNote] = []
    labels: list[Any] | None = None if plan.labels is None else []
    while (path := shard_path(folder, len(notes))).exists():
        try:
            file = open_container(path)
            file.verify()
            header = read_header(file)
            own = read_labels(file, header)
        except StoreError:
            break
        if (header.plan, header.number, own is None) != (plan.key, len(notes), labels is None):
            break
        notes.append(ShardNote.of(header, file.checksum))
        if labels is not None and own is not None:
            labels.extend(own.tolist())
    if is_finished and notes != manifest.shards:
        raise StoreError(
            f"The store in {str(folder)!r} is damaged: shard {len(notes)} is missing or not the "
            "one that was written. Write it anew with overwrite=True (--overwrite)."
        )
    return Earlier(folder, plan, encoder, is_finished, notes, labels)
