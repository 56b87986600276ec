"""Formulas in English.

The text is exact: different meanings have different texts. Inside a sentence, ``and`` and ``or``
between names need no comma; between whole phrases they follow a comma, and a combination inside
of another one stands in brackets. A phrase that begins with ``with``, ``that`` or ``in a graph``
says which nodes the nearest amount before it (``more than half``, ``at least one``) counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gnn2logic.graphs.modality import Modality
from gnn2logic.graphs.structure_names import predicate_words
from gnn2logic.logic.bounds import Bounds, as_bounds, group_bounds
from gnn2logic.logic.printing.english_nouns import (
    MANY,
    NUMBERS,
    amount_of,
    name_in_text,
    noun_phrase,
)
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
    """One formula in the forms a sentence may need; pairs are (one node, several nodes)."""

    verb: tuple[str, str]
    attached: tuple[str, str]
    adjective: str | None = None
    is_compound: bool = False


def to_english(formula: Formula, kinds: Mapping[Formula, str] | None = None) -> str:
    """Return the formula as an English sentence, without a full stop.

    Parameters
    ----------
    formula : Formula
    kinds : mapping of Formula to str, optional
        Subformulas that have a name, which is written in their place: "of kind (1)", or
        "condition (1) holds" if they are about the whole graph. None gives names to what a large
        formula shares, and puts their definitions in front.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(to_english(parse("1(A(A true > 6) > 1/2) > 1/2")))
    more than half of the nodes have more than half of their neighbours with more than 6 neighbours
    >>> print(to_english(parse("U0 & 3 <= A(atom=7) <= 11")))
    the node is U0, and has between 3 and 11 neighbours that are atom=7
    >>> print(to_english(parse("1(A true > 6) > 1/2"), {parse("A true > 6"): "1"}))
    more than half of the nodes are of kind (1)
    """
    return _printed(formula, kinds, _sentence)


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


def nodes_in_english(formula: Formula, kinds: Mapping[Formula, str] | None = None) -> str:
    """Return what the nodes are that satisfy the formula; `kinds` are as in `to_english`.

    >>> from gnn2logic.logic import parse
    >>> print(nodes_in_english(parse("A(atom=N) > 1")))
    nodes that have more than 1 neighbour that is atom=N
    """
    return _printed(formula, kinds, lambda *given: f"nodes that {_phrase(*given).verb[1]}")


def _printed(
    formula: Formula,
    kinds: Mapping[Formula, str] | None,
    whole: Callable[[Formula, Mapping[Formula, str]], str],
) -> str:
    if kinds is not None:
        named = {
            subformula: name for subformula, name in kinds.items() if subformula is not formula
        }
        return whole(formula, named)

    def write(node: Formula, references: Mapping[Formula, str]) -> str:
        if node is formula:
            return whole(node, references)
        number = len(references) + 1
        if is_about_graph(node):
            return f"{_HOLDS.format(number).capitalize()} if {_sentence(node, references)}."
        return f"Nodes {_KIND.format(number)} {_phrase(node, references).verb[1]}."

    printed = print_named(formula, write, str)
    return "\n".join([*(text for _, text in printed.definitions), printed.body])


def _phrases(formula: Formula, references: Mapping[Formula, str]) -> dict[Formula, _Phrase]:
    phrases: dict[Formula, _Phrase] = {}
    for node in subformulas(formula, stop=references):
        if node not in references:
            phrases[node] = _describe(node, phrases)
        elif is_about_graph(node):
            in_such_graph = f"in a graph where {_HOLDS.format(references[node])}"
            phrases[node] = _Phrase(
                (f"is {in_such_graph}", f"are {in_such_graph}"),
                (f" {in_such_graph}", f" {in_such_graph}"),
            )
        else:
            phrases[node] = _from_adjective(_KIND.format(references[node]))
    return phrases


def _phrase(formula: Formula, references: Mapping[Formula, str]) -> _Phrase:
    return _phrases(formula, references)[formula]


def _sentence(formula: Formula, references: Mapping[Formula, str]) -> str:
    phrases = _phrases(formula, references)
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
    if not bounds.is_count:
        subject = f"{amount} of the nodes"
    else:
        subject = f"{amount} node{'s' if many else ''}"
        if is_true:
            return f"there {number.be} {subject}"
    verb = phrase.verb[many]
    return f"{subject} {verb if alone or not phrase.is_compound else f'({verb})'}"


# About one node -------------------------------------------------------------------------------


def _from_adjective(adjective: str) -> _Phrase:
    verb = (f"is {adjective}", f"are {adjective}")
    return _Phrase(verb, (f" that {verb[0]}", f" that {verb[1]}"), adjective)


def _from_verb(verb: tuple[str, str], *, is_compound: bool) -> _Phrase:
    attached = (f" that ({verb[0]})", f" that ({verb[1]})")
    return _Phrase(verb, attached, is_compound=is_compound)


def _describe(node: Formula, phrases: Mapping[Formula, _Phrase]) -> _Phrase:
    if isinstance(node, Constant):
        if node.value:
            return _Phrase(("exists", "exist"), ("", ""))
        return _from_adjective("impossible")
    if isinstance(node, Predicate):
        return _from_adjective(predicate_words(node.name) or name_in_text(node.name))
    bounds = as_bounds(node)
    if bounds is not None:
        return _describe_bounds(bounds, phrases)
    if isinstance(node, Not):
        return _negated(phrases[node.child])
    return _describe_combination(node, phrases)


def _negated(phrase: _Phrase) -> _Phrase:
    if phrase.adjective is not None and not _is_list(phrase) and not _is_negated(phrase):
        return _from_adjective(f"not {phrase.adjective}")
    one, many = phrase.verb
    verb = (f"is not one that ({one})", f"are not those that ({many})")
    return _from_verb(verb, is_compound=False)


def _is_negated(phrase: _Phrase) -> bool:
    return phrase.adjective is not None and phrase.adjective.startswith("not ")


def _describe_combination(node: Formula, phrases: Mapping[Formula, _Phrase]) -> _Phrase:
    word = "and" if isinstance(node, And) else "or"
    members = group_bounds(node.children) if isinstance(node, And) else node.children
    described = [
        _describe_bounds(member, phrases) if isinstance(member, Bounds) else phrases[member]
        for member in members
    ]
    adjectives = [phrase.adjective for phrase in described if phrase.adjective is not None]
    if len(adjectives) == len(described) and not any(_is_list(phrase) for phrase in described):
        # "U1 and not U0": a "not" in front would seem to reach over all that follows.
        adjectives.sort(key=lambda adjective: adjective.startswith("not "))
        return _from_adjective(f" {word} ".join(adjectives))
    one, many = (
        f", {word} ".join(
            f"({phrase.verb[n]})" if phrase.is_compound or _is_list(phrase) else phrase.verb[n]
            for phrase in described
        )
        for n in (0, 1)
    )
    return _from_verb((one, many), is_compound=True)


def _is_list(phrase: _Phrase) -> bool:
    """Whether a phrase is a list of names, which would run into words around it."""
    return phrase.adjective is not None and (
        " and " in phrase.adjective or " or " in phrase.adjective
    )


def _describe_bounds(bounds: Bounds, phrases: Mapping[Formula, _Phrase]) -> _Phrase:
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
        noun = noun_phrase(bounds, phrase.attached, number)
        if bounds.modality == _EVERYTHING:
            verbs.append(f"{number.be} in a graph with {noun}")
            attached.append(f" in a graph with {noun}")
        else:
            verbs.append(f"{number.have} {noun}")
            attached.append(f" with {noun}")
    return _Phrase((verbs[0], verbs[1]), (attached[0], attached[1]))
