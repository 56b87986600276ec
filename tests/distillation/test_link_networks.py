"""Link predictors of PyTorch Geometric: what they say about pairs is learned from their graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GraphConv, SimpleConv

import gnn2logic as gl

PEOPLE = gl.random_graphs(1, sizes=120, density=0.05, names=["sports"], random_state=0)
RNG = np.random.default_rng(0)
PAIRS = np.array([RNG.choice(120, 2, replace=False) for _ in range(500)])
LINKS = gl.link_graphs(PEOPLE, PAIRS, hops=1)
TRAIN, TEST = np.arange(350), np.arange(350, 500)


class CommonFriends(nn.Module):
    """Counts common neighbours that do sports: a product of two sums of one-hot vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = SimpleConv(aggr="sum")

    def encode(self, x: Any, edge_index: Any) -> Any:
        return self.conv(torch.diag(x[:, 0]), edge_index)

    def decode(self, z: Any, pairs: Any) -> Any:
        return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(dim=1)


class Trained(nn.Module):
    """One layer, and a decoder that knows which end is which."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GraphConv(1, 16, aggr="add")
        self.out = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def encode(self, x: Any, edge_index: Any) -> Any:
        return self.conv(x, edge_index).relu()

    def decode(self, z: Any, pairs: Any) -> Any:
        return self.out(torch.cat([z[pairs[:, 0]], z[pairs[:, 1]]], dim=1))[:, 0]


def scores_of(network: Any) -> np.ndarray:
    data = gl.to_pyg(PEOPLE)[0]
    with torch.no_grad():
        z = network.encode(data.x.float(), data.edge_index)
        return np.asarray(network.decode(z, torch.as_tensor(PAIRS)).numpy())


@pytest.mark.parametrize("kind", [gl.IDTClassifier, gl.ScorecardClassifier])
def test_a_built_link_predictor(kind: Any) -> None:
    said = scores_of(CommonFriends()) > 0
    assert 0.1 < said.mean() < 0.9
    truth = gl.parse("1(sports & A source > 0 & A target > 0) > 0")
    assert (truth.evaluate(LINKS) == said).all()
    student = kind(n_layers=1, random_state=0).fit(LINKS.take(TRAIN), said[TRAIN])
    assert gl.fidelity(student, said[TEST], LINKS.take(TEST)) > 0.97


def test_scores_of_a_built_link_predictor() -> None:
    scores = scores_of(CommonFriends())
    student = gl.IDTRegressor(1, random_state=0).fit(LINKS.take(TRAIN), scores[TRAIN])
    assert gl.fidelity(student, scores[TEST], LINKS.take(TEST)) > 0.9


def test_a_trained_link_predictor() -> None:
    """The target does sports, and the source has more than three neighbours who do."""
    truth = gl.parse("1(target & sports) > 0 & 1(source & A sports > 3) > 0")
    wanted = torch.as_tensor(truth.evaluate(LINKS)[TRAIN], dtype=torch.float32)
    data = gl.to_pyg(PEOPLE)[0]
    torch.manual_seed(0)
    network = Trained()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        z = network.encode(data.x.float(), data.edge_index)
        told = network.decode(z, torch.as_tensor(PAIRS[TRAIN]))
        loss = nn.functional.binary_cross_entropy_with_logits(told, wanted)
        torch.autograd.backward(loss)
        optimizer.step()
    said = scores_of(network) > 0
    # Links between the ends stay, since the network has seen them.
    links = gl.link_graphs(PEOPLE, PAIRS, hops=1, keep_links=True)
    assert (truth.evaluate(links) == said).mean() > 0.95
    student = gl.IDTClassifier(1, random_state=0).fit(links.take(TRAIN), said[TRAIN])
    assert gl.fidelity(student, said[TEST], links.take(TEST)) > 0.95
