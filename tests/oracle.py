"""What formulas mean, as slowly and obviously as possible.

Nothing of the package is imported here. A formula comes as plain data (the rows of its JSON
document), a graph as a number of nodes, a dict of predicates and a list of edges.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any


@dataclass
class PlainGraph:
    """A graph; parallel edges stand in `edges` more than once."""

    n_nodes: int
    predicates: dict[str, list[bool]] = field(default_factory=dict)
    edges: list[tuple[int, int, str | None]] = field(default_factory=list)

    def matrix(self, relation: str | None = None) -> list[list[int]]:
        """Return edge counts; None means all edges."""
        rows = [[0] * self.n_nodes for _ in range(self.n_nodes)]
        for source, target, kind in self.edges:
            if relation is None or kind == relation:
                rows[source][target] += 1
        return rows


def neighbours(graph: PlainGraph, node: int, direction: str, relation: str | None) -> list[int]:
    """Return the neighbours of a node with repeats: one entry per edge."""
    edges = [(s, t) for s, t, kind in graph.edges if relation is None or kind == relation]
    outgoing = [target for source, target in edges if source == node]
    incoming = [source for source, target in edges if target == node]
    if direction == "out":
        return outgoing
    if direction == "in":
        return incoming
    assert direction == "either"
    return list((Counter(outgoing) | Counter(incoming)).elements())


def seen_from(graph: PlainGraph, node: int, row: dict[str, Any]) -> list[int]:
    """Return eps_S(v) as a list with repeats."""
    near = neighbours(graph, node, row.get("direction", "out"), row.get("relation"))
    everyone = list(range(graph.n_nodes))
    match row["set"]:
        case "0":
            return []
        case "1":
            return everyone
        case "I":
            return [node]
        case "A":
            return near
        case "I+A":
            return [node] + [other for other in near if other != node]
        case "1-I":
            return [other for other in everyone if other != node]
        case "1-A":
            return [other for other in everyone if other not in near]
        case "1-I-A":
            return [other for other in everyone if other != node and other not in near]
    raise AssertionError(row)


def truth(document: dict[str, Any], graph: PlainGraph) -> list[bool]:
    """Return the truth of the last row of a document at every node."""
    rows = document["nodes"]
    values: list[list[bool]] = []
    for row in rows:
        values.append([_at(row, values, graph, node) for node in range(graph.n_nodes)])
    return values[-1]


def _at(row: dict[str, Any], values: list[list[bool]], graph: PlainGraph, node: int) -> bool:
    match row["op"]:
        case "true":
            return True
        case "false":
            return False
        case "predicate":
            return graph.predicates[row["name"]][node]
        case "not":
            return not values[row["of"]][node]
        case "and":
            return all(values[part][node] for part in row["of"])
        case "or":
            return any(values[part][node] for part in row["of"])
        case "modal":
            members = seen_from(graph, node, row)
            count = sum(1 for member in members if values[row["of"]][member])
            if isinstance(row["more_than"], int):
                return count > row["more_than"]
            return count > Fraction(row["more_than"]) * len(members)
    raise AssertionError(row)
