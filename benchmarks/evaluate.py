"""How much evaluation costs beyond the sparse products that it cannot avoid.

Evaluates the paper's psi_2 on 100,000 random graphs of 13 nodes and compares with the bare scipy
products and comparisons, written by hand, in the same run. Both start from the same ready matrices.

    python benchmarks/evaluate.py [--graphs 100000] [--repeats 7]
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from timing import median_seconds

from gnn2logic.graphs import GraphBatch
from gnn2logic.graphs.random import random_graphs
from gnn2logic.logic import evaluate, parse

PSI_2 = "1(A(A U0 > 6) > 1/2) > 1/2"
LIMIT = 3.0


def bare(batch: GraphBatch) -> npt.NDArray[np.bool_]:
    """Compute psi_2 with nothing but the products and comparisons that it needs."""
    adjacency, members = batch.adjacency, batch.membership
    dtype = adjacency.data.dtype
    busy = adjacency @ batch.column("U0").astype(dtype) > 6
    near_busy = adjacency @ busy.astype(dtype) * 2 > batch.edges().degrees
    result: npt.NDArray[np.bool_] = members @ near_busy.astype(dtype) * 2 > batch.sizes
    return result


def peak_mib(run: Callable[[], object]) -> float:
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    batch = random_graphs(options.graphs, probability=[1.0, 0.5], random_state=0)
    formula = parse(PSI_2)
    # The first calls derive and keep degrees and the membership matrix; both sides use them.
    assert np.array_equal(bare(batch), evaluate(formula, batch))
    rows = []
    for name, run in (
        ("bare scipy", lambda: bare(batch)),
        ("evaluate", lambda: evaluate(formula, batch)),
    ):
        rows.append((name, median_seconds(run, options.repeats), peak_mib(run)))
    ratio = rows[1][1] / rows[0][1]
    print(f"{PSI_2} on {batch.n_graphs} graphs, {batch.n_nodes} nodes, {batch.n_edges} edges")
    print(f"{'':12}{'seconds':>10}{'peak MiB':>10}")
    for name, seconds, memory in rows:
        print(f"{name:12}{seconds:10.4f}{memory:10.1f}")
    print(f"ratio {ratio:.2f} (limit {LIMIT:.0f})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
