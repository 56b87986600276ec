"""Nouns of English sentences: how many of which nodes, such as "at most half of its neighbours"."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gnn2logic.graphs.modality import Direction, Modality
from gnn2logic.logic.bounds import Bounds
from gnn2logic.logic.printing.english_words import Words
from gnn2logic.logic.syntax import Threshold

__all__ = [
    "MANY",
    "NUMBERS",
    "ONE",
    "CountedNoun",
    "Number",
    "amount_of",
    "noun_phrase",
    "share_clause",
    "share_in_words",
]


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


class CountedNoun(NamedTuple):
    """What is counted: a noun, and which of them; pairs are (one, several)."""

    noun: tuple[str, str]
    attached: tuple[str, str]


# Shares that people have a word for.
_SIMPLE = {
    Fraction(1, 2): "half",
    Fraction(1, 3): "a third",
    Fraction(2, 3): "two thirds",
    Fraction(1, 4): "a quarter",
    Fraction(3, 4): "three quarters",
    Fraction(1, 6): "a sixth",
    Fraction(5, 6): "five sixths",
}
_SMALL = 9


def noun_phrase(
    bounds: Bounds, which: tuple[str, str], things: CountedNoun | None, owner: Number, words: Words
) -> str:
    """Return what a node has, such as "more than 6 neighbours that are U0".

    `which` says which nodes are counted, of one node and of several; `things` are these nodes by
    a noun of theirs, if there is one: "more than 6 neighbouring carbon atoms". `owner` is who has
    them.
    """
    number, amount = amount_of(bounds)
    many = number is MANY
    modality = bounds.modality
    attached = which[many]
    is_both = modality.set_name == "I+A"
    if things is not None and not any(things.attached) and (is_both or not bounds.is_count):
        noun = things.noun[many or not bounds.is_count]
        return f"{amount} {noun} among {_whole(modality, owner, words)}"
    if not bounds.is_count:
        return f"{amount} of {_whole(modality, owner, words)}{attached or ' that exist'}"
    plural = "s" if many else ""
    near, along = _neighbour(modality, words)
    if things is not None and modality.set_name in ("1", "A", "1-I"):
        where = {"1": "", "A": f"{near}ing ", "1-I": "other "}[modality.set_name]
        return f"{amount} {where}{things.noun[many]}{along}{things.attached[many]}"
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
            noun = f"of {owner.them} and {owner.their} {near}s{along}"
            amount = "none" if amount == "no" else amount
        case "1-I":
            noun = f"other node{plural}"
        case "1-A":
            noun = f"non-{near}{plural}{along} including {owner.them}"
        case _:
            noun = f"non-{near}{plural}{along} other than {owner.them}"
    return f"{amount} {noun}{attached}"


def share_clause(bounds: Bounds, verb: str, owner: Number, words: Words) -> str:
    """Return what is so where a node is, such as "more than half of its neighbours are U0"."""
    whole = _whole(bounds.modality, owner, words)
    if bounds.modality.set_name == "I+A":
        whole = _whole(bounds.modality, ONE, words).replace("itself", "the node", 1)
    return f"{amount_of(bounds)[1]} of {whole} {verb}"


def _whole(modality: Modality, owner: Number, words: Words) -> str:
    near, along = _neighbour(modality, words)
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


def _neighbour(modality: Modality, words: Words) -> tuple[str, str]:
    edges = modality.edges
    prefix = {Direction.OUT: "", Direction.IN: "in-", Direction.EITHER: "in-or-out-"}
    along = "" if edges.relation is None else f" along {words.relation(edges.relation)}"
    return f"{prefix[edges.direction]}neighbour", along


def amount_of(bounds: Bounds) -> tuple[Number, str]:
    """Return the amount in words and whether the noun after it is singular."""
    lower, upper, exactly = bounds.lower, bounds.upper, bounds.exactly
    if exactly is not None and exactly > 0:
        words = f"{'not ' if bounds.excluded else ''}exactly {exactly}"
        return ONE if exactly == 1 else MANY, words
    if bounds.excluded:
        assert lower is not None
        assert upper is not None
        few = "0" if lower == 0 else f"at most {_words(lower)}"
        return MANY, f"{few} or more than {_words(upper)}"
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
        few = f"{lower + 1} or {upper}"
        return MANY, few if upper == lower + 2 else f"between {lower + 1} and {upper}"
    return MANY, f"more than {_words(lower)} and at most {_words(upper)}"


def _words(threshold: Threshold) -> str:
    return share_in_words(threshold) if isinstance(threshold, Fraction) else str(threshold)


def share_in_words(threshold: Fraction) -> str:
    """Return a share as people say it: by a word, in percent, or as it is.

    >>> [share_in_words(Fraction(share)) for share in ("1/3", "3/5", "2/7")]
    ['a third', '60%', '2/7']
    """
    if threshold in _SIMPLE:
        return _SIMPLE[threshold]
    per_mille = threshold * 1000
    if per_mille.denominator == 1:
        whole, tenth = divmod(int(per_mille), 10)
        return f"{whole}.{tenth}%" if tenth else f"{whole}%"
    exact = f"{threshold.numerator}/{threshold.denominator}"
    # The share itself, and what it is about for those who do not divide in their heads.
    return exact if threshold.denominator <= _SMALL else f"{exact} ({float(threshold):.1%})"
