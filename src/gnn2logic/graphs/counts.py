"""Counts and set sizes of every modal parameter for a block of columns.

For simple graphs one sparse product ``A @ phi`` and one per-graph sum give all eight parameters.
Loops and multi-edges add what the definitions ask for: ``I+A`` counts the node itself once, and
complements are complements of sets, so they count nodes, never edges.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.edges import EdgeMatrix
from gnn2logic.graphs.modality import Edges, Modality

__all__ = ["ModalCounts", "set_sizes"]

IntArray = npt.NDArray[np.integer[Any]]


class ModalCounts:
    """For a block of Boolean columns phi: how many w in eps_S(v) satisfy phi, for every S and v.

    Parameters
    ----------
    batch : GraphBatch
    columns : array of bool, shape (n_nodes,) or (n_nodes, k)

    Examples
    --------
    >>> from gnn2logic.graphs import GraphBatch, Modality
    >>> path = GraphBatch([[1], [0], [1]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> counts = ModalCounts(path, path.column("U0"))
    >>> counts(Modality.from_set("A")), counts(Modality.from_set("1-I"))
    (array([0, 2, 0], dtype=int32), array([1, 2, 1], dtype=int32))
    """

    def __init__(self, batch: GraphBatch, columns: npt.NDArray[np.bool_]) -> None:
        self._batch = batch
        # scipy multiplies without a hidden copy when matrix and block have one integer type.
        self._columns = columns.astype(batch.adjacency.data.dtype)
        self._products: dict[Edges, IntArray] = {}
        self._support_products: dict[Edges, IntArray] = {}
        self._graph_sums: IntArray | None = None

    @property
    def graph_sums(self) -> IntArray:
        """The counts of parameter ``1``, one row per graph."""
        if self._graph_sums is None:
            self._graph_sums = _product(self._batch.membership, self._columns)
        return self._graph_sums

    def __call__(self, modality: Modality) -> IntArray:
        """Return the counts along `modality`, one row per node."""
        phi = self._columns
        if not modality.others:
            if not modality.neighbours:
                return phi if modality.itself else np.zeros_like(phi)
            return (
                self._near(modality.edges) + phi if modality.itself else self._all(modality.edges)
            )
        everything = np.repeat(self.graph_sums, self._batch.sizes, axis=0)
        if modality.neighbours:
            return everything if modality.itself else everything - phi
        if modality.itself:
            return everything - self._all(modality.edges, as_set=True)
        return np.asarray(everything - phi - self._near(modality.edges, as_set=True))

    def _all(self, which: Edges, *, as_set: bool = False) -> IntArray:
        """Count along all edges, self loops included."""
        edges = self._batch.edges(which)
        as_set = as_set and edges.has_multi_edges
        products = self._support_products if as_set else self._products
        if which not in products:
            matrix = edges.support if as_set else edges.matrix
            products[which] = _product(matrix, self._columns)
        return products[which]

    def _near(self, which: Edges, *, as_set: bool = False) -> IntArray:
        """Count along the edges that lead to another node."""
        counts = self._all(which, as_set=as_set)
        loops = _loops(self._batch.edges(which), as_set=as_set)
        if loops is None:
            return counts
        n_loops = loops if self._columns.ndim == 1 else loops[:, None]
        return np.asarray(counts - n_loops.astype(self._columns.dtype) * self._columns)


def _product(matrix: sp.csr_array, columns: IntArray) -> IntArray:
    return cast("IntArray", matrix @ columns)


def _loops(edges: EdgeMatrix, *, as_set: bool) -> IntArray | None:
    if edges.loops is None or not as_set:
        return edges.loops
    return np.minimum(edges.loops, 1)


def set_sizes(batch: GraphBatch, modality: Modality) -> npt.NDArray[np.int64]:
    """Return ``|eps_S(v)|`` for every node v, counted as `ModalCounts` counts.

    >>> from gnn2logic.graphs import GraphBatch, Modality
    >>> path = GraphBatch(None, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> set_sizes(path, Modality.from_set("1-I-A"))
    array([1, 0, 1])
    """
    itself = np.int64(modality.itself)
    if not modality.others:
        if not modality.neighbours:
            return np.full(batch.n_nodes, itself)
        edges = batch.edges(modality.edges)
        return itself + _other_degrees(edges) if modality.itself else edges.degrees
    everything = np.repeat(batch.sizes, batch.sizes)
    if modality.neighbours:
        return everything if modality.itself else everything - 1
    edges = batch.edges(modality.edges)
    if modality.itself:
        return everything - edges.support_degrees
    return everything - 1 - _other_degrees(edges, as_set=True)


def _other_degrees(edges: EdgeMatrix, *, as_set: bool = False) -> npt.NDArray[np.int64]:
    degrees = edges.support_degrees if as_set else edges.degrees
    loops = _loops(edges, as_set=as_set)
    return degrees if loops is None else degrees - loops
