"""Bounded equivalence: whether two formulas agree at every node of every small graph."""

from gnn2logic.logic.equivalence.comparison import equivalent, find_model
from gnn2logic.logic.equivalence.consequence import Consequence, disjoint, implies
from gnn2logic.logic.equivalence.result import Equivalence, Satisfiability

__all__ = [
    "Consequence",
    "Equivalence",
    "Satisfiability",
    "disjoint",
    "equivalent",
    "find_model",
    "implies",
]
