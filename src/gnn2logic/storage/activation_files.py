"""The node representations of one shard as a file, and what a teacher says about its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import ActivationError
from gnn2logic.storage.containers import ArrayType, Container, write_container
from gnn2logic.storage.label_codes import LabelTable, decoded

__all__ = [
    "ActivationHeader",
    "check_layers",
    "read_activation_header",
    "read_activations",
    "write_activations",
]

FloatArray = npt.NDArray[np.float32]
Width = Annotated[int, msgspec.Meta(ge=1, le=2**31)]


class ActivationHeader(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What is in the file: whose nodes, how wide each layer is, and labels if there are any."""

    format: Literal["gnn2logic.activations"] = "gnn2logic.activations"
    version: Literal[1] = 1
    # The checksum of the shard: representations of other nodes must not be taken for these.
    shard: str
    source: str
    # A digest of the graphs that the teacher was given in place of those of the shard, if it was.
    inputs: str = ""
    widths: Annotated[list[Width], msgspec.Meta(min_length=1)]
    labels: LabelTable | None

    def array_types(self, n_nodes: int, n_graphs: int) -> list[ArrayType]:
        """Return the arrays: one for each layer, then the numbers of the labels."""
        array_types = [ArrayType("<f4", (n_nodes, width)) for width in self.widths]
        if self.labels is not None:
            rows = n_graphs if self.labels.level == "graph" else n_nodes
            array_types.append(ArrayType("<i4", (rows,)))
        return array_types


def check_layers(layers: object, n_nodes: int) -> list[FloatArray]:
    """Return node representations as finite 2-D arrays of float32, one row per node."""
    if isinstance(layers, np.ndarray) or not isinstance(layers, Sequence) or not layers:
        raise ActivationError(
            "layers must be a list with one array per layer, at least one. "
            f"Got {type(layers).__name__} instead."
        )
    arrays: list[FloatArray] = []
    for number, values in enumerate(layers):
        array = np.asarray(to_numpy(values))
        if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[1] == 0:
            raise ActivationError(
                f"Layer {number} must be a 2-D array of numbers. Got shape {array.shape}, dtype "
                f"{array.dtype} instead."
            )
        if len(array) != n_nodes:
            raise ActivationError(
                f"Layer {number} must have one row for each of the {n_nodes} nodes of the shard. "
                f"Got {len(array)} rows instead."
            )
        with np.errstate(over="ignore"):
            array = array.astype(np.float32, copy=False)
        if not np.isfinite(array).all():
            node, column = np.argwhere(~np.isfinite(array))[0].tolist()
            raise ActivationError(
                f"Layer {number} must hold finite numbers of 32 bits. Got {array[node, column]} at "
                f"node {node} of the shard, column {column}."
            )
        arrays.append(array)
    return arrays


def write_activations(
    path: Path,
    header: ActivationHeader,
    layers: Sequence[FloatArray],
    codes: npt.NDArray[np.int32] | None,
) -> None:
    """Write the representations of one shard."""
    arrays: list[npt.NDArray[Any]] = [*layers] if codes is None else [*layers, codes]
    write_container(path, msgspec.to_builtins(header), arrays)


def read_activation_header(file: Container, shard: str) -> ActivationHeader:
    """Return the header of activations, checked; they must be those of this shard."""
    try:
        header = msgspec.convert(file.header, ActivationHeader)
    except msgspec.ValidationError as error:
        raise file.bad(f"its header is not that of activations: {error}") from None
    if header.shard != shard:
        raise file.bad("it was made for another shard; capture the activations again")
    return header


def read_activations(
    file: Container, header: ActivationHeader, *, n_nodes: int, n_graphs: int
) -> tuple[list[FloatArray], npt.NDArray[Any] | None]:
    """Return the layers, which stay in the file, and the labels, all checked."""
    arrays = file.arrays(header.array_types(n_nodes, n_graphs))
    layers = arrays[: len(header.widths)]
    labels: npt.NDArray[Any] | None = None
    if header.labels is not None:
        codes = arrays[-1]
        if codes.min() < 0 or codes.max() >= len(header.labels.classes):
            raise file.bad("it has a label that is not among its classes")
        labels = decoded(header.labels, codes)
    if not file.is_verified:
        if not all(np.isfinite(layer).all() for layer in layers):
            raise file.bad("it holds numbers that are not finite")
        file.remember()
    return layers, labels
