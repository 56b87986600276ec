"""Authors, papers and topics

Nodes of three types, as `HeteroData`: authors write papers, and papers have a topic. A network made
of `HeteroConv` learns which authors are known, and rules say what it has learned.
"""

import gnn2logic as gl
import torch
from torch_geometric.data import Batch, HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv


def library(seed):
    rng = torch.Generator().manual_seed(seed)
    data = HeteroData()
    for name, count in (("author", 4), ("paper", 9), ("topic", 2)):
        data[name].x = (torch.rand(count, 1, generator=rng) < 0.6).float()
    writes = (torch.rand(4, 9, generator=rng) < 0.4).nonzero().T
    about = torch.stack([torch.arange(9), torch.randint(2, (9,), generator=rng)])
    data["author", "writes", "paper"].edge_index = writes
    data["paper", "by", "author"].edge_index = writes.flip(0)
    data["paper", "about", "topic"].edge_index = about
    # Authors of more than two open papers are known.
    n_open = torch.zeros(4).index_add(0, writes[0], data["paper"].x[writes[1], 0])
    data["author"].y = (n_open > 2).long()
    return data


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        types = [("author", "writes", "paper"), ("paper", "by", "author")]
        self.conv = HeteroConv({each: SAGEConv((1, 1), 16, aggr="sum") for each in types})
        self.out = torch.nn.Linear(16, 2)

    def forward(self, x_dict, edge_index_dict):
        return self.out(self.conv(x_dict, edge_index_dict)["author"].relu())


libraries = [library(seed) for seed in range(120)]
train = Batch.from_data_list(libraries[:80])
torch.manual_seed(0)
network = Network()
optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
for _ in range(150):
    optimizer.zero_grad()
    scores = network(train.x_dict, train.edge_index_dict)
    torch.nn.functional.cross_entropy(scores, train["author"].y).backward()
    optimizer.step()

teacher = gl.Teacher(network, node_type="author", classes=["new", "known"])
names = {"author": ["senior"], "paper": ["open"], "topic": ["broad"]}
encoder = gl.PredicateEncoder(feature_names=names)
rules = gl.distill(teacher, libraries[:80], encoder=encoder, max_size=10, random_state=0)
words = {"paper.open": ("open paper", "open papers")}
print(rules.formula("known").to_english(words))
print(f"as the network: {gl.fidelity(rules, teacher, libraries[80:]):.0%} of new authors")

known = int((rules.predict(libraries[80])[:4] == "known").argmax())
gl.plot_explanation(gl.explain(rules, libraries[80], node=known))
