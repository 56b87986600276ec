"""What a bounded comparison or search found and how to say it, and the time that it has."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Edges
from gnn2logic.graphs.structure_names import structure_in_use
from gnn2logic.logic.equivalence.space import GraphSpace, count_nodes
from gnn2logic.logic.syntax import Formula, Modal, predicate

__all__ = [
    "Deadline",
    "Equivalence",
    "GraphSearch",
    "OutOfTimeError",
    "Satisfiability",
    "Witness",
    "with_unreachable",
]

_METHODS = {
    "enumerate": "by enumeration of {n_graphs:,} graphs",
    "z3": "by z3",
    "enumerate+z3": "by enumeration of {n_graphs:,} graphs and by z3",
}
# Listing the edges of a larger graph helps nobody.
_LARGEST_SHOWN = 12
_MOST_NOTES = 8


@dataclass(frozen=True)
class Equivalence:
    """Whether two formulas have the same truth at every node of every small graph.

    It is true as a Boolean only where equality was shown: ``equal is True``.

    Attributes
    ----------
    equal : bool or None
        None if the time limit ran out before the answer was known.
    max_nodes : int
        The bound that was asked for.
    proven_nodes : int
        The formulas agree on all graphs with at most so many nodes.
    space : GraphSpace
        The graphs: their class, relations and predicates.
    method : str
        ``"enumerate"``, ``"z3"``, ``"enumerate+z3"``, or ``"identical"`` for one and the same
        formula, which needs no bound.
    n_graphs_checked : int
        How many graphs, up to isomorphism, were evaluated one by one. z3 does not count.
    counterexample : GraphBatch or None
        A smallest graph where the formulas differ.
    node : int or None
        A node of it where they differ.
    values : (bool, bool) or None
        The truth of the two formulas there.
    smallest : bool
        False if time ran out while the counterexample of z3 was made smaller: it has the fewest
        nodes, but perhaps not the fewest edges and true predicates.
    unreachable : tuple of (Formula, int)
        Comparisons that need more nodes than the bound allows, and how many.
    """

    equal: bool | None
    max_nodes: int
    proven_nodes: int
    space: GraphSpace
    method: str
    n_graphs_checked: int
    counterexample: GraphBatch | None = None
    node: int | None = None
    values: tuple[bool, bool] | None = None
    smallest: bool = True
    unreachable: tuple[tuple[Formula, int], ...] = ()

    @property
    def graph_class(self) -> str:
        """``"simple"``, ``"directed"``, ``"looped"`` or ``"directed-looped"``."""
        return self.space.graph_class

    def __bool__(self) -> bool:
        return self.equal is True

    def __str__(self) -> str:
        if self.method == "identical":
            return "Equal on all graphs: the two formulas are the same."
        if self.counterexample is not None and self.values is not None:
            first, second = (str(value).lower() for value in self.values)
            said = (
                f"Not equal: at node {self.node} of {describe_graph(self.counterexample)} the "
                f"first formula is {first} and the second is {second}."
            )
            return "\n".join([said, *_structure_notes(self.space)])
        if self.equal is None:
            return _undecided("difference", self.space, self.max_nodes, self.proven_nodes)
        how = _METHODS[self.method].format(n_graphs=self.n_graphs_checked)
        said = f"Equal on all {self.space.describe(self.max_nodes)} ({how})."
        return "\n".join([with_unreachable(said, self.unreachable), *_structure_notes(self.space)])


@dataclass(frozen=True)
class Satisfiability:
    """Whether some node of some small graph satisfies a formula.

    It is true as a Boolean only where such a graph was found.

    Attributes
    ----------
    satisfiable : bool or None
        False: no graph within the bound. None: the time limit ran out.
    graph : GraphBatch or None
        A smallest graph with a node that satisfies the formula.
    node : int or None
        That node.
    max_nodes, proven_nodes, space, method, n_graphs_checked, smallest, unreachable
        As in `Equivalence`.
    """

    satisfiable: bool | None
    max_nodes: int
    proven_nodes: int
    space: GraphSpace
    method: str
    n_graphs_checked: int
    graph: GraphBatch | None = None
    node: int | None = None
    smallest: bool = True
    unreachable: tuple[tuple[Formula, int], ...] = ()

    @property
    def graph_class(self) -> str:
        """``"simple"``, ``"directed"``, ``"looped"`` or ``"directed-looped"``."""
        return self.space.graph_class

    def __bool__(self) -> bool:
        return self.satisfiable is True

    def __str__(self) -> str:
        if self.graph is not None:
            said = f"Satisfied at node {self.node} of {describe_graph(self.graph)}."
            return "\n".join([said, *_structure_notes(self.space)])
        if self.satisfiable is None:
            return _undecided("model", self.space, self.max_nodes, self.proven_nodes)
        how = _METHODS[self.method].format(n_graphs=self.n_graphs_checked)
        said = f"Not satisfied on any of the {self.space.describe(self.max_nodes)} ({how})."
        return with_unreachable(said, self.unreachable)


def _structure_notes(space: GraphSpace) -> list[str]:
    """Say that what follows from the edges was not followed up."""
    relations = [name for name in space.relations if name is not None]
    in_use = structure_in_use(space.names, relations)
    if not in_use:
        return []
    return [
        f"The structure ({', '.join(in_use)}) was free here: graphs were tried where it does not "
        "follow from the edges."
    ]


def _undecided(what: str, space: GraphSpace, max_nodes: int, proven_nodes: int) -> str:
    said = "Undecided: the time limit ran out before the search of all "
    said += f"{space.describe(max_nodes)} was over."
    if proven_nodes:
        said += f" There is no {what} with at most {count_nodes(proven_nodes)}."
    return said


def _note(formula: Formula, needed: int) -> str:
    if isinstance(formula, Modal) and formula.is_ratio:
        return (
            f"{_short(formula)} needs {count_nodes(needed)} to be told apart from every other "
            "share, so this bound may miss a difference in it."
        )
    return f"{_short(formula)} needs {count_nodes(needed)}, so this bound proves nothing about it."


def with_unreachable(said: str, unreachable: tuple[tuple[Formula, int], ...]) -> str:
    """Return what was said, and which comparisons no graph within the bound says anything about."""
    notes = [_note(formula, needed) for formula, needed in unreachable[:_MOST_NOTES]]
    if len(unreachable) > _MOST_NOTES:
        notes.append(f"The same holds for {len(unreachable) - _MOST_NOTES} more comparisons.")
    return "\n".join([said, *notes])


def _short(formula: Formula) -> str:
    text = str(formula).replace("\n", " ")
    return text if len(text) <= 80 else f"{text[:77]}..."


def describe_graph(graph: GraphBatch) -> str:
    """Return one graph in words.

    >>> describe_graph(GraphBatch([[1], [0]], [[0, 1], [1, 0]]))
    'the graph with nodes 0 {U0}, 1 {} and edges 0-1'
    """
    if graph.n_nodes > _LARGEST_SHOWN:
        return f"a graph with {graph.n_nodes} nodes"
    nodes = []
    for v in range(graph.n_nodes):
        true_here = np.flatnonzero(graph.predicates[v])
        names = ", ".join(str(predicate(graph.names[column])) for column in true_here)
        nodes.append(f"{v} {{{names}}}")
    edges = []
    relations = dict(graph.relations)
    rest = graph.adjacency - sum(relations.values(), start=0 * graph.adjacency)
    arrow = "-" if graph.is_symmetric else "->"
    for name, matrix in [*relations.items(), (None, rest)]:
        label = "" if name is None else f" {Edges(relation=name)}"
        sources, targets = matrix.nonzero()
        for v, w in sorted(zip(sources.tolist(), targets.tolist(), strict=True)):
            if v <= w or not graph.is_symmetric:
                edges.append(f"{v}{arrow}{w}{label}")
    with_edges = f"edges {', '.join(edges)}" if edges else "no edges"
    return f"the graph with nodes {', '.join(nodes)} and {with_edges}"


@dataclass(frozen=True)
class Witness:
    """A graph and a node of it that satisfies what was searched for."""

    graph: GraphBatch
    node: int
    smallest: bool


@dataclass(frozen=True)
class GraphSearch:
    """The outcome of a search.

    Parameters
    ----------
    witness : Witness or None
    proven_nodes : int
        No graph with at most so many nodes has a node that satisfies what was searched for.
    n_graphs : int
        The number of graphs that were evaluated one by one.
    finished : bool
        False if time ran out before the search was over.
    """

    witness: Witness | None
    proven_nodes: int
    n_graphs: int
    finished: bool


class OutOfTimeError(Exception):
    """The time limit has passed; callers turn this into an undecided result."""


class Deadline:
    """The moment at which a search gives up, counted from the making of this object."""

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def remaining(self) -> float:
        """The seconds that are left, infinite without a time limit, never negative."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise `OutOfTimeError` if no time is left."""
        if self.remaining <= 0:
            raise OutOfTimeError
