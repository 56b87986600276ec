"""One shard as a file: graphs with packed predicates, and their labels; and back, audited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.exceptions import GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.batch_checks import check_relation_within, check_within_graphs, clean_ptr
from gnn2logic.storage.containers import ArrayType, Container, Piece, packed
from gnn2logic.storage.label_codes import LabelTable, Level, decoded, label_table

__all__ = ["PackedShard", "ShardHeader", "pack_shard", "read_batch", "read_header", "read_labels"]

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1, le=2**62)]
IndexKind = Literal["<i4", "<i8"]
Arrays = list[npt.NDArray[Any]]

_MOST_INT32 = 2**31 - 1


class MatrixHeader(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One edge relation: how many entries it has, and the type of counts other than 1."""

    entries: Count
    counts: IndexKind | None


class ShardHeader(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What is in the file of a shard."""

    format: Literal["gnn2logic.shard"] = "gnn2logic.shard"
    version: Literal[1] = 1
    # Which call of write_shards it belongs to, so that shards of two calls are never mixed.
    plan: str
    number: Count
    n_graphs: AtLeastOne
    n_nodes: AtLeastOne
    n_edges: Count
    n_predicates: Count
    index: IndexKind
    adjacency: MatrixHeader
    relations: list[MatrixHeader]
    is_symmetric: bool
    labels: LabelTable | None

    @property
    def array_types(self) -> list[ArrayType]:
        """The arrays: boundaries, packed predicates, edges, numbers of labels."""
        array_types = [
            ArrayType("<i8", (self.n_graphs + 1,)),
            ArrayType("|u1", (self.n_predicates, (self.n_nodes + 7) // 8)),
        ]
        for matrix in (self.adjacency, *self.relations):
            array_types.append(ArrayType(self.index, (self.n_nodes + 1,)))
            array_types.append(ArrayType(self.index, (matrix.entries,)))
            if matrix.counts is not None:
                array_types.append(ArrayType(matrix.counts, (matrix.entries,)))
        if self.labels is not None:
            rows = self.n_graphs if self.labels.level == "graph" else self.n_nodes
            array_types.append(ArrayType("<i4", (rows,)))
        return array_types


class PackedShard(NamedTuple):
    """A shard that is not written yet: what the file says about itself, and all that is in it."""

    header: ShardHeader
    checksum: str
    pieces: list[Piece]


def pack_shard(
    batch: GraphBatch,
    *,
    plan: str,
    number: int,
    labels: npt.NDArray[Any] | None,
    level: Level,
) -> PackedShard:
    """Return the file of a shard; the same graphs and labels always give the same."""
    matrices = [batch.adjacency, *batch.relations.values()]
    small = max(batch.n_nodes, *(matrix.nnz for matrix in matrices)) < _MOST_INT32
    index: IndexKind = "<i4" if small else "<i8"
    arrays: Arrays = [batch.ptr, np.packbits(batch.predicates.T, axis=1)]
    headers: list[MatrixHeader] = []
    for matrix in matrices:
        arrays += [matrix.indptr.astype(index), matrix.indices.astype(index)]
        counts: IndexKind | None = None
        if matrix.data.dtype != np.int32 or (matrix.data != 1).any():
            counts = "<i4" if matrix.data.dtype == np.int32 else "<i8"
            arrays.append(matrix.data.astype(counts))
        headers.append(MatrixHeader(matrix.nnz, counts))
    table: LabelTable | None = None
    if labels is not None:
        table, codes = label_table(labels, level)
        arrays.append(codes)
    header = ShardHeader(
        plan=plan,
        number=number,
        n_graphs=batch.n_graphs,
        n_nodes=batch.n_nodes,
        n_edges=batch.n_edges,
        n_predicates=len(batch.names),
        index=index,
        adjacency=headers[0],
        relations=headers[1:],
        is_symmetric=batch.is_symmetric,
        labels=table,
    )
    return PackedShard(header, *packed(msgspec.to_builtins(header), arrays))


# Reading --------------------------------------------------------------------------------------


def read_header(file: Container) -> ShardHeader:
    """Return the header of a shard, checked."""
    try:
        return msgspec.convert(file.header, ShardHeader)
    except msgspec.ValidationError as error:
        raise file.bad(f"its header is not that of a shard: {error}") from None


def read_batch(
    file: Container, header: ShardHeader, names: tuple[str, ...], relations: Sequence[str]
) -> GraphBatch:
    """Return the graphs; the edges stay in the file, the predicates are unpacked.

    A file that was not verified yet is looked through: only what a `GraphBatch` guarantees gets in.
    """
    arrays = file.arrays(header.array_types)
    ptr, packed = arrays[:2]
    rest = iter(arrays[2:])
    matrices = [
        _matrix(file, header, matrix, rest) for matrix in (header.adjacency, *header.relations)
    ]
    bits = np.unpackbits(packed, axis=1, count=header.n_nodes).view(bool)
    if not file.is_verified:
        _audit(file, header, ptr, packed, matrices)
    batch = GraphBatch._trusted(
        bits.T, names, matrices[0], dict(zip(relations, matrices[1:], strict=True)), ptr
    )
    if not file.is_verified:
        if (batch.is_symmetric, batch.n_edges) != (header.is_symmetric, header.n_edges):
            raise file.bad("its header does not describe its edges")
        read_labels(file, header)
        file.remember()
    else:
        batch._derived["symmetric"] = header.is_symmetric
    return batch


def read_labels(file: Container, header: ShardHeader) -> npt.NDArray[Any] | None:
    """Return the labels of the graphs or nodes, checked."""
    if header.labels is None:
        return None
    codes = file.arrays(header.array_types)[-1]
    if codes.min() < 0 or codes.max() >= len(header.labels.classes):
        raise file.bad("it has a label that is not among its classes")
    return decoded(header.labels, codes)


def _matrix(file: Container, header: ShardHeader, matrix: MatrixHeader, rest: Any) -> sp.csr_array:
    indptr, indices = next(rest), next(rest)
    data = np.ones(matrix.entries, dtype=np.int32) if matrix.counts is None else next(rest)
    if not file.is_verified:
        # Before scipy sees it: its compiled loops trust these numbers.
        _audit_rows(file, header.n_nodes, indptr, indices)
    return sp.csr_array((data, indices, indptr), shape=(header.n_nodes, header.n_nodes))


def _audit_rows(
    file: Container, n_nodes: int, indptr: npt.NDArray[Any], indices: npt.NDArray[Any]
) -> None:
    """Refuse rows that are not rising lists of nodes."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise file.bad("the rows of its edges overlap or have gaps")
    if len(indices) == 0:
        return
    if indices.min() < 0 or indices.max() >= n_nodes:
        raise file.bad("it has an edge to a node that is not there")
    starts_row = np.zeros(len(indices) + 1, dtype=bool)
    starts_row[indptr] = True
    if not (starts_row[1:-1] | (indices[1:] > indices[:-1])).all():
        raise file.bad("its edges are not sorted")


def _audit(
    file: Container,
    header: ShardHeader,
    ptr: npt.NDArray[np.int64],
    packed: npt.NDArray[np.uint8],
    matrices: Sequence[sp.csr_array],
) -> None:
    spare = -header.n_nodes % 8
    if spare and (packed[:, -1] & ((1 << spare) - 1)).any():
        raise file.bad("it has predicates of nodes that are not there")
    try:
        clean_ptr(ptr, header.n_nodes)
        for number, matrix in enumerate(matrices):
            # The sum decides whether products may be made in 32 bits, see `clean_matrix`.
            total = int(matrix.data.sum(dtype=np.float64))
            if matrix.nnz and (matrix.data.min() < 1 or matrix.data.max() >= 2**31):
                raise GraphError("edges must be counted by numbers from 1 to 2**31 - 1")
            if matrix.data.dtype == np.int32 and total >= _MOST_INT32:
                raise GraphError("there are too many edges for their type")
            check_within_graphs(matrix, ptr, "adjacency")
            if number:
                check_relation_within(matrix, matrices[0], str(number - 1))
    except GraphError as error:
        raise file.bad(f"it does not hold graphs: {error}") from None
