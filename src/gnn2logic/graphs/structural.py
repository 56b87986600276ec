"""`structure`: rings, bridges, triangles and so on as predicates and relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.cohesion import clique_members, core_numbers, triangles_per_node
from gnn2logic.graphs.cycles import edges_on_cycles, shortest_cycles, simple_edges
from gnn2logic.graphs.reading import as_batch
from gnn2logic.graphs.structure_names import (
    CLIQUE_SIZES,
    CORE_NUMBERS,
    DEGREES,
    LARGE_DEGREES,
    RING_SIZES,
    TRIANGLE_COUNTS,
    Families,
    check_families,
    structure_predicates,
    structure_relations,
)

__all__ = ["add_structure", "structure"]

BoolArray = npt.NDArray[np.bool_]


def structure(graphs: Any, families: Families = True) -> GraphBatch:
    """Return graphs with predicates and relations that say what shapes their nodes are part of.

    These go beyond the logic of the paper: no formula of C2 says "lies on a ring of six". They
    depend on the graph alone, not on the order of its nodes. Edges are taken in both directions,
    parallel ones as one, and self loops are left out.

    Parameters
    ----------
    graphs : graphs of any kind that `as_batch` reads
    families : True, str or sequence of str, default=True
        What to add; True is all of it.

        ``"edges"``
            The relations ``A[ring]``, edges on a cycle, and ``A[bridge]``, all others between two
            nodes.
        ``"rings"``
            ``ring=3`` to ``ring=8``: an edge of the node has a shortest cycle of this length. In
            fused rings a node has the sizes of all of them.
        ``"triangles"``
            ``triangles > 0``, ``> 1``, ``> 3``, ``> 7``: how many triangles the node lies on.
        ``"cores"``
            ``core > 1`` to ``core > 5``: the largest k-core that has the node.
        ``"cliques"``
            ``clique=4``, ``clique=5``: the node is in a clique of that many nodes.
        ``"degrees"``
            ``degree=0`` to ``degree=4``, ``degree > 4``, ``degree > 9``: the number of neighbours.

    Returns
    -------
    GraphBatch
        The same nodes and edges, with further predicates and relations behind those they have.

    Examples
    --------
    A square with a tail:

    >>> import gnn2logic as gl
    >>> graph = gl.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], 5).symmetrize()
    >>> shaped = gl.structure(graph, ["edges", "rings"])
    >>> shaped.column("ring=4").astype(int)
    array([1, 1, 1, 1, 0])
    >>> gl.parse("ring=4 & A[bridge] true > 0").evaluate(shaped, level="node").astype(int)
    array([0, 0, 0, 1, 0])
    """
    return add_structure(as_batch(graphs), check_families(families))


def add_structure(batch: GraphBatch, families: Sequence[str]) -> GraphBatch:
    """Return a batch with the predicates and relations of checked families."""
    if not families:
        return batch
    names = structure_predicates(families)
    relations = structure_relations(families)
    for what, new, old in (
        ("predicate", names, batch.names),
        ("relation", relations, batch.relation_names),
    ):
        taken = [name for name in new if name in old]
        if taken:
            raise FeatureError(
                f"The graphs must not have a {what} of the name {taken[0]!r}, which structure "
                "gives. Rename theirs, or leave the structure out if it was added before."
            )
    shapes = _Shapes(batch)
    columns = [column for word in families for column in _COLUMNS[word](shapes)]
    predicates = np.empty((batch.n_nodes, len(batch.names) + len(columns)), dtype=bool, order="F")
    predicates[:, : len(batch.names)] = batch.predicates
    for number, column in enumerate(columns, start=len(batch.names)):
        predicates[:, number] = column
    every_name = (*batch.names, *names)
    if not relations:
        return batch.with_predicates(predicates, every_name)
    return GraphBatch(
        predicates,
        batch.adjacency,
        ptr=batch.ptr,
        names=every_name,
        relations={**batch.relations, **shapes.edge_relations()},
    )


class _Shapes:
    """What is known about the edges of a batch, measured when it is asked for."""

    def __init__(self, batch: GraphBatch) -> None:
        self._adjacency = batch.adjacency

    @cached_property
    def edges(self) -> sp.csr_array:
        return simple_edges(self._adjacency)

    @cached_property
    def on_cycle(self) -> BoolArray:
        return edges_on_cycles(self.edges)

    @cached_property
    def cores(self) -> npt.NDArray[np.int64]:
        return core_numbers(self.edges)

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        return np.diff(self.edges.indptr).astype(np.int64)

    def edge_relations(self) -> dict[str, sp.csr_array]:
        """Return the edges as they were given, those on cycles and all others between two nodes."""
        edges, given = self.edges, self._adjacency

        def chosen(marked: BoolArray) -> sp.csr_array:
            marks = sp.csr_array(
                (marked.astype(given.dtype), edges.indices, edges.indptr), given.shape
            )
            return sp.csr_array(given.multiply(marks))

        return {"ring": chosen(self.on_cycle), "bridge": chosen(~self.on_cycle)}

    def rings(self) -> Iterator[BoolArray]:
        lengths = shortest_cycles(self.edges, self.on_cycle)
        rows = np.repeat(np.arange(self.edges.shape[0]), np.diff(self.edges.indptr))
        for size in RING_SIZES:
            column = np.zeros(self.edges.shape[0], dtype=bool)
            column[rows[lengths == size]] = True
            yield column

    def triangles(self) -> Iterator[BoolArray]:
        counts = triangles_per_node(self.edges)
        return (counts > least for least in TRIANGLE_COUNTS)

    def core_columns(self) -> Iterator[BoolArray]:
        return (self.cores > least for least in CORE_NUMBERS)

    def cliques(self) -> Iterator[BoolArray]:
        return (clique_members(self.edges, size, self.cores) for size in CLIQUE_SIZES)

    def degree_columns(self) -> Iterator[BoolArray]:
        yield from (self.degrees == number for number in DEGREES)
        yield from (self.degrees > number for number in LARGE_DEGREES)


_COLUMNS: dict[str, Callable[[_Shapes], Iterator[BoolArray]]] = {
    "edges": lambda shapes: iter(()),
    "rings": _Shapes.rings,
    "triangles": _Shapes.triangles,
    "cores": _Shapes.core_columns,
    "cliques": _Shapes.cliques,
    "degrees": _Shapes.degree_columns,
}
