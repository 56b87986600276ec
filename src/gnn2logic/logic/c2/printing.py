"""The notations of C2: ASCII and Unicode, which `parse_c2` reads, and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gnn2logic.graphs.modality import Edges, quote_name
from gnn2logic.logic.c2.naming import Named, named_subformulas
from gnn2logic.logic.c2.syntax import C2Formula, C2Predicate, Edge
from gnn2logic.logic.c2.views import Operand, Piece, Quantifier, Symbol, Tightness, view
from gnn2logic.logic.printing.latex import escape_latex
from gnn2logic.logic.printing.latex import to_latex as emlc_to_latex
from gnn2logic.logic.syntax import predicate as emlc_predicate

__all__ = ["to_latex", "to_text", "to_unicode"]

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
