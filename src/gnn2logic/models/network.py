"""The network itself: embedding, residual message passing blocks, pooling, head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    GraphNorm,
    SAGEConv,
    global_add_pool,
    global_mean_pool,
)

__all__ = ["CONVOLUTIONS", "POOLINGS", "Block", "GraphNetwork", "NetworkShape"]

CONVOLUTIONS = ("gcn", "gin", "sage", "gat")
POOLINGS = ("mean", "sum")
_HEADS = 4
# What GraphNorm adds to the variance. With a tiny number, channels that are equal at all nodes of a
# graph would keep nothing but their sign, and no network could learn degrees of regular graphs.
_NORM_EPS = 1.0


@dataclass(frozen=True)
class NetworkShape:
    """Everything that decides which weights a network has and what it does with them.

    Parameters
    ----------
    n_features, n_classes : int
    conv : {"gcn", "gin", "sage", "gat"}
    hidden : int
        Channels of every block.
    n_layers : int
        Blocks.
    norm : {"graph"} or None
    pooling : {"mean", "sum"} or None
        None gives one row of logits per node.
    dropout : float
    typical_size : float
        Sums over nodes are divided by it, in training the mean size of the graphs. It is the same
        number for all graphs, so sums are still sums, but the head learns from them much faster.
    """

    n_features: int
    n_classes: int
    conv: str = "gcn"
    hidden: int = 128
    n_layers: int = 4
    norm: Literal["graph"] | None = "graph"
    pooling: Literal["mean", "sum"] | None = "mean"
    dropout: float = 0.0
    typical_size: float = 1.0


class Block(nn.Module):
    """One layer as the paper distils it: ``x + relu(norm(conv(x)))``, one vector per node."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.conv = _convolution(shape.conv, shape.hidden)
        self.norm = GraphNorm(shape.hidden, eps=_NORM_EPS) if shape.norm == "graph" else None
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, batch_size: int) -> Tensor:
        """Return the activated representation of every node."""
        new = self.conv(x, edge_index)
        if self.norm is not None:
            # Without the batch vector a graph would be normalised together with its batch mates.
            new = self.norm(new, batch, batch_size)
        result: Tensor = x + self.dropout(torch.relu(new))
        return result


class GraphNetwork(nn.Module):
    """A message passing network with residual blocks.

    ``activation_layers`` names the modules whose outputs are the node representations of the
    layers, ``blocks.0``, ``blocks.1``, ...

    Parameters
    ----------
    shape : NetworkShape

    Examples
    --------
    >>> network = GraphNetwork(NetworkShape(n_features=2, n_classes=3, hidden=8, n_layers=2))
    >>> network.activation_layers
    ['blocks.0', 'blocks.1']
    >>> network(torch.eye(2), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([1, 3])
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Linear(shape.n_features, shape.hidden)
        self.blocks = nn.ModuleList([Block(shape) for _ in range(shape.n_layers)])
        self.head = nn.Sequential(
            nn.Linear(shape.hidden, shape.hidden),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.hidden, shape.n_classes),
        )

    @property
    def activation_layers(self) -> list[str]:
        """The names of the modules that return the representations of the layers."""
        return [f"blocks.{number}" for number in range(len(self.blocks))]

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return the logits of every graph, or of every node when there is no pooling.

        Parameters
        ----------
        x : Tensor of shape (n_nodes, n_features)
        edge_index : Tensor of shape (2, n_edges)
        batch : Tensor of shape (n_nodes,), optional
            For every node the number of its graph, in rising order; one graph by default.
        """
        if batch is None:
            batch = torch.zeros(x.shape[0], dtype=torch.long, device=x.device)
        batch_size = int(batch[-1]) + 1
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x, edge_index, batch, batch_size)
        if self.shape.pooling == "mean":
            x = global_mean_pool(x, batch, batch_size)
        elif self.shape.pooling == "sum":
            x = global_add_pool(x, batch, batch_size) / self.shape.typical_size
        logits: Tensor = self.head(x)
        return logits


def _convolution(name: str, hidden: int) -> Any:
    """Return a layer of PyTorch Geometric from `hidden` to `hidden` channels."""
    if name == "gcn":
        return GCNConv(hidden, hidden)
    if name == "gin":
        # The sum over neighbours, and an MLP on it: this is what makes GIN see degrees.
        return GINConv(
            nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden)),
            train_eps=True,
        )
    if name == "sage":
        return SAGEConv(hidden, hidden)
    heads = _HEADS if hidden % _HEADS == 0 else 1
    return GATConv(hidden, hidden // heads, heads=heads)
