"""The common part of the text, Unicode and LaTeX printers: infix notation with few brackets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.bounds import Bounds, as_bounds, group_bounds
from gnn2logic.logic.syntax import (
    And,
    Constant,
    Formula,
    Not,
    Predicate,
    Threshold,
)
from gnn2logic.logic.walk import subformulas

__all__ = ["Style", "write_infix"]

# How tightly a text holds together; a part with a lower level than its place needs brackets.
_OR, _AND, _LITERAL, _ATOM = range(4)


@dataclass(frozen=True)
class Style:
    """The symbols of one notation."""

    true: str
    false: str
    negation: str
    conjunction: str
    disjunction: str
    at_most: str
    unequal: str
    left: str
    right: str
    name: Callable[[str], str]
    modality: Callable[[Modality], str]
    threshold: Callable[[Threshold], str]
    apply: Callable[[str, str, bool], str]
    """Joins a modal parameter and what it counts; told whether that is one bare word."""


def write_infix(formula: Formula, references: Mapping[Formula, str], style: Style) -> str:
    """Return the text of `formula`; subformulas in `references` are written as their name."""
    texts: dict[Formula, tuple[str, int]] = {}
    writer = _InfixWriter(style, texts)
    for node in subformulas(formula, stop=references):
        if node in references:
            texts[node] = (references[node], _ATOM)
        elif isinstance(node, Not) and node.child in references:
            texts[node] = (style.negation + references[node.child], _LITERAL)
        else:
            texts[node] = writer.write(node)
    return texts[formula][0]


class _InfixWriter:
    def __init__(self, style: Style, texts: Mapping[Formula, tuple[str, int]]) -> None:
        self.style = style
        self.texts = texts

    def write(self, node: Formula) -> tuple[str, int]:
        style = self.style
        bounds = as_bounds(node)
        if bounds is not None:
            return self.bounds(bounds), _LITERAL
        if isinstance(node, Constant):
            return style.true if node.value else style.false, _ATOM
        if isinstance(node, Predicate):
            return style.name(node.name), _ATOM
        if isinstance(node, Not):
            # !A U0 > 1 would be right, but nobody should have to know that.
            needs_brackets = as_bounds(node.child) is not None
            inner = self.bracketed(node.child) if needs_brackets else self.at(node.child, _LITERAL)
            return style.negation + inner, _LITERAL
        if isinstance(node, And):
            conjuncts = [
                self.bounds(operand) if isinstance(operand, Bounds) else self.at(operand, _LITERAL)
                for operand in group_bounds(node.children)
            ]
            return style.conjunction.join(conjuncts), _AND
        return style.disjunction.join(self.at(operand, _AND) for operand in node.children), _OR

    def at(self, node: Formula, level: int) -> str:
        text, tightness = self.texts[node]
        return text if tightness >= level else self.bracketed(node)

    def bracketed(self, node: Formula) -> str:
        return f"{self.style.left}{self.texts[node][0]}{self.style.right}"

    def bounds(self, bounds: Bounds) -> str:
        style = self.style
        counted, level = self.texts[bounds.counted]
        # A(atom=7) > 1 keeps the name's own "=" apart from the comparison.
        is_word = level == _ATOM and "=" not in counted
        if not is_word:
            counted = self.bracketed(bounds.counted)
        term = style.apply(style.modality(bounds.modality), counted, is_word)
        show = style.threshold
        exactly = bounds.exactly
        if exactly is not None:
            return f"{term} {style.unequal if bounds.excluded else '='} {show(exactly)}"
        lower, upper = bounds.lower, bounds.upper
        if upper is None:
            assert lower is not None
            return f"{term} > {show(lower)}"
        if lower is None:
            if isinstance(upper, int):
                return f"{term} < {show(upper + 1)}"
            return f"{term} {style.at_most} {show(upper)}"
        if isinstance(lower, int):
            return f"{show(lower + 1)} {style.at_most} {term} {style.at_most} {show(upper)}"
        return f"{show(lower)} < {term} {style.at_most} {show(upper)}"
