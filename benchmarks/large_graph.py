"""One very large graph with hubs: how long a rule for its nodes takes, and how much memory.

`python benchmarks/large_graph.py [--nodes 20000] [--edges-per-node 3]` makes one graph whose
degrees follow a power law, plants a rule about shares of neighbours, and learns it from the labels
of a tenth of the nodes. `--nodes 1000000` is a size that people ask for. Every line is one way to
learn, in a process of its own: seconds of the fit, the largest memory of the process with the graph
in it, accuracy on the other nodes, and the rule.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import gnn2logic as gl

RULE = "A reviewed > 1/2 & A true > 1"
WAYS: dict[str, dict[str, Any]] = {
    "search": {"max_size": 10},
    "layers": {"algorithm": "layers", "n_layers": 1},
}


def hubs(n_nodes: int, per_node: int, seed: int) -> gl.GraphBatch:
    """Return an undirected graph: one end of each edge is uniform, the other likes hubs."""
    rng = np.random.default_rng(seed)
    liked = rng.pareto(1.0, n_nodes) + 1
    ends = np.stack(
        [
            rng.choice(n_nodes, n_nodes * per_node, p=liked / liked.sum()),
            rng.integers(n_nodes, size=n_nodes * per_node),
        ]
    )
    ends = ends[:, ends[0] != ends[1]]
    ends = np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)
    names = ["reviewed", "new"]
    return gl.from_edges(ends.T, n_nodes, rng.random((n_nodes, 2)) < 0.3, names=names)


def learn(way: str, n_nodes: int, per_node: int, seed: int) -> dict[str, object]:
    """Learn in one way; return what it took."""
    graph = hubs(n_nodes, per_node, seed)
    labels = gl.parse(RULE).evaluate(graph, level="node")
    train = np.random.default_rng(seed + 1).random(n_nodes) < 0.1
    model = gl.IDTNodeClassifier(random_state=seed, **WAYS[way])
    begin = time.perf_counter()
    model.fit(graph, labels, mask=train)
    seconds = time.perf_counter() - begin
    return {
        "way": way,
        "nodes": n_nodes,
        "edges": graph.n_edges // 2,
        "largest degree": int(np.diff(graph.adjacency.indptr).max()),
        "seconds": round(seconds, 1),
        "GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "accuracy": round(float((model.predict(graph) == labels)[~train].mean()), 4),
        "rule": str(model.formula(True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--edges-per-node", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", choices=WAYS, help="learn in this process, in this way alone")
    options = parser.parse_args()
    if options.way is not None:
        sizes = options.nodes, options.edges_per_node, options.seed
        print(json.dumps(learn(options.way, *sizes)), flush=True)
        return
    for way in WAYS:
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--way", way], check=True)


if __name__ == "__main__":
    main()
