"""Distil a network of your own: any torch module that runs on PyTorch Geometric batches.

The network below was not made for this package: it has its own layers, skip connections and
pooling. `Teacher` says how it is called and which of its outputs are node representations.

python examples/own_network.py [--epochs 20] [--graphs 600]
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GraphConv, global_add_pool

import gnn2logic as gl


class Network(nn.Module):
    """Two convolutions with skip connections; one score for each graph and class."""

    def __init__(self, n_features: int, hidden: int = 16) -> None:
        super().__init__()
        self.embed = nn.Linear(n_features, hidden)
        self.convs = nn.ModuleList([GraphConv(hidden, hidden) for _ in range(2)])
        # The identity after each skip connection has a name that a teacher can be told.
        self.after = nn.ModuleList([nn.Identity() for _ in range(2)])
        self.readout = nn.Linear(hidden, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return the scores."""
        h: Tensor = self.embed(x)
        for conv, after in zip(self.convs, self.after, strict=True):
            h = after(h + conv(h, edge_index).relu())
        scores: Tensor = self.readout(global_add_pool(h, batch))
        return scores


def train_network(graphs: list[Batch], n_epochs: int) -> Network:
    torch.manual_seed(0)
    network = Network(graphs[0].num_features)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01)
    loss = nn.CrossEntropyLoss()
    for _ in range(n_epochs):
        for batch in DataLoader(graphs, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            scores = network(batch.x, batch.edge_index, batch.batch)
            loss(scores, batch.y).backward()
            optimizer.step()
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--graphs", type=int, default=600)
    options = parser.parse_args()

    data = gl.datasets.formula_dataset("1(U1 & A U1 > 3) > 4", options.graphs)
    n_train = 2 * len(data) // 3
    train, test = data.take(range(n_train)), data.take(range(n_train, len(data)))
    network = train_network(train.to_pyg(), options.epochs)

    teacher = gl.Teacher(network, layers=["after.0", "after.1"], classes=data.class_names)
    idt = gl.distill(teacher, train.to_pyg(), random_state=0)
    print(f"{idt}\n")
    print(f"The labels were made by    {data.truth}")
    print(f"The rule of the network is {idt.formula('true')}\n")

    truth = [data.class_names[label] for label in test.y]
    right = (teacher.predict(test.to_pyg()) == truth).mean()
    print(f"On {len(test)} graphs that neither has seen:")
    print(f"  the rule is right about       {idt.score(test.to_pyg(), truth):.1%}")
    print(f"  the network is right about    {right:.1%}")
    print(f"  rule and network agree about  {gl.fidelity(idt, teacher, test.to_pyg()):.1%}\n")

    # Small graphs that show how the two differ.
    found = gl.find_disagreements(
        idt, teacher, test.to_pyg(), n_disagreements=1, max_nodes=8, budget=1000, random_state=0
    )
    print(found)


if __name__ == "__main__":
    main()
