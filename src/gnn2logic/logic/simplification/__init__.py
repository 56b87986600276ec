"""Making formulas smaller without changing what they say."""

from __future__ import annotations

import numpy as np

from gnn2logic.exceptions import SimplificationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.random import random_graphs
from gnn2logic.graphs.reading import as_batch
from gnn2logic.logic.bounds import reading_size
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.simplification.boxes import Theory
from gnn2logic.logic.simplification.cover import atoms_of, minimal_cover, split_into_boxes
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.simplification.tidying import tidied
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
from gnn2logic.logic.walk import predicate_names, rebuild, relation_names, subformulas

__all__ = ["check_same_truth", "minimised", "simplify", "trial_graphs"]

# Combinations of more atoms are only tidied, conjunction by conjunction: the number of boxes, and
# the time, would grow too fast.
_MAX_ATOMS = 16


def simplify(formula: Formula, *, simple: bool = False, graphs: object = None) -> Formula:
    """Return an equivalent formula that is not larger, the same one every time.

    Constants are folded; every Boolean combination is minimised over the bounds it puts on counts,
    shares and predicates.

    Parameters
    ----------
    formula : Formula
    simple : bool
        Whether only simple undirected graphs matter. Rules that relate different modal parameters
        (``A phi > n`` makes ``I+A phi > n`` true) hold on those alone and are used only then.
    graphs : GraphBatch or anything that `gnn2logic.as_batch` reads, optional
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
            folded[node] = tidied(rebuild(node, children), theory) if children else node
        if node in roots:
            folded[node] = minimised(folded[node], theory, max_size=node.size)
    return folded[formula]


def minimised(formula: Formula, theory: Theory, *, max_size: int | None = None) -> Formula:
    """Return the most readable equivalent that two-level minimisation over boxes finds.

    It is not larger than `max_size`, by default the size of the formula itself.
    """
    if not isinstance(formula, And | Or | Not) or len(atoms_of(formula)) > _MAX_ATOMS:
        return formula
    boxes = split_into_boxes(formula, theory)
    if boxes is None:
        return formula
    on, off = boxes
    if not on:
        return FALSE
    if not off:
        return TRUE
    limit = max(formula.size, max_size or 0)
    true_when = minimal_cover(on, off, theory)
    false_when = minimal_cover(off, on, theory)
    candidates = (formula, true_when, negation(false_when), _clauses(false_when))
    return min(
        (candidate for candidate in candidates if candidate.size <= limit),
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


_LARGEST_TRIAL = 40


def check_same_truth(
    original: Formula, result: Formula, *, simple: bool, graphs: object = None
) -> None:
    """Raise `SimplificationError` if the formulas differ at a node of any graph tried."""
    batches = [trial_graphs(original, simple=simple)]
    if graphs is not None:
        given = as_batch(graphs)
        if simple and not given.is_simple:
            raise SimplificationError(
                "simple=True was given, but the graphs are not simple: they are directed or have "
                "self loops or multi-edges. Use simple=False."
            )
        batches.append(given)
    for batch in batches:
        before = evaluate(original, batch, level="node")
        after = evaluate(result, batch, level="node")
        if not np.array_equal(before, after):
            node = int(np.argmax(before != after))
            raise SimplificationError(
                f"The simplified formula {result} differs from {original} at node {node} of "
                f"{batch!r}; this is a defect in gnn2logic, please report it."
            )


def trial_graphs(formula: Formula, *, simple: bool) -> GraphBatch:
    """Return random graphs, the same ones every time, with all that the formula talks about."""
    names, relations = predicate_names(formula), relation_names(formula)
    counts = [
        node.threshold
        for node in subformulas(formula)
        if isinstance(node, Modal) and isinstance(node.threshold, int)
    ]
    # Some graphs are large enough to pass the highest thresholds.
    largest = min(max(counts, default=0) + 3, _LARGEST_TRIAL)
    rng = np.random.default_rng(0)
    sizes = np.concatenate([rng.integers(1, 9, size=90), rng.integers(1, 2 * largest + 6, size=30)])
    batches = [
        random_graphs(
            len(sizes),
            sizes=sizes,
            density=rng.random(len(sizes)),
            names=names,
            probability=rng.random(len(names)) * 0.6 + 0.2,
            directed=directed,
            loops=not simple,
            max_multiplicity=1 if simple else 3,
            relations=relations,
            random_state=rng,
        )
        for directed in ((False,) if simple else (False, True))
    ]
    return GraphBatch.concat(batches)
