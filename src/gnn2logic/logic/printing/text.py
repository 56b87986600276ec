"""The two notations that `parse` reads: plain ASCII and mathematical Unicode."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from gnn2logic.graphs.modality import quote_name
from gnn2logic.logic.printing.infix import Style, write_infix
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.syntax import Formula

__all__ = ["ASCII", "UNICODE", "is_bare_name", "to_text", "to_unicode"]

# The NAME of grammar.lark, less the words that mean something else there or might be meant so.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(=[A-Za-z0-9_.+\-]*[A-Za-z0-9_])?\Z")
_RESERVED = re.compile(r"(true|false)(?![A-Za-z0-9_.])|[AI]\Z|(?i:true|false)\Z")


def is_bare_name(name: str) -> bool:
    """Return whether the grammar reads `name` without quotes."""
    return bool(_BARE.match(name)) and not _RESERVED.match(name)


def _name(name: str) -> str:
    return name if is_bare_name(name) else quote_name(name)


def _apply(modality: str, counted: str, is_word: bool) -> str:
    return f"{modality} {counted}" if is_word else f"{modality}{counted}"


ASCII = Style(
    true="true",
    false="false",
    negation="!",
    conjunction=" & ",
    disjunction=" | ",
    at_most="<=",
    unequal="!=",
    left="(",
    right=")",
    name=_name,
    modality=str,
    threshold=str,
    apply=_apply,
)


UNICODE = dataclasses.replace(
    ASCII,
    true="⊤",
    false="⊥",
    negation="¬",
    conjunction=" ∧ ",
    disjunction=" ∨ ",
    at_most="≤",
    unequal="≠",
    modality=lambda modality: modality.to_text("ᵀ"),
)


def to_text(formula: Formula) -> str:
    """Return the formula as ASCII text (names may hold other characters, in quotes).

    >>> from gnn2logic.logic import parse
    >>> print(to_text(parse("1(A(A U0 > 6) > 0.5) > 50%")))
    1(A(A U0 > 6) > 1/2) > 1/2
    """
    return _with_definitions(formula, ASCII)


def to_unicode(formula: Formula) -> str:
    """Return the formula in mathematical Unicode.

    >>> from gnn2logic.logic import parse
    >>> print(to_unicode(parse("!U0 & 3 <= A^T true <= 11")))
    ¬U0 ∧ 3 ≤ Aᵀ ⊤ ≤ 11
    """
    return _with_definitions(formula, UNICODE)


def _with_definitions(formula: Formula, style: Style) -> str:
    write: Callable[[Formula, dict[Formula, str]], str]
    write = lambda node, references: write_infix(node, references, style)  # noqa: E731
    printed = print_named(formula, write, lambda number: f"${number}")
    lines = [f"${number} := {text};" for number, text in printed.definitions]
    return "\n".join([*lines, printed.body])
