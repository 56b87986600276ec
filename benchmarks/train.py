"""How long the default network takes to train on AIDS, and how good it gets.

Nine tenths of AIDS (1800 graphs) train the network, of which a tenth is its validation part; the
rest tests it. Data: AIDS from the folder that GNN2LOGIC_DATA names, otherwise a generated set of
its size. Reading the graphs is part of the time.

    python benchmarks/train.py [--conv gcn ...] [--pooling sum] [--seeds 1]
"""

from __future__ import annotations

import argparse
import sys
import time

import torch
from fit import load
from sklearn.model_selection import train_test_split

from gnn2logic.models import GNNClassifier

GOAL = 20.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conv", nargs="+", default=["gcn"])
    parser.add_argument("--pooling", default="sum")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    batch, y, origin = load("AIDS")
    print(f"AIDS ({origin}), {batch.n_graphs} graphs, {torch.get_num_threads()} threads")
    print(
        f"{'':6}{'seed':>5}{'s to best':>11}{'s in all':>10}{'epochs':>8}{'best loss':>11}"
        f"{'train':>8}{'test':>8}"
    )
    reached = True
    for conv in options.conv:
        for seed in range(options.seeds):
            train, test, y_train, y_test = train_test_split(
                batch, y, test_size=0.1, stratify=y, random_state=seed
            )
            started = time.perf_counter()
            gnn = GNNClassifier(conv, pooling=options.pooling, random_state=seed)
            gnn.fit(train, y_train)
            total = time.perf_counter() - started
            best, last = gnn.history_[gnn.best_epoch_], gnn.history_[-1]
            to_best = total - (last.seconds - best.seconds)
            reached &= to_best <= GOAL
            print(
                f"{conv:6}{seed:5}{to_best:11.1f}{total:10.1f}{len(gnn.history_):8}"
                f"{best.validation:11.4f}{gnn.score(train, y_train):8.4f}"
                f"{gnn.score(test, y_test):8.4f}"
            )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
