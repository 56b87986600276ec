"""Formulas in English.

The text is exact: different meanings have different texts. Inside a sentence, ``and`` and ``or``
between names need no comma; between whole phrases they follow a comma, and a combination inside
of another one stands in brackets. A phrase that begins with ``with``, ``that`` or ``in a graph``
says which nodes the nearest amount before it (``more than half``, ``at least one``) counts. Nouns
that are given for predicates take the place of "nodes": "more than 2 carbon atoms are aromatic".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.bounds import Bounds, as_bounds, group_bounds
from gnn2logic.logic.printing.english_nouns import (
    MANY,
    NUMBERS,
    CountedNoun,
    amount_of,
    noun_phrase,
)
from gnn2logic.logic.printing.english_words import NamedFeature, Names, PredicateWords, Words
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.syntax import And, Constant, Formula, Modal, Not, Or, Predicate
from gnn2logic.logic.walk import subformulas

__all__ = ["is_about_graph", "nodes_in_english", "to_english"]

# What stands for a part that has a name: a kind of nodes, or what a graph is like.
_KIND = "of kind ({})"
_HOLDS = "condition ({}) holds"
_EVERYTHING = Modality.from_set("1")
_ITSELF = Modality.from_set("I")

# Asked for every part that has a name, so that each part is looked at once.
_ABOUT_GRAPH: WeakKeyDictionary[Formula, bool] = WeakKeyDictionary()


class _Phrase(NamedTuple):
    """One formula in the forms a sentence may need; pairs are (one node, several nodes).

    `things` are the nodes of the formula by a noun, where there is one, and `rest` is what is said
    of these. `neither` is how an alternative is denied.
    """

    verb: tuple[str, str]
    attached: tuple[str, str]
    adjective: tuple[str, str] | None = None
    is_compound: bool = False
    feature: NamedFeature | None = None
    things: CountedNoun | None = None
    rest: _Phrase | None = None
    neither: tuple[str, str] | None = None


def to_english(
    formula: Formula,
    kinds: Mapping[Formula, str] | None = None,
    names: Names | None = None,
) -> str:
    """Return the formula as an English sentence, without a full stop.

    Parameters
    ----------
    formula : Formula
    kinds : mapping of Formula to str, optional
        Subformulas that have a name, which is written in their place: "of kind (1)", or
        "condition (1) holds" if they are about the whole graph. None gives names to what a large
        formula shares, and puts their definitions in front.
    names : mapping of str to str or (str, str), optional
        Words for predicates and relations: what follows "is", such as "aromatic", or a noun for one
        node and for several, such as ("carbon atom", "carbon atoms"). Relations follow "along".

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(to_english(parse("1(A(A true > 6) > 1/2) > 1/2")))
    more than half of the nodes have more than half of their neighbours with more than 6 neighbours
    >>> print(to_english(parse("U0 & 3 <= A(colour=red) <= 11")))
    the node is U0, and has between 3 and 11 neighbours with colour red
    >>> names = {"red": ("red node", "red nodes"), "double": "a double bond"}
    >>> print(to_english(parse("1(red & A[double] atom=O > 0) > 2"), names=names))
    more than 2 red nodes have at least one neighbouring oxygen atom along a double bond
    >>> print(to_english(parse("1(A true > 6) > 1/2"), {parse("A true > 6"): "1"}))
    more than half of the nodes are of kind (1)
    """
    return _printed(formula, kinds, names, _sentence)


def is_about_graph(formula: Formula) -> bool:
    """Return whether a formula combines comparisons of ``1 phi`` only: it is true of a graph.

    >>> from gnn2logic.logic import parse
    >>> is_about_graph(parse("1 U0 > 2 & !(1 U1 > 1/2)")), is_about_graph(parse("U0 & 1 U0 > 2"))
    (True, False)
    """
    for node in subformulas(formula, stop=_ABOUT_GRAPH):
        if node not in _ABOUT_GRAPH:
            is_combined = isinstance(node, Not | And | Or)
            _ABOUT_GRAPH[node] = (
                all(_ABOUT_GRAPH[child] for child in node.children)
                if is_combined
                else isinstance(node, Modal) and node.modality == _EVERYTHING
            )
    return _ABOUT_GRAPH[formula]


def nodes_in_english(
    formula: Formula,
    kinds: Mapping[Formula, str] | None = None,
    names: Names | None = None,
) -> str:
    """Return what the nodes are that satisfy the formula; the rest is as in `to_english`.

    >>> from gnn2logic.logic import parse
    >>> print(nodes_in_english(parse("A(atom=N) > 1")))
    nodes that have more than 1 neighbouring nitrogen atom
    """

    def nodes(formula: Formula, references: Mapping[Formula, str], words: Words) -> str:
        phrase = _phrases(formula, references, words)[formula]
        if phrase.things is None:
            return f"nodes that {phrase.verb[1]}"
        return phrase.things.noun[1] + (f" that {phrase.rest.verb[1]}" if phrase.rest else "")

    return _printed(formula, kinds, names, nodes)


def _printed(
    formula: Formula,
    kinds: Mapping[Formula, str] | None,
    names: Names | None,
    whole: Callable[[Formula, Mapping[Formula, str], Words], str],
) -> str:
    words = Words(names)
    if kinds is not None:
        named = {
            subformula: name for subformula, name in kinds.items() if subformula is not formula
        }
        return whole(formula, named, words)

    def write(node: Formula, references: Mapping[Formula, str]) -> str:
        if node is formula:
            return whole(node, references, words)
        number = len(references) + 1
        if is_about_graph(node):
            return f"{_HOLDS.format(number).capitalize()} if {_sentence(node, references, words)}."
        return f"Nodes {_KIND.format(number)} {_phrases(node, references, words)[node].verb[1]}."

    printed = print_named(formula, write, str)
    return "\n".join([*(text for _, text in printed.definitions), printed.body])


def _phrases(
    formula: Formula, references: Mapping[Formula, str], words: Words
) -> dict[Formula, _Phrase]:
    phrases: dict[Formula, _Phrase] = {}
    for node in subformulas(formula, stop=references):
        if node not in references:
            # What has a name is denied by its name, not by turning its bound around.
            is_denied = isinstance(node, Not) and node.child in references
            phrases[node] = (
                _negated(phrases[node.children[0]])
                if is_denied
                else _describe(node, phrases, words)
            )
        elif is_about_graph(node):
            in_such_graph = f"in a graph where {_HOLDS.format(references[node])}"
            phrases[node] = _Phrase(
                (f"is {in_such_graph}", f"are {in_such_graph}"),
                (f" {in_such_graph}", f" {in_such_graph}"),
            )
        else:
            phrases[node] = _same_adjective(_KIND.format(references[node]))
    return phrases


def _sentence(formula: Formula, references: Mapping[Formula, str], words: Words) -> str:
    phrases = _phrases(formula, references, words)
    if is_about_graph(formula):
        return _clause(formula, phrases, references, alone=True)
    return f"the node {phrases[formula].verb[0]}"


# About the whole graph ------------------------------------------------------------------------


def _clause(
    formula: Formula,
    phrases: Mapping[Formula, _Phrase],
    references: Mapping[Formula, str],
    *,
    alone: bool,
) -> str:
    # Boolean combinations of sentences are as deep as a person nests brackets, or named; one
    # clause per subformula keeps even deep ones free of recursion.
    clauses: dict[Formula, str] = {}
    stop = {node for node in phrases if isinstance(node, Modal) or node in references}
    for node in subformulas(formula, stop=stop):
        if node in references:
            clauses[node] = _HOLDS.format(references[node])
            continue
        bounds = as_bounds(node)
        if bounds is not None:
            clauses[node] = _graph_bounds(bounds, phrases, alone=alone and node is formula)
        elif isinstance(node, Not):
            clauses[node] = f"it is not the case that ({clauses[node.child]})"
        elif isinstance(node, And):
            grouped = group_bounds(node.children)
            clauses[node] = ", and ".join(
                _graph_bounds(member, phrases, alone=False)
                if isinstance(member, Bounds)
                else _in_brackets(member, clauses, references)
                for member in grouped
            )
        else:
            clauses[node] = ", or ".join(
                _in_brackets(member, clauses, references) for member in node.children
            )
    return clauses[formula]


def _in_brackets(
    member: Formula, clauses: Mapping[Formula, str], references: Mapping[Formula, str]
) -> str:
    is_plain = member in references or as_bounds(member) is not None or isinstance(member, Not)
    return clauses[member] if is_plain else f"({clauses[member]})"


def _graph_bounds(bounds: Bounds, phrases: Mapping[Formula, _Phrase], *, alone: bool) -> str:
    number, amount = amount_of(bounds)
    many = number is MANY
    phrase = phrases[bounds.counted]
    is_true = isinstance(bounds.counted, Constant) and bounds.counted.value
    said: _Phrase | None = phrase
    if not bounds.is_count:
        subject = f"{amount} of the nodes"
    elif phrase.things is not None:
        subject = f"{amount} {phrase.things.noun[many]}"
        said = phrase.rest
    else:
        subject = f"{amount} node{'s' if many else ''}"
        said = None if is_true else phrase
    if said is None:
        return f"there {number.be} {subject}"
    verb = said.verb[many]
    return f"{subject} {verb if alone or not said.is_compound else f'({verb})'}"


# About one node -------------------------------------------------------------------------------


def _from_adjective(adjective: tuple[str, str]) -> _Phrase:
    one, many = adjective
    return _Phrase(
        (f"is {one}", f"are {many}"), (f" that is {one}", f" that are {many}"), adjective
    )


def _same_adjective(adjective: str) -> _Phrase:
    return _from_adjective((adjective, adjective))


def _from_feature(feature: NamedFeature) -> _Phrase:
    return _Phrase(
        (f"has {feature}", f"have {feature}"),
        (f" with {feature}", f" with {feature}"),
        feature=feature,
    )


def _from_verb(verb: tuple[str, str], *, is_compound: bool) -> _Phrase:
    attached = (f" that ({verb[0]})", f" that ({verb[1]})")
    return _Phrase(verb, attached, is_compound=is_compound)


def _from_words(said: PredicateWords) -> _Phrase:
    if said.feature is not None:
        return _from_feature(said.feature)
    assert said.adjective is not None
    phrase = _from_adjective(said.adjective)
    things = None if said.noun is None else CountedNoun(said.noun, ("", ""))
    return phrase._replace(things=things)


def _describe(node: Formula, phrases: Mapping[Formula, _Phrase], words: Words) -> _Phrase:
    if isinstance(node, Constant):
        if node.value:
            return _Phrase(("exists", "exist"), ("", ""))
        return _same_adjective("impossible")
    if isinstance(node, Predicate):
        return _from_words(words.predicate(node.name))
    bounds = as_bounds(node)
    if bounds is not None:
        return _describe_bounds(bounds, phrases, words)
    if isinstance(node, Not):
        return _negated(phrases[node.child])
    return _describe_combination(node, phrases, words)


def _negated(phrase: _Phrase) -> _Phrase:
    if phrase.feature is not None:
        has, attached = f"have {phrase.feature}", f" without {phrase.feature}"
        return _Phrase((f"does not {has}", f"do not {has}"), (attached, attached))
    if phrase.neither is not None:
        return _from_verb(phrase.neither, is_compound=True)
    if phrase.adjective is not None and not _is_list(phrase) and not _is_negated(phrase):
        one, many = phrase.adjective
        return _from_adjective((f"not {one}", f"not {many}"))
    one, many = phrase.verb
    if not phrase.is_compound and many.startswith("have "):
        one, many = one.removeprefix("has "), many.removeprefix("have ")
        verb = (f"does not have {one}", f"do not have {many}")
        return _from_verb(verb, is_compound=False)
    verb = (f"is not one that ({one})", f"are not those that ({many})")
    return _from_verb(verb, is_compound=False)


def _is_negated(phrase: _Phrase) -> bool:
    return phrase.adjective is not None and phrase.adjective[0].startswith("not ")


def _describe_combination(
    node: Formula, phrases: Mapping[Formula, _Phrase], words: Words
) -> _Phrase:
    members = group_bounds(node.children) if isinstance(node, And) else node.children
    described = [
        _describe_bounds(member, phrases, words) if isinstance(member, Bounds) else phrases[member]
        for member in members
    ]
    if not isinstance(node, And):
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


def _combined(described: list[_Phrase], word: str) -> _Phrase:
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
    whole = _from_verb((one, many), is_compound=True)
    if word == "and":
        return whole
    one, many = (f"neither {', nor '.join(parts)}" for parts in verbs)
    return whole._replace(neither=(one, many))


def _is_list(phrase: _Phrase) -> bool:
    """Whether a phrase is a list of names, which would run into words around it."""
    return phrase.adjective is not None and (
        " and " in phrase.adjective[0] or " or " in phrase.adjective[0]
    )


def _describe_bounds(bounds: Bounds, phrases: Mapping[Formula, _Phrase], words: Words) -> _Phrase:
    phrase = phrases[bounds.counted]
    limit = bounds.upper if bounds.lower is None else bounds.lower
    if bounds.modality == _ITSELF and (not bounds.is_count or limit == 0):
        # The node itself is a set of one: some of it, or half of it, is all of it.
        if bounds.upper is None:
            return phrase
        if bounds.lower is None:
            return _negated(phrase)
    verbs, attached = [], []
    for number in NUMBERS:
        noun = noun_phrase(bounds, phrase.attached, phrase.things, number, words)
        if bounds.modality == _EVERYTHING:
            verbs.append(f"{number.be} in a graph with {noun}")
            attached.append(f" in a graph with {noun}")
        else:
            verbs.append(f"{number.have} {noun}")
            attached.append(f" with {noun}")
    return _Phrase((verbs[0], verbs[1]), (attached[0], attached[1]))
