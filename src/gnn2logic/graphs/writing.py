"""Writing batches as networkx graphs and as PyTorch Geometric data."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.inputs import check_batch

__all__ = ["edge_rows", "to_networkx", "to_pyg"]

IntArray = npt.NDArray[np.int64]


def to_networkx(batch: GraphBatch) -> list[Any]:
    """Return every graph of a batch as a networkx graph; `from_networkx` reads them back.

    A graph is undirected when it is symmetric, and a multigraph when it has parallel edges. Nodes
    are numbered from 0 in each graph and have one Boolean attribute for each predicate. Edges of
    typed graphs have one Boolean attribute for each relation, because an edge may be in several.

    Examples
    --------
    >>> from gnn2logic.graphs import from_edges
    >>> path = from_edges([(0, 1), (1, 2)], 3, [[1], [0], [0]], names=["red"])
    >>> graph = to_networkx(path.symmetrize())[0]
    >>> graph.nodes(data=True)
    NodeDataView({0: {'red': True}, 1: {'red': False}, 2: {'red': False}})
    >>> graph.edges
    EdgeView([(0, 1), (1, 2)])
    """
    nx = import_optional("networkx", extra="plot", purpose="to_networkx")
    classes = {
        (False, False): nx.Graph,
        (False, True): nx.MultiGraph,
        (True, False): nx.DiGraph,
        (True, True): nx.MultiDiGraph,
    }
    batch = check_batch(batch)
    sources, targets, held = edge_rows(batch)
    directed = _directed_graphs(batch)
    multiple = _graphs_where(batch, batch.adjacency > 1)
    # Of the two directions of an undirected edge only the first is added; a loop has only one.
    keep = directed[batch.graph_index[sources]] | (sources <= targets)
    sources, targets, held = sources[keep], targets[keep], held[keep]
    cuts = np.searchsorted(sources, batch.ptr)
    graphs = []
    for number in range(batch.n_graphs):
        start, stop = int(batch.ptr[number]), int(batch.ptr[number + 1])
        edges = slice(int(cuts[number]), int(cuts[number + 1]))
        graph = classes[bool(directed[number]), bool(multiple[number])]()
        rows = batch.predicates[start:stop].tolist()
        graph.add_nodes_from(
            (node, dict(zip(batch.names, row, strict=True))) for node, row in enumerate(rows)
        )
        graph.add_edges_from(
            (source, target, dict(zip(batch.relations, row, strict=True)))
            for source, target, row in zip(
                (sources[edges] - start).tolist(),
                (targets[edges] - start).tolist(),
                held[edges].tolist(),
                strict=True,
            )
        )
        if batch.relations:
            graph.graph["relation_names"] = list(batch.relations)
        graphs.append(graph)
    return graphs


def to_pyg(batch: GraphBatch) -> list[Any]:
    """Return every graph of a batch as a PyTorch Geometric ``Data``; `from_pyg` reads them back.

    ``x`` has one float column for each predicate and ``predicate_names`` their names. Typed graphs
    have ``relation_names`` and, where every edge is in exactly one relation, ``edge_type`` with
    the number of that relation; else ``edge_relations``, a Boolean column for each relation.

    Examples
    --------
    >>> from gnn2logic.graphs import from_edges
    >>> path = from_edges([(0, 1), (1, 2)], 3, [[1], [0], [0]], names=["red"])
    >>> to_pyg(path)[0].edge_index  # doctest: +SKIP
    tensor([[0, 1],
            [1, 2]])
    """
    torch = import_optional("torch", extra="torch", purpose="to_pyg")
    data_class = import_optional("torch_geometric.data", extra="torch", purpose="to_pyg").Data
    batch = check_batch(batch)
    sources, targets, held = edge_rows(batch)
    cuts = np.searchsorted(sources, batch.ptr)
    x = batch.predicates.astype(np.float32, order="C")
    one_each = bool((held.sum(axis=1) == 1).all())
    result = []
    for number in range(batch.n_graphs):
        start, stop = int(batch.ptr[number]), int(batch.ptr[number + 1])
        edges = slice(int(cuts[number]), int(cuts[number + 1]))
        ends = np.stack([sources[edges], targets[edges]]) - start
        # Own memory for each graph: Data is often changed in place.
        data = data_class(
            x=torch.from_numpy(x[start:stop].copy()),
            edge_index=torch.from_numpy(ends),
            num_nodes=stop - start,
            predicate_names=list(batch.names),
        )
        if batch.relations:
            data.relation_names = list(batch.relations)
            if one_each:
                data.edge_type = torch.from_numpy(held[edges].argmax(axis=1))
            else:
                data.edge_relations = torch.from_numpy(held[edges].copy())
        result.append(data)
    return result


def edge_rows(batch: GraphBatch) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Return one row per edge, parallel ones apart: source, target, and in which relations it is.

    A relation with c of the n edges from v to w takes c consecutive ones of them in a circle,
    starting where the relation before it stopped. So relations that share out the edges never
    meet, and any others still have the right counts.
    """
    matrix = batch.adjacency
    counts = matrix.data.astype(np.int64)
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    sources = np.repeat(rows, counts)
    targets = np.repeat(matrix.indices.astype(np.int64), counts)
    held = np.zeros((len(sources), len(batch.relations)), dtype=bool)
    if not batch.relations:
        return sources, targets, held
    number = np.arange(len(sources)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = np.zeros(len(counts), dtype=np.int64)
    for column, relation in enumerate(batch.relations.values()):
        share = _entries_at(relation, matrix)
        held[:, column] = (number - np.repeat(start, counts)) % np.repeat(counts, counts) < (
            np.repeat(share, counts)
        )
        start = (start + share) % counts
    return sources, targets, held


def _entries_at(relation: sp.csr_array, whole: sp.csr_array) -> IntArray:
    """Return the entries of `part` at each stored entry of `whole`, zeros included."""
    size = whole.shape[0]
    result = np.zeros(whole.nnz, dtype=np.int64)
    keys = [
        np.repeat(np.arange(size, dtype=np.int64), np.diff(matrix.indptr)) * size + matrix.indices
        for matrix in (whole, relation)
    ]
    result[np.searchsorted(keys[0], keys[1])] = relation.data
    return result


def _directed_graphs(batch: GraphBatch) -> npt.NDArray[np.bool_]:
    """Return for each graph whether some edge of some relation has no counterpart."""
    directed = np.zeros(batch.n_graphs, dtype=bool)
    for matrix in (batch.adjacency, *batch.relations.values()):
        directed |= _graphs_where(batch, matrix != sp.csr_array(matrix.T))
    return directed


def _graphs_where(batch: GraphBatch, entries: Any) -> npt.NDArray[np.bool_]:
    """Return for each graph whether a Boolean sparse matrix has a true entry in it."""
    result = np.zeros(batch.n_graphs, dtype=bool)
    result[batch.graph_index[sp.coo_array(entries).row]] = True
    return result
