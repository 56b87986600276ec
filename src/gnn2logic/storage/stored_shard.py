"""`StoredShard`: one shard of a store, not yet loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import ActivationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.storage.activation_files import (
    ActivationHeader,
    read_activation_header,
    read_activations,
)
from gnn2logic.storage.containers import Container, open_container
from gnn2logic.storage.documents import LabelNote, ShardNote
from gnn2logic.storage.label_codes import type_of_labels
from gnn2logic.storage.shard_files import ShardHeader, read_batch, read_header, read_labels

__all__ = ["StoredShard", "activation_path", "shard_path"]


def shard_path(folder: Path, number: int) -> Path:
    """Return the file of a shard; manifests hold no names, so none can lead out of the folder."""
    return folder / f"shard-{number:06d}.bin"


def activation_path(folder: Path, number: int) -> Path:
    """Return the file of the node representations of a shard."""
    return folder / "activations" / f"shard-{number:06d}.bin"


@dataclass(frozen=True, slots=True)
class StoredShard:
    """Some whole graphs of a store, in a file.

    It is small, whatever the shard holds, so it can be sent to another process that loads it.

    Parameters
    ----------
    folder : Path
    number : int
    first_graph, first_node : int
        Where its graphs and nodes are in the order of the whole store.
    note : ShardNote
        What the manifest says about it.
    names, relation_names : tuple of str
    labels : LabelNote, optional
    """

    folder: Path
    number: int
    first_graph: int
    first_node: int
    note: ShardNote
    names: tuple[str, ...]
    relation_names: tuple[str, ...]
    labels: LabelNote | None

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return self.note.n_graphs

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.note.n_nodes

    @property
    def n_edges(self) -> int:
        """The number of directed edges."""
        return self.note.n_edges

    def load(self) -> GraphBatch:
        """Return the graphs. The edges stay in the file and are read when they are looked at.

        Raises
        ------
        StoreError
            If the file is missing, damaged, or not what the manifest says.
        """
        file, header = self._open()
        return read_batch(file, header, self.names, self.relation_names)

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The labels of its graphs or nodes; None for a store without labels."""
        file, header = self._open()
        return read_labels(file, header)

    def _open(self) -> tuple[Container, ShardHeader]:
        file = open_container(shard_path(self.folder, self.number))
        if file.checksum != self.note.checksum:
            raise file.bad("it is not the file that the manifest speaks of")
        file.verify()
        header = read_header(file)
        table = header.labels
        in_file = (
            ShardNote.of(header, file.checksum),
            header.number,
            header.n_predicates,
            len(header.relations),
            None if table is None else LabelNote(table.level, type_of_labels(table.classes)),
        )
        told = (self.note, self.number, len(self.names), len(self.relation_names), self.labels)
        if in_file != told:
            raise file.bad("it is not what the manifest says about it")
        return file, header

    # Node representations --------------------------------------------------------------------

    @property
    def has_activations(self) -> bool:
        """Whether node representations were stored beside it."""
        return activation_path(self.folder, self.number).is_file()

    @property
    def activation_header(self) -> ActivationHeader:
        """What is known about the node representations; they themselves are not looked at."""
        return self._open_activations()[1]

    @property
    def activation_width(self) -> int:
        """How many numbers the widest node representation has, if there are any."""
        return max(self.activation_header.widths) if self.has_activations else 0

    def activations(self, layer: int) -> npt.NDArray[np.float32]:
        """Return the node representations of one layer, shape (n_nodes, width), from the file."""
        layers, _ = self._read_activations()
        if not 0 <= layer < len(layers):
            raise ActivationError(
                f"layer must be from 0 to {len(layers) - 1}, for there are {len(layers)} layers. "
                f"Got {layer} instead."
            )
        return layers[layer]

    @property
    def teacher_labels(self) -> npt.NDArray[Any] | None:
        """What the teacher says about its graphs or nodes; None where that was not stored."""
        return self._read_activations()[1]

    def _open_activations(self) -> tuple[Container, ActivationHeader]:
        if not self.has_activations:
            raise ActivationError(
                f"Shard {self.number} must have activations. Got none; capture them first."
            )
        file = open_container(activation_path(self.folder, self.number))
        return file, read_activation_header(file, self.note.checksum)

    def _read_activations(
        self,
    ) -> tuple[list[npt.NDArray[np.float32]], npt.NDArray[Any] | None]:
        file, header = self._open_activations()
        file.verify()
        return read_activations(file, header, n_nodes=self.n_nodes, n_graphs=self.n_graphs)
