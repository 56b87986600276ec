"""Which thresholds a bound on the number of nodes cannot reach.

Two formulas that agree on all graphs with at most four nodes may still differ in what they say
about seven neighbours. Such thresholds are named, so that nobody reads more into a bounded proof
than it says.
"""

from __future__ import annotations

from fractions import Fraction

from gnn2logic.logic.equivalence.space import GraphSpace
from gnn2logic.logic.syntax import FALSE, TRUE, Formula, Modal
from gnn2logic.logic.walk import subformulas

__all__ = ["nodes_needed", "unreachable"]


def unreachable(
    formulas: tuple[Formula, ...], space: GraphSpace, max_nodes: int
) -> tuple[tuple[Formula, int], ...]:
    """Return the modal subformulas that need more than `max_nodes` nodes, and how many."""
    too_large = []
    for node in subformulas(*formulas):
        if isinstance(node, Modal):
            needed = nodes_needed(node, space)
            if needed is not None and needed > max_nodes:
                too_large.append((node, needed))
    return tuple(too_large)


def nodes_needed(formula: Modal, space: GraphSpace) -> int | None:
    """Return the number of nodes that a graph needs for the threshold to matter.

    Only the size of eps_S is looked at, so this is a lower bound: what is counted may need more.
    A count ``> n`` needs eps_S to have n + 1 elements. A share ``> p`` is told apart from ``> 0``
    and from "all of them" only if some share lies between p and 1 and some lies in (0, p].

    None means that no number of nodes makes a difference: ``I phi > 1`` is false everywhere.

    >>> from gnn2logic.logic import parse
    >>> simple = GraphSpace("simple", (None,), ("U0",))
    >>> [nodes_needed(parse(f"{s} U0 > 6"), simple) for s in ("A", "I+A", "1", "1-I", "I")]
    [8, 7, 7, 8, None]
    >>> nodes_needed(parse("A U0 > 1/2"), simple), nodes_needed(parse("A U0 > 9/10"), simple)
    (4, 12)
    """
    modality, threshold = formula.modality, formula.threshold
    if formula.child is FALSE:
        return None
    if not (modality.neighbours or modality.others):
        return 1 if modality.itself and threshold < 1 else None
    if isinstance(threshold, Fraction) and formula.child is TRUE:
        threshold = 0  # all of eps_S is counted, so only whether it is empty matters
    elements = _Elements(formula, space)
    if isinstance(threshold, Fraction):
        a, q = threshold.numerator, threshold.denominator
        # With one element of weight 1 against a rest of weight r, the shares are r / (r + 1), the
        # largest below 1, and 1 / (r + 1), the smallest above 0.
        between = a // (q - a) + 1
        at_most = -(-(q - a) // a)
        return elements.nodes_for_rest(max(between, at_most))
    return elements.nodes_for_total(threshold + 1)


class _Elements:
    """How eps_S grows with the number of nodes.

    With n nodes it has, at most, `fixed` elements of weight 1 and n - `missing` elements of weight
    `weight`; only plain ``A`` over several relations has elements of a weight above 1.
    """

    def __init__(self, formula: Modal, space: GraphSpace) -> None:
        modality = formula.modality
        self.fixed = self.missing = 0
        self.weight = 1
        if modality.others:
            # Most is in a graph without edges: all nodes, or all others.
            self.missing = 0 if modality.itself else 1
            return
        self.weight = len(space.relations_along(modality.edges))
        if modality.itself:
            self.fixed = self.missing = 1
        elif not space.loops:
            self.missing = 1

    def nodes_for_total(self, total: int) -> int:
        others = -(-max(0, total - self.fixed) // self.weight)
        return max(1, others + self.missing)

    def nodes_for_rest(self, rest: int) -> int:
        """Return the nodes needed for weight `rest` besides one element of weight 1."""
        others = -(-rest // self.weight)
        return others + self.missing + (1 - self.fixed)
