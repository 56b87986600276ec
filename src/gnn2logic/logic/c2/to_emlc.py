"""Unary formulas of C2 as formulas of EMLC, exact on simple undirected graphs.

Between x and y one of three relations holds: I (the same node), A (neighbours), N (neither). So
inside of ``exists>=n y psi(x,y)`` the atoms ``x = y`` and ``E(x,y)`` are known for each of them,
and what is left of psi are properties of x and properties of y. The properties of x are decided
by cases; then only properties of y are left, and these a modal parameter counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import GraphError, TranslationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic import syntax as emlc
from gnn2logic.logic.c2.build import FALSE, TRUE, connect, negation, predicate
from gnn2logic.logic.c2.from_emlc import describe_type, quoted
from gnn2logic.logic.c2.syntax import (
    OTHER,
    C2Constant,
    C2Formula,
    C2Not,
    C2Or,
    C2Predicate,
    Edge,
    Equal,
    Exists,
    Variable,
)
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.nodes import post_order

__all__ = ["MAX_CASES", "evaluate_c2", "from_c2"]

MAX_CASES = 2_000
"""How many cases `from_c2` makes of one formula before it gives up."""

# Cases of a body with more parts than this count as several, so that giving up never takes long.
_LARGE = 50

# What is left of a body when x and y are related by I, by A and by N.
_Residuals = tuple[C2Formula, C2Formula, C2Formula]
_I, _A, _N = range(3)


def from_c2(formula: C2Formula, *, max_cases: int = MAX_CASES) -> emlc.Formula:
    """Return the formula of EMLC that is true at the same nodes of simple undirected graphs.

    Its modal depth is never more than the quantifier depth of `formula`.

    Parameters
    ----------
    formula : C2Formula
        With at most one free variable, which stands for the node where the result is evaluated.
        E is read as the symmetric edges of a simple graph: ``E(y,x)`` is ``E(x,y)`` and
        ``E(x,x)`` is false.
    max_cases : int
        A quantifier over conditions on both variables becomes a disjunction, which may be
        exponentially long. More cases than this are an error. A case of a large quantified
        formula counts as several.

    Raises
    ------
    TranslationError
        For two free variables, for typed edges, and for too many cases.

    Examples
    --------
    >>> from gnn2logic.logic.c2 import parse_c2
    >>> print(from_c2(parse_c2("exists>1 y (E(x,y) & !exists=1 x (E(y,x) & U1(x)))")))
    A(A U1 != 1) > 1
    >>> print(from_c2(parse_c2("forall x exists=2 y E(x,y)")))
    1(A true != 2) = 0
    >>> print(from_c2(parse_c2("exists>=2 y (U0(y) & (E(x,y) | U1(x)))")))
    U1 & 1 U0 > 1 | !U1 & A U0 > 1
    """
    if not isinstance(formula, C2Formula):
        raise TypeError(f"from_c2 translates a C2Formula. Got {describe_type(formula)} instead.")
    if _is_pair(formula):
        raise TranslationError(
            f"{quoted(formula)} has two free variables, x and y. A formula of EMLC is about one "
            "node: bind one of them by a quantifier, such as exists y (...)."
        )
    return _FromC2(max_cases).run(formula)


def evaluate_c2(
    formula: C2Formula, graphs: object, *, level: Literal["graph", "node"] = "graph"
) -> npt.NDArray[np.bool_]:
    """Return where a formula of C2 is true; `C2Formula.evaluate` forwards to this."""
    if isinstance(graphs, GraphBatch):
        batch = graphs
    else:
        from gnn2logic.graphs.reading import as_batch

        batch = as_batch(graphs)
    translated = from_c2(formula)
    if not batch.is_simple and any(isinstance(node, Edge) for node in _subformulas(formula)):
        raise GraphError(
            "Formulas of C2 are evaluated on simple undirected graphs. Got graphs with directed "
            "edges, self loops or parallel edges instead. Change the graphs with symmetrize(), "
            "without_loops() and merge_multi_edges(), or write the formula in EMLC."
        )
    return evaluate(translated, batch, level=level)


class _FromC2:
    """One call of `from_c2`.

    A unary formula means the same whether its variable is called x or y, so each is translated
    once. In bodies, translated properties are replaced by placeholders, predicates of C2 named by
    a number; properties with the same translation become the same placeholder.
    """

    def __init__(self, max_cases: int) -> None:
        self.max_cases = max_cases
        self.cases = 0
        self.done: dict[C2Formula, emlc.Formula] = {}
        self.numbers: dict[emlc.Formula, int] = {}
        self.properties: list[emlc.Formula] = []
        self.bodies: dict[tuple[C2Formula, Variable], _Residuals] = {}

    def run(self, formula: C2Formula) -> emlc.Formula:
        for node in _subformulas(formula):
            if isinstance(node, Edge) and node.relation is not None:
                raise TranslationError(
                    f"{quoted(node)} is a typed edge. Only the plain E can be translated from C2 "
                    "to EMLC."
                )
            if not _is_pair(node):
                self.done[node] = self.translate(node)
        return self.done[formula]

    def translate(self, node: C2Formula) -> emlc.Formula:
        if isinstance(node, Exists):
            return self.decide(node)
        if isinstance(node, C2Constant):
            return emlc.TRUE if node.value else emlc.FALSE
        if isinstance(node, C2Predicate):
            return emlc.predicate(node.name)
        if isinstance(node, Edge):
            return emlc.FALSE  # no node of a simple graph is its own neighbour
        return _connect_emlc(node, [self.done[child] for child in node.children])

    # The three residuals of a body -----------------------------------------------------------

    def residuals(self, node: Exists) -> _Residuals:
        at = (node.body, node.variable)
        if at not in self.bodies:
            skeleton = _subformulas(node.body, into=_is_pair)
            uses = Counter(
                _unsigned(self.done[child])
                for subformula in skeleton
                if _is_pair(subformula)
                for child in subformula.children
                if not _is_pair(child)
            )
            self.bodies[at] = (
                self.residual(_I, node, skeleton, uses),
                self.residual(_A, node, skeleton, uses),
                self.residual(_N, node, skeleton, uses),
            )
        return self.bodies[at]

    def residual(
        self,
        relation: int,
        node: Exists,
        skeleton: list[C2Formula],
        uses: Mapping[emlc.Formula, int],
    ) -> C2Formula:
        here = OTHER[node.variable]
        left: dict[C2Formula, C2Formula] = {}

        def unit(formula: emlc.Formula, subformula: C2Formula) -> C2Formula:
            # Under I both variables are one node. A sentence goes to the counted side, where it
            # needs no case of its own.
            about_here = relation != _I and subformula.free_variables == (here,)
            return self.placeholder(formula, here if about_here else node.variable)

        for subformula in skeleton:
            if not _is_pair(subformula):
                left[subformula] = unit(self.done[subformula], subformula)
            elif isinstance(subformula, Equal):
                left[subformula] = TRUE if relation == _I else FALSE
            elif isinstance(subformula, Edge):
                left[subformula] = TRUE if relation == _A else FALSE
            else:
                # Properties of the outer variable that stand nowhere else make one case.
                once = {
                    child: self.done[child]
                    for child in subformula.children
                    if child.free_variables == (here,) and uses[_unsigned(self.done[child])] == 1
                }
                rest = [left[child] for child in subformula.children if child not in once]
                if once:
                    joined = _connect_emlc(subformula, list(once.values()))
                    rest.append(unit(joined, next(iter(once))))
                left[subformula] = connect(subformula, tuple(rest))
        return left[node.body]

    def placeholder(self, formula: emlc.Formula, variable: Variable) -> C2Formula:
        if isinstance(formula, emlc.Constant):
            return TRUE if formula.value else FALSE
        if isinstance(formula, emlc.Not):
            return negation(self.placeholder(formula.child, variable))
        number = self.numbers.setdefault(formula, len(self.properties))
        if number == len(self.properties):
            self.properties.append(formula)
        return predicate(str(number), variable)

    def property_of(self, placeholder: C2Predicate) -> emlc.Formula:
        return self.properties[int(placeholder.name)]

    # Cases -----------------------------------------------------------------------------------

    def decide(self, node: Exists) -> emlc.Formula:
        """Expand on the properties of the outer variable until none is left, then count."""
        here = OTHER[node.variable]
        known: dict[_Residuals, emlc.Formula] = {}
        branches: dict[_Residuals, tuple[emlc.Formula, _Residuals, _Residuals]] = {}
        stack = [self.residuals(node)]
        while stack:
            current = stack[-1]
            if current in known:
                stack.pop()
            elif current in branches:
                stack.pop()
                case, high, low = branches[current]
                known[current] = _either(case, known[high], known[low])
            else:
                inside = _subformulas(
                    *current, into=lambda subformula: here in subformula.free_variables
                )
                outer = [p for p in inside if isinstance(p, C2Predicate) and p.variable == here]
                if not outer:
                    known[current] = self.count(current, node)
                    continue
                placeholder = min(outer)  # one fixed order lets branches meet again
                high, low = (_assume(current, placeholder, value) for value in (TRUE, FALSE))
                self.spend(1 + len(inside) // _LARGE, node)
                branches[current] = self.property_of(placeholder), high, low
                stack.extend((low, high))
        return known[self.residuals(node)]

    def count(self, residuals: _Residuals, node: Exists) -> emlc.Formula:
        """Return that `node.count` nodes satisfy the residual of their own relation."""
        groups: dict[emlc.Formula, list[int]] = {}
        for relation, residual in enumerate(residuals):
            if residual is not FALSE:
                groups.setdefault(self.read(residual), []).append(relation)
        counted = [
            (Modality(_I in relations, _A in relations, _N in relations), formula)
            for formula, relations in groups.items()
        ]
        limits = [1 if relations == [_I] else node.count for relations in groups.values()]
        if len(counted) > 1:
            # The last group gets what the others leave.
            self.spend(math.prod(limit + 1 for limit in limits[:-1]), node)
        return emlc.disjunction(
            emlc.conjunction(
                _at_least(number, modality, formula)
                for number, (modality, formula) in zip(numbers, counted, strict=True)
            )
            for numbers in _shares(node.count, limits)
        )

    def read(self, residual: C2Formula) -> emlc.Formula:
        """Return a residual about the counted nodes as a formula of EMLC."""
        values: dict[C2Formula, emlc.Formula] = {}
        for subformula in _subformulas(residual):
            if isinstance(subformula, C2Predicate):
                values[subformula] = self.property_of(subformula)
            elif isinstance(subformula, C2Constant):
                values[subformula] = emlc.TRUE if subformula.value else emlc.FALSE
            else:
                values[subformula] = _connect_emlc(
                    subformula, [values[child] for child in subformula.children]
                )
        return values[residual]

    def spend(self, cases: int, node: Exists) -> None:
        self.cases += cases
        if self.cases > self.max_cases:
            raise TranslationError(
                f"{quoted(node)} would make the formula of EMLC larger than {self.max_cases} cases "
                "(max_cases). Inside of a quantifier use a smaller number, or fewer conditions on "
                "the variable that it does not bind."
            )


def _subformulas(
    *formulas: C2Formula, into: Callable[[C2Formula], bool] = lambda node: True
) -> list[C2Formula]:
    """Return every subformula once, inner ones first; where `into` says no, not what is inside."""
    return post_order(formulas, lambda node: node.children if into(node) else ())


def _is_pair(formula: C2Formula) -> bool:
    """Return whether the formula is about both variables."""
    return len(formula.free_variables) == 2


def _unsigned(formula: emlc.Formula) -> emlc.Formula:
    return formula.child if isinstance(formula, emlc.Not) else formula


def _connect_emlc(node: C2Formula, children: list[emlc.Formula]) -> emlc.Formula:
    if isinstance(node, C2Not):
        return emlc.negation(children[0])
    if isinstance(node, C2Or):
        return emlc.disjunction(children)
    return emlc.conjunction(children)


def _either(case: emlc.Formula, high: emlc.Formula, low: emlc.Formula) -> emlc.Formula:
    """Return ``(case & high) | (!case & low)``, shorter where the branches allow it."""
    if high is low:
        return high
    if high is emlc.TRUE:
        return case | low
    if low is emlc.TRUE:
        return ~case | high
    return (case & high) | (~case & low)


def _assume(residuals: _Residuals, placeholder: C2Predicate, value: C2Formula) -> _Residuals:
    """Return the residuals where a property of the outer variable is known."""
    itself, neighbour, neither = residuals
    # Under I the counted node is the outer one, so there the property is known as well.
    twin = predicate(placeholder.name, OTHER[placeholder.variable])
    return (
        _replace(itself, twin, value),
        _replace(neighbour, placeholder, value),
        _replace(neither, placeholder, value),
    )


def _replace(residual: C2Formula, old: C2Formula, new: C2Formula) -> C2Formula:
    replaced: dict[C2Formula, C2Formula] = {}
    (variable,) = old.free_variables
    for subformula in _subformulas(residual, into=lambda node: variable in node.free_variables):
        if subformula is old:
            replaced[subformula] = new
        elif subformula.children and variable in subformula.free_variables:
            replaced[subformula] = connect(
                subformula, tuple(replaced[child] for child in subformula.children)
            )
        else:
            replaced[subformula] = subformula
    return replaced[residual]


def _shares(total: int, limits: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write `total` as a sum with one term for each limit."""
    if not limits:
        if total == 0:
            yield ()
        return
    least = max(0, total - sum(limits[1:]))  # the others cannot take more than their limits
    for first in range(least, min(total, limits[0]) + 1):
        yield from ((first, *rest) for rest in _shares(total - first, limits[1:]))


def _at_least(number: int, modality: Modality, formula: emlc.Formula) -> emlc.Formula:
    if number == 0:
        return emlc.TRUE
    if modality == Modality.from_set("I"):
        return formula  # at most one node is the node itself, so the number is 1
    return emlc.modal(modality, formula, number - 1)
