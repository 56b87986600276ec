"""The rings, triangles, cliques and cores that give one node a predicate of the structure."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.cohesion import core_numbers
from gnn2logic.graphs.cycles import simple_edges
from gnn2logic.graphs.structure_names import predicate_words

__all__ = ["is_shape", "shape_at"]

Neighbours = list[frozenset[int]]
Pairs = set[tuple[int, int]]
Shape = tuple[list[int], list[tuple[int, int]]]


def is_shape(name: str) -> bool:
    """Return whether a predicate is one of the structure."""
    return predicate_words(name) is not None


def shape_at(graph: GraphBatch, name: str, node: int) -> Shape:
    """Return the nodes and edges that give a node of one graph a predicate of the structure.

    For ``ring=6`` these are all rings of six whose edges at the node have no shorter ring; for
    triangles and cliques all of them; for a core all of it that is connected with the node; for a
    degree the neighbours. Edges are given as they are in the graph.

    >>> import gnn2logic as gl
    >>> square = gl.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], 5).symmetrize()
    >>> shape_at(square, "ring=4", 0)[0]
    [0, 1, 2, 3]
    """
    matrix = simple_edges(graph.adjacency)
    rows = np.split(matrix.indices, matrix.indptr[1:-1])
    neighbours = [frozenset(row.tolist()) for row in rows]
    family, _, number = name.replace(" > ", "=").partition("=")
    match family:
        case "ring":
            pairs = _rings(neighbours, node, int(number))
        case "clique":
            pairs = _cliques(neighbours, node, int(number))
        case "triangles":
            pairs = _cliques(neighbours, node, 3)
        case "core":
            cores = core_numbers(matrix)
            pairs = _connected(neighbours, node, set(np.flatnonzero(cores > int(number)).tolist()))
        case _:
            pairs = {(node, other) for other in neighbours[node]}
    nodes = sorted({node, *(end for pair in pairs for end in pair)})
    both = pairs | {(second, first) for first, second in pairs}
    sources, targets = graph.adjacency.nonzero()
    given = zip(sources.tolist(), targets.tolist(), strict=True)
    return nodes, [edge for edge in given if edge in both]


def _rings(neighbours: Neighbours, node: int, size: int) -> Pairs:
    pairs: Pairs = set()
    for other in neighbours[node]:
        without = list(neighbours)
        without[node] = neighbours[node] - {other}
        without[other] = neighbours[other] - {node}
        from_node = _distances(without, node, size - 1)
        if from_node.get(other) != size - 1:
            continue
        from_other = _distances(without, other, size - 1)
        # An edge lies on a shortest way if it is one step of it, from either side.
        pairs |= {
            (first, second)
            for first, before in from_node.items()
            for second in without[first]
            if before + 1 + from_other.get(second, size) == size - 1
        }
        pairs.add((node, other))
    return pairs


def _distances(neighbours: Neighbours, start: int, most: int) -> dict[int, int]:
    distances = {start: 0}
    here = [start]
    for steps in range(1, most + 1):
        here = sorted({near for node in here for near in neighbours[node]} - distances.keys())
        distances.update(dict.fromkeys(here, steps))
    return distances


def _cliques(neighbours: Neighbours, node: int, size: int) -> Pairs:
    pairs: Pairs = set()

    def extend(chosen: tuple[int, ...], common: frozenset[int]) -> None:
        if len(chosen) == size:
            pairs.update(combinations(chosen, 2))
            return
        for other in common:
            extend((*chosen, other), frozenset(n for n in common & neighbours[other] if n > other))

    extend((node,), neighbours[node])
    return pairs


def _connected(neighbours: Neighbours, node: int, members: set[int]) -> Pairs:
    pairs: Pairs = set()
    seen, stack = {node}, [node]
    while stack:
        at = stack.pop()
        for near in neighbours[at] & members:
            pairs.add((at, near))
            if near not in seen:
                seen.add(near)
                stack.append(near)
    return pairs
