"""What it costs to find rings, bridges, triangles, cores and cliques.

A million nodes of graphs like molecules: rings of five and six, fused or joined by bridges, with
chains between them and tails. The baseline is networkx on a sample of the same graphs: its bridges,
triangles and core numbers, which are less than we measure, per node.

    python benchmarks/structure.py [--nodes 1000000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from itertools import pairwise

import networkx as nx
import numpy as np
import scipy.sparse as sp
from timing import median_seconds

from gnn2logic import GraphBatch, structure, to_networkx
from gnn2logic.graphs.structure_names import FAMILIES

LIMIT_SECONDS = 3.0
LIMIT_RATIO = 0.5
SAMPLE = 500


def molecule(rng: np.random.Generator) -> tuple[int, list[tuple[int, int]]]:
    edges: list[tuple[int, int]] = []
    n_nodes = 1
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(n_nodes))
        if edges and rng.random() < 0.3:
            start, end = edges[int(rng.integers(len(edges)))]
        else:
            start, end = at, at
        size = int(rng.choice([5, 6, 6, 6]))
        new = list(range(n_nodes, n_nodes + size - (1 if start == end else 2)))
        ring = [start, *new, end]
        edges += [(a, b) for a, b in pairwise(ring) if a != b]
        n_nodes += len(new)
        for _ in range(int(rng.integers(0, 6))):
            edges.append((int(rng.integers(n_nodes)), n_nodes))
            n_nodes += 1
    return n_nodes, edges


def molecules(n_nodes: int) -> GraphBatch:
    rng = np.random.default_rng(0)
    drawn = [molecule(rng) for _ in range(1000)]
    sizes = [size for size, _ in drawn]
    starts = np.cumsum([0, *sizes])
    pairs = np.array(
        [
            (a + start, b + start)
            for start, (_, edges) in zip(starts[:-1], drawn, strict=True)
            for a, b in edges
        ]
    )
    once = sp.coo_array((np.ones(len(pairs), int), pairs.T), shape=(starts[-1],) * 2)
    batch = GraphBatch(None, once, ptr=starts).symmetrize()
    copies = -(-n_nodes // batch.n_nodes)
    return GraphBatch.concat([batch] * copies)


def with_networkx(graphs: list[nx.Graph]) -> None:
    for graph in graphs:
        list(nx.bridges(graph))
        nx.triangles(graph)
        nx.core_number(graph)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    batch = molecules(options.nodes)
    for family in FAMILIES:
        seconds = median_seconds(partial(structure, batch, family), options.repeats)
        print(f"{family:<10} {seconds:6.2f} s")
    ours = median_seconds(lambda: structure(batch), options.repeats)
    sample = batch[:SAMPLE]
    graphs = [nx.Graph(graph) for graph in to_networkx(sample)]
    theirs = median_seconds(lambda: with_networkx(graphs), options.repeats)
    ratio = (ours / batch.n_nodes) / (theirs / sample.n_nodes)
    print(f"all        {ours:6.2f} s for {batch.n_nodes:,} nodes (limit {LIMIT_SECONDS})")
    print(f"per node, {ratio:.3f} of networkx (limit {LIMIT_RATIO})")
    return int(ours > LIMIT_SECONDS * batch.n_nodes / 1e6 or ratio > LIMIT_RATIO)


if __name__ == "__main__":
    sys.exit(main())
