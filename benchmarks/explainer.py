"""How well the masks of `IDTExplainer` find planted shapes, beside simple scores.

A network is trained on graphs with planted shapes and distilled. On graphs that neither has seen,
nodes and edges are ranked by the masks, and the area under the ROC curve says how often something
planted is above something that is not: 1 is always, 0.5 is chance. It is the mean over all graphs
that have both. An edge is planted if both of its ends are. Beside the masks:

- witness: 1 at every witness of the rule, 0 elsewhere: what the masks would be without scores,
- degree: the number of neighbours; of an edge, of both of its ends together,
- random: numbers drawn with a fixed seed.

A rule may as well count the nodes that are in no shape; then its masks are below chance.

    python benchmarks/explainer.py [--graphs 600] [--epochs 40] [--seeds 2]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch_geometric.data import Data
from torch_geometric.explain import Explainer

import gnn2logic as gl
from gnn2logic.datasets import Dataset
from gnn2logic.explanation import IDTExplainer

NAMES = ("BA-2Motifs", "BAMultiShapes")
KINDS = ("mask", "witness", "degree", "random")
Scores = dict[str, tuple[np.ndarray, np.ndarray]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'':14}{'seed':>5}{'network':>9}{'agree':>7}{'':>9}", *(f"{k:>8}" for k in KINDS))
    runs = [(name, seed) for name in NAMES for seed in range(options.seeds)]
    areas = [measure(name, seed, options.graphs, options.epochs)["nodes"] for name, seed in runs]
    means = {kind: float(np.mean([own[kind] for own in areas])) for kind in KINDS}
    print(f"{'mean':35}{'nodes':>9}", *(f"{means[kind]:8.3f}" for kind in KINDS))
    return 0 if means["mask"] > max(means["witness"], means["random"]) else 1


def measure(name: str, seed: int, n_graphs: int, epochs: int) -> dict[str, dict[str, float]]:
    """Return the areas of nodes and of edges by kind of score, and print a row for each."""
    data = gl.datasets.load(name, n_graphs=n_graphs, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(data))
    train, test = data.take(order[n_graphs // 5 :]), data.take(order[: n_graphs // 5])
    gnn = gl.models.GNNClassifier("gin", hidden=64, max_epochs=epochs, random_state=seed)
    gnn.fit(train.graphs, train.y)
    idt = gl.distill(gnn, train.graphs, algorithm="layers", random_state=seed)
    head = f"{name:14}{seed:5}{gnn.score(test.graphs, test.y):9.3f}"
    head += f"{gl.fidelity(idt, gnn, test.graphs):7.3f}"
    areas = areas_under_curve(test, scorer(idt, gnn, seed))
    for what, own in areas.items():
        print(f"{head}{what:>9}", *(f"{own[kind]:8.3f}" for kind in KINDS), flush=True)
        head = " " * len(head)
    return areas


def scorer(
    idt: gl.IDTPredictor, gnn: gl.models.GNNClassifier, seed: int
) -> Callable[[Data], Scores]:
    """Return what gives the nodes and the edges of a graph all kinds of scores."""
    explainer = Explainer(
        gnn.module_,
        IDTExplainer(idt, gnn),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    rng = np.random.default_rng(seed)

    def scores(data: Data) -> Scores:
        found = explainer(data.x, data.edge_index, batch=torch.zeros(len(data.x), dtype=torch.long))
        nodes, edges = found.node_mask.flatten().numpy(), found.edge_mask.numpy()
        sources, targets = data.edge_index.numpy()
        degrees = np.bincount(sources, minlength=len(nodes))
        return {
            "mask": (nodes, edges),
            "witness": (nodes > 0, edges > 0),
            "degree": (degrees, degrees[sources] + degrees[targets]),
            "random": (rng.random(len(nodes)), rng.random(len(edges))),
        }

    return scores


def areas_under_curve(
    test: Dataset, scores: Callable[[Data], Scores]
) -> dict[str, dict[str, float]]:
    """Return the mean area over all graphs that have planted parts and others."""
    areas: dict[str, dict[str, list[float]]] = {
        what: {kind: [] for kind in KINDS} for what in ("nodes", "edges")
    }
    assert test.mask is not None
    planted_by_graph = np.split(test.mask, np.cumsum(test.graphs.sizes)[:-1])
    for data, planted in zip(gl.to_pyg(test.graphs), planted_by_graph, strict=True):
        sources, targets = data.edge_index.numpy()
        truth = {"nodes": planted, "edges": planted[sources] & planted[targets]}
        if not planted.any() or planted.all():
            continue
        for kind, pair in scores(data).items():
            for (what, own), values in zip(truth.items(), pair, strict=True):
                areas[what][kind].append(roc_auc_score(own, values))
    return {
        what: {kind: float(np.mean(values)) for kind, values in own.items()}
        for what, own in areas.items()
    }


if __name__ == "__main__":
    sys.exit(main())
