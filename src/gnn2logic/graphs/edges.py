"""Edge relations as sparse matrices, and what the modal parameters need of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.exceptions import GraphError, UnsupportedInputError
from gnn2logic.graphs.modality import Direction

__all__ = [
    "MAX_NODES",
    "EdgeMatrix",
    "check_node_count",
    "clean_matrix",
    "edge_matrix",
    "freeze",
    "oriented",
    "shallow",
]

IntArray = npt.NDArray[np.integer[Any]]

# Every node takes memory, also where nothing is known about it but a number that may be a mistake.
MAX_NODES = 10**8


def check_node_count(count: float, *, what: str) -> None:
    """Refuse more nodes than fit into the memory of one process."""
    if count > MAX_NODES:
        raise GraphError(
            f"{what} must have at most {MAX_NODES} nodes in memory. Got {count:.15g}. Check the "
            "number of nodes; write_shards keeps more graphs than that on disk."
        )


def clean_matrix(matrix: object, *, what: str) -> sp.csr_array:
    """Return a square matrix of edge counts as canonical int CSR, a copy of the input.

    Accepts any scipy sparse format and dense arrays. Duplicate entries add up (multi-edges),
    stored zeros vanish; negative, fractional and non-finite entries are errors.
    """
    if not sp.issparse(matrix):
        matrix = _dense(matrix, what=what)
    source: Any = matrix
    if source.ndim != 2 or source.shape[0] != source.shape[1]:
        raise GraphError(f"{what} must be a square matrix. Got shape {source.shape} instead.")
    check_node_count(source.shape[0], what=what)
    if source.dtype == np.float16:
        source = source.astype(np.float32)
    if source.dtype.kind not in "biuf":
        raise GraphError(f"{what} must hold numbers. Got dtype {source.dtype} instead.")
    coo = sp.coo_array(source)
    data = np.asarray(coo.data)
    if data.size and data.dtype.kind != "b":
        _check_counts(data, coo, what)
    # int32 halves the memory traffic of every product, and no row sum can overflow it.
    is_small = data.sum(dtype=np.float64) < 2**31 - 1
    counts: npt.NDArray[Any] = data.astype(np.int32 if is_small else np.int64, copy=False)
    rows, columns = np.asarray(coo.row), np.asarray(coo.col)
    # csr_array sums duplicate entries on conversion, exactly because they are integers by now.
    csr = sp.csr_array(sp.coo_array((counts, (rows, columns)), shape=source.shape))
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def _dense(matrix: object, *, what: str) -> npt.NDArray[Any]:
    try:
        dense = np.asarray(matrix)
    except ValueError as error:
        raise GraphError(f"{what} must be a square matrix. Got rows of unequal length.") from error
    if dense.dtype == object:
        raise UnsupportedInputError(
            f"{what} must be a scipy sparse matrix or a 2-D array of numbers. "
            f"Got {type(matrix).__name__} instead."
        )
    return dense


def _check_counts(data: npt.NDArray[Any], coo: Any, what: str) -> None:
    with np.errstate(invalid="ignore"):
        bad = ~(data >= 0) | (data >= 2**31)
        if data.dtype.kind == "f":
            bad |= ~np.isfinite(data) | (data != np.floor(data))
    if bad.any():
        at = int(np.argmax(bad))
        raise GraphError(
            f"{what} must hold edge counts, whole numbers >= 0 and below 2**31. "
            f"Got {data[at]} at row {coo.row[at]}, column {coo.col[at]}. "
            "For weighted edges decide which ones count, for example with (weights > 0.5)."
        )


@dataclass(frozen=True, eq=False)
class EdgeMatrix:
    """One edge relation, seen from the node that looks along it.

    Parameters
    ----------
    matrix : csr_array of int
        Entry (v, w) is the number of edges from v to w.
    support : csr_array of int
        The same with every entry 1; the same object for graphs without multi-edges.
    loops : ndarray of int or None
        The diagonal of `matrix`; None when no node has a self loop.
    degrees, support_degrees : ndarray of int64
        The row sums of `matrix` and `support`.
    """

    matrix: sp.csr_array
    support: sp.csr_array
    loops: IntArray | None
    degrees: npt.NDArray[np.int64]
    support_degrees: npt.NDArray[np.int64]

    @property
    def has_multi_edges(self) -> bool:
        """Whether two nodes are joined by more than one edge."""
        return self.support is not self.matrix


def edge_matrix(matrix: sp.csr_array) -> EdgeMatrix:
    """Return the derived parts of a canonical CSR matrix, computed once."""
    freeze(matrix)
    row_entries = np.diff(matrix.indptr).astype(np.int64)
    if matrix.data.size and matrix.data.max() > 1:
        ones = np.ones_like(matrix.data)
        support = sp.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
        freeze(support)
        degrees = np.asarray(matrix.sum(axis=1, dtype=np.int64)).ravel()
    else:
        support, degrees = matrix, row_entries
    diagonal = matrix.diagonal()
    loops = diagonal if diagonal.any() else None
    for array in (degrees, row_entries, diagonal):
        array.setflags(write=False)
    return EdgeMatrix(matrix, support, loops, degrees, row_entries)


def freeze(matrix: sp.csr_array) -> None:
    """Make the arrays of `matrix` read-only."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)


def shallow(matrix: sp.csr_array) -> sp.csr_array:
    """Return another matrix around the same read-only arrays."""
    return sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)


def oriented(matrix: sp.csr_array, direction: Direction) -> sp.csr_array:
    """Return the edges as they are seen along a direction."""
    if direction is Direction.OUT:
        return matrix
    transposed = sp.csr_array(matrix.T)
    transposed.sort_indices()
    if direction is Direction.IN:
        return transposed
    # The union of two multisets: on simple graphs a neighbour on both sides counts once, on
    # undirected multigraphs the result is A itself.
    union = sp.csr_array(matrix.maximum(transposed))
    union.sort_indices()
    return union
