"""The best trees of three conditions: our loop over bit sets beside `pystreed`, on the same rows.

Conditions are thresholds of counts, as a search makes them; the truth is "either, but not both" of
two of them, and one label in twenty is flipped. Both give the best tree of depth 2. Ours gives it
for seven prices of a symbol at once, and sees classes and numbers alike.

    pip install pystreed
    python benchmarks/optimal_trees.py [--rows 1000] [--conditions 100 300 1500] [--repeats 3]

Returns 1 if `pystreed` has found a better tree, or was quicker.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.engines.threads import one_thread
from gnn2logic.learning.search.rule_search import SearchSettings
from gnn2logic.learning.search.small_trees import SmallTree, best_small_trees

LEAST = 5
SYMBOLS = 3
FLIPPED = 0.05
THRESHOLDS = range(2, 10)


def conditions_on(n_rows: int, n_conditions: int, seed: int) -> tuple[Any, Any]:
    """Return conditions, one in each row, and labels."""
    rng = np.random.default_rng(seed)
    n_counts = -(-n_conditions // len(THRESHOLDS))
    counts = rng.poisson(5, (n_counts, n_rows))
    truths = np.concatenate([[count > most for most in THRESHOLDS] for count in counts])
    truths = truths[:n_conditions]
    labels = truths[3] ^ truths[3 + len(THRESHOLDS)] ^ (rng.random(n_rows) < FLIPPED)
    return truths, labels.astype(np.int64)


def right_about(tree: SmallTree, truths: Any, labels: npt.NDArray[np.int64]) -> float:
    root, right = truths[tree.root], 0
    for side, below in ((root, tree.if_true), (~root, tree.if_false)):
        leaves = [side] if below is None else [side & truths[below], side & ~truths[below]]
        right += sum(int(np.bincount(labels[leaf], minlength=2).max()) for leaf in leaves)
    return right / len(labels)


def timed(run: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        answer = run()
        seconds.append(time.process_time() - started)
    return answer, statistics.median(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--conditions", type=int, nargs="+", default=[100, 300, 1500])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    other = importlib.import_module("pystreed")
    fine = True
    print(f"{'conditions':>10}{'rows':>7}{'ours':>9}{'right':>8}{'pystreed':>10}{'right':>8}")
    for n_conditions in options.conditions:
        truths, labels = conditions_on(options.rows, n_conditions, seed=0)
        sizes = np.full(n_conditions, SYMBOLS)
        weights = np.ones(options.rows, dtype=np.int64)

        def ours(rows: Any = truths, y: Any = labels, n: Any = sizes, w: Any = weights) -> Any:
            prices = SearchSettings().prices
            return best_small_trees(rows, n, y[:, None], w, prices=prices, least_weight=LEAST)

        columns = truths.T.astype(int)

        def theirs(rows: Any = columns, y: Any = labels) -> Any:
            model = other.STreeDClassifier(
                "accuracy", max_depth=2, max_num_nodes=3, min_leaf_node_size=LEAST
            )
            return model.fit(rows, y)

        with one_thread():
            ours()  # compiles
            trees, seconds = timed(ours, options.repeats)
            model, their_seconds = timed(theirs, options.repeats)
        right = max(right_about(tree, truths, labels) for tree in trees)
        theirs_right = float(np.mean(model.predict(columns) == labels))
        print(
            f"{n_conditions:10}{options.rows:7}{seconds:8.3f}s{right:8.4f}"
            f"{their_seconds:9.3f}s{theirs_right:8.4f}",
            flush=True,
        )
        fine &= right >= theirs_right and seconds <= their_seconds
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
