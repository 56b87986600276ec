"""How much a report shows."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """How much a report shows; what is left out is said in its notes.

    Parameters
    ----------
    n_examples : int
        Graphs (or nodes) of each class.
    n_differences : int
        Graphs (or nodes) on which rule and teacher differ.
    max_nodes : int
        Nodes of one picture.
    max_formulas : int
        Formulas to choose from.
    max_leaves : int
        Leaves of the rules in the table of the trade-off, but for the chosen one.
    max_text : int
        Characters of one formula.
    """

    n_examples: int = 6
    n_differences: int = 12
    max_nodes: int = 120
    max_formulas: int = 60
    max_leaves: int = 24
    max_text: int = 20_000
