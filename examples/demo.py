"""Train a network on built-in graphs, distil it into rules, and write a report about them.

The data are the BAMultiShapes of the paper: does a graph have exactly two of three shapes?

python examples/demo.py [--out demo] [--epochs 60]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import gnn2logic as gl
from gnn2logic.datasets import Dataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"))
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)

    data = gl.datasets.load("BAMultiShapes", random_state=0)
    print(f"{data}\n")
    order = np.random.default_rng(0).permutation(len(data))
    train, test = data.take(order[200:]), data.take(order[:200])

    print("Training a graph isomorphism network ...")
    gnn = gl.models.GNNClassifier(
        "gin", hidden=64, max_epochs=options.epochs, verbose=1, random_state=0
    )
    gnn.fit(train.graphs, train.y)
    print("Distilling it ...\n")
    idt = gl.distill(gnn, train.graphs, random_state=0)

    print(f"{idt}\n")
    names = test.class_names
    for label, name in enumerate(names):
        print(f"{name}, in words:\n  {idt.formula(label).english()}\n")
    majority = np.bincount(test.y).max() / len(test)
    print(f"On {len(test)} graphs that neither has seen:")
    print(f"  the rule is right about       {idt.score(test.graphs, test.y):.1%}")
    print(f"  the network is right about    {gnn.score(test.graphs, test.y):.1%}")
    print(f"  the most common class is      {majority:.1%}")
    print(f"  rule and network agree about  {gl.fidelity(idt, gnn, test.graphs):.1%}\n")

    page = out / "report.html"
    gl.report(idt, test, teacher=gnn).write_html(page)
    print(f"The report is in {page}")
    for picture in draw(idt, test, out):
        print(f"A picture is in {picture}")


def draw(idt: gl.IDTClassifier, data: Dataset, out: Path) -> list[Path]:
    """Draw the rule, and why it says what it says about one graph of each class."""
    gl.plot_idt(idt, classes=data.class_names)
    plt.savefig(out / "rule.png", dpi=120)
    plt.close()
    paths = [out / "rule.png"]
    predicted = idt.predict(data.graphs)
    for label, name in enumerate(data.class_names):
        graph = data.graphs[int(np.argmax(predicted == label))]
        gl.plot_explanation(gl.explain(idt, graph, classes=data.class_names))
        paths.append(out / f"{name.replace(' ', '_')}.png")
        plt.savefig(paths[-1], dpi=120)
        plt.close()
    return paths


if __name__ == "__main__":
    main()
