"""`write_shards`: graphs of any kind into a folder, a shard at a time, and on after a break."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gnn2logic._files import write_atomically
from gnn2logic._progress import Progress
from gnn2logic._validation import check_choice, check_whole
from gnn2logic.exceptions import LabelError, StoreError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.storage.documents import (
    MANIFEST,
    PLAN,
    LabelNote,
    Manifest,
    Plan,
    ShardNote,
    write_document,
)
from gnn2logic.storage.label_codes import Level, type_of_labels
from gnn2logic.storage.shard_files import pack_shard
from gnn2logic.storage.sources import BlockEncoder, Item, blocks, cuts, items_from, labels_of
from gnn2logic.storage.store import ShardStore, open_shards
from gnn2logic.storage.stored_shard import shard_path
from gnn2logic.storage.unfinished_stores import (
    Earlier,
    find_earlier,
    find_replacement,
    remove_older,
    remove_shards,
)

__all__ = ["write_shards"]

Labels = npt.NDArray[Any] | None
Piece = tuple[GraphBatch, Labels]


def write_shards(
    path: str | os.PathLike[str],
    graphs: Any,
    y: object = None,
    *,
    encoder: object = None,
    level: Level = "graph",
    shard_nodes: int = 50_000,
    overwrite: bool = False,
    verbose: int | None = None,
) -> ShardStore:
    """Write graphs to a folder from which formulas and models read them shard by shard.

    The graphs are read one after the other, so they need not fit into memory. If the call is
    interrupted, the same call goes on behind the last complete shard. For this it reads all graphs
    again and compares them with what is stored, so that a store never holds graphs of two calls;
    what it saves is the writing.

    Parameters
    ----------
    path : path
        A folder, new or empty.
    graphs : anything that `gnn2logic.as_batch` reads, or an iterator of graphs or batches
        It may give pairs ``(graph, label)`` instead of graphs.
    y : array, optional
        One label for each graph, or for each node with ``level="node"``: whole numbers, strings
        or truth values.
    encoder : PredicateEncoder, optional
        Makes predicates of the features. If it is not fitted, a copy is fitted on the graphs of
        the first shard, and it is an error if later graphs have categories or relations that these
        do not have.
    level : {"graph", "node"}
        What the labels are of.
    shard_nodes : int
        A shard has at most so many nodes, unless it is a single larger graph. Memory grows with
        this number and not with the data.
    overwrite : bool
        Whether a store that is in the folder already may be replaced. The new one is written
        beside it and takes its place in one step, when it is complete.
    verbose : int, optional
        1 shows progress, 0 shows nothing. By default work of more than five seconds shows it on a
        terminal.

    Returns
    -------
    ShardStore

    Raises
    ------
    StoreError
        If the folder holds something else, or a store of other graphs.

    Examples
    --------
    >>> import tempfile
    >>> import gnn2logic as gl
    >>> parts = (gl.random_graphs(20, random_state=seed) for seed in range(5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = write_shards(folder, parts, shard_nodes=500)
    ...     print(store.n_graphs, gl.parse("1(A U1 > 3) > 1/2").evaluate(store).sum())
    100 21
    """
    most_nodes = check_whole("shard_nodes", shard_nodes, least=1)
    check_choice("level", level, ("graph", "node"))
    blocks_to_predicates = BlockEncoder(encoder)
    folder = Path(path).absolute()
    _check_folder(folder)
    earlier = find_replacement(folder) if overwrite else find_earlier(folder)
    with Progress("write", None, verbose=verbose) as progress:
        writer = _StoreWriter(earlier, blocks_to_predicates, level, most_nodes, progress)
        writer.write(items_from(graphs, y, level, most_nodes))
    return open_shards(folder)


def _check_folder(folder: Path) -> None:
    """Make sure that the folder may be written to."""
    folder.mkdir(parents=True, exist_ok=True)
    is_ours = any((folder / name).is_file() for name in (MANIFEST, PLAN))
    if not is_ours and set(folder.iterdir()) - set(folder.glob(".gnn2logic-*.part")):
        raise StoreError(
            f"{str(folder)!r} must be a new or empty folder, or a shard store. It holds other "
            "files; choose another folder."
        )


class _StoreWriter:
    """Writes shards behind those that an earlier call has written.

    Parameters
    ----------
    earlier : Earlier
    encoder : BlockEncoder
    level : {"graph", "node"}
    shard_nodes : int
    progress : Progress
    """

    def __init__(
        self,
        earlier: Earlier,
        encoder: BlockEncoder,
        level: Level,
        shard_nodes: int,
        progress: Progress,
    ) -> None:
        self._encoder = encoder
        self._level: Level = level
        self._shard_nodes = shard_nodes
        self._progress = progress
        self._earlier = earlier
        self._plan: Plan | None = None

    def write(self, items: Iterator[Item]) -> None:
        """Write all shards that are not there yet, and then the manifest."""
        earlier = self._earlier
        notes: list[ShardNote] = []
        for batch, labels in self._cut(self._encoded(items)):
            number = len(notes)
            shard = pack_shard(
                batch, plan=self._known_plan.key, number=number, labels=labels, level=self._level
            )
            if not earlier.has(number, shard, labels):
                with _telling(earlier.folder):
                    write_atomically(shard_path(earlier.data, number), shard.pieces)
            notes.append(ShardNote.of(shard.header, shard.checksum))
            self._progress.step("shard")
        earlier.check_end(len(notes))
        if not earlier.is_finished:
            self._finish(notes)
            return
        # An earlier call may have been killed before it could; who may only read need not.
        with contextlib.suppress(PermissionError):
            remove_older(earlier.folder, earlier.replaced)

    def _finish(self, notes: list[ShardNote]) -> None:
        """Write the manifest; from then on this is the store, and nothing else is needed."""
        earlier = self._earlier
        generation = earlier.replaced or msgspec.UNSET
        manifest = Manifest(plan=self._known_plan, shards=notes, generation=generation)
        with _telling(earlier.folder):
            remove_shards(earlier.data, len(notes))
            write_document(earlier.folder / MANIFEST, manifest)
            remove_older(earlier.folder, earlier.replaced)

    @property
    def _known_plan(self) -> Plan:
        assert self._plan is not None, "the first block settles it"
        return self._plan

    def _encoded(self, items: Iterator[Item]) -> Iterator[Piece]:
        """Give blocks of graphs with predicates, and their labels."""
        first_graph = 0
        for block in blocks(items, self._shard_nodes):
            labels = labels_of(block, self._level)
            batch = self._encoder.encode(block, first_graph)
            first_graph += batch.n_graphs
            self._settle(labels)
            yield batch, labels

    def _settle(self, labels: Labels) -> None:
        """Write down, once, all that a later call must know to go on."""
        note = None
        if labels is not None:
            note = LabelNote(self._level, type_of_labels(labels[:1].tolist()))
        if self._plan is None:
            assert self._encoder.fitted is not None
            document = self._encoder.fitted.to_document()
            self._plan = Plan(shard_nodes=self._shard_nodes, encoder=document, labels=note)
            if self._plan != self._earlier.plan:
                self._begin(self._plan)
        elif self._plan.labels != note:
            told = [None if one is None else one.kind for one in (self._plan.labels, note)]
            raise LabelError(
                "All labels must be of one kind, or all graphs without. "
                f"Got {told[0] or 'none'} first and {told[1] or 'none'} later."
            )

    def _begin(self, plan: Plan) -> None:
        """Begin a store; only now is anything removed, for the new graphs can be read."""
        earlier = self._earlier
        if earlier.plan is not None and not earlier.may_differ:
            if (earlier.plan.shard_nodes, earlier.plan.encoder) != (plan.shard_nodes, plan.encoder):
                raise earlier.other("it was begun with another shard_nodes, encoder or features")
            raise earlier.other("its labels are of another kind")
        with _telling(earlier.folder):
            earlier.data.mkdir(exist_ok=True)
            remove_shards(earlier.data, 0)
            write_document(earlier.data / PLAN, plan)

    def _cut(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Give parts that are as large as a shard may be; the last may be smaller."""
        batch: GraphBatch | None = None
        labels: Labels = None
        for more, more_labels in pieces:
            batch = more if batch is None else GraphBatch.concat([batch, more])
            labels = (
                more_labels
                if labels is None or more_labels is None
                else np.concatenate([labels, more_labels])
            )
            boundaries = cuts(batch.ptr, self._shard_nodes)
            for start, stop in pairwise(boundaries[:-1]):
                yield self._slice(batch, labels, start, stop)
            batch, labels = self._slice(batch, labels, boundaries[-2], boundaries[-1])
        if batch is not None:
            yield batch, labels

    def _slice(self, batch: GraphBatch, labels: Labels, start: int, stop: int) -> Piece:
        if start == 0 and stop == batch.n_graphs:
            return batch, labels
        if labels is not None:
            first, last = (start, stop) if self._level == "graph" else batch.ptr[[start, stop]]
            labels = labels[first:last]
        return batch[start:stop], labels


@contextlib.contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """Say what to do when the disk is full or nothing may be written."""
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno,
            f"The store cannot be written: {error.strerror}. Shards that are complete stay; make "
            "the same call again to go on",
            str(folder),
        ) from error
