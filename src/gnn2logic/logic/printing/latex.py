"""LaTeX for math mode."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from gnn2logic.graphs.modality import Direction, Modality
from gnn2logic.logic.printing.infix import Style, write_infix
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.syntax import Formula, Threshold

__all__ = ["LATEX", "escape_latex", "to_latex"]

# Not A and I: A_1 is what the relation 1 looks like.
_INDEXED = re.compile(r"([B-HJ-Za-z])([0-9]+)\Z", re.ASCII)
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "{}$&#_%"},
}


def escape_latex(text: str) -> str:
    r"""Return `text` for use in LaTeX text mode.

    >>> print(escape_latex("50% of a_b"))
    50\% of a\_b
    """
    return "".join(_SPECIAL.get(c, c if c.isprintable() else " ") for c in text)


def _name(name: str) -> str:
    indexed = _INDEXED.match(name)
    if indexed:
        return f"{indexed[1]}_{{{indexed[2]}}}"
    return rf"\text{{{escape_latex(name)}}}"


def _modality(modality: Modality) -> str:
    if not modality.uses_edges:
        return modality.set_name
    edges = modality.edges
    base = "A" if edges.relation is None else rf"A_{{\text{{{escape_latex(edges.relation)}}}}}"
    along = {
        Direction.OUT: base,
        Direction.IN: f"{base}^{{T}}",
        Direction.EITHER: rf"({base} \cup {base}^{{T}})",
    }[edges.direction]
    return modality.set_name.replace("A", along)


def _threshold(threshold: Threshold) -> str:
    if isinstance(threshold, Fraction):
        return rf"\tfrac{{{threshold.numerator}}}{{{threshold.denominator}}}"
    return str(threshold)


LATEX = Style(
    true=r"\top",
    false=r"\bot",
    negation=r"\neg ",
    conjunction=r" \wedge ",
    disjunction=r" \vee ",
    at_most=r"\leq",
    unequal=r"\neq",
    left="(",
    right=")",
    name=_name,
    modality=_modality,
    threshold=_threshold,
    apply=lambda modality, counted, is_word: modality + (r"\," if is_word else "") + counted,
)


def to_latex(formula: Formula) -> str:
    r"""Return the formula as LaTeX for math mode.

    >>> from gnn2logic.logic import parse
    >>> print(to_latex(parse("1(A U0 > 1/2) > 3 & !(1 atom=7 > 0)")))
    1(\text{atom=7}) = 0 \wedge 1(A\,U_{0} > \tfrac{1}{2}) > 3
    """
    write: Callable[[Formula, dict[Formula, str]], str]
    write = lambda node, references: write_infix(node, references, LATEX)  # noqa: E731
    printed = print_named(formula, write, lambda number: rf"\varphi_{{{number}}}")
    if not printed.definitions:
        return printed.body
    lines = [rf"\varphi_{{{number}}} &:= {text} \\" for number, text in printed.definitions]
    return "\n".join([r"\begin{aligned}", *lines, f"&{printed.body}", r"\end{aligned}"])
