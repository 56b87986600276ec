"""What the structure of a graph is, as slowly and obviously as possible; nothing of ours is used.

A graph is a number of nodes and a list of pairs.
"""

from __future__ import annotations

from itertools import combinations, permutations


def neighbour_sets(n_nodes: int, edges: list[tuple[int, int]]) -> list[set[int]]:
    """Return the neighbours of every node, in both directions and without itself."""
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for source, target in edges:
        if source != target:
            near[source].add(target)
            near[target].add(source)
    return near


def cycle_length(near: list[set[int]], v: int, w: int) -> int:
    """Return the length of the shortest cycle through the edge v-w by trying them; 0 if none."""
    others = [u for u in range(len(near)) if u not in (v, w)]
    for length in range(3, len(near) + 1):
        for between in permutations(others, length - 2):
            way = [v, *between, w]
            if all(way[i + 1] in near[way[i]] for i in range(len(way) - 1)):
                return length
    return 0


def ring_sizes(near: list[set[int]], v: int) -> set[int]:
    """Return the lengths of shortest cycles through edges of a node."""
    return {cycle_length(near, v, w) for w in near[v]} - {0}


def triangles(near: list[set[int]], v: int) -> int:
    """Return the number of triangles of a node."""
    return sum(b in near[a] for a, b in combinations(sorted(near[v]), 2))


def in_clique(near: list[set[int]], v: int, size: int) -> bool:
    """Return whether a node is in a clique of a size."""
    return any(
        all(b in near[a] for a, b in combinations(chosen, 2))
        for chosen in combinations(sorted(near[v]), size - 1)
    )


def core_number(near: list[set[int]], v: int) -> int:
    """Return the largest k whose core, the largest set with k neighbours inside each, has v."""
    best = 0
    for k in range(1, len(near)):
        members = set(range(len(near)))
        while weak := {u for u in members if len(near[u] & members) < k}:
            members -= weak
        if v in members:
            best = k
    return best
