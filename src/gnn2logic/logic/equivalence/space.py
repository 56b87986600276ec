"""The graphs that a search ranges over: their edges, their relations and their predicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gnn2logic._validation import check_choice
from gnn2logic.exceptions import EquivalenceError
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.logic.syntax import Formula, Modal
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas

__all__ = ["GRAPH_CLASSES", "GraphSpace", "Slot", "count_nodes", "space_of"]

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


def space_of(formulas: tuple[Formula, ...], graphs: str) -> GraphSpace:
    """Return the graphs on which the formulas can tell nodes apart."""
    followed = [
        node.modality.edges
        for node in subformulas(*formulas)
        if isinstance(node, Modal) and node.modality.uses_edges
    ]
    check_choice("graphs", graphs, ("auto", *GRAPH_CLASSES), error=EquivalenceError)
    if graphs == "auto":
        one_way = all(edges.direction is Direction.OUT for edges in followed)
        graphs = "simple" if one_way else "directed"
    relations: tuple[str | None, ...] = relation_names(*formulas)
    if any(edges.relation is None for edges in followed):
        relations = (*relations, None)
    return GraphSpace(graphs, relations, predicate_names(*formulas))
