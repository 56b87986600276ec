"""What a formula says of one node and of several, in the forms that sentences need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.bounds import Bounds, as_bounds, group_alternatives, group_bounds
from gnn2logic.logic.printing.english_nouns import (
    NUMBERS,
    CountedNoun,
    noun_phrase,
    share_clause,
)
from gnn2logic.logic.printing.english_words import NamedFeature, PredicateWords, Words
from gnn2logic.logic.syntax import And, Constant, Formula, Not, Predicate

__all__ = ["EVERYTHING", "Phrase", "describe", "negated", "same_adjective"]

EVERYTHING = Modality.from_set("1")
_ITSELF = Modality.from_set("I")


class Phrase(NamedTuple):
    """One formula in the forms a sentence may need; pairs are (one node, several nodes).

    `things` are the nodes of the formula by a noun, where there is one, and `rest` is what is said
    of these. `neither` is how an alternative is denied. `is_where` means that the nodes are told by
    a clause of its own, behind "where".
    """

    verb: tuple[str, str]
    attached: tuple[str, str]
    adjective: tuple[str, str] | None = None
    is_compound: bool = False
    feature: NamedFeature | None = None
    things: CountedNoun | None = None
    rest: Phrase | None = None
    neither: tuple[str, str] | None = None
    is_where: bool = False


def _from_adjective(adjective: tuple[str, str]) -> Phrase:
    one, many = adjective
    return Phrase((f"is {one}", f"are {many}"), (f" that is {one}", f" that are {many}"), adjective)


def same_adjective(adjective: str) -> Phrase:
    """Return the phrase for what follows "is" and "are"."""
    return _from_adjective((adjective, adjective))


def _from_feature(feature: NamedFeature) -> Phrase:
    return Phrase(
        (f"has {feature}", f"have {feature}"),
        (f" with {feature}", f" with {feature}"),
        feature=feature,
    )


def from_verb(verb: tuple[str, str], *, is_compound: bool) -> Phrase:
    attached = (f" that ({verb[0]})", f" that ({verb[1]})")
    return Phrase(verb, attached, is_compound=is_compound)


def _from_words(said: PredicateWords) -> Phrase:
    if said.feature is not None:
        return _from_feature(said.feature)
    assert said.adjective is not None
    phrase = _from_adjective(said.adjective)
    things = None if said.noun is None else CountedNoun(said.noun, ("", ""))
    return phrase._replace(things=things)


def describe(node: Formula, phrases: Mapping[Formula, Phrase], words: Words) -> Phrase:
    """Return the phrase for a formula, given those for its parts."""
    if isinstance(node, Constant):
        if node.value:
            return Phrase(("exists", "exist"), ("", ""))
        return same_adjective("impossible")
    if isinstance(node, Predicate):
        return _from_words(words.predicate(node.name))
    bounds = as_bounds(node)
    if bounds is not None:
        return _describe_bounds(bounds, phrases, words)
    if isinstance(node, Not):
        return negated(phrases[node.child])
    return _describe_combination(node, phrases, words)


def negated(phrase: Phrase) -> Phrase:
    """Return the phrase for what is not so."""
    if phrase.feature is not None:
        has, attached = f"have {phrase.feature}", f" without {phrase.feature}"
        return Phrase((f"does not {has}", f"do not {has}"), (attached, attached))
    if phrase.neither is not None:
        return from_verb(phrase.neither, is_compound=True)
    if phrase.adjective is not None and not _is_list(phrase) and not _is_negated(phrase):
        one, many = phrase.adjective
        return _from_adjective((f"not {one}", f"not {many}"))
    one, many = phrase.verb
    if not phrase.is_compound and many.startswith("have "):
        one, many = one.removeprefix("has "), many.removeprefix("have ")
        verb = (f"does not have {one}", f"do not have {many}")
        return from_verb(verb, is_compound=False)
    verb = (f"is not one that ({one})", f"are not those that ({many})")
    return from_verb(verb, is_compound=False)


def _is_negated(phrase: Phrase) -> bool:
    return phrase.adjective is not None and phrase.adjective[0].startswith("not ")


def _describe_combination(node: Formula, phrases: Mapping[Formula, Phrase], words: Words) -> Phrase:
    is_both = isinstance(node, And)
    members = group_bounds(node.children) if is_both else group_alternatives(node.children)
    described = [
        _describe_bounds(member, phrases, words) if isinstance(member, Bounds) else phrases[member]
        for member in members
    ]
    if len(described) == 1:
        return described[0]
    if not is_both:
        features = [phrase.feature for phrase in described if phrase.feature is not None]
        if len(features) == len(described) and len({feature.name for feature in features}) == 1:
            # "symbol C or N"; a threshold is no value of a list.
            values = tuple(value for feature in features for value in feature.values)
            if not any(value.startswith("above ") for value in values):
                return _from_feature(NamedFeature(features[0].name, values))
        return _combined(described, "or")
    whole = _combined(described, "and")
    for number, phrase in enumerate(described):
        if phrase.things is not None and phrase.rest is None:
            others = described[:number] + described[number + 1 :]
            rest = others[0] if len(others) == 1 else _combined(others, "and")
            return whole._replace(things=CountedNoun(phrase.things.noun, rest.attached), rest=rest)
    return whole


def _combined(described: list[Phrase], word: str) -> Phrase:
    adjectives = [phrase.adjective for phrase in described if phrase.adjective is not None]
    if len(adjectives) == len(described) and not any(_is_list(phrase) for phrase in described):
        # "U1 and not U0": a "not" in front would seem to reach over all that follows.
        adjectives.sort(key=lambda adjective: adjective[0].startswith("not "))
        one, many = (f" {word} ".join(adjective[n] for adjective in adjectives) for n in (0, 1))
        return _from_adjective((one, many))
    verbs = [
        [
            f"({phrase.verb[n]})" if phrase.is_compound or _is_list(phrase) else phrase.verb[n]
            for phrase in described
        ]
        for n in (0, 1)
    ]
    one, many = (f", {word} ".join(parts) for parts in verbs)
    whole = from_verb((one, many), is_compound=True)
    if word == "and":
        return whole
    one, many = (f"neither {', nor '.join(parts)}" for parts in verbs)
    return whole._replace(neither=(one, many))


def _is_list(phrase: Phrase) -> bool:
    """Whether a phrase is a list of names, which would run into words around it."""
    return phrase.adjective is not None and (
        " and " in phrase.adjective[0] or " or " in phrase.adjective[0]
    )


def _describe_bounds(bounds: Bounds, phrases: Mapping[Formula, Phrase], words: Words) -> Phrase:
    phrase = phrases[bounds.counted]
    limit = bounds.upper if bounds.lower is None else bounds.lower
    if bounds.modality == _ITSELF and (not bounds.is_count or limit == 0):
        # The node itself is a set of one: some of it, or half of it, is all of it.
        if bounds.upper is None:
            return phrase
        if bounds.lower is None:
            return negated(phrase)
    is_share = not bounds.is_count and bounds.modality not in (EVERYTHING, _ITSELF)
    verbs, attached = [], []
    for number in NUMBERS:
        noun = noun_phrase(bounds, phrase.attached, phrase.things, number, words)
        if bounds.modality == EVERYTHING:
            verbs.append(f"{number.be} in a graph with {noun}")
            attached.append(f" in a graph with {noun}")
        else:
            verbs.append(f"{number.have} {noun}")
            attached.append(f" with {noun}")
        if is_share:
            verb = f"({phrase.verb[1]})" if phrase.is_compound else phrase.verb[1]
            attached[-1] = f" where {share_clause(bounds, verb, number, words)}"
    return Phrase((verbs[0], verbs[1]), (attached[0], attached[1]), is_where=is_share)
