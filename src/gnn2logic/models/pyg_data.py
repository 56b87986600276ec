"""Graphs of any kind as PyTorch Geometric data, and as mini-batches of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch_geometric.data import Batch, Data, HeteroData

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import GraphError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, as_batch, to_pyg
from gnn2logic.graphs.edges import check_node_count
from gnn2logic.graphs.reading import read_once

__all__ = ["mini_batches", "pyg_graphs"]

# Activations of this many nodes and 128 channels take 16 MB.
MAX_NODES = 32_768
MAX_GRAPHS = 512


def pyg_graphs(graphs: Any, *, fill_x: bool = False) -> list[Data]:
    """Return graphs of any kind that can be read as a list of PyTorch Geometric ``Data``.

    PyG graphs are returned as they are, with all of their attributes; a ``Batch`` is cut into its
    graphs. All other graphs become predicates as in `gnn2logic.as_batch` and then ``Data`` as in
    `gnn2logic.to_pyg`; without any predicate ``x`` is a column of ones. Nothing given is changed.

    Parameters
    ----------
    graphs : Data, Batch, Dataset, iterable of these, or anything that `gnn2logic.as_batch` reads
    fill_x : bool
        Whether PyG graphs without ``x`` become copies with a column of ones as ``x``. The copies
        share the other tensors.

    Examples
    --------
    >>> from gnn2logic.graphs import from_edges
    >>> path = from_edges([(0, 1), (1, 2)], 3, [[1], [0], [0]], names=["red"])
    >>> pyg_graphs(path)[0].x.tolist()
    [[1.0], [0.0], [0.0]]
    """
    graphs = read_once(graphs)
    listed = _as_they_are(graphs)
    if listed is None:
        batch: GraphBatch = as_batch(graphs)
        listed, fill_x = to_pyg(batch), True
        if not batch.names:
            for data in listed:
                data.x = None
    for number, data in enumerate(listed):
        if not data.num_nodes:
            raise GraphError(f"Every graph must have at least one node. Graph {number} has none.")
        check_node_count(data.num_nodes, what=f"Graph {number}")
    return [_with_x(data) for data in listed] if fill_x else listed


def _as_they_are(graphs: Any) -> list[Data] | None:
    """Return PyG graphs as a list, or None when they are of another kind."""
    if isinstance(graphs, Data | HeteroData):
        return _single_graphs(graphs, "Graph 0")
    if not isinstance(graphs, list | tuple):
        return None
    if not graphs:
        raise GraphError(f"At least one graph is needed. Got an empty {type(graphs).__name__}.")
    if not any(isinstance(item, Data | HeteroData) for item in graphs):
        return None
    listed: list[Data] = []
    for number, item in enumerate(graphs):
        if not isinstance(item, Data | HeteroData):
            raise UnsupportedInputError(
                f"All graphs must be of one kind. Got PyTorch Geometric graphs and "
                f"{type(item).__name__} at position {number}."
            )
        listed.extend(_single_graphs(item, f"Graph {number}"))
    return listed


def _single_graphs(data: Any, where: str) -> list[Data]:
    if isinstance(data, HeteroData):
        raise UnsupportedInputError(
            f"Graphs must have one type of nodes. {where} is a {type(data).__name__}; convert it "
            "with data.to_homogeneous()."
        )
    if isinstance(data, Batch):
        try:
            return list(data.to_data_list())
        except RuntimeError:
            raise UnsupportedInputError(
                f"A Batch must be made with Batch.from_data_list to be cut into its graphs. "
                f"{where} was made in another way."
            ) from None
    if getattr(data, "batch", None) is not None:
        raise UnsupportedInputError(
            f"{where} has a batch vector, so it holds several graphs in one Data. "
            "Give a list of Data, or a Batch that Batch.from_data_list made."
        )
    return [data]


def _with_x(data: Data) -> Data:
    if data.x is not None:
        return data
    filled = copy.copy(data)
    filled.x = torch.ones(data.num_nodes, 1)
    return filled


def mini_batches(
    graphs: Sequence[Data], *, max_graphs: int = MAX_GRAPHS, max_nodes: int = MAX_NODES
) -> Iterator[Batch]:
    """Yield the graphs in their order as ``Batch`` objects of bounded size.

    A graph is never cut: one with more than `max_nodes` nodes is a batch of its own.

    Examples
    --------
    >>> from gnn2logic.graphs import random_graphs
    >>> graphs = pyg_graphs(random_graphs(5, sizes=[2, 2, 9, 1, 1], random_state=0))
    >>> [batch.num_graphs for batch in mini_batches(graphs, max_nodes=4)]
    [2, 1, 2]
    """
    for start, stop in bounded_runs(
        [data.num_nodes for data in graphs], max_items=max_graphs, max_size=max_nodes
    ):
        yield _joined(list(graphs[start:stop]), start)


def _joined(graphs: list[Data], first: int) -> Batch:
    try:
        return Batch.from_data_list(graphs)
    except Exception as error:
        raise GraphError(
            "All graphs must have the same attributes, equally wide, to be put into one "
            f"mini-batch. Graphs {first} to {first + len(graphs) - 1} cannot: "
            f"{type(error).__name__}: {error}"
        ) from error


def bounded_runs(
    sizes: Sequence[int], *, max_items: int, max_size: int
) -> Iterator[tuple[int, int]]:
    """Yield runs ``(start, stop)`` of at most so many items and so much size, but of one at least.

    >>> list(bounded_runs([2, 2, 9, 1, 1], max_items=512, max_size=4))
    [(0, 2), (2, 3), (3, 5)]
    """
    for name, value in (("max_graphs", max_items), ("max_nodes", max_size)):
        check_whole(name, value, least=1)
    start, total = 0, 0
    for number, size in enumerate(sizes):
        if number > start and (number - start == max_items or total + size > max_size):
            yield start, number
            start, total = number, 0
        total += size
    if len(sizes) > start:
        yield start, len(sizes)
