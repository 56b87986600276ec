"""Ground truth learned from labels alone: psi_0, psi_1 and psi_2 of the paper.

Each seed draws 1000 graphs to learn from and 1000 fresh ones to test on, as the paper describes
them (Erdos-Renyi, 13 nodes, half of all edges, U0 always true, U1 half of the time), and fits with
default settings. Prints the mean accuracy over the seeds and how often the test was all right.

    python benchmarks/synthetic.py [--seeds 10]
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from gnn2logic import GraphBatch, IDTClassifier, parse, random_graphs

GOALS = {
    "psi_0": ("1 U1 > 0.5", 1.0),
    "psi_1": ("1((A U0 < 4) | (A U0 > 9)) > 0", 0.999),
    "psi_2": ("1(A(A U0 > 6) > 0.5) > 0.5", 0.99),
}


def graphs(seed: int) -> GraphBatch:
    return random_graphs(1000, sizes=13, density=0.5, probability=[1.0, 0.5], random_state=seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    n_seeds = parser.parse_args().seeds
    reached = True
    print(f"{'':8}{'accuracy':>10}{'lowest':>10}{'exact':>8}{'s per fit':>11}{'goal':>8}")
    for name, (text, goal) in GOALS.items():
        truth = parse(text)
        scores, seconds = [], []
        for seed in range(n_seeds):
            train, test = graphs(2 * seed), graphs(2 * seed + 1)
            started = time.perf_counter()
            learner = IDTClassifier(algorithm="layers", random_state=seed)
            model = learner.fit(train, truth.evaluate(train))
            seconds.append(time.perf_counter() - started)
            scores.append(model.score(test, truth.evaluate(test)))
        mean = float(np.mean(scores))
        exact = sum(score == 1.0 for score in scores)
        reached &= mean >= goal
        print(
            f"{name:8}{mean:10.4f}{min(scores):10.4f}{exact:>5}/{n_seeds:<2}"
            f"{np.median(seconds):11.2f}{goal:8.3f}"
        )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
