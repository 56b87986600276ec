"""Distil a network that reads molecules: MUTAG if it is there, else molecules made up here.

MUTAG is read from the folder that the environment variable GNN2LOGIC_DATA names. Without it there
are random trees of C, N and O atoms, and the question is whether two N atoms are bonded to an O.

python examples/molecules.py [--epochs 60] [--graphs 600] [--out molecules]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gnn2logic as gl
from gnn2logic.datasets import Dataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--graphs", type=int, default=600, help="how many to make up")
    parser.add_argument("--out", type=Path, default=Path("molecules"))
    options = parser.parse_args()

    if "GNN2LOGIC_DATA" in os.environ:
        data = gl.datasets.load("MUTAG", download=False)
    else:
        data = made_up(options.graphs)
    print(f"{data}\n")
    order = np.random.default_rng(0).permutation(len(data))
    n_test = len(data) // 3
    train, test = data.take(order[n_test:]), data.take(order[:n_test])

    gnn = gl.models.GNNClassifier(
        "gin", n_layers=2, hidden=16, lr=0.02, max_epochs=options.epochs, random_state=0
    ).fit(train.graphs, train.y)
    # The network shows what to look at; the labels have the last word.
    idt = gl.distill(gnn, train.graphs, train.y, random_state=0)

    print(f"{idt}\n")
    print(f"{data.class_names[1]}, in words:\n  {idt.formula(1).to_english()}\n")
    print(f"On {len(test)} molecules that neither has seen:")
    print(f"  the rule is right about       {idt.score(test.graphs, test.y):.1%}")
    print(f"  the network is right about    {gnn.score(test.graphs, test.y):.1%}")
    print(f"  rule and network agree about  {gl.fidelity(idt, gnn, test.graphs):.1%}\n")

    some = int(np.argmax(idt.predict(test.graphs) == 1))
    why = gl.explain(idt, test.graphs[some], gnn)
    print(f"One molecule of class 1:\n{why}\n")
    options.out.mkdir(parents=True, exist_ok=True)
    picture = options.out / "molecule.png"
    gl.plot_explanation(why)
    plt.savefig(picture, dpi=120)
    plt.close()
    print(f"A picture is in {picture}")


def made_up(n_graphs: int) -> Dataset:
    """Return random trees of atoms; class 1 has more than one N with an O beside it."""
    rng = np.random.default_rng(0)
    graphs = gl.PredicateEncoder().fit_transform([molecule(rng) for _ in range(n_graphs)])
    return gl.datasets.formula_dataset(
        "1(atom=N & A(atom=O) > 0) > 1", generator=graphs, name="made-up molecules"
    )


def molecule(rng: np.random.Generator) -> Any:
    n_atoms = int(rng.integers(8, 16))
    graph = nx.random_labeled_tree(n_atoms, seed=int(rng.integers(2**31)))
    atoms = rng.choice(["C", "N", "O"], size=n_atoms, p=[0.6, 0.2, 0.2])
    nx.set_node_attributes(graph, dict(enumerate(atoms.tolist())), "atom")
    return graph


if __name__ == "__main__":
    main()
