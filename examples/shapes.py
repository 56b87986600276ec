"""Learn a rule for planted shapes from labels alone, and look whether it looks at the shapes.

The data are BA-2Motifs: a random tree with a house or a ring of five nodes hanging on it. No
network is needed here, so this is the quickest way to a rule.

python examples/shapes.py [--graphs 600] [--out shapes]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import gnn2logic as gl


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=600)
    parser.add_argument("--out", type=Path, default=Path("shapes"))
    options = parser.parse_args()

    data = gl.datasets.load("BA-2Motifs", n_graphs=options.graphs, random_state=0)
    print(f"{data}\n")
    n_train = 2 * len(data) // 3
    train, test = data.take(range(n_train)), data.take(range(n_train, len(data)))

    idt = gl.IDTClassifier(n_layers=2, random_state=0).fit(train.graphs, train.y)
    house = data.class_names.index("house")
    rule = idt.formula(house)
    print(f"{idt}\n")
    print(f"house, in words:\n  {gl.explanation.in_steps(rule)}\n")
    print(f"right about {idt.score(test.graphs, test.y):.1%} of {len(test)} new graphs\n")

    # The data set knows which nodes were planted.
    assert test.mask is not None
    share, chance = planted_share(idt, test.graphs, test.mask), test.mask.mean()
    print(f"{share:.0%} of the nodes that the rule counts are planted ({chance:.0%} of all are)")

    options.out.mkdir(parents=True, exist_ok=True)
    for label, name in enumerate(data.class_names):
        graph = test.graphs[int(np.argmax(idt.predict(test.graphs) == label))]
        gl.plot_explanation(gl.explain(idt, graph, class_names=data.class_names))
        picture = options.out / f"{name}.png"
        plt.savefig(picture, dpi=120)
        plt.close()
        print(f"A picture is in {picture}")


def planted_share(idt: gl.IDTClassifier, graphs: gl.GraphBatch, planted: np.ndarray) -> float:
    """Return how many of the nodes that conditions count are planted, over all graphs.

    A condition on the number of all nodes points at none of them, so it is left out.
    """
    counted = np.zeros(graphs.n_nodes, dtype=bool)
    start = 0
    for graph in graphs:
        for condition in gl.explain(idt, graph).conditions:
            if condition.inner is not gl.TRUE:
                counted[start : start + graph.n_nodes] |= condition.counted
        start += graph.n_nodes
    return float(planted[counted].mean())


if __name__ == "__main__":
    main()
