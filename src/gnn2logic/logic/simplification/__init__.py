"""Making formulas smaller without changing what they say."""

from __future__ import annotations

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.bounds import reading_size
from gnn2logic.logic.simplification.boxes import Theory
from gnn2logic.logic.simplification.cover import minimal_cover, split_into_boxes
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.simplification.verification import check_same_truth
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Formula,
    Modal,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)
from gnn2logic.logic.walk import rebuild, subformulas

__all__ = ["minimised", "simplify"]


def simplify(
    formula: Formula, *, simple: bool = False, graphs: GraphBatch | None = None
) -> Formula:
    """Return an equivalent formula that is not larger, the same one every time.

    Constants are folded; every Boolean combination is minimised over the bounds it puts on counts,
    shares and predicates.

    Parameters
    ----------
    formula : Formula
    simple : bool
        Whether only simple undirected graphs matter. Rules that relate different modal parameters
        (``A phi > n`` makes ``I+A phi > n`` true) hold on those alone and are used only then.
    graphs : GraphBatch, optional
        Graphs on which the result is checked, besides random ones.

    Raises
    ------
    SimplificationError
        If original and result differ on any graph tried. A wrong result is never returned.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(simplify(parse("(!U1 & !U0) | (!U1 & U0) | (U1 & U0)")))
    U0 | !U1
    >>> print(simplify(parse("A U1 = 0 | (A U1 > 0 & A U1 > 1)")))
    A U1 != 1
    >>> print(simplify(parse("A U0 > 3 | I+A U0 > 3"), simple=True))
    I+A U0 > 3
    """
    result = _simplified(formula, simple=simple)
    if result is not formula:
        check_same_truth(formula, result, simple=simple, graphs=graphs)
    return result


def _simplified(formula: Formula, *, simple: bool) -> Formula:
    theory = Theory(simple=simple)
    nodes = subformulas(formula)
    # A Boolean combination is minimised as a whole: at the top and below each modal parameter.
    roots = {formula} | {node.child for node in nodes if isinstance(node, Modal)}
    folded: dict[Formula, Formula] = {}
    for node in nodes:
        children = [folded[child] for child in node.children]
        if isinstance(node, Modal):
            folded[node] = fold_modal(node.modality, children[0], node.threshold, simple=simple)
        else:
            folded[node] = rebuild(node, children) if children else node
        if node in roots:
            folded[node] = minimised(folded[node], theory)
    return folded[formula]


def minimised(formula: Formula, theory: Theory) -> Formula:
    """Return the smallest equivalent that two-level minimisation over boxes finds."""
    if not isinstance(formula, And | Or | Not):
        return formula
    boxes = split_into_boxes(formula, theory)
    if boxes is None:
        return formula
    on, off = boxes
    if not on:
        return FALSE
    if not off:
        return TRUE
    true_when = minimal_cover(on, off, theory)
    false_when = minimal_cover(off, on, theory)
    candidates = (formula, true_when, negation(false_when), _clauses(false_when))
    return min(
        (candidate for candidate in candidates if candidate.size <= formula.size),
        key=lambda candidate: (reading_size(candidate), candidate.size, candidate.key),
    )


def _clauses(false_when: Formula) -> Formula:
    """Return the negation of a disjunction of boxes as a conjunction of clauses."""
    boxes = false_when.children if isinstance(false_when, Or) else (false_when,)
    return conjunction(
        disjunction(negation(literal) for literal in box.children)
        if isinstance(box, And)
        else negation(box)
        for box in boxes
    )
