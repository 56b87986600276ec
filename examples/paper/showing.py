"""What the scripts of this folder share: learn from data, print a rule, draw it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

import gnn2logic as gl
from gnn2logic.datasets import Dataset

__all__ = [
    "Figure",
    "Learned",
    "arguments",
    "draw",
    "from_labels",
    "from_network",
    "print_rule",
    "save",
]


@dataclass(frozen=True)
class Learned:
    """A model, what it was learned from, and what it is tested on."""

    idt: gl.IDTClassifier
    train: Dataset
    test: Dataset


def arguments(text: str | None) -> argparse.Namespace:
    """Return the options of a script that is described by `text`."""
    parser = argparse.ArgumentParser(description=(text or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("paper"), help="folder for the pictures")
    parser.add_argument("--epochs", type=int, default=40, help="to train the network for")
    return parser.parse_args()


def from_labels(data: Dataset, n_layers: int = 3) -> Learned:
    """Learn IDT(True) from four fifths of the graphs; the others are for testing."""
    index = np.arange(len(data))
    rows, others = train_test_split(index, test_size=0.2, stratify=data.y, random_state=0)
    train, test = data.take(rows), data.take(others)
    learner = gl.IDTClassifier(n_layers=n_layers, algorithm="layers", random_state=0)
    idt = learner.fit(train.graphs, train.y)
    return Learned(idt, train, test)


def from_network(learned: Learned, epochs: int) -> Learned:
    """Train a GCN on the same graphs and learn IDT(GCN+True) from it and the labels.

    Deep inner trees with random thresholds are one of the settings that the reproduction of the
    paper's tables chooses from.
    """
    # In a network this small, threads would mostly wait for each other.
    torch.set_num_threads(1)
    train, test = learned.train, learned.test
    gnn = gl.models.GNNClassifier(
        "gcn", n_layers=2, hidden=32, lr=0.01, max_epochs=epochs, random_state=0
    ).fit(train.graphs, train.y)
    print(f"A GCN is right about {gnn.score(test.graphs, test.y):.1%} of {len(test)} new graphs.\n")
    idt = gl.distill(
        gnn,
        train.graphs,
        train.y,
        algorithm="layers",
        layer_depth=3,
        random_thresholds=True,
        random_state=0,
    )
    return replace(learned, idt=idt)


def print_rule(heading: str, learned: Learned, label: int) -> None:
    """Print the rule of a class as a formula and in words, and how often it is right."""
    rule, test = learned.idt.formula(label), learned.test
    right = learned.idt.score(test.graphs, test.y)
    print(f"{heading}, right about {right:.1%} of {len(test)} new graphs:")
    print(f"  {test.class_names[label]}: {rule}")
    print(f"  in words: {rule.to_english()}\n")


def draw(learned: Learned, counted: str) -> Figure:
    """Draw a model, and one graph of each class with the nodes filled where a formula holds.

    The graphs are of middle size among those that the model is right about.
    """
    idt, test = learned.idt, learned.test
    figure, (tree, *others) = plt.subplots(
        1,
        1 + test.n_classes,
        figsize=(12, 4),
        width_ratios=[1.2, *[1] * test.n_classes],
        layout="constrained",
    )
    gl.plot_idt(idt, class_names=test.class_names, ax=tree)
    formula = gl.parse(counted)
    # Names of atoms say something, numbers of nodes do not.
    labels = "category" if any("=" in name for name in test.graphs.names) else False
    right = idt.predict(test.graphs) == test.y
    by_size = np.argsort(test.graphs.sizes, kind="stable")
    for label, ax in enumerate(others):
        own = by_size[(right & (test.y == label))[by_size]]
        graph = test.graphs[int(own[len(own) // 2])]
        filled = formula.evaluate(graph, level="node")
        title = f"{test.class_names[label]}\n{counted}: {filled.sum()} of {len(filled)} nodes"
        gl.plot_graph(graph, filled, title=title, labels=labels, legend=False, ax=ax)
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Save a picture and say where."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=100)
    plt.close(figure)
    print(f"A picture is in {folder / name}.png\n")
