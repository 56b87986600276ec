"""What predicates and relations are called in English: words that were given, or read off names.

A name such as ``colour=red`` or ``age > 3`` says what a node has, and is read so: "has colour red",
"has age above 3"; ``atom=N`` is a nitrogen atom. Other names follow "is", quoted where they would
read as words of our own.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.modality import quote_name
from gnn2logic.graphs.structure_names import predicate_words, relation_words
from gnn2logic.logic.printing.elements import ELEMENT_NAMES, element_symbol
from gnn2logic.logic.printing.molecule_names import everyday_bond
from gnn2logic.logic.printing.text import is_bare_name
from gnn2logic.logic.syntax import Formula

__all__ = ["NamedFeature", "Names", "PredicateWords", "TradeNames", "Words", "name_in_text"]

Names = Mapping[str, str | tuple[str, str]]
"""Words by the name of a predicate or relation: what follows "is", or one thing and several."""

# Words with a meaning of their own in our sentences; a predicate of that name is quoted.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        "a above all among an and any are at between both condition copies copy do does empty "
        "exactly exist exists graph group half has have holds if impossible in including is it its "
        "itself kind least more most neighbour neighbouring neighbours neither no node nodes none "
        "nor not of one ones or other quarter quarters set such than that the their themselves "
        "there third thirds those three two where with without",
    )
)
_BONDS = ("single", "double", "triple", "aromatic")
_THRESHOLD = re.compile(r"(\S+) > (-?\d[\d.]*(?:e[+-]?\d+)?)\Z")


class TradeNames(Mapping[str, str | tuple[str, str]]):
    """Words of a trade that has sentences of its own, such as "bonded to two oxygen atoms".

    As a mapping it has words for what is told in plain English.
    """

    @abstractmethod
    def sentence(self, formula: Formula, kinds: Mapping[Formula, str]) -> str | None:
        """Return a formula as a sentence; None if the trade has no words for it."""

    @abstractmethod
    def nodes(self, formula: Formula, kinds: Mapping[Formula, str]) -> str | None:
        """Return what the nodes are that satisfy a formula, or None."""


class NamedFeature(NamedTuple):
    """Something that nodes have, and the values of it that are meant."""

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {' or '.join(self.values)}"


class PredicateWords(NamedTuple):
    """How a predicate is said: what a node is, as an adjective or a noun, or what it has.

    Pairs are (one node, several nodes). The adjective of a noun has its article.
    """

    adjective: tuple[str, str] | None = None
    noun: tuple[str, str] | None = None
    feature: NamedFeature | None = None


class Words:
    """The words of one text, in which no two names are called the same.

    Parameters
    ----------
    names : mapping of str to str or (str, str), optional
    """

    def __init__(self, names: Names | None = None) -> None:
        if names is not None and not isinstance(names, Mapping):
            raise ParameterError(
                "names must be a mapping from names of predicates or relations to words, such as "
                f'{{"atom=C": ("carbon atom", "carbon atoms")}}. Got {names!r} instead.'
            )
        self._given = {name: _checked(name, words) for name, words in (names or {}).items()}
        self._taken: dict[tuple[str, str], str] = {}

    def predicate(self, name: str) -> PredicateWords:
        """Return how a predicate is said."""
        said = self._given.get(name, ())
        match said:
            case (one, many):
                words = PredicateWords((_with_article(one), many), noun=(one, many))
            case (adjective,):
                words = PredicateWords((adjective, adjective))
            case _:
                words = self._atoms(name) or _from_name(name)
        self._take("predicate", str(words.feature or words.adjective), name)
        return words

    def _atoms(self, name: str) -> PredicateWords | None:
        """Return the words for atoms of an element, unless another name has them already."""
        symbol = element_symbol(name)
        if symbol is None or name.startswith("label="):
            return None
        one = f"{ELEMENT_NAMES[symbol]} atom"
        words = PredicateWords((_with_article(one), f"{one}s"), noun=(one, f"{one}s"))
        said = ("predicate", str(words.adjective))
        return words if self._taken.get(said, name) == name else None

    def relation(self, name: str) -> str:
        """Return what edges of a relation are called, after "along"."""
        said = self._given.get(name, ())
        match said:
            case (one, _):
                words = _with_article(one)
            case (words,):
                pass
            case _:
                words = relation_words(name) or self._bond(name) or _edges_of(name)
        self._take("relation", words, name)
        return words

    def _bond(self, name: str) -> str | None:
        """Return the words for a bond of molecules, unless another name has them already."""
        order = everyday_bond(name)
        words = _with_article(f"{order} bond") if order in _BONDS else None
        return words if self._taken.get(("relation", str(words)), name) == name else None

    def _take(self, sort: str, words: str, name: str) -> None:
        other = self._taken.setdefault((sort, words), name)
        if other != name:
            raise ParameterError(
                f"names must give different words to different {sort}s. "
                f"Got the same words for {other!r} and {name!r}."
            )


def _checked(name: object, words: object) -> tuple[str, ...]:
    texts = (words,) if isinstance(words, str) else words
    if (
        not isinstance(name, str)
        or not isinstance(texts, Sequence)
        or len(texts) not in (1, 2)
        or not all(isinstance(text, str) and text.isprintable() for text in texts)
    ):
        raise ParameterError(
            "names must give each name words in one line: what follows 'is', such as 'aromatic', "
            "or one thing and several, such as ('carbon atom', 'carbon atoms'). "
            f"Got {name!r}: {words!r} instead."
        )
    for text in texts:
        if set(text.lower().split()) <= _RESERVED:
            raise ParameterError(
                f"names must give words that sentences do not use already. Got {text!r} for "
                f"{name!r}."
            )
    return tuple(texts)


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def _from_name(name: str) -> PredicateWords:
    known = predicate_words(name)
    if known is None:
        if (threshold := _THRESHOLD.match(name)) and _is_ours_to_use(threshold[1]):
            return PredicateWords(feature=NamedFeature(threshold[1], (f"above {threshold[2]}",)))
        column, equals, value = name.partition("=")
        if equals and is_bare_name(name) and _is_ours_to_use(column, value):
            return PredicateWords(feature=NamedFeature(column, (value,)))
    words = known or name_in_text(name)
    return PredicateWords((words, words))


def _edges_of(name: str) -> str:
    """Return the words for the edges of a relation, which a threshold may have given."""
    threshold = _THRESHOLD.match(name)
    if threshold is None or not _is_ours_to_use(threshold[1]):
        return f"{name_in_text(name)} edges"
    return f"edges with {threshold[1]} above {threshold[2]}"


def _is_ours_to_use(*texts: str) -> bool:
    """Whether texts can stand in a sentence without quotes."""
    is_name = all(is_bare_name(text) or text.isalnum() for text in texts)
    return is_name and not _RESERVED & {text.lower() for text in texts}


def name_in_text(name: str) -> str:
    """Return a name of a predicate or relation, quoted where it would read as a word of ours."""
    return name if is_bare_name(name) and name.lower() not in _RESERVED else quote_name(name)
