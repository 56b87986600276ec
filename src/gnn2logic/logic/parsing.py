"""Reading formulas from text."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import lark

from gnn2logic._text import visible
from gnn2logic._validation import check_name
from gnn2logic.exceptions import FeatureError, FormulaError, FormulaSyntaxError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.build import compare, threshold_from
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    Formula,
    Threshold,
    conjunction,
    disjunction,
    negation,
    predicate,
)

__all__ = ["At", "load_parser", "parse", "run_parser", "unquote"]

# How a person would call each kind of token.
_TERMINALS = {
    "_OR": "'|'",
    "_AND": "'&'",
    "_NOT": "'!'",
    "COMPARE": "a comparison (> >= < <= = !=)",
    "TRANSPOSED": "'^T'",
    "TRUE": "'true'",
    "FALSE": "'false'",
    "A": "a modal parameter (A, I, 1, I+A, 1-I, 1-A, 1-I-A)",
    "I": "a modal parameter (A, I, 1, I+A, 1-I, 1-A, 1-I-A)",
    "ZERO": "a number",
    "ONE": "a number",
    "COUNT": "a number",
    "SHARE": "a share such as 1/2, 0.5 or 50%",
    "REFERENCE": "a named subformula such as $1",
    "NAME": "a predicate name",
    "STRING": "a name in double quotes",
    "RELATION": "a relation name",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "SEMICOLON": "';'",
    "__ANON_0": "':='",
    "$END": "the end",
}

_COMPARISONS = {"≥": ">=", "≤": "<=", "≠": "!=", "==": "="}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "=", "!=": "!="}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t"}


def parse(text: str) -> Formula:
    r"""Read a formula from text.

    Parameters
    ----------
    text : str
        Such as ``1(A(A U0 > 6) > 1/2) > 1/2``. Connectives are ``! & |``; a modal parameter
        ``0 1 I A 1-I 1-A I+A 1-I-A`` counts the name or parenthesis after it and is compared by
        ``> >= < <= = !=``, on one side or both (``3 <= A true <= 11``), with a count (``6``) or a
        share (``1/2``, ``0.5``, ``50%``). ``1`` is a count and ``100%`` a share; ``1.0`` may be
        either and is refused. ``A^T``, ``A|A^T`` follow edges the other way or both ways, ``A[r]``
        edges of relation r. Names with other characters, and names like ``TRUE`` that may be meant
        as constants, stand in double quotes.
        What `str`, `Formula.to_unicode` print is read back as the identical object.

    Raises
    ------
    FormulaSyntaxError
        With the line, a caret under the place, and what was expected there.

    Examples
    --------
    >>> psi_2 = parse("1(A(A U0 > 6) > 50%) > 0.5")
    >>> print(psi_2)
    1(A(A U0 > 6) > 1/2) > 1/2
    >>> print(parse('!(A "N or O" = 1)'))
    A "N or O" != 1
    """
    if not isinstance(text, str):
        raise TypeError(f"parse reads a string. Got {type(text).__name__} instead.")
    formula: Formula = run_parser(_parser(), text, _FormulaBuilder(), _TERMINALS, hint=_hint)
    return formula


class At(Exception):  # noqa: N818 - control flow: a message that waits for its place in the text
    """A well-formed text that makes no sense at one token."""

    def __init__(self, token: lark.Token, message: str) -> None:
        super().__init__(message)
        self.token = token
        self.message = message


def run_parser(
    parser: lark.Lark,
    text: str,
    builder: lark.visitors.Transformer_NonRecursive[Any, Any],
    terminals: Mapping[str, str],
    *,
    hint: Callable[[str, int], str] = lambda text, position: "",
    examples: str = "true, U0, !U0, (U0 | U1) or A U0 > 3",
) -> Any:
    """Parse `text` and build the result, turning every failure into a `FormulaSyntaxError`.

    Neither step recurses, so depth is limited by memory alone. `examples` are shown where any
    formula may stand.
    """
    try:
        return builder.transform(parser.parse(text))
    except lark.exceptions.UnexpectedInput as error:
        position = _position(error, text)
        expected = _expected(error, terminals, examples)
        seen = repr(text[position]) if position < len(text) else "the end"
        message = f"Expected {expected}. Found {seen} instead."
        raise _syntax_error(text, position, message + hint(text, position)) from None
    except lark.exceptions.VisitError as error:
        cause = error.orig_exc
        if isinstance(cause, At):
            raise _syntax_error(text, cause.token.start_pos or 0, cause.message) from None
        raise cause from None


def _position(error: lark.exceptions.UnexpectedInput, text: str) -> int:
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return len(text)
    position: Any = error.pos_in_stream
    return len(text) if position is None or position < 0 else int(position)


def _expected(
    error: lark.exceptions.UnexpectedInput, terminals: Mapping[str, str], examples: str
) -> str:
    names = getattr(error, "accepts", None) or getattr(error, "expected", None)
    names = names or getattr(error, "allowed", None) or ()
    # Sets of strings have another order in every process; people should see one.
    words = sorted({terminals.get(name, name) for name in names if name != "WS"})
    if {"TRUE", "NAME", "LPAR"} <= set(names):
        return f"a formula, such as {examples}"
    if not words:
        return "nothing more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _syntax_error(text: str, position: int, message: str) -> FormulaSyntaxError:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    # A very long line is cut around the place, so that the caret stays in sight.
    offset = max(0, column - 60)
    # Escapes are longer than what they stand for; the caret stays below its place.
    before, after = (
        visible(piece.replace("\t", " "), keep="")
        for piece in (line[offset:column], line[column : offset + 100])
    )
    number = text.count("\n", 0, position) + 1
    caret = " " * len(before) + "^"
    return FormulaSyntaxError(
        f"Line {number}, column {column + 1}: {message}\n  {before}{after}\n  {caret}"
    )


@functools.cache
def load_parser(package: str, filename: str) -> lark.Lark:
    """Return the LALR parser of a grammar file, made once."""
    grammar = resources.files(package).joinpath(filename).read_text(encoding="utf-8")
    return lark.Lark(grammar, parser="lalr", propagate_positions=False, maybe_placeholders=True)


def _parser() -> lark.Lark:
    return load_parser("gnn2logic.logic", "grammar.lark")


def _hint(text: str, position: int) -> str:
    if text[position : position + 1] == '"':
        return ' (The quote is not closed; write \\" for a quote inside of a name.)'
    before = re.search(r"([A-Za-z_][A-Za-z0-9_.]*)=[A-Za-z0-9_.+\-]+\s*\Z", text[:position])
    if before:
        return (
            f" ({before[0].strip()!r} was read as one name; for a comparison put spaces around "
            "the '='.)"
        )
    return ""


def unquote(token: lark.Token) -> str:
    """Return the name inside a quoted token."""

    def replace(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "uU" and len(body) > 1:
            code = int(body[1:], 16)
            if code > 0x10FFFF:
                raise At(token, f"\\{body} is not a Unicode character.")
            return chr(code)
        if body not in _SIMPLE_ESCAPES:
            raise At(token, f"\\{body} is not an escape; write \\\\ for a backslash.")
        return _SIMPLE_ESCAPES[body]

    return _ESCAPE.sub(replace, str(token)[1:-1])


class _Edges:
    """Parsed edges together with the token that says where they stand."""

    def __init__(self, edges: Edges, token: lark.Token) -> None:
        self.edges = edges
        self.token = token


@lark.v_args(inline=True)
class _FormulaBuilder(lark.visitors.Transformer_NonRecursive[Any, Any]):
    """Builds the formula bottom-up, left to right, so definitions come before their uses."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[str, Formula] = {}

    def start(self, *children: Any) -> Formula:
        formula: Formula = children[-1]
        return formula

    def definition(self, name: lark.Token, formula: Formula) -> None:
        if str(name) in self._named:
            raise At(name, f"{name} is defined twice.")
        self._named[str(name)] = formula

    def reference(self, name: lark.Token) -> Formula:
        try:
            return self._named[str(name)]
        except KeyError:
            raise At(name, f"{name} is used before it is defined with '{name} := ...;'.") from None

    def disjunction(self, *formulas: Formula) -> Formula:
        return disjunction(formulas)

    def conjunction(self, *formulas: Formula) -> Formula:
        return conjunction(formulas)

    def negated(self, formula: Formula) -> Formula:
        return negation(formula)

    def true(self, _: lark.Token) -> Formula:
        return TRUE

    def false(self, _: lark.Token) -> Formula:
        return FALSE

    def bare_name(self, token: lark.Token) -> Any:
        if str(token).lower() in ("true", "false"):
            raise At(
                token,
                f"The constants are written {str(token).lower()} and a predicate of this name in "
                f'quotes. Found {token}; write {str(token).lower()}, or "{token}" for a predicate.',
            )
        return self._name(token, str(token))

    def quoted_name(self, token: lark.Token) -> Any:
        return self._name(token, unquote(token))

    def _name(self, token: lark.Token, name: str) -> Formula:
        try:
            return predicate(name)
        except FeatureError as error:
            raise At(token, str(error)) from None

    def right_bound(
        self, modality: Modality, phi: Formula, relation: lark.Token, bound: Any
    ) -> Any:
        return self._compare(modality, phi, relation, bound)

    def left_bound(self, bound: Any, relation: lark.Token, modality: Modality, phi: Formula) -> Any:
        return self._compare(modality, phi, relation, bound, mirrored=True)

    def both_bounds(
        self,
        lower: Any,
        left: lark.Token,
        modality: Modality,
        phi: Formula,
        right: lark.Token,
        upper: Any,
    ) -> Formula:
        for token in (left, right):
            if _COMPARISONS.get(str(token), str(token)) not in ("<", "<="):
                raise At(token, f"An interval is written with < or <=. Got '{token}' instead.")
        first = self._compare(modality, phi, left, lower, mirrored=True)
        return conjunction((first, self._compare(modality, phi, right, upper)))

    def _compare(
        self,
        modality: Modality,
        phi: Formula,
        token: lark.Token,
        bound: Any,
        mirrored: bool = False,
    ) -> Formula:
        relation = _COMPARISONS.get(str(token), str(token))
        try:
            value: Threshold = threshold_from(str(bound))
            return compare(modality, phi, _MIRRORED[relation] if mirrored else relation, value)
        except FormulaError as error:
            raise At(bound, str(error)) from None

    def threshold(self, token: lark.Token) -> lark.Token:
        return token.update(value="".join(str(token).split()))

    def nothing(self, _: lark.Token) -> Modality:
        return Modality.from_set("0")

    def everything(self, _: lark.Token) -> Modality:
        return Modality.from_set("1")

    def itself(self, _: lark.Token) -> Modality:
        return Modality.from_set("I")

    def neighbours(self, edges: _Edges) -> Modality:
        return Modality.from_set("A", edges.edges)

    def closed(self, _: lark.Token, edges: _Edges) -> Modality:
        return Modality.from_set("I+A", edges.edges)

    def not_itself(self, *_: lark.Token) -> Modality:
        return Modality.from_set("1-I")

    def not_neighbours(self, _: lark.Token, edges: _Edges) -> Modality:
        return Modality.from_set("1-A", edges.edges)

    def far(self, _one: lark.Token, _i: lark.Token, edges: _Edges) -> Modality:
        return Modality.from_set("1-I-A", edges.edges)

    def one_way(self, a: lark.Token, relation: Any, transposed: lark.Token | None) -> _Edges:
        direction = Direction.OUT if transposed is None else Direction.IN
        return _Edges(Edges(direction, relation), a)

    def relation(self, token: lark.Token) -> str:
        name = unquote(token) if token.type == "STRING" else str(token)
        try:
            return check_name(name, what="Relation")
        except FeatureError as error:
            raise At(token, str(error)) from None

    def both_ways(self, first: _Edges, second: _Edges) -> _Edges:
        name = first.edges.relation
        if first.edges != Edges(Direction.OUT, name) or second.edges != Edges(Direction.IN, name):
            raise At(
                second.token,
                f"Only {Edges(Direction.EITHER, name)} can follow '|' here. "
                f"Got {first.edges}|{second.edges} instead.",
            )
        return _Edges(Edges(Direction.EITHER, name), first.token)
