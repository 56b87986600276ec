"""`ShardStore`: graphs on disk, one shard at a time in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels
from gnn2logic._validation import is_unicode, some_of
from gnn2logic.exceptions import LabelError, ParameterError, StoreError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.storage.activation_files import ActivationHeader, check_layers, write_activations
from gnn2logic.storage.documents import (
    MANIFEST,
    PLAN,
    Manifest,
    data_folder,
    read_document,
)
from gnn2logic.storage.label_codes import LabelTable, Level, label_table
from gnn2logic.storage.stored_shard import StoredShard, activation_path

__all__ = ["ShardStore", "is_store", "open_shards"]


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether a folder looks like a finished store."""
    return (Path(path) / MANIFEST).is_file()


def open_shards(path: str | os.PathLike[str]) -> ShardStore:
    """Open a folder that `write_shards` wrote; its files are verified when they are first read.

    Raises
    ------
    StoreError
        If the folder is no store, is not finished, or its manifest is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import gnn2logic as gl
    >>> from gnn2logic.storage import write_shards
    >>> graphs = gl.random_graphs(50, sizes=8, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_shards(folder, graphs, shard_nodes=100)
    ...     store = open_shards(folder)
    ...     print(store)
    ...     print([batch.n_graphs for batch in store])
    ShardStore(n_shards=5, n_graphs=50, n_nodes=400, n_edges=1448, names=('U0', 'U1'))
    [12, 12, 12, 12, 2]
    """
    folder = Path(path).absolute()
    try:
        manifest, encoder = read_document(folder / MANIFEST, Manifest)
    except (FileNotFoundError, NotADirectoryError):
        if (folder / PLAN).is_file():
            raise StoreError(
                f"The store in {str(path)!r} is not finished. Make the same call of write_shards "
                "again: it goes on where it was interrupted."
            ) from None
        raise StoreError(
            f"{str(path)!r} must be a folder that write_shards wrote. It has no {MANIFEST}."
        ) from None
    return ShardStore(folder, manifest, encoder)


class ShardStore:
    """Graphs in a folder, cut into shards of whole graphs; made by `write_shards`.

    Going through it gives one `GraphBatch` for each shard, and ``len`` is the number of shards.
    Formulas and models take a store wherever they take graphs, and have one shard in memory at a
    time. Stores can be pickled: only the path and the manifest go along.

    Attributes
    ----------
    path : Path
    encoder : FittedEncoder
        What made predicates of the features of the graphs.
    shards : tuple of StoredShard
    shard_nodes : int
        How many nodes a shard has at most, unless it is a single graph.
    digest : str
        Identifies the data; it changes with any of it.
    """

    def __init__(self, path: Path, manifest: Manifest, encoder: FittedEncoder) -> None:
        self.path = path
        self.encoder = encoder
        self.digest = manifest.digest
        self.shard_nodes = manifest.plan.shard_nodes
        self._labels = manifest.plan.labels
        notes = manifest.shards
        graphs = accumulate((note.n_graphs for note in notes), initial=0)
        nodes = accumulate((note.n_nodes for note in notes), initial=0)
        self.shards = tuple(
            StoredShard(
                folder=data_folder(path, manifest.replaced),
                number=number,
                first_graph=first_graph,
                first_node=first_node,
                note=note,
                names=encoder.names_,
                relation_names=encoder.relations_,
                labels=self._labels,
            )
            for number, (note, first_graph, first_node) in enumerate(
                zip(notes, graphs, nodes, strict=False)
            )
        )

    # What it holds ---------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predicates."""
        return self.encoder.names_

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The names of the edge relations; empty for untyped graphs."""
        return self.encoder.relations_

    @property
    def n_shards(self) -> int:
        """The number of shards."""
        return len(self.shards)

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return self.shards[-1].first_graph + self.shards[-1].n_graphs

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all graphs together."""
        return self.shards[-1].first_node + self.shards[-1].n_nodes

    @property
    def n_edges(self) -> int:
        """The number of directed edges; an undirected edge counts twice, a self loop once."""
        return sum(shard.n_edges for shard in self.shards)

    @property
    def is_symmetric(self) -> bool:
        """Whether every edge, of every relation, is there in both directions."""
        return all(shard.note.is_symmetric for shard in self.shards)

    @property
    def label_level(self) -> Level | None:
        """What has labels: "graph", "node", or None for a store without labels."""
        return None if self._labels is None else self._labels.level

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The labels of all graphs or nodes, read from the files each time; None without labels."""
        if self._labels is None:
            return None
        return np.concatenate([shard.y for shard in self.shards])

    def shard(self, number: int) -> StoredShard:
        """Return the shard with a number."""
        if not 0 <= number < self.n_shards:
            raise IndexError(f"shard {number} is out of range for {self.n_shards} shards")
        return self.shards[number]

    def __len__(self) -> int:
        return self.n_shards

    def __iter__(self) -> Iterator[GraphBatch]:
        return (shard.load() for shard in self.shards)

    def __repr__(self) -> str:
        typed = f", relations={self.relation_names}" if self.relation_names else ""
        names = f"({some_of(self.names)})" if len(self.names) > 8 else repr(self.names)
        return (
            f"ShardStore(n_shards={self.n_shards}, n_graphs={self.n_graphs}, "
            f"n_nodes={self.n_nodes}, n_edges={self.n_edges}, names={names}{typed})"
        )

    # Node representations --------------------------------------------------------------------

    @property
    def n_activation_layers(self) -> int:
        """The number of layers of the node representations in the store; 0 without any."""
        return len(self.activation_widths)

    @property
    def activation_widths(self) -> tuple[int, ...]:
        """How many numbers each layer has at every node; empty without representations.

        Raises
        ------
        StoreError
            If only some shards have them, or not all the same.
        """
        header = self._activation_header()
        return () if header is None else tuple(header.widths)

    @property
    def teacher_labels(self) -> npt.NDArray[Any] | None:
        """What the teacher says about all graphs or nodes; None where that was not stored."""
        if self.teacher_label_level is None:
            return None
        return np.concatenate([shard.teacher_labels for shard in self.shards])

    @property
    def teacher_label_level(self) -> Level | None:
        """What the teacher's labels are of: "graph", "node", or None without any."""
        header = self._activation_header()
        return None if header is None or header.labels is None else header.labels.level

    @property
    def teacher_classes(self) -> list[Any]:
        """All classes of the teacher, those it never says too; empty without labels of it."""
        header = self._activation_header()
        return [] if header is None or header.labels is None else list(header.labels.classes)

    def _activation_header(self) -> ActivationHeader | None:
        """Return what all shards agree on; None if none of them has representations."""
        having = [shard for shard in self.shards if shard.has_activations]
        if not having:
            return None
        if len(having) < self.n_shards:
            raise StoreError(
                f"All shards must have activations, or none. Got {len(having)} of {self.n_shards}; "
                "capture them again to finish, or drop them with remove_activations()."
            )
        first, *others = (shard.activation_header for shard in having)
        for number, other in enumerate(others, start=1):
            if _agreed(other) != _agreed(first):
                raise StoreError(
                    "The activations of all shards must come from one teacher. Those of shard "
                    f"{number} differ from those of shard 0; drop them with remove_activations() "
                    "and capture them again."
                )
        return first

    def add_activations(
        self,
        shard: int,
        layers: object,
        labels: object = None,
        *,
        classes: Sequence[Any] | None = None,
        level: Level = "graph",
        source: str = "",
        inputs: str = "",
    ) -> None:
        """Write the node representations of one shard, whole or not at all.

        Parameters
        ----------
        shard : int
        layers : list of array, each of shape (n_nodes of the shard, width)
            They are stored as numbers of 32 bits.
        labels : array, optional
            What the teacher says about the graphs or nodes of the shard.
        classes : sequence, optional
            All classes of the teacher, in its order; needed with `labels`, for a shard may not
            have all of them.
        level : {"graph", "node"}
            What the labels are of.
        source : str
            Identifies the teacher; all shards must have the same.
        inputs : str
            Identifies the graphs that the teacher was given in place of those of the shard.
        """
        stored = self.shard(shard)
        for name, text in (("source", source), ("inputs", inputs)):
            if not isinstance(text, str) or not is_unicode(text):
                raise ParameterError(f"{name} must be valid Unicode text. Got {text!r} instead.")
        arrays = check_layers(layers, stored.n_nodes)
        table: LabelTable | None = None
        codes: npt.NDArray[np.int32] | None = None
        if labels is not None:
            rows = stored.n_graphs if level == "graph" else stored.n_nodes
            if classes is None:
                raise LabelError("classes must be given with labels. Got None instead.")
            listed = check_labels(list(classes), len(classes), of="class").tolist()
            table, codes = label_table(check_labels(labels, rows, of=level), level, listed)
        header = ActivationHeader(
            shard=stored.note.checksum,
            source=source,
            inputs=inputs,
            widths=[array.shape[1] for array in arrays],
            labels=table,
        )
        path = activation_path(stored.folder, shard)
        path.parent.mkdir(exist_ok=True)
        write_activations(path, header, arrays, codes)

    def has_activations_of(self, shard: int, source: str, inputs: str = "") -> bool:
        """Whether the representations of a shard are there, sound, and from this source.

        `inputs` are the graphs that the teacher was given, as in `add_activations`.
        """
        stored = self.shard(shard)
        if not stored.has_activations:
            return False
        try:
            # This looks through the whole file, so one that is damaged counts as missing.
            _ = stored.teacher_labels
            header = stored.activation_header
            return (header.source, header.inputs) == (source, inputs)
        except StoreError:
            return False

    def remove_activations(self) -> None:
        """Remove all node representations from the store; the graphs stay."""
        for shard in self.shards:
            activation_path(shard.folder, shard.number).unlink(missing_ok=True)


def _agreed(header: ActivationHeader) -> tuple[Any, ...]:
    table = header.labels
    labels = None if table is None else (table.level, tuple(table.classes))
    return header.source, tuple(header.widths), labels
