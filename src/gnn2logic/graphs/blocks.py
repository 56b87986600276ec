"""Block-diagonal structures, one block for each graph: cut, joined, and with other edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.graphs.edges import clean_matrix, freeze

__all__ = [
    "BatchArrays",
    "all_both_ways",
    "both_ways",
    "joined_blocks",
    "membership_matrix",
    "off_diagonal",
    "same_matrix",
    "support",
    "taken_blocks",
    "total_of",
]


class BatchArrays(NamedTuple):
    """What a batch holds: predicates and their names, all edges, typed edges, boundaries."""

    predicates: npt.NDArray[np.bool_]
    names: tuple[str, ...]
    adjacency: sp.csr_array
    relations: Mapping[str, sp.csr_array]
    ptr: npt.NDArray[np.int64]


def taken_blocks(arrays: BatchArrays, index: npt.NDArray[np.int64]) -> BatchArrays:
    """Return the graphs of the given numbers, in that order; rows and edges go together."""
    sizes = np.diff(arrays.ptr)[index]
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    shift = np.repeat(arrays.ptr[index] - ptr[:-1], sizes)
    rows = np.arange(ptr[-1], dtype=np.int64) + shift
    return BatchArrays(
        np.asfortranarray(arrays.predicates[rows]),
        arrays.names,
        _take_block(arrays.adjacency, rows, shift),
        {name: _take_block(matrix, rows, shift) for name, matrix in arrays.relations.items()},
        ptr,
    )


def joined_blocks(batches: Sequence[BatchArrays]) -> BatchArrays:
    """Return all graphs of several batches; names and relations are those of the first."""
    first = batches[0]
    sizes = np.concatenate([np.diff(arrays.ptr) for arrays in batches])
    return BatchArrays(
        np.asfortranarray(np.concatenate([arrays.predicates for arrays in batches])),
        first.names,
        _stack_blocks([arrays.adjacency for arrays in batches]),
        {
            name: _stack_blocks([arrays.relations[name] for arrays in batches])
            for name in first.relations
        },
        np.concatenate([[0], np.cumsum(sizes)]),
    )


def membership_matrix(adjacency: sp.csr_array, ptr: npt.NDArray[np.int64]) -> sp.csr_array:
    """Return the (n_graphs, n_nodes) matrix whose product sums node values per graph."""
    n_graphs, n_nodes = len(ptr) - 1, int(ptr[-1])
    index_type = adjacency.indices.dtype
    matrix = sp.csr_array(
        (
            np.ones(n_nodes, dtype=adjacency.data.dtype),
            np.arange(n_nodes, dtype=index_type),
            ptr.astype(index_type),
        ),
        shape=(n_graphs, n_nodes),
    )
    freeze(matrix)
    return matrix


def total_of(relations: Mapping[str, sp.csr_array]) -> sp.csr_array:
    """Return all edges of all relations together."""
    shape = next(iter(relations.values())).shape
    total = sum(relations.values(), start=sp.csr_array(shape, dtype=np.int64))
    return clean_matrix(total, what="adjacency")


def both_ways(matrix: sp.csr_array) -> sp.csr_array:
    """Return the edges with each of them in both directions."""
    return sp.csr_array(matrix.maximum(sp.csr_array(matrix.T)))


def all_both_ways(whole: sp.csr_array, relations: Mapping[str, sp.csr_array]) -> sp.csr_array:
    """Return all edges in both directions, so that those of each type are among them.

    What is added between two nodes depends on the edges between them alone. Where every edge has at
    most one type, edges of different types are different ones: each gets its opposite. Where there
    are fewer edges than types of edges, some edge has several types, and all edges are mirrored as
    if they had none.
    """
    if not relations:
        return both_ways(whole)
    untyped = sp.csr_array(whole.astype(np.int64) - total_of(relations))
    several_types = both_ways(sp.csr_array(untyped < 0)).astype(np.int64)
    apart = sum(
        (both_ways(matrix) for matrix in relations.values()),
        start=both_ways(sp.csr_array(untyped.maximum(0))),
    )
    together = both_ways(whole).multiply(several_types)
    return sp.csr_array(apart - apart.multiply(several_types) + together)


def off_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    """Return the edges between different nodes."""
    return sp.csr_array(matrix - sp.diags_array(matrix.diagonal(), dtype=matrix.dtype).tocsr())


def support(matrix: sp.csr_array) -> sp.csr_array:
    """Return one edge where there are some."""
    return sp.csr_array((np.ones_like(matrix.data), matrix.indices, matrix.indptr), matrix.shape)


def _take_block(
    matrix: sp.csr_array, rows: npt.NDArray[np.int64], shift: npt.NDArray[np.int64]
) -> sp.csr_array:
    """Return the rows (and, shifted, the columns) of whole graphs."""
    picked = matrix[rows]
    entries = np.diff(picked.indptr)
    moved = picked.indices - np.repeat(shift, entries).astype(picked.indices.dtype)
    return sp.csr_array((picked.data, moved, picked.indptr), shape=(len(rows), len(rows)))


def _stack_blocks(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return the block-diagonal matrix of several."""
    stacked = sp.csr_array(sp.block_diag(matrices, format="csr"))
    # One batch may have needed int64 counts where the others had int32; the sum decides anew.
    return clean_matrix(stacked, what="adjacency")


def same_matrix(left: sp.csr_array, right: sp.csr_array) -> bool:
    """Return whether two sparse matrices are equal."""
    if left.shape != right.shape:
        return False
    difference: Any = left != right
    return bool(difference.nnz == 0)
