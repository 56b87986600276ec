"""Short names for long parts of formulas, so that every line of an explanation can be read."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

from gnn2logic.logic.bounds import as_bounds
from gnn2logic.logic.printing.english import nodes_in_english
from gnn2logic.logic.syntax import And, Formula, Modal, Or
from gnn2logic.logic.walk import subformulas

__all__ = ["kinds_of"]

# Descriptions of nodes that are longer than this get a name.
_LONGEST = 90


def kinds_of(formulas: Iterable[Formula], order: Iterable[Formula]) -> dict[Formula, str]:
    """Return the parts of some formulas that need a name, with names in a given order.

    >>> from gnn2logic.logic import parse
    >>> inner = parse("A(I+A(A(atom=N) > 2/3) > 0 & I+A(A(atom=O) > 2/3) > 0) > 1")
    >>> list(kinds_of([parse("1 U0 > 1")], []).values())
    []
    >>> [str(kind) for kind in kinds_of([parse(f"1({inner}) > 1")], [])]
    ['I+A(A(atom=N) > 2/3) > 0 & I+A(A(atom=O) > 2/3) > 0']
    """
    nodes = subformulas(*formulas)
    in_place = {part for node in nodes if not isinstance(node, Modal) for part in node.children}
    counted = {part for node in nodes if isinstance(node, Modal) for part in node.children}
    long: dict[Formula, str] = {}
    for node in nodes:
        # A comparison that stands in a conjunction is read with its other bound.
        is_bounds = as_bounds(node) is not None
        combines = isinstance(node, And | Or) and not is_bounds
        if not combines and (node not in counted or node in in_place):
            continue
        if len(nodes_in_english(node, long)) > _LONGEST:
            long[node] = ""
    ranked = [part for part in order if part in long]
    # Those that are not in the order: what is made of others first.
    ranked += reversed(long)
    return {part: _letters(number) for number, part in enumerate(dict.fromkeys(ranked))}


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    text = ""
    number += 1
    while number:
        number, last = divmod(number - 1, 26)
        text = ascii_lowercase[last] + text
    return text
