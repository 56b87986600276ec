from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch
from torch_geometric.nn import GraphNorm

from gnn2logic import random_graphs
from gnn2logic.models import GNNClassifier, GraphNetwork, pyg_graphs
from gnn2logic.models.network import NetworkShape

CONVOLUTIONS = ["gcn", "gin", "sage", "gat"]


def network(conv: str = "gcn", **settings: object) -> GraphNetwork:
    """Return a network in eval mode whose weights, also those that start as 0 or 1, are random."""
    small = {"n_features": 2, "n_classes": 3, "hidden": 8, "n_layers": 3, "conv": conv}
    made = GraphNetwork(NetworkShape(**(small | settings))).eval()  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(0)
    for weights in made.parameters():
        weights.data = torch.randn(weights.shape, generator=generator) / 2
    return made


def regular(degree: int, n_nodes: int = 12) -> tuple[Tensor, Tensor]:
    graph = nx.circulant_graph(n_nodes, range(1, degree // 2 + 1))
    assert {own for _, own in graph.degree} == {degree}
    (data,) = pyg_graphs([graph])
    return data.x.expand(-1, 2), data.edge_index


@pytest.mark.parametrize("pooling", ["mean", "sum", None])
@pytest.mark.parametrize("norm", ["graph", None])
@pytest.mark.parametrize("conv", CONVOLUTIONS)
def test_a_graph_is_the_same_alone_and_in_a_batch(
    conv: str, norm: str | None, pooling: str | None
) -> None:
    graphs = pyg_graphs(random_graphs(7, sizes=[1, 1, 4, 9, 2, 13, 6], random_state=0))
    made = network(conv, norm=norm, pooling=pooling)
    batch = Batch.from_data_list(graphs)
    with torch.no_grad():
        together = made(batch.x, batch.edge_index, batch.batch)
        alone = torch.cat([made(data.x, data.edge_index) for data in graphs])
    assert together.shape == (batch.num_nodes if pooling is None else 7, 3)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


def test_the_norm_is_that_of_each_graph() -> None:
    """Without the batch vector the same check fails, so it can tell."""
    graphs = pyg_graphs(random_graphs(2, sizes=[4, 9], random_state=0))
    batch, made = Batch.from_data_list(graphs), network()
    norm = made.blocks[0].norm
    assert isinstance(norm, GraphNorm)
    whole, (first, _) = norm(made.embedding(batch.x)), graphs
    assert not torch.allclose(whole[:4], norm(made.embedding(first.x)), atol=1e-3)


@pytest.mark.parametrize("conv", CONVOLUTIONS)
def test_blocks_return_the_activated_representation(conv: str) -> None:
    """x + relu(...) is never below x, and the next layer reads exactly what a hook sees."""
    made = network(conv)
    (data,) = pyg_graphs(random_graphs(1, sizes=6, random_state=0))
    seen: list[tuple[Tensor, Tensor]] = []
    hooks = [
        made.get_submodule(name).register_forward_hook(
            lambda _, inputs, output: seen.append((inputs[0], output))
        )
        for name in made.activation_layers
    ]
    logits = made(data.x, data.edge_index)
    for hook in hooks:
        hook.remove()
    assert made.activation_layers == ["blocks.0", "blocks.1", "blocks.2"]
    assert [output.shape for _, output in seen] == [(6, 8)] * 3
    assert all((output >= given).all() for given, output in seen)
    assert seen[1][0] is seen[0][1]
    torch.testing.assert_close(made.head(seen[2][1].mean(dim=0, keepdim=True)), logits)


def test_gcn_divides_by_the_degree_plus_one() -> None:
    """On the path 0 - 1 - 2 by hand, with the identity for weights."""
    conv: Any = network("gcn", hidden=2).blocks[0].conv
    conv.lin.weight.data, conv.bias.data = torch.eye(2), torch.zeros(2)
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    root = 6**-0.5
    expected = [[1 / 2, root], [root, 1 / 3], [0.0, root]]
    torch.testing.assert_close(conv(x, edges), torch.tensor(expected))


def test_gin_sums_over_neighbours() -> None:
    conv: Any = network("gin", hidden=2).blocks[0].conv
    conv.nn, conv.eps.data = torch.nn.Identity(), torch.tensor([0.5])
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    torch.testing.assert_close(conv(x, edges), torch.tensor([[1.5, 1.0], [3.0, 1.5], [3.0, 1.0]]))


@pytest.mark.parametrize("pooling", ["mean", "sum"])
@pytest.mark.parametrize("norm", ["graph", None])
@pytest.mark.parametrize("conv", CONVOLUTIONS)
def test_only_gin_sees_degrees_of_regular_graphs(conv: str, norm: str | None, pooling: str) -> None:
    """Same size, constant features: means over neighbours cannot tell degree 2 from 4."""
    made = network(conv, norm=norm, pooling=pooling)
    with torch.no_grad():
        gap = float((made(*regular(2)) - made(*regular(4))).abs().max())
    assert gap > 1e-2 if conv == "gin" else gap < 1e-3


@pytest.mark.parametrize(("conv", "accuracy"), [("gin", 1.0), ("gcn", 0.5)])
def test_training_separates_degrees_with_gin_alone(conv: str, accuracy: float) -> None:
    graphs = [nx.circulant_graph(n, range(1, half + 1)) for n in range(6, 16) for half in (1, 2)]
    labels = [half for _ in range(6, 16) for half in (1, 2)]
    gnn = GNNClassifier(
        conv, 2, hidden=16, lr=0.01, max_epochs=60, validation_fraction=0, random_state=0
    ).fit(graphs, labels)
    assert gnn.score(graphs, labels) == accuracy
