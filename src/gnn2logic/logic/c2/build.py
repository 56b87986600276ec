"""Building C2 formulas: constructors of all nodes, derived quantifiers, x and y exchanged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gnn2logic._validation import check_name, is_whole
from gnn2logic.exceptions import FormulaError
from gnn2logic.logic.c2.syntax import (
    OTHER,
    C2And,
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
from gnn2logic.logic.nodes import flat_operands, intern_node, post_order

__all__ = [
    "FALSE",
    "TRUE",
    "Swapper",
    "at_least",
    "check_variable",
    "conjunction",
    "connect",
    "counting",
    "disjunction",
    "edge",
    "equal",
    "for_all",
    "negation",
    "predicate",
]


def _interned(
    node_type: type[C2Formula],
    children: tuple[C2Formula, ...] = (),
    *,
    free: tuple[Variable, ...],
    **fields: Any,
) -> C2Formula:
    content = repr((node_type._symbol, tuple(fields.values())))
    node: C2Formula = intern_node(node_type, content, children, free_variables=free, **fields)
    return node


TRUE = _interned(C2Constant, free=(), value=True)
FALSE = _interned(C2Constant, free=(), value=False)
_EQUAL = _interned(Equal, free=("x", "y"))


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
    return _interned(C2Predicate, free=(variable,), name=name, variable=variable)


def edge(source: Variable, target: Variable, relation: str | None = None) -> C2Formula:
    """Return ``E(source, target)``, or ``E[relation](source, target)`` for typed edges."""
    source, target = check_variable(source), check_variable(target)
    if relation is not None:
        relation = check_name(relation, what="Relation")
    free = _in_order(source, target)
    return _interned(Edge, free=free, source=source, target=target, relation=relation)


def equal(left: Variable, right: Variable) -> C2Formula:
    """Return ``left = right``; a variable always equals itself."""
    return TRUE if check_variable(left) == check_variable(right) else _EQUAL


def negation(formula: C2Formula) -> C2Formula:
    """Return the negation; negating twice gives the formula itself."""
    if isinstance(formula, C2Not):
        return formula.child
    if isinstance(formula, C2Constant):
        return FALSE if formula.value else TRUE
    return _interned(C2Not, (formula,), free=formula.free_variables)


def conjunction(formulas: Iterable[C2Formula]) -> C2Formula:
    """Return the conjunction; of nothing it is `true`."""
    return _connective(C2And, formulas, neutral=TRUE, absorbing=FALSE)


def disjunction(formulas: Iterable[C2Formula]) -> C2Formula:
    """Return the disjunction; of nothing it is `false`."""
    return _connective(C2Or, formulas, neutral=FALSE, absorbing=TRUE)


def _connective(
    node_type: type[C2Formula],
    formulas: Iterable[C2Formula],
    *,
    neutral: C2Formula,
    absorbing: C2Formula,
) -> C2Formula:
    operands = flat_operands(node_type, formulas, neutral=neutral, absorbing=absorbing)
    if len(operands) == 1:
        return operands[0]
    free = _in_order(*(variable for formula in operands for variable in formula.free_variables))
    return _interned(node_type, operands, free=free)


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
    return _interned(Exists, (body,), free=free, count=int(count), variable=variable)


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


def connect(node: C2Formula, children: tuple[C2Formula, ...]) -> C2Formula:
    """Return the connective of `node` over other children."""
    if isinstance(node, C2Not):
        return negation(children[0])
    if isinstance(node, C2And):
        return conjunction(children)
    assert isinstance(node, C2Or)
    return disjunction(children)


class Swapper:
    """Exchanges x and y everywhere in formulas, free or bound, and remembers what it did.

    >>> from gnn2logic.logic.c2 import parse_c2
    >>> print(Swapper()(parse_c2("exists y E(x,y)")))
    exists x E(y,x)
    """

    def __init__(self) -> None:
        self._swapped: dict[C2Formula, C2Formula] = {}

    def __call__(self, formula: C2Formula) -> C2Formula:
        """Return the formula with x and y exchanged."""
        known = self._swapped
        if formula not in known:
            for node in post_order([formula], lambda node: () if node in known else node.children):
                if node not in known:
                    swapped = self._swap(node)
                    known[node], known[swapped] = swapped, node
        return known[formula]

    def _swap(self, node: C2Formula) -> C2Formula:
        if isinstance(node, C2Predicate):
            return predicate(node.name, OTHER[node.variable])
        if isinstance(node, Edge):
            return edge(OTHER[node.source], OTHER[node.target], node.relation)
        if not node.children:
            return node
        children = tuple(self._swapped[child] for child in node.children)
        if isinstance(node, Exists):
            return at_least(node.count, OTHER[node.variable], children[0])
        return connect(node, children)
