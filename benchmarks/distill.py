"""How long the parts of distillation take, side by side.

Training a network, asking it plainly (forward passes over all graphs, nothing kept), asking it with
all activations kept, and fitting the Iterated Decision Tree to them. Two limits are checked: asking
with activations costs at most three plain forward passes, and the fit is never the longest part.
Data: AIDS and MUTAG from the folder that GNN2LOGIC_DATA names, otherwise generated sets of their
size.

    python benchmarks/distill.py [--datasets MUTAG ...] [--conv gcn] [--layers 4] [--epochs 200]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gnn2logic import GraphBatch, IDTClassifier, datasets, random_graphs
from gnn2logic.distillation import as_teacher, fidelity
from gnn2logic.models import GNNClassifier
from gnn2logic.models.pyg_data import mini_batches, pyg_graphs

CAPTURE_LIMIT = 3.0
SIZES = {"AIDS": (2000, 16, 38), "MUTAG": (188, 18, 7)}


def load(name: str) -> tuple[GraphBatch, npt.NDArray[np.int64], str]:
    root = os.environ.get("GNN2LOGIC_DATA", "")
    if not root or not (Path(root) / name).is_dir():
        return (*generate(name), "generated")
    data = datasets.load(name, download=False)
    return data.graphs, data.y, "TU"


def generate(name: str) -> tuple[GraphBatch, npt.NDArray[np.int64]]:
    n_graphs, n_nodes, n_labels = SIZES[name]
    batch = random_graphs(n_graphs, sizes=n_nodes, density=2.5 / n_nodes, names=(), random_state=0)
    labels = np.random.default_rng(0).integers(0, n_labels, size=batch.n_nodes)
    one_hot = labels[:, None] == np.arange(n_labels)
    batch = batch.with_predicates(one_hot, [f"label={value}" for value in range(n_labels)])
    return batch, (batch.edges().degrees.reshape(n_graphs, -1).max(axis=1) > 5).astype(np.int64)


def seconds_of(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def plain_pass(module: torch.nn.Module, graphs: GraphBatch) -> None:
    """Ask the network about all graphs as a user would by hand, and keep nothing."""
    module.eval()
    with torch.no_grad():
        for batch in mini_batches(pyg_graphs(graphs)):
            module(batch.x, batch.edge_index, batch.batch)


def compare(name: str, options: argparse.Namespace) -> bool:
    graphs, y, source = load(name)
    test = np.arange(len(y)) % 10 == 0
    train, labels = graphs[~test], y[~test]
    # The first fit compiles the loops (or loads them, when they were compiled before).
    IDTClassifier(1, algorithm="layers", width=1).fit(train[:40], np.arange(40) % 2)
    gnn = GNNClassifier(
        options.conv, options.layers, max_epochs=options.epochs, pooling="sum", random_state=0
    )
    training = seconds_of(lambda: gnn.fit(train, labels))
    teacher = as_teacher(gnn)
    # In turns, and the quickest of each: other work on the machine must not favour one of them.
    turns = [
        (seconds_of(lambda: plain_pass(gnn.module_, train)), seconds_of(lambda: teacher.run(train)))
        for _ in range(7)
    ]
    forward, capture = min(plain for plain, _ in turns), min(kept for _, kept in turns)
    answers = teacher.run(train)
    idt = IDTClassifier(algorithm="layers", width=8, random_state=0)
    fitting = seconds_of(
        lambda: idt.fit(
            train, answers.labels, activations=answers.activations, classes=answers.classes
        )
    )
    print(f"\n{name} ({source}): {train.n_graphs} graphs, {train.n_nodes} nodes, {options.conv}")
    print(f"{'part':44}{'seconds':>9}")
    print(f"{f'training, {len(gnn.history_)} epochs':44}{training:9.2f}")
    print(f"{'a plain forward pass':44}{forward:9.3f}")
    print(f"{'a pass that keeps all activations':44}{capture:9.3f}")
    print(f"{f'IDT fit, {idt.n_layers_} layers of width 8':44}{fitting:9.2f}")
    held = graphs[test]
    print(
        f"accuracy of the network {gnn.score(held, y[test]):.3f}, of the IDT "
        f"{idt.score(held, y[test]):.3f}; fidelity {fidelity(idt, teacher, held):.3f}"
    )
    ratio = capture / forward
    longest = fitting > max(training, capture)
    print(f"keeping activations costs {ratio:.2f} passes (limit {CAPTURE_LIMIT:.0f})")
    print(f"the IDT fit is {'' if longest else 'not '}the longest part")
    return ratio <= CAPTURE_LIMIT and not longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--conv", default="gcn", choices=["gcn", "gin", "sage", "gat"])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=200)
    options = parser.parse_args()
    reached = [compare(name, options) for name in options.datasets]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
