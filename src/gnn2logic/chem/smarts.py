"""Formulas as SMARTS: counting along bonds is what recursive SMARTS can say exactly.

`to_smarts` is for formulas about an atom. `smarts_rule` is for formulas about a molecule: Boolean
combinations of ``1 phi > t``, each of which counts the atoms that match a pattern.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._files import write_atomically
from gnn2logic._optional import import_optional
from gnn2logic._validation import check_whole
from gnn2logic.chem.molecules import Molecules, rdkit_chem
from gnn2logic.chem.vocabulary import atom_smarts, bond_smarts
from gnn2logic.chem.words import in_words
from gnn2logic.exceptions import ParameterError, TranslationError
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.printing.english import is_about_graph
from gnn2logic.logic.printing.molecule_names import everyday_bond
from gnn2logic.logic.syntax import (
    TRUE,
    And,
    Constant,
    Formula,
    Modal,
    Not,
    Or,
    Predicate,
    conjunction,
    disjunction,
    modal,
    negation,
    predicate,
)
from gnn2logic.logic.walk import subformulas, substitute

__all__ = ["MAX_DEGREE", "SmartsCondition", "SmartsRule", "smarts_rule", "to_smarts"]

MAX_DEGREE = 8
"""Shares of neighbours are exact for atoms with at most so many; hardly any has more."""
# Longer patterns are of no use in any tool, and copies of shared parts may grow without bound.
_LONGEST = 100_000
_MOST_MATCHES = 1000


def to_smarts(formula: Formula, *, max_degree: int = MAX_DEGREE) -> str:
    """Return a SMARTS pattern of one atom, which matches where a formula is true.

    ``A[double] phi > 1`` becomes an atom with two branches: ``[$(*(=[phi])=[phi])]``. Shares of
    neighbours are exact up to `max_degree` neighbours.

    Parameters
    ----------
    formula : Formula
        A formula about one atom: predicates of `from_smiles` (and of `structure`, but for cores,
        cliques and more than one triangle), and counts along ``A``, ``I+A`` and bonds.
    max_degree : int, default=8

    Raises
    ------
    TranslationError
        If SMARTS cannot say it: what the whole molecule is like (``1``, ``1-A``), predicates
        without a SMARTS primitive such as ``chiral=R``. The message says which part it is.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> print(to_smarts(gl.parse("carbon & A[double] oxygen > 0")))
    [#6&$(*=[#8])]
    >>> print(to_smarts(gl.parse("A[single](hydrogens=3) > 1 | !aromatic")))
    [!a,$(*(-[H3])-[H3])]
    """
    check_whole("max_degree", max_degree, least=1, error=ParameterError)
    return f"[{_Patterns(max_degree).expression(formula)}]"


class _Patterns:
    """Translates formulas, each subformula once.

    SMARTS has no brackets within an atom. An expression is a conjunction (``;``) of alternatives
    (``,``) of conjunctions (``&``) of units; anything else is made a unit by recursion.
    """

    def __init__(self, max_degree: int) -> None:
        self._max_degree = max_degree
        self._units: dict[Formula, str] = {}

    def expression(self, formula: Formula) -> str:
        for node in subformulas(formula):
            self._units[node] = self._unit(node)
            if len(self._units[node]) > _LONGEST:
                raise TranslationError(
                    f"SMARTS must have at most {_LONGEST} characters. The formula needs more; pick "
                    "a shorter rule."
                )
        return self._open(formula)

    def _open(self, node: Formula) -> str:
        """Return what stands between brackets."""
        if isinstance(node, And):
            members = [
                self._open(child) if isinstance(child, Or) else self._units[child]
                for child in node.children
            ]
            has_or = any(isinstance(child, Or) for child in node.children)
            return (";" if has_or else "&").join(members)
        if isinstance(node, Or):
            return ",".join(self._units[child] for child in node.children)
        return self._units[node]

    def _unit(self, node: Formula) -> str:
        """Return something that may stand behind ``!``, ``&`` and ``,``."""
        match node:
            case Constant():
                return "*" if node.value else "!*"
            case Predicate():
                return self._predicate(node)
            case Not():
                return self._negated(self._units[node.child])
            case Modal():
                return self._modal(node)
            case _:
                return f"$([{self._open(node)}])"

    def _negated(self, unit: str) -> str:
        return unit[1:] if unit.startswith("!") else f"!{unit}"

    def _predicate(self, node: Predicate) -> str:
        smarts = atom_smarts(node.name)
        if smarts is None:
            raise TranslationError(
                f"SMARTS has nothing for the predicate {node.name!r}. Predicates of "
                "gnn2logic.chem.from_smiles are known, but for chirality; so are rings and degrees."
            )
        return f"$([{smarts}])" if "&" in smarts else smarts

    def _modal(self, node: Modal) -> str:
        modality = node.modality
        if modality.set_name in ("0", "I"):
            # The atom itself is one: some of it, or a share of it, is all of it.
            is_some = modality.itself and not (isinstance(node.threshold, int) and node.threshold)
            return self._units[node.child] if is_some else "!*"
        if modality.others or not modality.neighbours:
            hint = " Use smarts_rule for rules about molecules." if modality.set_name == "1" else ""
            raise TranslationError(
                "A pattern of one atom cannot say what is true of other atoms, however far: "
                f"{node}. SMARTS follows bonds.{hint}"
            )
        bond = bond_smarts(modality.edges.relation)
        if bond is None:
            relation = str(modality.edges.relation)
            why = (
                "Where bonds are valences, aromatic ones are single and double in turn; RDKit "
                "takes them for aromatic."
                if everyday_bond(relation) != relation
                else "Known are single, double, triple, aromatic, ring and bridge."
            )
            raise TranslationError(f"SMARTS has nothing for the relation {relation!r}. {why}")
        if isinstance(node.threshold, Fraction):
            return self._known(self._share(node, node.threshold))
        if modality.itself:
            near = Modality(False, True, False, modality.edges)
            more = modal(near, node.child, node.threshold)
            if node.threshold == 0:
                return self._known(disjunction((node.child, more)))
            fewer = conjunction((node.child, modal(near, node.child, node.threshold - 1)))
            return self._known(disjunction((fewer, more)))
        branch = f"{bond}[{self._open(node.child)}]"
        return f"$(*{f'({branch})' * int(node.threshold)}{branch})"

    def _known(self, formula: Formula) -> str:
        """Return the unit of a formula that was made here."""
        for node in subformulas(formula, stop=self._units):
            if node not in self._units:
                self._units[node] = self._unit(node)
        return self._units[formula]

    def _share(self, node: Modal, share: Fraction) -> Formula:
        """Return a share of at most so many nodes as counts."""
        modality = node.modality
        near = Modality(False, True, False, modality.edges)
        size = self._max_degree + modality.itself
        alternatives = []
        for count in sorted({int(share * total) for total in range(1, size + 1)}):
            largest = max(total for total in range(1, size + 1) if int(share * total) == count)
            enough = modal(modality, node.child, count)
            # The atom itself is always one of them.
            few = negation(modal(near, TRUE, largest - modality.itself))
            alternatives.append(conjunction((enough, few)))
        return disjunction(alternatives)


# Rules about molecules -----------------------------------------------------------------------


@dataclass(frozen=True)
class SmartsCondition:
    """More than some atoms of a molecule match a pattern.

    Parameters
    ----------
    name : str
        What `SmartsRule.logic` calls it: ``c1``, ``c2``, ...
    smarts : str
    more_than : int or Fraction
        A number of atoms, or a share of all atoms.
    formula : Formula
        The same as logic.
    """

    name: str
    smarts: str
    more_than: int | Fraction
    formula: Formula

    def __str__(self) -> str:
        what = "of the atoms match" if isinstance(self.more_than, Fraction) else "atoms match"
        return f"more than {self.more_than} {what} {self.smarts}"

    def holds(self, mol: Any) -> bool:
        """Return whether it is true of a molecule of RDKit."""
        pattern = rdkit_chem("SmartsCondition.holds").MolFromSmarts(self.smarts)
        size = mol.GetNumAtoms()
        count = len(mol.GetSubstructMatches(pattern, maxMatches=size + 1))
        if isinstance(self.more_than, Fraction):
            return bool(count * self.more_than.denominator > self.more_than.numerator * size)
        return bool(count > self.more_than)


@dataclass(frozen=True)
class SmartsRule:
    """A rule about molecules, as patterns and how they are combined.

    Parameters
    ----------
    conditions : tuple of SmartsCondition
    formula : Formula
    """

    conditions: tuple[SmartsCondition, ...]
    formula: Formula

    @property
    def logic(self) -> str:
        """How the conditions are combined, such as ``c1 & !c2``."""
        names = {c.formula: predicate(c.name) for c in self.conditions}
        return str(substitute(self.formula, names))

    def matches(self, molecules: Molecules | Iterable[Any]) -> npt.NDArray[np.bool_]:
        """Return for every molecule whether the rule is true, as RDKit matches it."""
        mols = molecules.mols if isinstance(molecules, Molecules) else list(molecules)
        truth = [self._truth({c.formula: c.holds(mol) for c in self.conditions}) for mol in mols]
        return np.array(truth, dtype=bool)

    def _truth(self, known: Mapping[Formula, bool]) -> bool:
        values: dict[Formula, bool] = {}
        for node in subformulas(self.formula, stop=known):
            children = [values[child] for child in node.children] if node not in known else []
            match node:
                case _ if node in known:
                    values[node] = known[node]
                case Not():
                    values[node] = not children[0]
                case And():
                    values[node] = all(children)
                case Or():
                    values[node] = any(children)
                case _:
                    assert isinstance(node, Constant)
                    values[node] = node.value
        return values[self.formula]

    def rows(self) -> list[dict[str, str]]:
        """Return the conditions as rows of a table."""
        return [
            {
                "name": condition.name,
                "smarts": condition.smarts,
                "more_than": str(condition.more_than),
                "of": "share of atoms" if isinstance(condition.more_than, Fraction) else "atoms",
                "formula": str(condition.formula).replace("\n", " "),
                "words": in_words(condition.formula).replace("\n", " "),
            }
            for condition in self.conditions
        ]

    def to_csv(self) -> str:
        """Return the table as CSV; its last row, named ``rule``, says how they are combined."""
        text = io.StringIO()
        fields = ["name", "smarts", "more_than", "of", "formula", "words"]
        writer = csv.DictWriter(text, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        writer.writerow({"name": "rule", "formula": self.logic.replace("\n", " ")})
        return text.getvalue()

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as a CSV file."""
        write_atomically(path, self.to_csv().encode())

    def to_filter_catalog(self, name: str = "rule") -> Any:
        """Return a ``FilterCatalog`` of RDKit whose single entry matches where the rule is true.

        Shares of atoms are refused: a catalog counts atoms.
        """
        catalog = import_optional(
            "rdkit.Chem.FilterCatalog", extra="chem", purpose="to_filter_catalog"
        )
        built: dict[Formula, Any] = {}
        by_formula = {condition.formula: condition for condition in self.conditions}
        for node in subformulas(self.formula, stop=by_formula):
            built[node] = _matcher(catalog, node, by_formula, built)
        whole = catalog.FilterCatalog()
        whole.AddEntry(catalog.FilterCatalogEntry(name, built[self.formula]))
        return whole

    def __str__(self) -> str:
        lines = [f"{condition.name}: {condition}" for condition in self.conditions]
        return "\n".join([*lines, f"rule: {self.logic}"])


def _matcher(
    catalog: Any,
    node: Formula,
    conditions: Mapping[Formula, SmartsCondition],
    built: Mapping[Formula, Any],
) -> Any:
    operations = catalog.FilterMatchOps
    condition = conditions.get(node)
    if condition is not None:
        if isinstance(condition.more_than, Fraction):
            raise TranslationError(
                f"A FilterCatalog counts atoms, and cannot say a share of them: {condition}."
            )
        if condition.more_than >= _MOST_MATCHES:
            raise TranslationError(f"A FilterCatalog counts up to {_MOST_MATCHES}: {condition}.")
        return catalog.SmartsMatcher(
            condition.name, condition.smarts, condition.more_than + 1, 2**32 - 1
        )
    children = [built[child] for child in node.children]
    match node:
        case Not():
            return operations.Not(children[0])
        case And() | Or():
            combine = operations.And if isinstance(node, And) else operations.Or
            whole = children[0]
            for child in children[1:]:
                whole = combine(whole, child)
            return whole
        case _:
            assert isinstance(node, Constant)
            return catalog.SmartsMatcher(str(node), "[*]" if node.value else "[!*]", 1, 2**32 - 1)


def smarts_rule(formula: Formula, *, max_degree: int = MAX_DEGREE) -> SmartsRule:
    """Return a formula about molecules as SMARTS patterns with thresholds.

    Parameters
    ----------
    formula : Formula
        A Boolean combination of ``1 phi > t``, such as ``model.formula(1)``.
    max_degree : int, default=8
        As in `to_smarts`.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> rule = smarts_rule(gl.parse("1(carbon & A[double] oxygen > 0) > 1 | 1 aromatic > 1/2"))
    >>> print(rule)
    c1: more than 1/2 of the atoms match [a]
    c2: more than 1 atoms match [#6&$(*=[#8])]
    rule: c1 | c2
    >>> rule.matches(gl.chem.from_smiles(["CC(=O)C(=O)C", "C1CCCCC1", "Cc1ccccc1"]))
    array([ True, False,  True])
    """
    if not (is_about_graph(formula) or isinstance(formula, Constant)):
        raise TranslationError(
            "smarts_rule is for formulas about whole molecules, made of 1(...) > t. Got a formula "
            "about one atom; use to_smarts."
        )
    conditions: dict[Formula, SmartsCondition] = {}
    stop = {node for node in subformulas(formula) if isinstance(node, Modal)}
    for node in subformulas(formula, stop=stop):
        if isinstance(node, Modal):
            smarts = to_smarts(node.child, max_degree=max_degree)
            name = f"c{len(conditions) + 1}"
            conditions[node] = SmartsCondition(name, smarts, node.threshold, node)
    return SmartsRule(tuple(conditions.values()), formula)
