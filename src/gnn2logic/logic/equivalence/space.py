"""The graphs that a search ranges over: edges, relations, predicates, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, gcd, prod
from typing import NamedTuple

from gnn2logic._validation import check_choice
from gnn2logic.exceptions import EquivalenceError
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.logic.syntax import Formula, Modal
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas

__all__ = [
    "GRAPH_CLASSES",
    "MAX_NODES_WITH_EDGES",
    "GraphSpace",
    "Slot",
    "count_graphs",
    "count_nodes",
    "enumerable_nodes",
    "partitions",
    "space_of",
]

GRAPH_CLASSES = {
    "simple": "simple graphs",
    "directed": "directed loop-free graphs",
    "looped": "undirected graphs that may have self loops",
    "directed-looped": "directed graphs that may have self loops",
}


class Slot(NamedTuple):
    """A place where an edge may be: in one relation, from one node to another.

    In undirected graphs one slot is the edge in both directions, and source <= target.
    """

    relation: int
    source: int
    target: int


@dataclass(frozen=True)
class GraphSpace:
    """All graphs of one class with the given relations and predicates.

    Parameters
    ----------
    graph_class : str
        A key of `GRAPH_CLASSES`.
    relations : tuple of str or None
        The edge relations, each with its own edges; None is the edges without a name. Empty when
        nothing depends on edges, so that graphs without edges stand for all graphs.
    names : tuple of str
        The predicates.
    """

    graph_class: str
    relations: tuple[str | None, ...]
    names: tuple[str, ...]

    @property
    def symmetric(self) -> bool:
        """Whether every edge goes both ways."""
        return not self.graph_class.startswith("directed")

    @property
    def loops(self) -> bool:
        """Whether a node may be its own neighbour."""
        return self.graph_class.endswith("looped")

    @property
    def n_colours(self) -> int:
        """The number of sets of predicates that a node may have."""
        return 1 << len(self.names)

    def slots(self, n_nodes: int) -> list[Slot]:
        """Return all places for edges, those among the first k nodes first, for every k."""
        slots: list[Slot] = []
        if not self.relations:
            return slots
        for node in range(n_nodes):
            pairs = []
            for other in range(node):
                pairs.append((other, node))
                if not self.symmetric:
                    pairs.append((node, other))
            if self.loops:
                pairs.append((node, node))
            slots += [
                Slot(relation, *pair) for pair in pairs for relation in range(len(self.relations))
            ]
        return slots

    def relations_along(self, edges: Edges) -> tuple[int, ...]:
        """Return the relations whose edges `edges` follows; plain ``A`` follows all of them."""
        if edges.relation is None:
            return tuple(range(len(self.relations)))
        return (self.relations.index(edges.relation),)

    def describe(self, max_nodes: int) -> str:
        """Return the graphs with at most `max_nodes` nodes in words.

        >>> GraphSpace("simple", ("double", None), ()).describe(3)
        'simple graphs with at most 3 nodes and edges A[double], others'
        """
        words = f"{GRAPH_CLASSES[self.graph_class]} with at most {count_nodes(max_nodes)}"
        typed = [str(Edges(relation=name)) for name in self.relations if name is not None]
        if typed and None in self.relations:
            typed.append("others")
        return f"{words} and edges {', '.join(typed)}" if typed else words


def count_nodes(number: int) -> str:
    """Return ``1 node``, ``2 nodes``, ..."""
    return "1 node" if number == 1 else f"{number} nodes"


def space_of(formulas: tuple[Formula, ...], graph_class: str) -> GraphSpace:
    """Return the graphs on which the formulas can tell nodes apart."""
    followed = [
        node.modality.edges
        for node in subformulas(*formulas)
        if isinstance(node, Modal) and node.modality.uses_edges
    ]
    check_choice("graph_class", graph_class, ("auto", *GRAPH_CLASSES), error=EquivalenceError)
    if graph_class == "auto":
        one_way = all(edges.direction is Direction.OUT for edges in followed)
        graph_class = "simple" if one_way else "directed"
    relations: tuple[str | None, ...] = relation_names(*formulas)
    if any(edges.relation is None for edges in followed):
        relations = (*relations, None)
    return GraphSpace(graph_class, relations, predicate_names(*formulas))


# Sorting out isomorphic graphs tries all permutations of the nodes.
MAX_NODES_WITH_EDGES = 8
# Graphs are whole numbers that a float64 matrix product must keep exact.
_MAX_SLOTS = 52


def partitions(total: int, max_terms: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `total` as a sum of at most `max_terms` parts, largest part first.

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
