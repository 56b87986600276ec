"""Graphs as a few tensors, checked once, cut into mini-batches quickly; the device they go to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnn2logic.exceptions import FeatureError, ParameterError
from gnn2logic.models.pyg_data import (
    MAX_GRAPHS,
    MAX_NODES,
    bounded_runs,
    check_ends,
    check_finite,
    edge_lists,
    feature_matrices,
    starts,
)

__all__ = ["GraphTensors", "MiniBatch", "check_device"]

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
        features, edges = feature_matrices(graphs, min_columns=1), edge_lists(graphs)
        x = torch.cat(features).to(torch.float32)
        ptr = starts([matrix.shape[0] for matrix in features])
        edge_ptr = starts([pairs.shape[1] for pairs in edges])
        edge_index = torch.cat(edges, dim=1)
        check_finite(x, ptr)
        check_ends(edge_index, ptr, edge_ptr)
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


def _common_names(graphs: Sequence[Data]) -> tuple[str, ...] | None:
    """Return the names that `to_pyg` stores with every graph, or None."""
    names_of = [getattr(data, "predicate_names", ()) for data in graphs]
    if any(not names for names in names_of):
        return None
    for number, names in enumerate(names_of):
        if names != names_of[0]:
            raise FeatureError(
                f"All graphs must have the same predicate_names. Got {names_of[0]} in graph 0 and "
                f"{names} in graph {number}."
            )
    return tuple(names_of[0])


def check_device(device: Any) -> torch.device:
    """Return the device with a name; ``"auto"`` is the GPU if there is one."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen: torch.device = torch.device(device)
        # A device can have a good name and still not be there.
        torch.empty(0, device=chosen)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ParameterError(
            f"device must be 'auto' or a device that torch can use. Got {device!r} instead: "
            f"{reason}"
        ) from None
    return chosen
