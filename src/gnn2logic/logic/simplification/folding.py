"""Rules that look at one comparison at a time."""

from __future__ import annotations

from fractions import Fraction

from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Constant,
    Formula,
    Modal,
    Not,
    Or,
    Threshold,
    modal,
)

__all__ = ["fold_modal"]


def fold_modal(
    modality: Modality, child: Formula, threshold: Threshold, *, simple: bool
) -> Formula:
    """Return ``S phi > t`` with what is constant or redundant in it removed.

    Parameters
    ----------
    simple : bool
        Whether only simple undirected graphs matter. Then every direction is ``A``, and no node
        is its own neighbour.
    """
    if simple and modality.edges.direction is not Direction.OUT:
        modality = Modality(
            modality.itself,
            modality.neighbours,
            modality.others,
            Edges(Direction.OUT, modality.edges.relation),
        )
    share = isinstance(threshold, Fraction)
    if modality.set_name == "0" or child is FALSE:
        return FALSE
    if modality.set_name == "I":
        return child if share or threshold == 0 else FALSE
    if share and child is TRUE:
        threshold, share = 0, False
    is_some = share or threshold == 0
    # When eps_S(v) is never empty, a formula with one value per graph is its own count test.
    if is_some and _holds_itself(modality, simple=simple) and _is_graph_formula(child):
        return child
    return modal(modality, child, threshold)


def _holds_itself(modality: Modality, *, simple: bool) -> bool:
    """Whether v is in eps_S(v) on every graph."""
    if not modality.itself:
        return False
    # With a self loop v is its own neighbour, so 1-A may miss it.
    return modality.neighbours or simple


def _is_graph_formula(formula: Formula) -> bool:
    """Whether all nodes of a graph agree on the formula by its form alone."""
    stack, seen = [formula], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Not | And | Or):
            stack.extend(node.children)
        elif isinstance(node, Modal):
            if node.modality.set_name != "1":
                return False
        elif not isinstance(node, Constant):
            return False
    return True
