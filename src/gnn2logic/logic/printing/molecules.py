"""Formulas about molecules as chemists say them: atoms, what they are bonded to, and groups.

The text is exact, as that of `english` is: an atom of which two or more are said stands in
brackets, so that what follows belongs to the nearest atom before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from gnn2logic.exceptions import TranslationError
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.graphs.structure_names import predicate_words
from gnn2logic.logic.bounds import Bounds, as_bounds, group_alternatives, group_bounds
from gnn2logic.logic.printing.english import is_about_graph
from gnn2logic.logic.printing.english_words import TradeNames, Words
from gnn2logic.logic.printing.molecule_names import (
    ELEMENTS,
    HYDROGENS,
    everyday_bond,
    everyday_name,
    is_of_molecules,
)
from gnn2logic.logic.printing.molecule_nouns import (
    ADJECTIVES,
    ATOM,
    Noun,
    counted,
    element_of,
    number_in_words,
    share_of,
    with_article,
)
from gnn2logic.logic.syntax import And, Constant, Formula, Not, Or, Predicate
from gnn2logic.logic.walk import subformulas

__all__ = ["GroupNames", "MoleculeNames", "molecule_names"]

GroupNames: TypeAlias = Mapping[Formula, tuple[str, str]]
"""Parts of formulas that are a known group of atoms: what one and several of them are called."""

# Sentences of larger formulas are no help, and what they share would be written out each time.
_LARGEST = 400

_BOUND = {
    None: ("bonded to", "neighbours"),
    "single": ("single-bonded to", "single-bonded neighbours"),
    "double": ("double-bonded to", "double-bonded neighbours"),
    "triple": ("triple-bonded to", "triple-bonded neighbours"),
    "aromatic": ("aromatically bonded to", "aromatically bonded neighbours"),
    "ring": ("bonded within a ring to", "neighbours within a ring"),
    "bridge": ("bonded outside of rings to", "neighbours outside of rings"),
}
# What sentences in plain English say, where there are no words below.
_PLAIN: Mapping[str, str | tuple[str, str]] = MappingProxyType(
    {
        **{name: (f"{name} atom", f"{name} atoms") for name in ELEMENTS},
        "metal": ("metal atom", "metal atoms"),
        "sp": "sp hybridised",
        "sp2": "sp2 hybridised",
        "sp3": "sp3 hybridised",
        # Not "positively charged": atoms of charge +2 are that as well.
        "charge=+1": "of charge +1",
        "charge=-1": "of charge -1",
        "uncharged": "uncharged",
        "chiral=R": "R-configured",
        "chiral=S": "S-configured",
        **{f"hydrogens={count}": f"bonded to {count or 'no'} hydrogens" for count in HYDROGENS},
        "hydrogens=1": "bonded to 1 hydrogen",
        **{name: (f"{name} bond", f"{name} bonds") for name in ("single", "double", "triple")},
    }
)


class MoleculeNames(TradeNames):
    """Words for predicates and bonds of molecules, and sentences about atoms.

    Parameters
    ----------
    names : iterable of str
        The predicates of the molecules.
    groups : callable, optional
        Gives for a formula its parts that are a known group of atoms.
    """

    def __init__(
        self, names: Iterable[str] = (), groups: Callable[[Formula], GroupNames] | None = None
    ) -> None:
        everyday = {name: everyday_name(name) for name in names}
        self._plain: dict[str, str | tuple[str, str]] = {
            **_PLAIN,
            **{name: _PLAIN[said] for name, said in everyday.items() if said in _PLAIN},
        }
        self._groups = groups

    def __getitem__(self, name: str) -> str | tuple[str, str]:
        return self._plain[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)

    def sentence(self, formula: Formula, kinds: Mapping[Formula, str]) -> str | None:
        """Return a formula as a sentence, or what an atom is; None if that would be too long."""
        sentences = self._sentences(formula, kinds)
        return None if sentences is None else sentences.sentence(formula)

    def nodes(self, formula: Formula, kinds: Mapping[Formula, str]) -> str | None:
        """Return what the atoms are that satisfy a formula, or None."""
        sentences = self._sentences(formula, kinds)
        return None if sentences is None else sentences.atoms(formula)

    def _sentences(self, formula: Formula, kinds: Mapping[Formula, str]) -> _Sentences | None:
        if isinstance(formula, Constant) or _size(formula, kinds) > _LARGEST:
            return None
        groups = {} if self._groups is None else self._groups(formula)
        try:
            return _Sentences(formula, kinds, groups)
        except TranslationError:
            return None


def molecule_names(names: Iterable[str]) -> MoleculeNames | None:
    """Return words for molecules if predicates of these names are about them, else None.

    >>> words = molecule_names(["symbol=C", "symbol=O"])
    >>> from gnn2logic.logic import parse
    >>> parse("1(symbol=C & A(symbol=O) > 1) > 0").to_english(words)
    'at least one carbon atom bonded to at least two oxygen atoms'
    """
    known = tuple(names)
    return MoleculeNames(known) if is_of_molecules(known) else None


def _size(formula: Formula, kinds: Mapping[Formula, str]) -> int:
    """Return how many parts are written, of what has no name."""
    sizes: dict[Formula, int] = {}
    stop = kinds.keys() - {formula}
    for node in subformulas(formula, stop=stop):
        children = () if node in stop else node.children
        sizes[node] = 1 + sum(sizes[child] for child in children)
    return sizes[formula]


class _Sentences:
    """What is said of a formula and its parts, each part once and before what it is part of."""

    def __init__(self, formula: Formula, kinds: Mapping[Formula, str], groups: GroupNames) -> None:
        self._kinds = {part: kind for part, kind in kinds.items() if part is not formula}
        self._groups = groups
        self._words = Words()
        self._nouns: dict[Formula, Noun] = {}
        self._clauses: dict[Formula, str] = {}
        for node in subformulas(formula, stop=self._kinds):
            if is_about_graph(node):
                self._clauses[node] = self._clause(node)
            self._nouns[node] = self._noun(node)

    def sentence(self, formula: Formula) -> str:
        if is_about_graph(formula):
            return self._clauses[formula]
        return self._nouns[formula].with_article

    def atoms(self, formula: Formula) -> str:
        return self._nouns[formula].bare(plural=True)

    # About the molecule ------------------------------------------------------------------------

    def _clause(self, node: Formula) -> str:
        if node in self._kinds:
            return f"condition ({self._kinds[node]}) holds"
        if isinstance(node, Not) and node.child in self._kinds:
            return f"condition ({self._kinds[node.child]}) does not hold"
        bounds = as_bounds(node)
        if bounds is not None:
            return self._amount(bounds)
        if isinstance(node, Not):
            return f"it is not the case that ({self._clauses[node.child]})"
        members = (group_bounds if isinstance(node, And) else group_alternatives)(node.children)
        word = "and" if isinstance(node, And) else "or"
        said = [
            self._amount(member) if isinstance(member, Bounds) else self._member(member)
            for member in members
        ]
        return f", {word} ".join(said)

    def _member(self, member: Formula) -> str:
        clause = self._clauses[member]
        is_joined = isinstance(member, And | Or) and member not in self._kinds
        is_joined = is_joined and as_bounds(member) is None
        if is_joined and isinstance(member, Or):
            is_joined = len(group_alternatives(member.children)) > 1
        return f"({clause})" if is_joined else clause

    def _amount(self, bounds: Bounds) -> str:
        noun = self._nouns[bounds.counted]
        if bounds.is_count:
            return counted(bounds, noun)
        return f"{share_of(bounds)} of the atoms {noun.verb}"

    # About one atom ----------------------------------------------------------------------------

    def _noun(self, node: Formula) -> Noun:
        """Return what the atoms are that satisfy a formula."""
        if node in self._kinds:
            kind = self._kinds[node]
            if is_about_graph(node):
                return ATOM._replace(more=(f"in a molecule where condition ({kind}) holds",))
            return ATOM._replace(more=(f"in group ({kind})",))
        if node in self._groups:
            return Noun(*self._groups[node])
        if isinstance(node, Constant):
            return ATOM if node.value else Noun("impossible atom", "impossible atoms")
        if isinstance(node, Or):
            return self._either(node)
        bounds = self._bounds(node)
        if bounds is not None:
            return ATOM._replace(more=(self._near(bounds),))
        return self._all_of(node.children if isinstance(node, And) else (node,))

    def _all_of(self, conjuncts: tuple[Formula, ...]) -> Noun:
        elements: list[str] = []
        adjectives: list[str] = []
        more: list[str] = []
        group: tuple[str, str] | None = None
        for conjunct in group_bounds(conjuncts):
            if isinstance(conjunct, Bounds):
                more.append(self._near(conjunct))
            elif conjunct in self._groups and group is None:
                group = self._groups[conjunct]
            elif conjunct in self._kinds or conjunct in self._groups or isinstance(conjunct, Or):
                more.append(self._being(conjunct))
            elif (bounds := self._bounds(conjunct)) is not None:
                more.append(self._near(bounds))
            elif isinstance(conjunct, Predicate):
                self._property(conjunct.name, elements, adjectives, more)
            elif isinstance(conjunct, Not) and isinstance(conjunct.child, Predicate):
                self._denied(conjunct.child.name, adjectives, more)
            elif isinstance(conjunct, Not):
                more.append(f"not {self._being(conjunct.child)}")
            else:
                raise TranslationError("There are no words for this.")
        first = group is None and elements
        more += [f"being {with_article(f'{name} atom')}" for name in elements[bool(first) :]]
        if group is not None:
            more[:0] = [f"being {with_article(f'{name} atom')}" for name in adjectives]
            return Noun(*group, tuple(more))
        name = " ".join([*adjectives, *elements[:1], "atom"])
        # What is said of neighbours comes last, or what follows would seem to be said of them.
        more.sort(key=lambda said: said.startswith("where "))
        return Noun(name, f"{name}s", tuple(more))

    def _bounds(self, node: Formula) -> Bounds | None:
        """Return the comparison that is said; what has a name is denied by its name."""
        is_denied = isinstance(node, Not) and node.child in self._kinds
        return None if is_denied else as_bounds(node)

    def _either(self, node: Or) -> Noun:
        plain = [child for child in node.children if isinstance(child, Predicate)]
        names = [element_of(child.name) for child in plain if child not in self._kinds]
        if len(names) == len(node.children) and all(names):
            name = " or ".join(map(str, names))
            return Noun(f"{name} atom", f"{name} atoms")
        nouns = [
            ATOM._replace(more=(self._near(member),))
            if isinstance(member, Bounds)
            else self._nouns[member]
            for member in group_alternatives(node.children)
        ]
        if len(nouns) == 1:
            return nouns[0]
        # What is said of one of them ends at the comma.
        word = ", or " if any(noun.more for noun in nouns) else " or "
        one, many = (
            word.join(
                noun.text(plural=plural) if noun.is_list else noun.bare(plural=plural)
                for noun in nouns
            )
            for plural in (False, True)
        )
        return Noun(one, many, is_list=True)

    def _being(self, node: Formula) -> str:
        noun = self._nouns[node]
        return noun.more[0] if node in self._kinds else f"being {noun.with_article}"

    def _property(
        self, name: str, elements: list[str], adjectives: list[str], more: list[str]
    ) -> None:
        """Take note of a predicate, in the place where its word stands."""
        known = everyday_name(name)
        element = element_of(name)
        if element is not None:
            elements.append(element)
        elif known in ADJECTIVES:
            adjectives.append(ADJECTIVES[known])
        else:
            more.append(self._phrase(name))

    def _denied(self, name: str, adjectives: list[str], more: list[str]) -> None:
        known = everyday_name(name)
        element = element_of(name)
        if element is not None:
            more.append(f"other than {element}")
        elif known == "hydrogens=0":
            more.append("with at least one hydrogen")
        elif known in ("aromatic", "sp", "sp2", "sp3"):
            adjectives.append(f"non-{known}")
        elif known in ADJECTIVES:
            more.append(f"not {ADJECTIVES[known]}")
        else:
            more.append(f"not {self._phrase(name)}")

    def _phrase(self, name: str) -> str:
        """Return a property as what follows "atom", or "atom not"."""
        known = everyday_name(name)
        column, _, value = known.partition("=")
        if column == "hydrogens" and value.isdigit():
            if value == "0":
                return "without hydrogens"
            return f"with {number_in_words(int(value))} hydrogen{'s' * (value != '1')}"
        if column == "total_degree" and value.isdigit():
            count = number_in_words(int(value))
            return f"with {count} neighbour{'s' * (value != '1')} counting hydrogens"
        if column == "charge":
            return f"with charge {value}"
        if known == "is_in_ring":
            return "in a ring"
        if (said := predicate_words(known)) is not None:
            return said
        words = self._words.predicate(name)
        return f"being {words.adjective[0]}" if words.adjective else f"with {words.feature}"

    def _near(self, bounds: Bounds) -> str:
        """Return what is said of the atoms that an atom sees."""
        noun, modality = self._nouns[bounds.counted], bounds.modality
        bound, near = self._bonds(modality.edges)
        match modality.set_name:
            case "A" if bounds.is_count:
                return f"{bound} {counted(bounds, noun, some=True)}"
            case "A":
                return f"where {share_of(bounds)} of the {near} {noun.verb}"
            case "1" if bounds.is_count:
                return f"in a molecule with {counted(bounds, noun)}"
            case "1":
                return f"in a molecule where {share_of(bounds)} of the atoms {noun.verb}"
            case "I+A" if bounds == Bounds(modality, bounds.counted, lower=0):
                return f"being or {bound} {noun.with_article}"
            case "I+A" if bounds == Bounds(modality, bounds.counted, upper=0):
                return f"neither being nor {bound} {noun.with_article}"
            case "I+A":
                seen = f"the atom and its {near}"
            case "1-I":
                seen = "the other atoms"
            case "1-A":
                seen = f"the atom and all that are not its {near}"
            case "1-I-A":
                seen = f"the other atoms that are not its {near}"
            case _:
                raise TranslationError("There are no words for this.")
        if bounds.is_count:
            return f"where {seen} include {counted(bounds, noun)}"
        return f"where {share_of(bounds)} of {seen} {noun.verb}"

    def _bonds(self, edges: Edges) -> tuple[str, str]:
        """Return what an atom is to its neighbours, and what these are called."""
        if edges.direction is not Direction.OUT:
            raise TranslationError("There are no words for this.")
        relation = None if edges.relation is None else everyday_bond(edges.relation)
        if relation in _BOUND:
            return _BOUND[relation]
        along = self._words.relation(str(edges.relation))
        return f"bonded along {along} to", f"neighbours along {along}"
