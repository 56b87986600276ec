"""Graphs of any kind as PyTorch Geometric data, checked, and as mini-batches of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, as_batch, to_pyg
from gnn2logic.graphs.edges import check_node_count
from gnn2logic.graphs.read_hetero import read_hetero
from gnn2logic.graphs.reading import read_once

__all__ = [
    "check_ends",
    "check_finite",
    "check_graphs",
    "edge_lists",
    "feature_matrices",
    "mini_batches",
    "pyg_graphs",
    "starts",
]


def check_graphs(graphs: Sequence[Data]) -> None:
    """Refuse graphs that no network can be given; ``x`` may be missing in all of them.

    An edge to a node that is not there would lead to another graph of the mini-batch, and PyG drops
    attributes that only some graphs have.
    """
    _check_attributes(graphs)
    if isinstance(graphs[0], HeteroData):
        # Reading them checks the edges and the features.
        read_hetero(graphs, feature_names=None, edge_types=None)
        return
    ptr = starts([data.num_nodes for data in graphs])
    if graphs[0].x is not None:
        check_finite(torch.cat(feature_matrices(graphs)), ptr)
    edges = edge_lists(graphs)
    check_ends(torch.cat(edges, dim=1), ptr, starts([pairs.shape[1] for pairs in edges]))


def _check_attributes(graphs: Sequence[Data]) -> None:
    first = _attribute_names(graphs[0])
    for number, data in enumerate(graphs):
        other = _attribute_names(data)
        if other != first:
            name = min(other ^ first)
            has, lacks = (0, number) if name in first else (number, 0)
            raise GraphError(
                f"All graphs must have the same attributes. Got {name!r} in graph {has} and none "
                f"in graph {lacks}; set it in all graphs or remove it."
            )


def _attribute_names(data: Data | HeteroData) -> set[str]:
    if not isinstance(data, HeteroData):
        return set(data.keys())
    names = {f"{name}.{key}" for name, store in data.node_items() for key, _ in store.items()}
    edges = data.edge_items()
    return names | {f"{'.'.join(name)}.{key}" for name, store in edges for key, _ in store.items()}


def starts(sizes: Sequence[int]) -> Tensor:
    """Return where the rows of each graph start, and where the last ones stop."""
    return torch.cumsum(torch.tensor([0, *sizes]), 0)


def feature_matrices(graphs: Sequence[Data], *, min_columns: int = 0) -> list[Tensor]:
    """Return ``x`` of every graph on the CPU: dense, a row for each node, equally wide."""
    matrices = [_features(data, f"graph {at}", min_columns) for at, data in enumerate(graphs)]
    for number, matrix in enumerate(matrices):
        if matrix.shape[1] != matrices[0].shape[1]:
            raise FeatureError(
                "All graphs must have the same number of feature columns. "
                f"Got {matrices[0].shape[1]} in graph 0 and {matrix.shape[1]} in graph {number}."
            )
    return matrices


def edge_lists(graphs: Sequence[Data]) -> list[Tensor]:
    """Return ``edge_index`` of every graph on the CPU, of shape (2, E) in whole numbers."""
    return [_edges(data, f"graph {number}") for number, data in enumerate(graphs)]


def _features(data: Data, where: str, min_columns: int) -> Tensor:
    x = data.x
    what = f"x of {where}"
    if not isinstance(x, Tensor) or x.layout != torch.strided or x.is_complex():
        raise UnsupportedInputError(
            f"{what} must be a dense tensor of real numbers. Got {_described(x)} instead."
        )
    if x.ndim != 2:
        hint = " For one feature per node use x.reshape(-1, 1)." if x.ndim == 1 else ""
        raise FeatureError(
            f"{what} must be a matrix with one row per node and one column per feature. "
            f"Got shape {tuple(x.shape)} instead.{hint}"
        )
    if x.shape[0] != data.num_nodes or x.shape[1] < min_columns:
        columns = " and at least one column" if min_columns else ""
        raise FeatureError(
            f"{what} must have one row for each of the {data.num_nodes} nodes{columns}. "
            f"Got shape {tuple(x.shape)} instead."
        )
    return x.detach().cpu()


def _edges(data: Data, where: str) -> Tensor:
    edges = data.edge_index
    if edges is None:
        for other in ("adj_t", "adj"):
            if getattr(data, other, None) is not None:
                raise UnsupportedInputError(
                    f"The edges of {where} must be in edge_index. Got {other} instead."
                )
        return torch.zeros(2, 0, dtype=torch.long)
    what = f"edge_index of {where}"
    if not isinstance(edges, Tensor) or edges.layout != torch.strided:
        raise UnsupportedInputError(f"{what} must be a dense tensor. Got {_described(edges)}.")
    if edges.ndim != 2 or edges.shape[0] != 2:
        hint = ""
        if edges.ndim == 2 and edges.shape[1] == 2:
            hint = " Transpose it: edge_index.t()."
        raise GraphError(f"{what} must have shape (2, E). Got {tuple(edges.shape)} instead.{hint}")
    if edges.is_floating_point() and edges.shape[1]:
        raise GraphError(f"{what} must hold whole numbers. Got {edges.dtype} instead.")
    return edges.detach().cpu().to(torch.long)


def _described(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype} with layout {value.layout}"
    return type(value).__name__


def check_finite(x: Tensor, ptr: Tensor) -> None:
    """Refuse features that are not finite; graph number g has the rows from ``ptr[g]`` on."""
    bad = ~torch.isfinite(x)
    if bad.any():
        node, column = torch.nonzero(bad)[0].tolist()
        graph = int(torch.searchsorted(ptr, node, right=True)) - 1
        raise FeatureError(
            f"Features must be finite numbers that fit into {x.dtype}. "
            f"Got {x[node, column].item()} "
            f"at node {node - int(ptr[graph])} of graph {graph}, column {column}. "
            "Fill in or remove such values first."
        )


def check_ends(edge_index: Tensor, ptr: Tensor, edge_ptr: Tensor) -> None:
    """Refuse edges to nodes that their graph does not have."""
    owners = torch.repeat_interleave(torch.arange(len(ptr) - 1), edge_ptr.diff())
    bad = ((edge_index < 0) | (edge_index >= ptr.diff()[owners])).any(dim=0)
    if bad.any():
        edge = int(torch.nonzero(bad)[0])
        graph = int(owners[edge])
        raise GraphError(
            f"edge_index of graph {graph} must hold node numbers from 0 to "
            f"{int(ptr[graph + 1] - ptr[graph]) - 1}. Got the edge {edge_index[:, edge].tolist()}."
        )


# Activations of this many nodes and 128 channels take 16 MB.
MAX_NODES = 32_768
MAX_GRAPHS = 512


def pyg_graphs(graphs: Any, *, fill_x: bool = False, typed: bool = False) -> list[Data]:
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
    typed : bool
        Whether ``HeteroData`` is returned as well; by default it is refused.

    Examples
    --------
    >>> from gnn2logic.graphs import from_edges
    >>> path = from_edges([(0, 1), (1, 2)], 3, [[1], [0], [0]], names=["red"])
    >>> pyg_graphs(path)[0].x.tolist()
    [[1.0], [0.0], [0.0]]
    """
    graphs = read_once(graphs)
    listed = _as_they_are(graphs, typed)
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


def _as_they_are(graphs: Any, typed: bool) -> list[Data] | None:
    """Return PyG graphs as a list, or None when they are of another kind."""
    if isinstance(graphs, Data | HeteroData):
        return _single_graphs(graphs, "Graph 0", typed)
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
        listed.extend(_single_graphs(item, f"Graph {number}", typed))
    if len({isinstance(data, HeteroData) for data in listed}) > 1:
        raise UnsupportedInputError("All graphs must be HeteroData, or none. Got both.")
    return listed


def _single_graphs(data: Any, where: str, typed: bool) -> list[Data]:
    if isinstance(data, HeteroData) and not typed:
        raise UnsupportedInputError(
            f"Graphs must have one type of nodes here. {where} is a {type(data).__name__}; convert "
            "it with data.to_homogeneous(). A network on HeteroData is asked by Teacher, and "
            "distilled by distill."
        )
    if isinstance(data, Batch):
        try:
            return list(data.to_data_list())
        except KeyError as error:
            # PyG does not remember how many nodes a type without features has in each graph.
            raise UnsupportedInputError(
                f"A batch of HeteroData must have features for every type of nodes. {where} has "
                f"none for {error}; give the list of graphs."
            ) from None
        except RuntimeError:
            raise UnsupportedInputError(
                f"A Batch must be made with Batch.from_data_list to be cut into its graphs. "
                f"{where} was made in another way."
            ) from None
    if isinstance(data, HeteroData):
        return [data]
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
