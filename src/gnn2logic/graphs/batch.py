"""`GraphBatch`: many graphs as one block-diagonal structure with named Boolean predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._validation import check_names, check_whole, is_whole, some_of
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs.batch_checks import (
    check_joinable,
    checked_arrays,
    clean_predicates,
    graph_numbers,
    unknown_predicate,
    unknown_relation,
)
from gnn2logic.graphs.blocks import (
    BatchArrays,
    all_both_ways,
    both_ways,
    joined_blocks,
    membership_matrix,
    off_diagonal,
    same_matrix,
    support,
    taken_blocks,
)
from gnn2logic.graphs.edges import EdgeMatrix, clean_matrix, edge_matrix, freeze, oriented, shallow
from gnn2logic.graphs.modality import OUT_EDGES, Edges

__all__ = ["GraphBatch"]

BoolArray = npt.NDArray[np.bool_]


class GraphBatch:
    """An immutable batch of graphs: predicates, edges and the boundaries between graphs.

    Nodes are numbered through the whole batch; graph g owns nodes ``ptr[g]`` to ``ptr[g+1] - 1``.
    No edge crosses two graphs.

    Parameters
    ----------
    predicates : array of bool or 0/1, shape (n_nodes, n_predicates), or None
        Column j holds where predicate ``names[j]`` is true. None means no predicates.
    adjacency : matrix, or mapping of relation name to matrix
        Entry (v, w) is the number of edges from v to w. A mapping gives typed edges, and all of
        them together are the plain ``A``.
    ptr : array of int, optional
        Graph boundaries, ``[0, ..., n_nodes]``. By default everything is one graph.
    names : sequence of str, optional
        Names of the predicates, ``U0, U1, ...`` by default.
    relations : mapping of str to matrix, optional
        Named subsets of the edges in `adjacency`, read as ``A[name]``. Needed only where they are
        not simply the parts of a mapping given as `adjacency`.

    Examples
    --------
    The graph of the paper's running example:

    >>> batch = GraphBatch(
    ...     [[0, 1], [1, 0], [0, 0], [1, 1]],
    ...     [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]],
    ... )
    >>> batch
    GraphBatch(n_graphs=1, n_nodes=4, n_edges=8, names=('U0', 'U1'))
    >>> batch.column("U1").astype(int)
    array([1, 0, 0, 1])
    """

    __slots__ = ("__weakref__", "_adjacency", "_derived", "_names", "_predicates", "_ptr", "_rels")

    _adjacency: sp.csr_array
    _derived: dict[Any, Any]
    _names: tuple[str, ...]
    _predicates: BoolArray
    _ptr: npt.NDArray[np.int64]
    _rels: Mapping[str, sp.csr_array]

    def __init__(
        self,
        predicates: npt.ArrayLike | None,
        adjacency: object,
        *,
        ptr: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        relations: Mapping[str, object] | None = None,
    ) -> None:
        self._set(*checked_arrays(predicates, adjacency, ptr, names, relations))

    def _set(
        self,
        predicates: BoolArray,
        names: tuple[str, ...],
        adjacency: sp.csr_array,
        relations: Mapping[str, sp.csr_array],
        ptr: npt.NDArray[np.int64],
    ) -> None:
        if len(names) != predicates.shape[1]:
            raise FeatureError(
                f"There must be one name for each predicate column. Got {len(names)} names for "
                f"{predicates.shape[1]} columns."
            )
        predicates.setflags(write=False)
        ptr.setflags(write=False)
        freeze(adjacency)
        for matrix in relations.values():
            freeze(matrix)
        object.__setattr__(self, "_predicates", predicates)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_adjacency", adjacency)
        object.__setattr__(self, "_rels", MappingProxyType(dict(relations)))
        object.__setattr__(self, "_ptr", ptr)
        object.__setattr__(self, "_derived", {})

    @classmethod
    def _trusted(
        cls,
        predicates: BoolArray,
        names: tuple[str, ...],
        adjacency: sp.csr_array,
        relations: Mapping[str, sp.csr_array],
        ptr: npt.NDArray[np.int64],
    ) -> GraphBatch:
        """Build from parts that are already canonical, such as rows of another batch."""
        batch = cls.__new__(cls)
        batch._set(predicates, names, adjacency, relations, ptr)
        return batch

    @property
    def _arrays(self) -> BatchArrays:
        return BatchArrays(self._predicates, self._names, self._adjacency, self._rels, self._ptr)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"GraphBatch is immutable; {name!r} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"GraphBatch is immutable; {name!r} cannot be deleted.")

    # What it holds ---------------------------------------------------------------------------

    @property
    def predicates(self) -> BoolArray:
        """The Boolean matrix U of the paper, shape (n_nodes, n_predicates)."""
        return self._predicates

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predicates."""
        return self._names

    @property
    def adjacency(self) -> sp.csr_array:
        """All edges; entry (v, w) counts the edges from v to w.

        The arrays are read-only, and the matrix around them is a new one each time: whatever is
        done to it, the batch stays as it is.
        """
        return shallow(self._adjacency)

    @property
    def relations(self) -> Mapping[str, sp.csr_array]:
        """The typed edges by name; empty for untyped graphs."""
        return MappingProxyType({name: shallow(matrix) for name, matrix in self._rels.items()})

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The names of the typed edges; empty for untyped graphs."""
        return tuple(self._rels)

    @property
    def ptr(self) -> npt.NDArray[np.int64]:
        """Graph boundaries: graph g owns nodes ``ptr[g]`` to ``ptr[g+1] - 1``."""
        return self._ptr

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self._ptr) - 1

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all graphs together."""
        return int(self._ptr[-1])

    @property
    def n_edges(self) -> int:
        """The number of directed edges; an undirected edge counts twice, a self loop once."""
        return int(self._adjacency.data.sum(dtype=np.int64))

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of nodes of each graph."""
        return np.diff(self._ptr)

    @property
    def shape(self) -> tuple[int]:
        """``(n_graphs,)``: scikit-learn splits a batch by graphs."""
        return (self.n_graphs,)

    @property
    def graph_index(self) -> npt.NDArray[np.int64]:
        """For every node, the number of its graph."""
        if "graph_index" not in self._derived:
            index = np.repeat(np.arange(self.n_graphs, dtype=np.int64), self.sizes)
            index.setflags(write=False)
            self._derived["graph_index"] = index
        result: npt.NDArray[np.int64] = self._derived["graph_index"]
        return result

    def column(self, name: str) -> BoolArray:
        """Return where the predicate `name` is true, one entry per node."""
        try:
            return self._predicates[:, self._names.index(name)]
        except ValueError:
            raise unknown_predicate(name, self._names) from None

    def edges(self, edges: Edges = OUT_EDGES) -> EdgeMatrix:
        """Return the edges that a modal parameter follows, derived once and kept."""
        cached = self._derived.get(edges)
        if cached is None:
            cached = self._derived[edges] = edge_matrix(self._oriented(edges))
        result: EdgeMatrix = cached
        return result

    def _oriented(self, edges: Edges) -> sp.csr_array:
        if edges.relation is None:
            matrix = self._adjacency
        elif edges.relation in self._rels:
            matrix = self._rels[edges.relation]
        else:
            raise unknown_relation(edges.relation, tuple(self._rels))
        return oriented(matrix, edges.direction)

    @property
    def is_symmetric(self) -> bool:
        """Whether every edge, of every relation, is there in both directions."""
        if "symmetric" not in self._derived:
            matrices = (self._adjacency, *self._rels.values())
            symmetric = all(same_matrix(matrix, sp.csr_array(matrix.T)) for matrix in matrices)
            self._derived["symmetric"] = symmetric
        return bool(self._derived["symmetric"])

    @property
    def has_loops(self) -> bool:
        """Whether any node is its own neighbour."""
        return self.edges().loops is not None

    @property
    def has_multi_edges(self) -> bool:
        """Whether any two nodes are joined by more than one edge in one direction."""
        return self.edges().has_multi_edges

    @property
    def is_simple(self) -> bool:
        """Whether all graphs are simple and undirected, as in the paper."""
        return self.is_symmetric and not self.has_loops and not self.has_multi_edges

    @property
    def membership(self) -> sp.csr_array:
        """The sparse (n_graphs, n_nodes) matrix whose product sums node values per graph."""
        if "membership" not in self._derived:
            matrix = membership_matrix(self._adjacency, self._ptr)
            self._derived["membership"] = matrix
        result: sp.csr_array = self._derived["membership"]
        return result

    # Parts and wholes ------------------------------------------------------------------------

    def take(self, graphs: npt.ArrayLike) -> GraphBatch:
        """Return the batch of the given graphs, in the given order; rows and edges go together.

        Parameters
        ----------
        graphs : array of int or bool
            Graph numbers (negative ones count from the end, repeats are allowed) or a mask.
        """
        index = graph_numbers(graphs, self.n_graphs)
        return GraphBatch._trusted(*taken_blocks(self._arrays, index))

    def split(self, n_batches: int) -> list[GraphBatch]:
        """Return at most `n_batches` batches of consecutive whole graphs with about equal nodes."""
        check_whole("n_batches", n_batches, least=1, error=GraphError)
        targets = np.arange(1, n_batches) * self.n_nodes / n_batches
        cuts = np.unique([0, *np.searchsorted(self._ptr, targets).tolist(), self.n_graphs])
        return [self[int(start) : int(stop)] for start, stop in pairwise(cuts)]

    @staticmethod
    def concat(batches: Iterable[GraphBatch]) -> GraphBatch:
        """Return one batch of all graphs; predicates and relations must agree in name and order."""
        batches = list(batches)
        if not batches:
            raise GraphError("concat needs at least one batch. Got an empty sequence.")
        for batch in batches:
            if not isinstance(batch, GraphBatch):
                raise UnsupportedInputError(
                    f"concat joins batches. Got {type(batch).__name__} instead; as_batch reads "
                    "other graphs."
                )
        first = batches[0]
        if len(batches) == 1:
            return first
        for number, batch in enumerate(batches):
            check_joinable(first, batch, number)
        return GraphBatch._trusted(*joined_blocks([batch._arrays for batch in batches]))

    def with_predicates(self, predicates: npt.ArrayLike, names: Sequence[str]) -> GraphBatch:
        """Return the same graphs with other predicates; the derived matrices are shared."""
        columns = clean_predicates(predicates, self.n_nodes)
        checked = check_names(names, what="Predicate")
        batch = GraphBatch._trusted(columns, checked, self._adjacency, self._rels, self._ptr)
        batch._derived.update(self._derived)
        return batch

    def symmetrize(self) -> GraphBatch:
        """Return the graphs with every edge also in the other direction."""
        relations = {name: both_ways(matrix) for name, matrix in self._rels.items()}
        return self._with_edges(all_both_ways(self._adjacency, self._rels), relations)

    def without_loops(self) -> GraphBatch:
        """Return the graphs without self loops."""
        relations = {name: off_diagonal(matrix) for name, matrix in self._rels.items()}
        return self._with_edges(off_diagonal(self._adjacency), relations)

    def merge_multi_edges(self) -> GraphBatch:
        """Return the graphs with parallel edges merged into one, which has the types of all."""
        relations = {name: support(matrix) for name, matrix in self._rels.items()}
        return self._with_edges(support(self._adjacency), relations)

    def _with_edges(
        self, adjacency: sp.csr_array, relations: Mapping[str, sp.csr_array]
    ) -> GraphBatch:
        """Return the same nodes with other edges."""
        typed = {name: clean_matrix(m, what=f"relation {name!r}") for name, m in relations.items()}
        matrix = clean_matrix(adjacency, what="adjacency")
        return GraphBatch._trusted(self._predicates, self._names, matrix, typed, self._ptr)

    def __len__(self) -> int:
        return self.n_graphs

    def __getitem__(self, key: int | slice | npt.ArrayLike) -> GraphBatch:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            # How scikit-learn chooses rows of an array.
            key = key[0]
        if isinstance(key, slice):
            return self.take(np.arange(self.n_graphs)[key])
        if is_whole(key):
            number = int(key)
            if not -self.n_graphs <= number < self.n_graphs:
                raise IndexError(f"graph {number} is out of range for {self.n_graphs} graphs")
            return self.take([number])
        return self.take(key)

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self.take([number]) for number in range(self.n_graphs))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return (
            self._names == other._names
            and np.array_equal(self._ptr, other._ptr)
            and np.array_equal(self._predicates, other._predicates)
            and set(self._rels) == set(other._rels)
            and same_matrix(self._adjacency, other._adjacency)
            and all(same_matrix(matrix, other._rels[name]) for name, matrix in self._rels.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        fields = self._arrays._replace(relations=dict(self._rels))
        return (GraphBatch._trusted, tuple(fields))

    def __repr__(self) -> str:
        typed = f", relations={tuple(self._rels)}" if self._rels else ""
        names = f"({some_of(self._names)})" if len(self._names) > 8 else repr(self._names)
        return (
            f"GraphBatch(n_graphs={self.n_graphs}, n_nodes={self.n_nodes}, "
            f"n_edges={self.n_edges}, names={names}{typed})"
        )
