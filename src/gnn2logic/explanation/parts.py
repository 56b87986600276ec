"""The parts of a formula as people read them, and the nodes of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.bounds import Bounds, as_bounds, group_bounds
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.syntax import And, Constant, Formula, conjunction, modal, negation

__all__ = ["FormulaPart", "parts_of"]


@dataclass(frozen=True, eq=False)
class FormulaPart:
    """A part of a formula, and all nodes of the graph that satisfy it."""

    formula: Formula
    nodes: npt.NDArray[np.bool_]


def parts_of(formula: Formula, graph: GraphBatch) -> tuple[FormulaPart, ...]:
    """Return the parts of a formula, itself first and each once, with their nodes.

    An interval of one count is one part, as it is read. `true` and `false` are left out.

    >>> from gnn2logic.graphs import from_adjacency
    >>> from gnn2logic.logic import parse
    >>> path = from_adjacency([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> parts = parts_of(parse("A(1 <= A true <= 1) > 1"), path)
    >>> [(str(part.formula), part.nodes.nonzero()[0].tolist()) for part in parts]
    [('A(A true = 1) > 1', [1]), ('A true = 1', [0, 2])]
    """
    formulas: dict[Formula, None] = {}
    stack = [formula]
    while stack:
        part = stack.pop()
        if part not in formulas and not isinstance(part, Constant):
            formulas[part] = None
            stack.extend(reversed(_below(part)))
    return tuple(FormulaPart(part, truth) for part, truth in evaluate_each(formulas, graph).items())


def _below(formula: Formula) -> list[Formula]:
    bounds = as_bounds(formula)
    if bounds is not None:
        return [bounds.counted]
    if isinstance(formula, And):
        grouped = group_bounds(formula.children)
        return [_interval(member) if isinstance(member, Bounds) else member for member in grouped]
    return list(formula.children)


def _interval(bounds: Bounds) -> Formula:
    assert bounds.lower is not None
    assert bounds.upper is not None
    lower = modal(bounds.modality, bounds.counted, bounds.lower)
    return conjunction((lower, negation(modal(bounds.modality, bounds.counted, bounds.upper))))
