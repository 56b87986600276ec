"""The notations of C2: ASCII and Unicode, which `parse_c2` reads, and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gnn2logic.graphs.modality import Edges, quote_name
from gnn2logic.logic.c2.build import Swapper
from gnn2logic.logic.c2.syntax import OTHER, C2Formula, C2Predicate, Edge, Variable
from gnn2logic.logic.c2.views import Operand, Piece, Quantifier, Symbol, Tightness, view
from gnn2logic.logic.nodes import post_order
from gnn2logic.logic.printing.latex import escape_latex
from gnn2logic.logic.printing.latex import to_latex as emlc_to_latex
from gnn2logic.logic.syntax import predicate as emlc_predicate

__all__ = ["INLINE_LIMIT", "Named", "named_subformulas", "to_latex", "to_text", "to_unicode"]

# Which subformulas get a name, so that shared formulas print in linear space. A subformula and the
# same with x and y exchanged share one name: ``$1(x)`` and ``$1(y)``.

INLINE_LIMIT = 200
"""Formulas up to this size are printed whole; larger ones name what they share."""

_WORTH_A_NAME = 7  # smaller parts are about as short as "$12(x)"
_TOO_LONG = 12


@dataclass(frozen=True)
class Named:
    """A use of a named part: its number and the variables it is used with."""

    number: int
    variables: tuple[Variable, ...]


def named_subformulas(formula: C2Formula) -> tuple[dict[C2Formula, Named], list[C2Formula]]:
    """Return how to refer to every part that has a name, and the parts to define, in order."""
    if formula.size <= INLINE_LIMIT:
        return {}, []
    representative = _Representatives()
    root = representative(formula)
    order, below = _written_subformulas(root, representative)
    named = _shared_units(root, order, below)
    named |= _shared_pairs(order, below, named)
    references: dict[C2Formula, Named] = {}
    definitions = [node for node in order if node in named]
    for number, node in enumerate(definitions, start=1):
        references[node] = Named(number, node.free_variables)
        if node.free_variables:
            exchanged = tuple(OTHER[variable] for variable in node.free_variables)
            references.setdefault(representative.swap(node), Named(number, exchanged))
    return references, definitions


_Below = dict[C2Formula, list[C2Formula]]


def _shared_units(root: C2Formula, order: list[C2Formula], below: _Below) -> set[C2Formula]:
    """Return the shared parts with at most one free variable: these make readable definitions."""
    # From the top down: how often each part would stand in the text, given the names so far.
    occurrences = dict.fromkeys(order, 0)
    occurrences[root] = 1
    named = set()
    for node in reversed(order):
        is_unit = len(node.free_variables) < 2
        if occurrences[node] > 1 and is_unit and node.size >= _WORTH_A_NAME:
            named.add(node)
            occurrences[node] = 1
        for child in below[node]:
            occurrences[child] += occurrences[node]
    return named


def _shared_pairs(order: list[C2Formula], below: _Below, named: set[C2Formula]) -> set[C2Formula]:
    """Return the shared parts about x and y that are long although their own parts have names."""
    uses = dict.fromkeys(order, 0)
    for node in order:
        for child in below[node]:
            uses[child] += 1
    pairs: set[C2Formula] = set()
    length: dict[C2Formula, int] = {}
    for node in order:
        length[node] = 1 + sum(length[child] for child in below[node])
        if len(node.free_variables) == 2 and uses[node] > 1 and length[node] > _TOO_LONG:
            pairs.add(node)
        if node in named or node in pairs:
            length[node] = 1
    return pairs


def _written_subformulas(
    root: C2Formula, representative: _Representatives
) -> tuple[list[C2Formula], _Below]:
    """Return the parts that stand in the text, inner ones first, and what stands in each."""
    below: _Below = {}

    def written_in(node: C2Formula) -> list[C2Formula]:
        below[node] = [representative(subformula) for subformula in view(node).formulas]
        return below[node]

    return post_order([root], written_in), below


class _Representatives:
    """Picks one of a formula and its twin with x and y exchanged; a sentence is its own."""

    def __init__(self) -> None:
        self.swap = Swapper()

    def __call__(self, formula: C2Formula) -> C2Formula:
        free = formula.free_variables
        if not free or free == ("x",):
            return formula
        twin = self.swap(formula)
        return twin if free == ("y",) else min(formula, twin)


# The NAME of grammar.lark, less the words that mean something else there.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(=[A-Za-z0-9_.+\-]*[A-Za-z0-9_])?\Z")
_RESERVED = re.compile(r"(true|false|exists|forall|x|y)(?![A-Za-z0-9_.])|E\Z")


@dataclass(frozen=True)
class _Style:
    """The words of one notation."""

    symbols: Mapping[Symbol, str]
    quantifier: Callable[[Quantifier], str]
    name: Callable[[str], str]
    edge: Callable[[str | None], str]
    reference: Callable[[int], str]


def to_text(formula: C2Formula) -> str:
    """Return the formula as ASCII text (names may hold other characters, in quotes).

    >>> from gnn2logic.logic.c2 import parse_c2
    >>> print(to_text(parse_c2("!exists y (!(x != y) & !!E(y,x))")))
    !exists y (x = y & E(y,x))
    """
    return _with_definitions(formula, _ASCII)


def to_unicode(formula: C2Formula) -> str:
    """Return the formula in mathematical Unicode.

    >>> from gnn2logic.logic.c2 import parse_c2
    >>> print(to_unicode(parse_c2("forall x (U0(x) | exists<=2 y (x != y & E(x,y)))")))
    ∀ x (U0(x) ∨ ∃≤2 y (x ≠ y ∧ E(x,y)))
    """
    return _with_definitions(formula, _UNICODE)


def to_latex(formula: C2Formula) -> str:
    r"""Return the formula as LaTeX for math mode.

    >>> from gnn2logic.logic.c2 import parse_c2
    >>> print(to_latex(parse_c2("forall x exists=2 y (E(x,y) & U0(y))")))
    \forall x\, \exists^{=2} y\, (E(x,y) \wedge U_{0}(y))
    """
    definitions, body = _write_all(formula, _LATEX)
    if not definitions:
        return body
    lines = [rf"{name} &:= {text} \\" for name, text in definitions]
    return "\n".join([r"\begin{aligned}", *lines, f"&{body}", r"\end{aligned}"])


def _with_definitions(formula: C2Formula, style: _Style) -> str:
    definitions, body = _write_all(formula, style)
    return "\n".join([*(f"{name} := {text};" for name, text in definitions), body])


def _write_all(formula: C2Formula, style: _Style) -> tuple[list[tuple[str, str]], str]:
    references, order = named_subformulas(formula)
    texts = {node: _reference(used, style) for node, used in references.items()}
    definitions = [(texts[node], _write(node, texts, style)) for node in order]
    return definitions, _write(formula, texts, style)


def _reference(used: Named, style: _Style) -> str:
    variables = f"({','.join(used.variables)})" if used.variables else ""
    return style.reference(used.number) + variables


def _write(formula: C2Formula, references: Mapping[C2Formula, str], style: _Style) -> str:
    """Return the text of `formula`; parts in `references` are written as their name."""
    words: list[str] = []
    stack: list[Piece | str] = [Operand(formula, Tightness.OR)]
    while stack:
        piece = stack.pop()
        if not isinstance(piece, Operand):
            words.append(piece if isinstance(piece, str) else _word(piece, style))
        elif piece.formula in references and piece.formula is not formula:
            words.append(references[piece.formula])
        else:
            seen = view(piece.formula)
            brackets = seen.level < piece.level
            stack.extend([")"] if brackets else [])
            stack.extend(reversed(seen.pieces))
            stack.extend(["("] if brackets else [])
    return "".join(words)


def _word(piece: Symbol | Quantifier | C2Predicate | Edge, style: _Style) -> str:
    if isinstance(piece, Symbol):
        return style.symbols[piece]
    if isinstance(piece, Quantifier):
        return style.quantifier(piece)
    if isinstance(piece, C2Predicate):
        return f"{style.name(piece.name)}({piece.variable})"
    return f"{style.edge(piece.relation)}({piece.source},{piece.target})"


# Notations -----------------------------------------------------------------------------------


def _name(name: str) -> str:
    return name if _BARE.match(name) and not _RESERVED.match(name) else quote_name(name)


def _edge(relation: str | None) -> str:
    # Relations are bracketed and quoted as in A[...]; only the letter differs.
    return "E" + str(Edges(relation=relation))[1:]


def _ascii_quantifier(piece: Quantifier) -> str:
    if piece.universal:
        return f"forall {piece.variable} "
    if (piece.relation, piece.count) == (">=", 1):
        return f"exists {piece.variable} "
    return f"exists{piece.relation}{piece.count} {piece.variable} "


_UNICODE_WORDS = {"forall": "∀", "exists": "∃", ">=": "≥", "<=": "≤"}


def _unicode_quantifier(piece: Quantifier) -> str:
    return re.sub("forall|exists|>=|<=", lambda m: _UNICODE_WORDS[m[0]], _ascii_quantifier(piece))


def _latex_quantifier(piece: Quantifier) -> str:
    if piece.universal:
        return rf"\forall {piece.variable}\, "
    if (piece.relation, piece.count) == (">=", 1):
        return rf"\exists {piece.variable}\, "
    relation = {">=": r"\geq ", "<=": r"\leq ", "=": "="}[piece.relation]
    return rf"\exists^{{{relation}{piece.count}}} {piece.variable}\, "


def _latex_edge(relation: str | None) -> str:
    return "E" if relation is None else rf"E_{{\text{{{escape_latex(relation)}}}}}"


_ASCII = _Style(
    symbols={
        Symbol.TRUE: "true",
        Symbol.FALSE: "false",
        Symbol.NOT: "!",
        Symbol.AND: " & ",
        Symbol.OR: " | ",
        Symbol.EQUAL: "x = y",
        Symbol.UNEQUAL: "x != y",
    },
    quantifier=_ascii_quantifier,
    name=_name,
    edge=_edge,
    reference=lambda number: f"${number}",
)

_UNICODE = _Style(
    symbols={
        Symbol.TRUE: "⊤",
        Symbol.FALSE: "⊥",
        Symbol.NOT: "¬",
        Symbol.AND: " ∧ ",
        Symbol.OR: " ∨ ",
        Symbol.EQUAL: "x = y",
        Symbol.UNEQUAL: "x ≠ y",
    },
    quantifier=_unicode_quantifier,
    name=_name,
    edge=_edge,
    reference=lambda number: f"${number}",
)

_LATEX = _Style(
    symbols={
        Symbol.TRUE: r"\top",
        Symbol.FALSE: r"\bot",
        Symbol.NOT: r"\neg ",
        Symbol.AND: r" \wedge ",
        Symbol.OR: r" \vee ",
        Symbol.EQUAL: "x = y",
        Symbol.UNEQUAL: r"x \neq y",
    },
    quantifier=_latex_quantifier,
    name=lambda name: emlc_to_latex(emlc_predicate(name)),
    edge=_latex_edge,
    reference=lambda number: rf"\varphi_{{{number}}}",
)
