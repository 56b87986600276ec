"""Building C2 formulas: the constructors of all nodes, and what derived quantifiers mean."""

from __future__ import annotations

from collections.abc import Iterable

from gnn2logic._validation import check_name, is_whole
from gnn2logic.exceptions import FormulaError
from gnn2logic.logic.c2.syntax import (
    And,
    C2Formula,
    Constant,
    Edge,
    Equal,
    Exists,
    Not,
    Or,
    Predicate,
    Variable,
    intern_node,
)

__all__ = [
    "FALSE",
    "TRUE",
    "at_least",
    "check_variable",
    "conjunction",
    "counting",
    "disjunction",
    "edge",
    "equal",
    "for_all",
    "negation",
    "predicate",
]

TRUE = intern_node(Constant, free=(), value=True)
FALSE = intern_node(Constant, free=(), value=False)
_EQUAL = intern_node(Equal, free=("x", "y"))


def check_variable(variable: object) -> Variable:
    """Return `variable` if it is one of the two that there are."""
    if variable == "x":
        return "x"
    if variable == "y":
        return "y"
    raise FormulaError(f"A variable of C2 must be 'x' or 'y'. Got {variable!r} instead.")


def _in_order(*variables: Variable) -> tuple[Variable, ...]:
    both: tuple[Variable, ...] = ("x", "y")
    return tuple(variable for variable in both if variable in variables)


def predicate(name: str, variable: Variable) -> C2Formula:
    """Return ``name(variable)``."""
    name, variable = check_name(name, what="Predicate"), check_variable(variable)
    return intern_node(Predicate, free=(variable,), name=name, variable=variable)


def edge(source: Variable, target: Variable, relation: str | None = None) -> C2Formula:
    """Return ``E(source, target)``, or ``E[relation](source, target)`` for typed edges."""
    source, target = check_variable(source), check_variable(target)
    if relation is not None:
        relation = check_name(relation, what="Relation")
    free = _in_order(source, target)
    return intern_node(Edge, free=free, source=source, target=target, relation=relation)


def equal(left: Variable, right: Variable) -> C2Formula:
    """Return ``left = right``; a variable always equals itself."""
    return TRUE if check_variable(left) == check_variable(right) else _EQUAL


def negation(formula: C2Formula) -> C2Formula:
    """Return the negation; negating twice gives the formula itself."""
    if isinstance(formula, Not):
        return formula.child
    if isinstance(formula, Constant):
        return FALSE if formula.value else TRUE
    return intern_node(Not, (formula,), free=formula.free_variables)


def conjunction(formulas: Iterable[C2Formula]) -> C2Formula:
    """Return the conjunction; of nothing it is `true`."""
    return _connective(And, formulas, neutral=TRUE, absorbing=FALSE)


def disjunction(formulas: Iterable[C2Formula]) -> C2Formula:
    """Return the disjunction; of nothing it is `false`."""
    return _connective(Or, formulas, neutral=FALSE, absorbing=TRUE)


def _connective(
    kind: type[C2Formula],
    formulas: Iterable[C2Formula],
    *,
    neutral: C2Formula,
    absorbing: C2Formula,
) -> C2Formula:
    parts: dict[C2Formula, None] = {}
    for formula in formulas:
        parts.update(dict.fromkeys(formula.children if type(formula) is kind else (formula,)))
    parts.pop(neutral, None)
    if absorbing in parts:
        return absorbing
    if len(parts) <= 1:
        return next(iter(parts), neutral)
    free = _in_order(*(variable for part in parts for variable in part.free_variables))
    return intern_node(kind, tuple(sorted(parts)), free=free)


def at_least(count: int, variable: Variable, body: C2Formula) -> C2Formula:
    """Return ``exists>=count variable body``; at least 0 always exist, and never one of false."""
    variable = check_variable(variable)
    if not is_whole(count):
        raise FormulaError(f"A quantifier counts with a whole number. Got {count!r} instead.")
    if count <= 0:
        return TRUE
    if body is FALSE:
        return FALSE
    free = tuple(name for name in body.free_variables if name != variable)
    return intern_node(Exists, (body,), free=free, count=int(count), variable=variable)


def for_all(variable: Variable, body: C2Formula) -> C2Formula:
    """Return ``forall variable body``, which is ``!exists variable !body``."""
    return negation(at_least(1, variable, negation(body)))


def counting(relation: str, count: int, variable: Variable, body: C2Formula) -> C2Formula:
    """Return ``exists<relation><count> variable body`` for one of ``> >= < <= = !=``.

    >>> print(counting("<", 3, "y", edge("x", "y")))
    exists<=2 y E(x,y)
    """
    enough, too_many = at_least(count, variable, body), at_least(count + 1, variable, body)
    match relation:
        case ">=":
            return enough
        case ">":
            return too_many
        case "<":
            return negation(enough)
        case "<=":
            return negation(too_many)
        case "=":
            return conjunction((enough, negation(too_many)))
        case "!=":
            return negation(conjunction((enough, negation(too_many))))
    raise FormulaError(f"A quantifier must count with > >= < <= = or !=. Got {relation!r} instead.")
