"""Many graphs as a few tensors, checked once, from which mini-batches are cut quickly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.models.pyg_data import MAX_GRAPHS, MAX_NODES, bounded_runs

__all__ = ["GraphTensors", "MiniBatch"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MiniBatch:
    """The input of a network: ``network(x, edge_index, batch)``; `nodes` are the rows of `x`."""

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    nodes: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class GraphTensors:
    """Features and edges of many graphs, one below the other.

    Parameters
    ----------
    x : Tensor of shape (n_nodes, n_features), float32
    edge_index : Tensor of shape (2, n_edges)
        Nodes are numbered from 0 in each graph.
    ptr, edge_ptr : Tensor
        Where the nodes and the edges of each graph start, and where the last one stops.
    names : tuple of str or None
        The names of the features, where the graphs have any.
    """

    x: Tensor
    edge_index: Tensor
    ptr: Tensor
    edge_ptr: Tensor
    names: tuple[str, ...] | None

    @classmethod
    def collate(cls, graphs: Sequence[Data]) -> GraphTensors:
        """Return the graphs as tensors on the CPU, or raise an error that names the bad one."""
        features = [_features(data, f"graph {number}") for number, data in enumerate(graphs)]
        for number, matrix in enumerate(features):
            if matrix.shape[1] != features[0].shape[1]:
                raise FeatureError(
                    "All graphs must have the same number of feature columns. "
                    f"Got {features[0].shape[1]} in graph 0 and {matrix.shape[1]} in graph "
                    f"{number}."
                )
        edges = [_edges(data, f"graph {number}") for number, data in enumerate(graphs)]
        x = torch.cat(features).to(torch.float32)
        ptr = _starts([matrix.shape[0] for matrix in features])
        edge_ptr = _starts([pairs.shape[1] for pairs in edges])
        edge_index = torch.cat(edges, dim=1)
        _check_finite(x, ptr)
        _check_ends(edge_index, ptr, edge_ptr)
        return cls(x, edge_index, ptr, edge_ptr, _common_names(graphs))

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.ptr) - 1

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all graphs."""
        return self.x.shape[0]

    @property
    def n_features(self) -> int:
        """The number of feature columns."""
        return self.x.shape[1]

    def batch(self, graphs: Tensor) -> MiniBatch:
        """Return the graphs with these numbers, in this order."""
        sizes = self.ptr.diff()[graphs]
        starts = torch.cumsum(sizes, 0) - sizes
        nodes = _ranges(self.ptr[graphs], sizes)
        n_edges = self.edge_ptr.diff()[graphs]
        edges = self.edge_index[:, _ranges(self.edge_ptr[graphs], n_edges)]
        return MiniBatch(
            self.x[nodes],
            edges + torch.repeat_interleave(starts, n_edges),
            torch.repeat_interleave(torch.arange(len(graphs)), sizes),
            nodes,
        )

    def runs(
        self, graphs: Tensor, *, max_graphs: int = MAX_GRAPHS, max_nodes: int = MAX_NODES
    ) -> Iterator[Tensor]:
        """Yield the numbers `graphs` in runs of bounded size."""
        sizes = self.ptr.diff()[graphs].tolist()
        for start, stop in bounded_runs(sizes, max_items=max_graphs, max_size=max_nodes):
            yield graphs[start:stop]


def _ranges(starts: Tensor, sizes: Tensor) -> Tensor:
    """Return ``start, start + 1, ...`` of every range, one after the other."""
    before = torch.cumsum(sizes, 0) - sizes
    offsets = torch.repeat_interleave(starts - before, sizes)
    return offsets + torch.arange(len(offsets))


def _starts(sizes: Sequence[int]) -> Tensor:
    return torch.cumsum(torch.tensor([0, *sizes]), 0)


# Checks ---------------------------------------------------------------------------------------


def _features(data: Data, where: str) -> Tensor:
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
    if x.shape[0] != data.num_nodes or x.shape[1] == 0:
        raise FeatureError(
            f"{what} must have one row for each of the {data.num_nodes} nodes and at least one "
            f"column. Got shape {tuple(x.shape)} instead."
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


def _check_finite(x: Tensor, ptr: Tensor) -> None:
    bad = ~torch.isfinite(x)
    if bad.any():
        node, column = torch.nonzero(bad)[0].tolist()
        graph = int(torch.searchsorted(ptr, node, right=True)) - 1
        raise FeatureError(
            f"Features must be finite numbers that fit into float32. Got {x[node, column].item()} "
            f"at node {node - int(ptr[graph])} of graph {graph}, column {column}. "
            "Fill in or remove such values first."
        )


def _check_ends(edge_index: Tensor, ptr: Tensor, edge_ptr: Tensor) -> None:
    owners = torch.repeat_interleave(torch.arange(len(ptr) - 1), edge_ptr.diff())
    bad = ((edge_index < 0) | (edge_index >= ptr.diff()[owners])).any(dim=0)
    if bad.any():
        edge = int(torch.nonzero(bad)[0])
        graph = int(owners[edge])
        raise GraphError(
            f"edge_index of graph {graph} must hold node numbers from 0 to "
            f"{int(ptr[graph + 1] - ptr[graph]) - 1}. Got the edge {edge_index[:, edge].tolist()}."
        )


def _common_names(graphs: Sequence[Data]) -> tuple[str, ...] | None:
    """Return the names that `to_pyg` stores with every graph, or None."""
    found = [getattr(data, "predicate_names", ()) for data in graphs]
    if any(not names for names in found):
        return None
    for number, names in enumerate(found):
        if names != found[0]:
            raise FeatureError(
                f"All graphs must have the same predicate_names. Got {found[0]} in graph 0 and "
                f"{names} in graph {number}."
            )
    return tuple(found[0])
