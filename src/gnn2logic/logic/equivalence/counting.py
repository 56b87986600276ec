"""How many coloured graphs there are, without making them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, gcd, prod

from gnn2logic.logic.equivalence.space import GraphSpace

__all__ = ["MAX_NODES_WITH_EDGES", "count_graphs", "enumerable_nodes", "partitions"]

# Sorting out isomorphic graphs tries all permutations of the nodes.
MAX_NODES_WITH_EDGES = 8
# Graphs are whole numbers that a float64 matrix product must keep exact.
_MAX_SLOTS = 52


def partitions(total: int, max_terms: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `total` as a sum of at most `max_parts` parts, largest part first.

    >>> list(partitions(4, 3))
    [(4,), (3, 1), (2, 2), (2, 1, 1)]
    """

    def sums(left: int, largest: int, slots: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        elif slots * largest >= left:
            for term in range(min(left, largest), 0, -1):
                for rest in sums(left - term, term, slots - 1):
                    yield (term, *rest)

    yield from sums(total, total, max_terms)


def count_graphs(space: GraphSpace, n_nodes: int) -> int:
    """Return the number of graphs with exactly `n_nodes` nodes up to isomorphism.

    >>> simple = GraphSpace("simple", (None,), ())
    >>> [count_graphs(simple, n) for n in range(1, 7)]
    [1, 2, 4, 11, 34, 156]
    """
    if not space.relations:
        return comb(space.n_colours + n_nodes - 1, n_nodes)
    # Burnside: the mean number of coloured graphs that a permutation of the nodes leaves alone.
    total = Fraction(0)
    for cycles in partitions(n_nodes, n_nodes):
        order = prod(factorial(times) * length**times for length, times in Counter(cycles).items())
        fixed = 2 ** _slot_cycles(space, cycles) * space.n_colours ** len(cycles)
        total += Fraction(fixed, order)
    return int(total)


def _slot_cycles(space: GraphSpace, cycles: tuple[int, ...]) -> int:
    """Return the number of cycles in which a permutation of nodes moves the places for edges."""
    between = sum(gcd(first, second) for first, second in combinations(cycles, 2))
    if space.symmetric:
        count = between + sum(length // 2 for length in cycles)
    else:
        count = 2 * between + sum(length - 1 for length in cycles)
    if space.loops:
        count += len(cycles)
    return count * len(space.relations)


def enumerable_nodes(space: GraphSpace, max_nodes: int, max_graphs: int) -> tuple[int, int]:
    """Return the largest number of nodes, up to `max_nodes`, within the budget.

    Returns
    -------
    n_nodes, n_graphs : int
        The largest bound that can be enumerated, and how many graphs there are up to the bound
        after it (up to `max_nodes` if all of it can be enumerated).
    """
    n_graphs = 0
    for n_nodes in range(1, max_nodes + 1):
        n_graphs += count_graphs(space, n_nodes)
        too_large = bool(space.relations) and (
            n_nodes > MAX_NODES_WITH_EDGES or len(space.slots(n_nodes)) > _MAX_SLOTS
        )
        if n_graphs > max_graphs or too_large:
            return n_nodes - 1, n_graphs
    return max_nodes, n_graphs
