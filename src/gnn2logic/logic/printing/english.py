"""Formulas in English.

The text is exact: different meanings have different texts. Inside a sentence, ``and`` and ``or``
between names need no comma; between whole phrases they follow a comma, and a combination inside
of another one stands in brackets. A phrase that begins with ``with``, ``where``, ``that`` or
``in a graph`` says which nodes the nearest amount before it (``more than half``, ``at least one``)
counts. Nouns that are given for predicates take the place of "nodes": "more than 2 carbon atoms
are aromatic".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from gnn2logic.logic.bounds import Bounds, as_bounds, group_alternatives, group_bounds
from gnn2logic.logic.printing.english_nouns import MANY, amount_of
from gnn2logic.logic.printing.english_phrases import (
    EVERYTHING,
    Phrase,
    describe,
    negated,
    same_adjective,
)
from gnn2logic.logic.printing.english_words import Names, TradeNames, Words
from gnn2logic.logic.printing.naming import print_named
from gnn2logic.logic.syntax import And, Constant, Formula, Modal, Not, Or
from gnn2logic.logic.walk import subformulas

__all__ = ["is_about_graph", "nodes_in_english", "to_english"]

# What stands for a part that has a name: a group of nodes, or what a graph is like.
_GROUP = "in group ({})"
_HOLDS = "condition ({}) holds"
_HOLDS_NOT = "condition ({}) does not hold"

# Asked for every part that has a name, so that each part is looked at once.
_ABOUT_GRAPH: WeakKeyDictionary[Formula, bool] = WeakKeyDictionary()


def to_english(
    formula: Formula,
    groups: Mapping[Formula, str] | None = None,
    names: Names | None = None,
) -> str:
    """Return the formula as an English sentence, without a full stop.

    Parameters
    ----------
    formula : Formula
    groups : mapping of Formula to str, optional
        Subformulas that have a name, which is written in their place: "in group (1)", or
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
    more than half of the nodes are in group (1)
    """
    if isinstance(names, TradeNames):
        said = names.sentence(formula, {} if groups is None else groups)
        if said is not None:
            return said
    return _printed(formula, groups, names, _sentence)


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
                else isinstance(node, Modal) and node.modality == EVERYTHING
            )
    return _ABOUT_GRAPH[formula]


def nodes_in_english(
    formula: Formula,
    groups: Mapping[Formula, str] | None = None,
    names: Names | None = None,
) -> str:
    """Return what the nodes are that satisfy the formula; the rest is as in `to_english`.

    >>> from gnn2logic.logic import parse
    >>> print(nodes_in_english(parse("A(atom=N) > 1")))
    nodes that have more than 1 neighbouring nitrogen atom
    """
    if isinstance(names, TradeNames):
        said = names.nodes(formula, {} if groups is None else groups)
        if said is not None:
            return said

    def nodes(formula: Formula, references: Mapping[Formula, str], words: Words) -> str:
        phrase = _phrases(formula, references, words)[formula]
        noun, rest = ("nodes", phrase) if phrase.things is None else _things(phrase, many=True)
        if rest is None:
            return noun
        return f"{noun}{rest.attached[1]}" if rest.is_where else f"{noun} that {rest.verb[1]}"

    return _printed(formula, groups, names, nodes)


def _printed(
    formula: Formula,
    groups: Mapping[Formula, str] | None,
    names: Names | None,
    whole: Callable[[Formula, Mapping[Formula, str], Words], str],
) -> str:
    words = Words(names)
    if groups is not None:
        named = {
            subformula: name for subformula, name in groups.items() if subformula is not formula
        }
        return whole(formula, named, words)

    def write(node: Formula, references: Mapping[Formula, str]) -> str:
        if node is formula:
            return whole(node, references, words)
        number = len(references) + 1
        if is_about_graph(node):
            return f"{_HOLDS.format(number).capitalize()} if {_sentence(node, references, words)}."
        return f"Nodes {_GROUP.format(number)} {_phrases(node, references, words)[node].verb[1]}."

    printed = print_named(formula, write, str)
    return "\n".join([*(text for _, text in printed.definitions), printed.body])


def _things(phrase: Phrase, *, many: bool) -> tuple[str, Phrase | None]:
    """Return the noun for the nodes of a phrase that has one, and what else is said of them."""
    assert phrase.things is not None
    return phrase.things.noun[many], phrase.rest


def _phrases(
    formula: Formula, references: Mapping[Formula, str], words: Words
) -> dict[Formula, Phrase]:
    phrases: dict[Formula, Phrase] = {}
    for node in subformulas(formula, stop=references):
        if node not in references:
            # What has a name is denied by its name, not by turning its bound around.
            is_denied = isinstance(node, Not) and node.child in references
            phrases[node] = (
                negated(phrases[node.children[0]]) if is_denied else describe(node, phrases, words)
            )
        elif is_about_graph(node):
            in_such_graph = f"in a graph where {_HOLDS.format(references[node])}"
            phrases[node] = Phrase(
                (f"is {in_such_graph}", f"are {in_such_graph}"),
                (f" {in_such_graph}", f" {in_such_graph}"),
            )
        else:
            group = _GROUP.format(references[node])
            phrases[node] = same_adjective(group)._replace(attached=(f" {group}", f" {group}"))
    return phrases


def _sentence(formula: Formula, references: Mapping[Formula, str], words: Words) -> str:
    if isinstance(formula, Constant):
        return "always" if formula.value else "never"
    phrases = _phrases(formula, references, words)
    if is_about_graph(formula):
        return _clause(formula, phrases, references, alone=True)
    return f"the node {phrases[formula].verb[0]}"


# About the whole graph ------------------------------------------------------------------------


def _clause(
    formula: Formula,
    phrases: Mapping[Formula, Phrase],
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
            clauses[node] = (
                _HOLDS_NOT.format(references[node.child])
                if node.child in references
                else f"it is not the case that ({clauses[node.child]})"
            )
        else:
            is_both = isinstance(node, And)
            members = (group_bounds if is_both else group_alternatives)(node.children)
            is_alone = alone and node is formula and len(members) == 1
            clauses[node] = f", {'and' if is_both else 'or'} ".join(
                _graph_bounds(member, phrases, alone=is_alone)
                if isinstance(member, Bounds)
                else _in_brackets(member, clauses, references)
                for member in members
            )
    return clauses[formula]


def _in_brackets(
    member: Formula, clauses: Mapping[Formula, str], references: Mapping[Formula, str]
) -> str:
    is_plain = member in references or as_bounds(member) is not None or isinstance(member, Not)
    is_plain = is_plain or (
        isinstance(member, Or) and len(group_alternatives(member.children)) == 1
    )
    return clauses[member] if is_plain else f"({clauses[member]})"


def _graph_bounds(bounds: Bounds, phrases: Mapping[Formula, Phrase], *, alone: bool) -> str:
    number, amount = amount_of(bounds)
    many = number is MANY
    phrase = phrases[bounds.counted]
    is_true = isinstance(bounds.counted, Constant) and bounds.counted.value
    said: Phrase | None = phrase
    if not bounds.is_count:
        subject = f"{amount} of the nodes"
    elif phrase.things is not None:
        noun, said = _things(phrase, many=many)
        subject = f"{amount} {noun}"
    else:
        subject = f"{amount} node{'s' if many else ''}"
        said = None if is_true else phrase
    if said is None:
        return f"there {number.be} {subject}"
    if said.is_where and bounds.is_count:
        return f"there {number.be} {subject}{said.attached[many]}"
    verb = said.verb[many]
    return f"{subject} {verb if alone or not said.is_compound else f'({verb})'}"
