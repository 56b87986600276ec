"""Rules in the words of chemists, and small groups of atoms that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnn2logic.chem.vocabulary import atom_symbols, with_everyday_names
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.inputs import check_batch
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.printing.english import is_about_graph, to_english
from gnn2logic.logic.printing.molecules import MoleculeNames
from gnn2logic.logic.syntax import Constant, Formula, Not, Predicate
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas

__all__ = ["GROUPS", "in_words", "molecule_words", "named_groups"]

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
# The same for data sets that know neither charges nor hydrogens.
_NITRO = "nitrogen & A oxygen = 2 & A true = 3"
_WITHOUT_HYDROGENS = {
    ("nitrogen of a nitro group", "nitrogens of nitro groups"): parse(_NITRO),
    ("oxygen of a nitro group", "oxygens of nitro groups"): parse(
        f"oxygen & A true = 1 & A({_NITRO}) > 0"
    ),
}
_NAMES = {
    group: name
    for definitions in (GROUPS, _WITHOUT_HYDROGENS)
    for name, group in definitions.items()
}


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
    return _Groups(check_batch(graphs)).among(formula)


class _Groups:
    """Which formulas are a known group in some molecules, each asked once."""

    def __init__(self, graphs: GraphBatch) -> None:
        self._graphs = graphs
        self._names: dict[Formula, tuple[str, str] | None] = {}

    @cached_property
    def _members(self) -> dict[Formula, npt.NDArray[np.bool_]]:
        """The atoms of every group that the molecules have."""
        everyday = with_everyday_names(self._graphs)
        groups = [
            group
            for definitions in (GROUPS.values(), _WITHOUT_HYDROGENS.values())
            for group in definitions
            if set(predicate_names(group)) <= set(everyday.names)
            and set(relation_names(group)) <= set(everyday.relation_names)
        ]
        truth = evaluate_each(groups, everyday)
        return {group: truth[group] for group in groups if truth[group].any()}

    def among(self, formula: Formula) -> dict[Formula, tuple[str, str]]:
        """Return the parts of a formula that are a group, and its name."""
        parts = [part for part in subformulas(formula) if self._may_be_group(part)]
        new = [part for part in parts if part not in self._names]
        for part, truth in (evaluate_each(new, self._graphs) if new else {}).items():
            self._names[part] = self._name(part, truth)
        return {part: name for part in parts if (name := self._names[part]) is not None}

    def _name(self, part: Formula, truth: npt.NDArray[np.bool_]) -> tuple[str, str] | None:
        same = [group for group, held in self._members.items() if np.array_equal(truth, held)]
        # Of several groups with the same atoms, the one that the formula spells out is meant.
        same.sort(key=lambda group: group != part)
        return _NAMES[same[0]] if same else None

    def _may_be_group(self, part: Formula) -> bool:
        if is_about_graph(part) or isinstance(part, Constant | Predicate | Not):
            return False
        # Models may speak of more than the molecules have: of rings, or of numbers at atoms.
        is_known = set(predicate_names(part)) <= set(self._graphs.names)
        return is_known and set(relation_names(part)) <= set(self._graphs.relation_names)


def in_words(formula: Formula, graphs: GraphBatch | None = None) -> str:
    """Return a rule about molecules as a chemist would say it.

    Parameters
    ----------
    formula : Formula
        Over the predicates of `from_smiles`, `named_pyg` or the TU collection. What is too long for
        one sentence is told as ``formula.to_english`` does.
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
    if graphs is None:
        return to_english(formula, names=MoleculeNames(predicate_names(formula)))
    return to_english(formula, names=_words_about(check_batch(graphs)))


def _words_about(graphs: GraphBatch) -> MoleculeNames:
    return MoleculeNames(graphs.names, _Groups(graphs).among)


def molecule_words(graphs: GraphBatch) -> MoleculeNames | None:
    """Return the words for rules about some molecules, with the names of groups that they have.

    They are given wherever words are: ``formula.to_english(words)``. None for graphs that are
    something else.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> words = molecule_words(gl.chem.from_smiles(["CC(=O)C", "CCO"]).graphs)
    >>> gl.parse("1(carbon & A oxygen > 0 & A carbon > 1) > 0").to_english(words)
    'at least one carbon of a carbonyl group'
    """
    return _words_about(graphs) if atom_symbols(graphs) is not None else None
