"""How much predicting costs beyond the sparse products that it cannot avoid.

Learns a model of three inner layers on the paper's psi_2 and predicts 20,000 fresh graphs with it
as it was learned, unpruned, from a ready batch. The products by hand: in every layer, all columns
that its trees look at times A, and at the end a sum per graph.

    python benchmarks/predict.py [--graphs 20000] [--repeats 7]
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from timing import median_seconds

from gnn2logic import GraphBatch, IDTClassifier, parse, random_graphs
from gnn2logic.idt.predict import column_values, final_leaves

LIMIT = 5.0


def graphs(count: int, seed: int) -> GraphBatch:
    return random_graphs(count, sizes=13, density=0.5, probability=[1.0, 0.5], random_state=seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    truth = parse("1(A(A U0 > 6) > 1/2) > 1/2")
    train = graphs(1000, 0)
    noisy = truth.evaluate(train) ^ (np.random.default_rng(0).random(1000) < 0.2)
    # Noise and no pruning: a final tree that looks at columns of every layer.
    model = (
        IDTClassifier(n_layers=3, algorithm="layers", ccp_alpha=0.0, random_state=0)
        .fit(train, noisy)
        .model_
    )
    batch = graphs(options.graphs, 1)
    used = {split.column for split in model.final.splits if split is not None}
    values = column_values(model, batch, used)
    dtype = batch.adjacency.data.dtype
    blocks = []
    for layer in model.layers:
        looked_at = {
            split.column for tree in layer.trees for split in tree.splits if split is not None
        }
        known = sorted(looked_at & set(values))
        if known:
            blocks.append(np.stack([values[column] for column in known], axis=1).astype(dtype))
    last = np.stack([values[column] for column in sorted(used)], axis=1).astype(dtype)
    adjacency, members = batch.adjacency, batch.membership

    def bare() -> None:
        for block in blocks:
            _ = adjacency @ block
        _ = members @ last

    final_leaves(model, batch)
    products = median_seconds(bare, options.repeats)
    predicting = median_seconds(lambda: final_leaves(model, batch), options.repeats)
    print(f"{batch.n_graphs} graphs, {batch.n_nodes} nodes, {model.final.n_leaves} leaves, ")
    print(f"{sum(b.shape[1] for b in blocks)} columns times A, {last.shape[1]} columns summed")
    print(f"{'bare products':16}{products:9.4f} s\n{'predict':16}{predicting:9.4f} s")
    ratio = predicting / products
    print(f"ratio {ratio:.2f} (limit {LIMIT:.0f})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
