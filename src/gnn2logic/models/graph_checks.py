"""What is wrong with PyTorch Geometric graphs, said with the number of the graph."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError

__all__ = [
    "check_ends",
    "check_finite",
    "check_graphs",
    "edge_lists",
    "feature_matrices",
    "starts",
]


def check_graphs(graphs: Sequence[Data]) -> None:
    """Refuse graphs that no network can be given; ``x`` may be missing in all of them.

    An edge to a node that is not there would lead to another graph of the mini-batch, and PyG drops
    attributes that only some graphs have.
    """
    _check_attributes(graphs)
    ptr = starts([data.num_nodes for data in graphs])
    if graphs[0].x is not None:
        check_finite(torch.cat(feature_matrices(graphs)), ptr)
    edges = edge_lists(graphs)
    check_ends(torch.cat(edges, dim=1), ptr, starts([pairs.shape[1] for pairs in edges]))


def _check_attributes(graphs: Sequence[Data]) -> None:
    first = set(graphs[0].keys())
    for number, data in enumerate(graphs):
        other = set(data.keys())
        if other != first:
            name = min(other ^ first)
            has, lacks = (0, number) if name in first else (number, 0)
            raise GraphError(
                f"All graphs must have the same attributes. Got {name!r} in graph {has} and none "
                f"in graph {lacks}; set it in all graphs or remove it."
            )


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
