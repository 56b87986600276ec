"""Reading C2 formulas from text."""

from __future__ import annotations

import re
from typing import Any

import lark

from gnn2logic.exceptions import FeatureError
from gnn2logic.logic.c2.build import (
    FALSE,
    TRUE,
    Swapper,
    at_least,
    check_variable,
    conjunction,
    counting,
    disjunction,
    edge,
    equal,
    for_all,
    negation,
    predicate,
)
from gnn2logic.logic.c2.syntax import C2Formula, Variable
from gnn2logic.logic.parsing import At, load_parser, run_parser, unquote

__all__ = ["parse_c2"]

# How a person would call each kind of token.
_TERMINALS = {
    "_IMPLIES": "'->'",
    "_OR": "'|'",
    "_AND": "'&'",
    "_NOT": "'!'",
    "EQUALS": "'='",
    "UNEQUAL": "'!='",
    "ORDER": "a comparison (> >= < <=)",
    "TRUE": "'true'",
    "FALSE": "'false'",
    "EXISTS": "'exists'",
    "FORALL": "'forall'",
    "VARIABLE": "a variable (there are only x and y)",
    "E": "'E'",
    "REFERENCE": "a named part such as $1",
    "NAME": "a predicate name",
    "TYPE": "a relation name",
    "STRING": "a name in double quotes",
    "COUNT": "a number",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "SEMICOLON": "';'",
    "__ANON_0": "':='",
    "$END": "the end",
}

_EXAMPLES = "true, U0(x), !U0(x), E(x,y), x = y, (U0(x) | U1(y)) or exists>=2 y E(x,y)"
_RELATIONS = {"≥": ">=", "≤": "<=", "≠": "!=", "==": "="}


def parse_c2(text: str) -> C2Formula:
    """Read a formula of C2 from text.

    Parameters
    ----------
    text : str
        Such as ``exists>=2 y (E(x,y) & U0(y))``. The variables are x and y. Atoms are
        ``U0(x)``, ``"any name"(x)``, ``E(x,y)``, ``E[r](x,y)`` for edges of relation r, ``x = y``
        and ``x != y``; connectives are ``! & | ->``. Quantifiers are ``exists``, ``forall`` and
        ``exists>=n``, also with ``> < <= = !=``; they reach over the next atom, negation,
        quantifier or parenthesis. ``$1(x) := ...;`` names a part: ``$1(x)`` stands for it, and
        ``$1(y)`` for it with x and y exchanged. What `str` and `C2Formula.to_unicode` print is
        read back as the identical object.

    Raises
    ------
    FormulaSyntaxError
        With the line, a caret under the place, and what was expected there.

    Examples
    --------
    >>> print(parse_c2("∃≥2 y (E(x,y) ∧ ¬∃=1 x (E(y,x) ∧ U1(x)))"))
    exists>=2 y (E(x,y) & !exists=1 x (E(y,x) & U1(x)))
    >>> print(parse_c2("$1(x) := exists y E(x,y); forall y (U0(y) -> $1(y))"))
    forall y (!U0(y) | exists x E(y,x))
    """
    if not isinstance(text, str):
        raise TypeError(f"parse_c2 reads a string. Got {type(text).__name__} instead.")
    parser = load_parser("gnn2logic.logic.c2", "grammar.lark")
    formula: C2Formula = run_parser(
        parser, text, _C2Builder(), _TERMINALS, hint=_hint, examples=_EXAMPLES
    )
    return formula


def _hint(text: str, position: int) -> str:
    if re.search(r"(?<![A-Za-z0-9_.])([xy]=|E\(\s*[xy]\s*)\Z", text[:position]):
        return " (Predicates named E, x or y, or such as x=7, stand in double quotes.)"
    return ""


def _listed(variables: tuple[Variable, ...]) -> str:
    return f"({','.join(variables)})" if variables else ""


@lark.v_args(inline=True)
class _C2Builder(lark.visitors.Transformer_NonRecursive[Any, Any]):
    """Builds the formula bottom-up, left to right, so definitions come before their uses."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[str, tuple[tuple[Variable, ...], C2Formula]] = {}
        self._swap = Swapper()

    def start(self, *children: Any) -> C2Formula:
        formula: C2Formula = children[-1]
        return formula

    def variables(
        self, first: lark.Token | None, second: lark.Token | None
    ) -> tuple[Variable, ...]:
        given = tuple(check_variable(token) for token in (first, second) if token is not None)
        if second is not None and len(set(given)) == 1:
            raise At(second, f"The two variables must differ. Got {second} twice.")
        return given

    def definition(
        self, name: lark.Token, parameters: tuple[Variable, ...], formula: C2Formula
    ) -> None:
        if str(name) in self._named:
            raise At(name, f"{name} is defined twice.")
        missing = [free for free in formula.free_variables if free not in parameters]
        if missing:
            raise At(
                name,
                f"{name}{_listed(parameters)} is defined by a formula about {missing[0]}; "
                f"write {name}{_listed(formula.free_variables)} := ...",
            )
        self._named[str(name)] = parameters, formula

    def reference(self, name: lark.Token, arguments: tuple[Variable, ...]) -> C2Formula:
        if str(name) not in self._named:
            raise At(name, f"{name} is used before it is defined with '{name}(x) := ...;'.")
        parameters, formula = self._named[str(name)]
        if len(arguments) != len(parameters):
            raise At(
                name,
                f"{name} was defined as {name}{_listed(parameters)}. "
                f"Got {name}{_listed(arguments)} instead.",
            )
        return formula if arguments == parameters else self._swap(formula)

    def implies(self, left: C2Formula, right: C2Formula) -> C2Formula:
        return disjunction((negation(left), right))

    def disjunction(self, *formulas: C2Formula) -> C2Formula:
        return disjunction(formulas)

    def conjunction(self, *formulas: C2Formula) -> C2Formula:
        return conjunction(formulas)

    def negated(self, formula: C2Formula) -> C2Formula:
        return negation(formula)

    def exists(self, _: lark.Token, variable: lark.Token, body: C2Formula) -> C2Formula:
        return at_least(1, check_variable(variable), body)

    def for_all(self, _: lark.Token, variable: lark.Token, body: C2Formula) -> C2Formula:
        return for_all(check_variable(variable), body)

    def counted(
        self,
        _: lark.Token,
        relation: lark.Token,
        count: lark.Token,
        variable: lark.Token,
        body: C2Formula,
    ) -> C2Formula:
        try:
            number = int(count)
        except ValueError:  # Python reads no numbers of many thousand digits
            raise At(count, f"The number has too many digits ({len(count)}).") from None
        symbol = _RELATIONS.get(str(relation), str(relation))
        return counting(symbol, number, check_variable(variable), body)

    def relation(self, token: lark.Token) -> lark.Token:
        return token

    def true(self, _: lark.Token) -> C2Formula:
        return TRUE

    def false(self, _: lark.Token) -> C2Formula:
        return FALSE

    def bare_predicate(self, name: lark.Token, variable: lark.Token) -> C2Formula:
        return predicate(str(name), check_variable(variable))

    def quoted_predicate(self, name: lark.Token, variable: lark.Token) -> C2Formula:
        try:
            return predicate(unquote(name), check_variable(variable))
        except FeatureError as error:
            raise At(name, str(error)) from None

    def edge(
        self, e: lark.Token, relation: lark.Token | None, source: lark.Token, target: lark.Token
    ) -> C2Formula:
        name = None
        if relation is not None:
            name = unquote(relation) if relation.type == "STRING" else str(relation)
        try:
            return edge(check_variable(source), check_variable(target), name)
        except FeatureError as error:
            raise At(e if relation is None else relation, str(error)) from None

    def type(self, token: lark.Token) -> lark.Token:
        return token

    def equal(self, left: lark.Token, _: lark.Token, right: lark.Token) -> C2Formula:
        return equal(check_variable(left), check_variable(right))

    def unequal(self, left: lark.Token, _: lark.Token, right: lark.Token) -> C2Formula:
        return negation(equal(check_variable(left), check_variable(right)))
