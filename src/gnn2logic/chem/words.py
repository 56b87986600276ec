"""Rules in the words of chemists, and small groups of atoms that have a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gnn2logic.chem.vocabulary import (
    BONDS,
    ELEMENTS,
    HYDROGENS,
    atom_symbols,
    element_of,
    everyday_name,
    with_everyday_names,
)
from gnn2logic.exceptions import TranslationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.inputs import check_batch
from gnn2logic.graphs.structure_names import predicate_words
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.printing.english import is_about_graph, to_english
from gnn2logic.logic.printing.english_nouns import share_in_words
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.syntax import And, Constant, Formula, Modal, Not, Or, Predicate, predicate
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas, substitute

__all__ = ["GROUPS", "in_words", "molecule_vocabulary", "named_groups", "short_words_of_chemists"]

# Nitrogen beside a carbonyl group or another double bond is no amine.
_PLAIN_CARBON = "(carbon & !(A[double] true > 0) & !(A[triple] true > 0))"
# The atom that stands for a group, one and several of them, and what is true of it.
_GROUPS = {
    ("nitrogen of a nitro group", "nitrogens of nitro groups"): (
        "nitrogen & charge=+1 & A oxygen > 1 & A(oxygen & charge=-1) > 0"
    ),
    ("oxygen of a nitro group", "oxygens of nitro groups"): (
        "oxygen & A(nitrogen & charge=+1 & A oxygen > 1 & A(oxygen & charge=-1) > 0) > 0"
    ),
    ("nitrogen of a primary amine", "nitrogens of primary amines"): (
        f"nitrogen & hydrogens=2 & A{_PLAIN_CARBON} > 0"
    ),
    ("nitrogen of a secondary amine", "nitrogens of secondary amines"): (
        f"nitrogen & hydrogens=1 & A[single]{_PLAIN_CARBON} > 1"
    ),
    ("nitrogen of a tertiary amine", "nitrogens of tertiary amines"): (
        f"nitrogen & hydrogens=0 & A[single]{_PLAIN_CARBON} = 3 & A true = 3"
    ),
    ("carbon of a carboxyl group", "carbons of carboxyl groups"): (
        "carbon & A[double] oxygen > 0 & A[single](oxygen & hydrogens=1) > 0"
    ),
    ("carbon of a carbonyl group", "carbons of carbonyl groups"): "carbon & A[double] oxygen > 0",
    ("oxygen of a carbonyl group", "oxygens of carbonyl groups"): "oxygen & A[double] carbon > 0",
    ("carbon of an amide", "carbons of amides"): (
        "carbon & A[double] oxygen > 0 & A[single] nitrogen > 0"
    ),
    ("carbon of an ester", "carbons of esters"): (
        "carbon & A[double] oxygen > 0 & A[single](oxygen & A carbon > 1) > 0"
    ),
    ("oxygen of a hydroxyl group", "oxygens of hydroxyl groups"): "oxygen & hydrogens=1",
    ("oxygen of an ether", "oxygens of ethers"): "oxygen & !aromatic & A[single] carbon > 1",
    ("carbon of a nitrile", "carbons of nitriles"): "carbon & A[triple] nitrogen > 0",
    ("sulfur of a sulfonyl group", "sulfurs of sulfonyl groups"): "sulfur & A[double] oxygen > 1",
    ("sulfur of a sulfonamide", "sulfurs of sulfonamides"): (
        "sulfur & A[double] oxygen > 1 & A[single] nitrogen > 0"
    ),
    ("carbon of a methyl group", "carbons of methyl groups"): "carbon & hydrogens=3",
    ("carbon of a trifluoromethyl group", "carbons of trifluoromethyl groups"): (
        "carbon & A[single] fluorine > 2"
    ),
    ("sulfur of a thiol", "sulfurs of thiols"): "sulfur & hydrogens=1 & A carbon > 0",
    ("phosphorus of a phosphate", "phosphorus atoms of phosphates"): (
        "phosphorus & A[double] oxygen > 0 & A[single] oxygen > 2"
    ),
    ("halogen", "halogens"): "fluorine | chlorine | bromine | iodine",
}
GROUPS: Mapping[tuple[str, str], Formula] = {name: parse(text) for name, text in _GROUPS.items()}
"""Groups by the atom that stands for them: its name, one and several, and what is true of it."""


def named_groups(formula: Formula, graphs: GraphBatch) -> dict[Formula, tuple[str, str]]:
    """Return the parts of a formula that are a known group in all molecules at hand.

    A part gets a name if it is true at exactly the same atoms as the group, and at one atom at
    least. That is no proof: other molecules may tell them apart.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.chem.from_smiles(["CC(=O)O", "CC(=O)C", "CCO"]).graphs
    >>> rule = gl.parse("1(sp2 & A(oxygen & hydrogens=1) > 0) > 0")
    >>> [one for one, _ in named_groups(rule, graphs).values()]
    ['oxygen of a hydroxyl group', 'carbon of a carboxyl group']
    """
    graphs = check_batch(graphs)
    everyday = with_everyday_names(graphs)
    groups = {
        group: name
        for name, group in GROUPS.items()
        if set(predicate_names(group)) <= set(everyday.names)
        and set(relation_names(group)) <= set(graphs.relation_names)
    }
    candidates = [
        candidate
        for candidate in subformulas(formula)
        if not is_about_graph(candidate) and not isinstance(candidate, Constant | Predicate | Not)
    ]
    truth, group_truth = evaluate_each(candidates, graphs), evaluate_each([*groups], everyday)
    named: dict[Formula, tuple[str, str]] = {}
    for candidate in candidates:
        for group, name in groups.items():
            members = group_truth[group]
            if members.any() and np.array_equal(truth[candidate], members):
                named.setdefault(candidate, name)
    return named


class _Noun(NamedTuple):
    """What atoms are called, one and several, and what more is said about one and several."""

    one: str
    many: str
    more: tuple[str, ...] = ()

    def text(self, *, plural: bool) -> str:
        whole = " ".join([self.many if plural else self.one, " and ".join(self.more)]).strip()
        return f"({whole})" if len(self.more) > 1 else whole


_BOUND = {
    None: "bonded to",
    "single": "single-bonded to",
    "double": "double-bonded to",
    "triple": "triple-bonded to",
    "aromatic": "aromatically bonded to",
    "ring": "bonded within a ring to",
    "bridge": "bonded outside of rings to",
}
_ADJECTIVES = {
    "aromatic": "aromatic",
    "sp": "sp",
    "sp2": "sp2",
    "sp3": "sp3",
    "charge=+1": "positively charged",
    "charge=-1": "negatively charged",
    "uncharged": "uncharged",
    "chiral=R": "R-configured",
    "chiral=S": "S-configured",
}
# What whole sentences say, where the short words above do not do.
_VOCABULARY: Names = {
    **{name: (f"{name} atom", f"{name} atoms") for name in ELEMENTS},
    "metal": ("metal atom", "metal atoms"),
    "sp": "sp hybridised",
    "sp2": "sp2 hybridised",
    "sp3": "sp3 hybridised",
    "charge=+1": "positively charged",
    "charge=-1": "negatively charged",
    "uncharged": "uncharged",
    "chiral=R": "R-configured",
    "chiral=S": "S-configured",
    **{f"hydrogens={count}": f"bonded to {count or 'no'} hydrogens" for count in HYDROGENS},
    "hydrogens=1": "bonded to 1 hydrogen",
    **{name: (f"{name} bond", f"{name} bonds") for name in BONDS if name != "aromatic"},
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(formula: Formula, graphs: GraphBatch | None = None) -> str:
    """Return a rule about molecules as a chemist would say it.

    Parameters
    ----------
    formula : Formula
        Over the predicates of `from_smiles`. What has no such words is told in whole sentences,
        as ``formula.to_english`` does.
    graphs : GraphBatch or Molecules, optional
        Molecules at hand: parts of the rule that are the same as a known group on all of them get
        its name; see `named_groups`.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> in_words(gl.parse("1(carbon & A[double] oxygen > 0) > 1"))
    'at least two carbon atoms double-bonded to an oxygen atom'
    >>> in_words(gl.parse("1(aromatic & nitrogen & hydrogens=1) > 0 & !(1(ring=6) > 0)"))
    'no atom in a ring of 6, and at least one aromatic nitrogen atom with one hydrogen'
    """
    said = short_words_of_chemists(formula, graphs)
    return to_english(_everyday(formula), names=_VOCABULARY) if said is None else said


def short_words_of_chemists(formula: Formula, graphs: GraphBatch | None = None) -> str | None:
    """Return what `in_words` says of bonded atoms; None for formulas that have no such words."""
    groups = {} if graphs is None else named_groups(formula, graphs)
    named = {_everyday(group): name for group, name in groups.items()}
    try:
        return _Words(named).sentence(_everyday(formula))
    except TranslationError:
        return None


def _everyday(formula: Formula) -> Formula:
    """Return a formula about PyG's, OGB's or TU's predicates with the names of `from_smiles`."""
    names = predicate_names(formula)
    return substitute(formula, {predicate(name): predicate(everyday_name(name)) for name in names})


def molecule_vocabulary(graphs: GraphBatch) -> Names | None:
    """Return words for atoms and bonds of `from_smiles` and `named_pyg`, for ``to_english``.

    None for graphs that are something else.

    >>> import gnn2logic as gl
    >>> words = molecule_vocabulary(gl.chem.from_smiles(["CCO"]).graphs)
    >>> gl.parse("1 oxygen > 3").to_english(words)
    'there are more than 3 oxygen atoms'
    """
    everyday = {name: everyday_name(name) for name in graphs.names}
    is_ours = "carbon" in everyday.values() and atom_symbols(graphs) is not None
    if not is_ours:
        return None
    more = {name: _VOCABULARY[said] for name, said in everyday.items() if said in _VOCABULARY}
    return {**_VOCABULARY, **more}


class _Words:
    def __init__(self, names: Mapping[Formula, tuple[str, str]]) -> None:
        self._names = names

    def sentence(self, formula: Formula) -> str:
        if not is_about_graph(formula):
            return _with_article(self._noun(formula).text(plural=False))
        return self._clause(formula, inside=False)

    def _clause(self, node: Formula, *, inside: bool) -> str:
        if isinstance(node, Modal):
            return self._amount(node, negated=False)
        if isinstance(node, Not) and isinstance(node.child, Modal):
            return self._amount(node.child, negated=True)
        if not isinstance(node, And | Or):
            raise TranslationError("There are no words for this.")
        word = "and" if isinstance(node, And) else "or"
        joined = f", {word} ".join(self._clause(child, inside=True) for child in node.children)
        return f"({joined})" if inside else joined

    def _amount(self, node: Modal, *, negated: bool) -> str:
        noun = self._noun(node.child)
        if isinstance(node.threshold, Fraction):
            bound = "at most" if negated else "more than"
            are = noun.text(plural=True)
            if re.match(r"atoms (in|\S*bonded) ", are):
                are = are.removeprefix("atoms ")
            return f"{bound} {share_in_words(node.threshold)} of the atoms are {are}"
        return _counted(node.threshold, noun, negated=negated)

    def _noun(self, node: Formula) -> _Noun:
        """Return what the atoms are that satisfy a formula."""
        if node in self._names:
            return _Noun(*self._names[node])
        if isinstance(node, Or):
            return self._either(node.children)
        elements: list[str] = []
        adjectives: list[str] = []
        more: list[str] = []
        group: tuple[str, str] | None = None
        for conjunct in node.children if isinstance(node, And) else (node,):
            if conjunct in self._names and group is None:
                group = self._names[conjunct]
            elif isinstance(conjunct, Predicate) and element_of(conjunct.name):
                elements.append(_element_name(conjunct.name))
            elif isinstance(conjunct, Constant) and conjunct.value:
                continue
            elif isinstance(conjunct, Modal) or (
                isinstance(conjunct, Not) and isinstance(conjunct.child, Modal)
            ):
                more.append(self._bonds(conjunct))
            else:
                self._property(conjunct, adjectives, more)
        if len(elements) > 1 or (group and (elements or adjectives)):
            raise TranslationError("There are no words for this.")
        if group:
            return _Noun(*group, tuple(more))
        name = " ".join([*adjectives, *elements, "atom"])
        return _Noun(name, f"{name}s", tuple(more))

    def _either(self, children: Sequence[Formula]) -> _Noun:
        names = [child.name for child in children if isinstance(child, Predicate)]
        if len(names) != len(children) or not all(map(element_of, names)):
            raise TranslationError("There are no words for this.")
        name = " or ".join(map(_element_name, names))
        return _Noun(f"{name} atom", f"{name} atoms")

    def _property(self, formula: Formula, adjectives: list[str], more: list[str]) -> None:
        is_not = isinstance(formula, Not)
        inner = formula.child if isinstance(formula, Not) else formula
        if not isinstance(inner, Predicate):
            raise TranslationError("There are no words for this.")
        name = inner.name
        if name in _ADJECTIVES:
            adjectives.append(f"{'non-' if is_not else ''}{_ADJECTIVES[name]}")
        elif name.startswith("hydrogens=") and not is_not:
            count = int(name.partition("=")[2])
            plural = "" if count == 1 else "s"
            amount = f"with {_NUMBERS[count]} hydrogen{plural}" if count else "without hydrogens"
            more.append(amount)
        elif name.startswith("total_degree=") and name[13:].isdigit():
            count = int(name[13:])
            neighbours = f"{_number(count)} neighbour{'' if count == 1 else 's'}"
            more.append(f"{'not ' if is_not else ''}with {neighbours} counting hydrogens")
        elif name == "is_in_ring":
            more.append(f"{'not ' if is_not else ''}in a ring")
        elif name.startswith("charge=") and not is_not:
            more.append(f"with charge {name.partition('=')[2]}")
        elif predicate_words(name):
            more.append(f"{'not ' if is_not else ''}{predicate_words(name)}")
        elif is_not and element_of(name):
            more.append(f"other than {_element_name(name)}")
        else:
            raise TranslationError("There are no words for this.")

    def _bonds(self, formula: Formula) -> str:
        negated = isinstance(formula, Not)
        node = formula.child if isinstance(formula, Not) else formula
        assert isinstance(node, Modal)
        is_near = node.modality.set_name == "A" and node.modality.edges.relation in _BOUND
        if not is_near or isinstance(node.threshold, Fraction):
            raise TranslationError("There are no words for this.")
        bound = _BOUND[node.modality.edges.relation]
        noun = self._noun(node.child)
        if node.threshold == 0 and not negated:
            return f"{bound} {_with_article(noun.text(plural=False))}"
        return f"{bound} {_counted(node.threshold, noun, negated=negated)}"


def _counted(threshold: int, noun: _Noun, *, negated: bool) -> str:
    """Return "at least two ...", or with a negation "at most one ..." and "no ..."."""
    if negated and threshold == 0:
        return f"no {noun.text(plural=False)}"
    count = threshold if negated else threshold + 1
    return f"at {'most' if negated else 'least'} {_number(count)} {noun.text(plural=count != 1)}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _element_name(predicate: str) -> str:
    return predicate if "=" not in predicate else str(element_of(predicate))


def _with_article(text: str) -> str:
    first = text.lstrip("(")
    article = "an" if first[:1].lower() in "aeio" else "a"
    return f"{article} {text}"
