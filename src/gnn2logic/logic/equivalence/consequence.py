"""Whether one formula follows from another, or excludes it, on all small graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.equivalence.comparison import find_model
from gnn2logic.logic.equivalence.result import (
    Satisfiability,
    describe_graph,
    with_unreachable,
)
from gnn2logic.logic.syntax import Formula

__all__ = ["Consequence", "disjoint", "implies"]


@dataclass(frozen=True)
class Consequence:
    """The answer of `implies` or `disjoint`; true as a Boolean only where it was shown.

    Attributes
    ----------
    question : {"implies", "disjoint"}
    search : Satisfiability
        The search for a node that shows the contrary: its bound, its method, its graph.
    """

    question: Literal["implies", "disjoint"]
    search: Satisfiability

    @property
    def holds(self) -> bool | None:
        """Whether it is so within the bound; None if time ran out."""
        has_counterexample = self.search.satisfiable
        return None if has_counterexample is None else not has_counterexample

    @property
    def counterexample(self) -> GraphBatch | None:
        """A smallest graph that shows the contrary."""
        return self.search.graph

    @property
    def node(self) -> int | None:
        """The node of it that does."""
        return self.search.node

    def __bool__(self) -> bool:
        return self.holds is True

    def __str__(self) -> str:
        if self.counterexample is not None:
            shown = (
                "both are true"
                if self.question == "disjoint"
                else ("the first formula is true and the second is false")
            )
            return f"No: at node {self.node} of {describe_graph(self.counterexample)} {shown}."
        if self.holds is None:
            return str(self.search)
        said = (
            "they exclude each other"
            if self.question == "disjoint"
            else ("the second is true wherever the first is")
        )
        bound = self.search.space.describe(self.search.max_nodes)
        return with_unreachable(f"Yes: {said}, on all {bound}.", self.search.unreachable)


def implies(f: Formula, g: Formula, *, max_nodes: int = 4, **options: Any) -> Consequence:
    """Return whether g is true wherever f is, on all graphs with at most `max_nodes` nodes.

    Parameters
    ----------
    f, g : Formula
    max_nodes : int
    **options
        ``graph_class``, ``method``, ``time_limit`` and ``max_graphs`` of `equivalent`.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(implies(parse("A U0 > 1"), parse("A U0 > 0")))
    Yes: the second is true wherever the first is, on all simple graphs with at most 4 nodes.
    >>> print(implies(parse("A U0 > 0"), parse("U0")))
    No: at node 0 of the graph with nodes 0 {}, 1 {U0} and edges 0-1 the first formula is true and \
the second is false.
    >>> print(implies(parse("1 U0 > 4"), parse("1 U0 > 3")))
    Yes: the second is true wherever the first is, on all simple graphs with at most 4 nodes.
    1 U0 > 4 needs 5 nodes, so this bound proves nothing about it.
    """
    _check(f, g)
    return Consequence("implies", find_model(f & ~g, max_nodes=max_nodes, **options))


def disjoint(f: Formula, g: Formula, *, max_nodes: int = 4, **options: Any) -> Consequence:
    """Return whether f and g are never true together, on all graphs of at most `max_nodes` nodes.

    Parameters are those of `implies`.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> bool(disjoint(parse("A U0 > 1"), parse("A U0 = 1")))
    True
    """
    _check(f, g)
    return Consequence("disjoint", find_model(f & g, max_nodes=max_nodes, **options))


def _check(*formulas: object) -> None:
    for formula in formulas:
        if not isinstance(formula, Formula):
            raise UnsupportedInputError(
                f"Formulas are compared with formulas. Got {type(formula).__name__} instead; "
                "use parse(text) to read one."
            )
