"""Nouns of English sentences: how many of which nodes, such as "at most half of its neighbours"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from gnn2logic.graphs.modality import Direction, Modality, quote_name
from gnn2logic.graphs.structure_names import relation_words
from gnn2logic.logic.bounds import Bounds
from gnn2logic.logic.printing.text import is_bare_name
from gnn2logic.logic.syntax import Threshold

__all__ = ["MANY", "NUMBERS", "ONE", "Number", "amount_of", "name_in_text", "noun_phrase"]

# Words with a meaning of their own in our sentences; a predicate of that name is quoted.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        "a all among an and any are at between both condition copies copy empty exactly exist "
        "exists graph half has have holds if impossible in including is it its itself kind "
        "least more most neighbour neighbours no node nodes not of one ones or other set such "
        "than that the their themselves there those where with",
    )
)


class Number(NamedTuple):
    """The words that change between one node and several."""

    have: str
    be: str
    exist: str
    one: str
    their: str
    them: str


ONE = Number("has", "is", "exists", "one", "its", "itself")
MANY = Number("have", "are", "exist", "those", "their", "themselves")
NUMBERS = (ONE, MANY)


def noun_phrase(bounds: Bounds, which: tuple[str, str], owner: Number) -> str:
    """Return what a node has, such as "more than 6 neighbours that are U0".

    `which` says which ones are counted, of one node and of several; `owner` is who has them.
    """
    number, amount = amount_of(bounds)
    many = number is MANY
    modality = bounds.modality
    attached = which[many]
    if not bounds.is_count:
        return f"{amount} of {_whole(modality, owner)}{attached or ' that exist'}"
    plural = "s" if many else ""
    near, along = _neighbour(modality)
    match modality.set_name:
        case "0":
            noun = f"node{plural} of the empty set"
        case "1":
            noun = f"node{plural}"
        case "I":
            noun = f"{'copies' if many else 'copy'} of {owner.them}"
        case "A":
            noun = f"{near}{plural}{along}"
        case "I+A":
            noun = f"node{plural} among {owner.them} and {owner.their} {near}s{along}"
        case "1-I":
            noun = f"other node{plural}"
        case "1-A":
            noun = f"non-{near}{plural}{along} including {owner.them}"
        case _:
            noun = f"non-{near}{plural}{along} other than {owner.them}"
    return f"{amount} {noun}{attached}"


def _whole(modality: Modality, owner: Number) -> str:
    near, along = _neighbour(modality)
    return {
        "0": "the empty set",
        "1": "the nodes",
        "I": owner.them,
        "A": f"{owner.their} {near}s{along}",
        "I+A": f"{owner.them} and {owner.their} {near}s{along}",
        "1-I": "the other nodes",
        "1-A": f"{owner.their} non-{near}s{along} including {owner.them}",
        "1-I-A": f"{owner.their} non-{near}s{along} other than {owner.them}",
    }[modality.set_name]


def _neighbour(modality: Modality) -> tuple[str, str]:
    edges = modality.edges
    prefix = {Direction.OUT: "", Direction.IN: "in-", Direction.EITHER: "in-or-out-"}
    if edges.relation is None:
        along = ""
    else:
        along = f" along {relation_words(edges.relation) or name_in_text(edges.relation)}"
    return f"{prefix[edges.direction]}neighbour", along


def amount_of(bounds: Bounds) -> tuple[Number, str]:
    """Return the amount in words and whether the noun after it is singular."""
    lower, upper, exactly = bounds.lower, bounds.upper, bounds.exactly
    if exactly is not None and exactly > 0:
        words = f"{'not ' if bounds.excluded else ''}exactly {exactly}"
        return ONE if exactly == 1 else MANY, words
    if upper is None:
        assert lower is not None
        if lower == 0:
            return ONE, "at least one"
        return ONE if lower == 1 else MANY, f"more than {_words(lower)}"
    if lower is None:
        if upper == 0:
            return MANY, "no"
        return ONE if upper == 1 else MANY, f"at most {_words(upper)}"
    if isinstance(lower, int):
        return MANY, f"between {lower + 1} and {upper}"
    return MANY, f"more than {_words(lower)} and at most {_words(upper)}"


def _words(threshold: Threshold) -> str:
    if not isinstance(threshold, Fraction):
        return str(threshold)
    if threshold == Fraction(1, 2):
        return "half"
    per_mille = threshold * 1000
    if per_mille.denominator == 1:
        whole, tenth = divmod(int(per_mille), 10)
        return f"{whole}.{tenth}%" if tenth else f"{whole}%"
    return f"{threshold.numerator}/{threshold.denominator}"


def name_in_text(name: str) -> str:
    """Return a name of a predicate or relation, quoted where it would read as a word of ours."""
    return name if is_bare_name(name) and name.lower() not in _RESERVED else quote_name(name)
