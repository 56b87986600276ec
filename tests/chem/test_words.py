"""Rules in the words of chemists."""

from __future__ import annotations

import pytest

import gnn2logic as gl
from gnn2logic.logic.printing.molecules import molecule_names
from gnn2logic.logic.printing.steps import ShortNames

pytest.importorskip("rdkit")

SAID = {
    "1(carbon & A[double] oxygen > 0) > 1": (
        "at least two carbon atoms double-bonded to an oxygen atom"
    ),
    "!(1 chlorine > 0)": "no chlorine atom",
    "!(1 nitrogen > 2)": "at most two nitrogen atoms",
    "1(fluorine | chlorine) > 0": "at least one chlorine or fluorine atom",
    "1(carbon & ring=6 & A[bridge] nitrogen > 0) > 0": (
        "at least one (carbon atom in a ring of 6 and bonded outside of rings to a nitrogen atom)"
    ),
    "1 aromatic > 1/2": "more than half of the atoms are aromatic atoms",
    "symbol=N & A(symbol=O) > 1": "a nitrogen atom bonded to at least two oxygen atoms",
    "chem=C & A[valence=2](chem=O) > 0": "a carbon atom double-bonded to an oxygen atom",
}


@pytest.mark.parametrize("text", SAID)
def test_what_is_said(text: str) -> None:
    assert gl.chem.in_words(gl.parse(text)) == SAID[text]


MORE = {
    "1(nitrogen & 1-I-A(carbon & hydrogens=2) > 1) > 3": (
        "at least four nitrogen atoms where the other atoms that are not its neighbours include "
        "at least two carbon atoms with two hydrogens"
    ),
    "1(I+A(nitrogen) > 0) > 0": "at least one atom being or bonded to a nitrogen atom",
    "1(A(aromatic | ring=5) > 1/2) <= 50%": (
        "at most half of the atoms are atoms where more than half of the neighbours are "
        "(aromatic atoms, or atoms in a ring of 5)"
    ),
    "1(A(A[double] oxygen > 0) > 1/2 & carbon & ring=6) > 1/3": (
        "more than a third of the atoms are (carbon atoms in a ring of 6 and where more than half "
        "of the neighbours are double-bonded to an oxygen atom)"
    ),
    "1(I+A(hydrogens=1) <= 1/3) > 2": (
        "at least three atoms where at most a third of the atom and its neighbours have one "
        "hydrogen"
    ),
    "2 <= 1(A[double] oxygen = 2) <= 3": (
        "two or three atoms double-bonded to exactly two oxygen atoms"
    ),
    "2 <= 1(A(carbon | nitrogen & ring=6 & A oxygen > 0) = 0) <= 4": (
        "between two and four atoms bonded to no (carbon atom, or nitrogen atom in a ring of 6 and "
        "bonded to an oxygen atom)"
    ),
    "1(carbon & !(aromatic & hydrogens=1)) = 0": (
        "no carbon atom not being an aromatic atom with one hydrogen"
    ),
    "1(sp2 & !hydrogens=2 & !charge=-1) > 0 & !(1 metal > 0 & 1 U0 > 1)": (
        "it is not the case that (at least two atoms being U0, and at least one metal atom), and "
        "at least one (sp2 atom not with charge -1 and not with two hydrogens)"
    ),
}


@pytest.mark.parametrize("text", MORE)
def test_there_are_words_for_whatever_rules_say(text: str) -> None:
    assert gl.chem.in_words(gl.parse(text)) == MORE[text]


def test_what_is_too_long_for_a_sentence_is_told_in_steps() -> None:
    formula = gl.predicate("carbon")
    for _ in range(12):
        formula = (gl.A(formula & gl.predicate("nitrogen")) > 1) | (gl.A(formula) > 0)
    said = gl.chem.in_words(formula)
    assert "in group (1)" in said
    assert len(said) < 10_000


def test_what_has_a_name_is_denied_by_its_name() -> None:
    near = gl.parse("A(nitrogen) > 1")
    many = gl.parse("1(A(nitrogen) > 1) > 2")
    words = ShortNames({near: "a", many: "b"}, molecule_names(["nitrogen", "carbon"]))
    said = words.words(gl.parse("1(!(A(nitrogen) > 1) & carbon) > 0 & !(1(A(nitrogen) > 1) > 2)"))
    assert said == "condition (b) does not hold, and at least one carbon atom not in group (a)"
    assert words.nodes(gl.parse("!(A(nitrogen) > 1)")) == "atoms not in group (a)"
    share = gl.parse("A(!(A(nitrogen) > 1)) > 2/3")
    assert words.nodes(share) == (
        "atoms where more than two thirds of the neighbours are not in group (a)"
    )
    assert words.nodes(gl.parse("carbon | A(A(nitrogen) > 1) > 1/2")) == (
        "carbon atoms, or atoms where more than half of the neighbours are in group (a)"
    )


def test_groups_are_named_where_they_are_the_same_on_all_molecules() -> None:
    graphs = gl.chem.from_smiles(["O=[N+]([O-])c1ccccc1", "CCN", "CC(=O)O"]).graphs
    rule = gl.parse("1(nitrogen & charge=+1) > 0")
    assert gl.chem.in_words(rule) == "at least one nitrogen atom with charge +1"
    assert gl.chem.in_words(rule, graphs) == "at least one nitrogen of a nitro group"
    more = gl.chem.from_smiles(["O=[N+]([O-])c1ccccc1", "C[N+](C)(C)C"]).graphs
    assert gl.chem.in_words(rule, more) == gl.chem.in_words(rule)


@pytest.mark.parametrize("name", list(gl.chem.GROUPS))
def test_groups_are_what_they_are_called(name: tuple[str, str]) -> None:
    examples = {
        "nitrogen of a nitro group": ("C[N+](=O)[O-]", "C[N+](C)(C)C"),
        "oxygen of a nitro group": ("C[N+](=O)[O-]", "C[N+](C)(C)[O-]"),
        "nitrogen of a primary amine": ("CCN", "CC(N)=O"),
        "nitrogen of a secondary amine": ("CNC", "CNC(C)=O"),
        "nitrogen of a tertiary amine": ("CN(C)C", "CN(C)C=O"),
        "carbon of a carboxyl group": ("CC(=O)O", "CC(=O)OC"),
        "carbon of a carbonyl group": ("CC(C)=O", "CCO"),
        "oxygen of a carbonyl group": ("CC(C)=O", "CS(C)=O"),
        "carbon of an amide": ("CC(=O)N", "CC(=O)CN"),
        "carbon of an ester": ("CC(=O)OC", "CC(=O)O"),
        "oxygen of a hydroxyl group": ("CO", "COC"),
        "oxygen of an ether": ("COC", "CO"),
        "carbon of a nitrile": ("CC#N", "CC#C"),
        "sulfur of a sulfonyl group": ("CS(C)(=O)=O", "CS(C)=O"),
        "sulfur of a sulfonamide": ("CS(N)(=O)=O", "CS(C)(=O)=O"),
        "carbon of a methyl group": ("CC", "C=C"),
        "carbon of a trifluoromethyl group": ("CC(F)(F)F", "CC(F)F"),
        "sulfur of a thiol": ("CS", "CSC"),
        "phosphorus of a phosphate": ("COP(=O)(O)O", "CP(=O)(O)O"),
        "halogen": ("CCl", "CC"),
    }
    yes, no = gl.chem.from_smiles(examples[name[0]]).graphs
    group = gl.chem.GROUPS[name]
    assert group.evaluate(yes, level="node").any()
    assert not group.evaluate(no, level="node").any()


def test_reports_speak_of_atoms() -> None:
    graphs = gl.chem.from_smiles(["CC(=O)C", "CC(=O)O", "CCO", "CCC"]).graphs
    model = gl.from_formulas(
        {"carbonyl": "1(carbon & A[double] oxygen > 0) > 0"},
        otherwise="none",
        names=graphs.names,
        relations=graphs.relation_names,
    )
    rules = gl.report(model, graphs).to_dict()["rules"]
    words = {rule["short_words"] for rule in rules}
    assert "at least one carbon of a carbonyl group" in words
    assert not any("node" in said for said in words)
