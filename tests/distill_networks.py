"""Small untrained networks for tests of teachers, each seeded without moving torch's own state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv, GraphNorm, global_add_pool, global_mean_pool
from torch_geometric.nn.models import GAT, GCN, GIN, PNA, GraphSAGE

from gnn2logic import GraphBatch, random_graphs, to_pyg
from gnn2logic.distillation import Teacher

Made = TypeVar("Made")

WIDTH = 6
LAYERS = 3


def seeded(make: Callable[[], Made], seed: int = 0) -> Made:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def graphs(count: int = 12, seed: int = 0) -> GraphBatch:
    """Graphs of 1 to 9 nodes with predicates U0, U1."""
    sizes = np.random.default_rng(seed).integers(1, 10, size=count)
    return random_graphs(count, sizes=sizes, density=0.4, random_state=seed)


def data(count: int = 12, seed: int = 0) -> list[Any]:
    return to_pyg(graphs(count, seed))


class Pooled(nn.Module):
    """A PyG model with pooling and a linear head, as its documentation suggests."""

    def __init__(self, encoder: nn.Module, n_outputs: int = 3) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(WIDTH, n_outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        result: Tensor = self.head(global_mean_pool(self.encoder(x, edge_index), batch))
        return result


class Functional(nn.Module):
    """Functional activations, one convolution called twice, in-place changes of its output."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GCNConv(2, WIDTH)
        self.again = GCNConv(WIDTH, WIDTH)
        self.spare = GCNConv(WIDTH, WIDTH)
        self.act = nn.ReLU()
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, data: Any) -> Tensor:
        x = self.first(data.x, data.edge_index).relu_()
        for _ in range(2):
            x = self.act(self.again(x, data.edge_index))
        result: Tensor = self.head(global_add_pool(x, data.batch))
        return result


class OneLogit(nn.Module):
    def __init__(self, *, squeeze: bool) -> None:
        super().__init__()
        self.conv = GINConv(nn.Linear(2, WIDTH))
        self.head = nn.Linear(WIDTH, 1)
        self.squeeze = squeeze

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        logit = self.head(global_mean_pool(self.conv(x, edge_index), batch))
        result: Tensor = logit.squeeze() if self.squeeze else logit
        return result


class MixedUp(nn.Module):
    """GraphNorm that is not given the batch vector unless told to."""

    def __init__(self, *, fixed: bool = False) -> None:
        super().__init__()
        self.conv = GCNConv(2, WIDTH)
        self.norm = GraphNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 2)
        self.fixed = fixed

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(x, edge_index)
        x = self.norm(x, batch) if self.fixed else self.norm(x)
        result: Tensor = self.head(global_mean_pool(x.relu(), batch))
        return result


def _encoder(name: str) -> nn.Module:
    options: dict[str, Any] = {"num_layers": LAYERS}
    if name == "PNA":
        options |= {
            "aggregators": ["mean", "max"],
            "scalers": ["identity", "amplification"],
            "deg": torch.tensor([1, 2, 3, 2, 1]),
        }
    kind = {"GCN": GCN, "GIN": GIN, "GraphSAGE": GraphSAGE, "GAT": GAT, "PNA": PNA}[name]
    made: nn.Module = kind(2, WIDTH, **options)
    return made


ZOO = ("GCN", "GIN", "GraphSAGE", "GAT", "PNA")


def zoo(name: str, n_outputs: int = 3) -> Pooled:
    """A model of the zoo with pooling, in training mode as PyG makes it."""
    return seeded(lambda: Pooled(_encoder(name), n_outputs))


def node_model(n_outputs: int = 3) -> nn.Module:
    made: Any = seeded(lambda: GCN(2, WIDTH, num_layers=2, out_channels=n_outputs))
    network: nn.Module = made
    return centred(network, made.convs[-1].bias)


def balanced_zoo(name: str, n_outputs: int = 2) -> Pooled:
    """A model of the zoo that predicts each of its classes on some graphs."""
    made = zoo(name, n_outputs)
    return centred(made, made.head.bias)


Network = TypeVar("Network", bound=nn.Module)


def centred(module: Network, bias: Tensor) -> Network:
    """Shift the last bias so that no class always wins."""
    teacher = Teacher(module, outputs="scores" if len(bias) > 1 else "logit")
    scores = teacher.run(graphs(60), activations=False).scores
    with torch.no_grad():
        bias -= torch.from_numpy(scores.mean(axis=0))
    return module
