"""SMARTS against evaluation: RDKit must match exactly the atoms where a formula is true."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import gnn2logic as gl
from gnn2logic.chem.vocabulary import BONDS, atom_names
from gnn2logic.exceptions import TranslationError
from gnn2logic.graphs import Edges, Modality
from gnn2logic.logic.syntax import (
    FALSE,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    modal,
    negation,
    predicate,
)
from molecule_samples import SMILES, smiles_file

Chem = pytest.importorskip("rdkit.Chem")

NAMES = (*atom_names(stereo=False), "degree=2", "degree=3", "degree > 4", "triangles > 0")


@cache
def molecules() -> Any:
    return gl.chem.from_smiles(SMILES)


@cache
def graphs() -> gl.GraphBatch:
    return gl.structure(molecules().graphs, ["edges", "triangles", "degrees"])


thresholds = st.one_of(
    st.integers(0, 3), st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)])
)
modalities = st.builds(
    Modality.from_set,
    st.sampled_from(["A", "A", "A", "I+A", "I"]),
    st.builds(
        lambda relation: Edges(relation=relation), st.sampled_from([None, *BONDS, "ring", "bridge"])
    ),
)
# Atoms are mostly carbon, so that rules about it and its neighbours are true somewhere.
names = st.one_of(
    st.sampled_from(["carbon", "oxygen", "nitrogen", "ring=6"]), st.sampled_from(NAMES)
)
formulas = st.recursive(
    st.one_of(names.map(predicate), st.sampled_from([TRUE, FALSE])),
    lambda inner: st.one_of(
        inner.map(negation),
        st.lists(inner, min_size=2, max_size=3).map(conjunction),
        st.lists(inner, min_size=2, max_size=3).map(disjunction),
        st.builds(modal, modalities, inner, thresholds),
    ),
    max_leaves=6,
)


def matched(mols: Any, smarts: str) -> list[bool]:
    pattern = Chem.MolFromSmarts(smarts)
    assert pattern is not None, smarts
    found: list[bool] = []
    for mol in mols:
        hits = {atom for (atom,) in mol.GetSubstructMatches(pattern, maxMatches=10**6)}
        found += [number in hits for number in range(mol.GetNumAtoms())]
    return found


@given(formulas)
@settings(max_examples=300, deadline=None)
def test_patterns_match_where_formulas_are_true(formula: Formula) -> None:
    truth = formula.evaluate(graphs(), level="node")
    try:
        smarts = gl.chem.to_smarts(formula)
    except TranslationError:
        # Shares within shares may be too long.
        reject()
    assert matched(molecules().mols, smarts) == truth.tolist()


@given(formulas, formulas, st.integers(0, 6), st.sampled_from([Fraction(1, 2), Fraction(1, 4), 2]))
@settings(max_examples=60, deadline=None)
def test_rules_match_where_formulas_are_true(
    first: Formula, second: Formula, count: int, threshold: int | Fraction
) -> None:
    everywhere = Modality.from_set("1")
    formula = disjunction(
        [
            negation(modal(everywhere, first, count)),
            conjunction([modal(everywhere, second, threshold), modal(everywhere, first, 1)]),
        ]
    )
    try:
        rule = gl.chem.smarts_rule(formula)
    except TranslationError:
        reject()
    assert (rule.matches(molecules()) == formula.evaluate(graphs(), level="graph")).all()


def random_formulas(count: int) -> list[Formula]:
    """Return formulas as a rule may have them, the same ones each time."""
    rng = np.random.default_rng(0)
    relations = [None, *BONDS, "ring", "bridge"]

    def draw(depth: int) -> Formula:
        parts = [predicate(str(rng.choice(NAMES))) for _ in range(int(rng.integers(1, 3)))]
        if depth:
            relation = relations[int(rng.integers(len(relations)))]
            edges = Edges(relation=relation)
            shares: list[int | Fraction] = [0, 0, 1, 2, Fraction(1, 2), Fraction(1, 3)]
            # Shares within shares are long patterns.
            limit = shares[int(rng.integers(len(shares) if depth == 1 else 4))]
            parts.append(modal(Modality.from_set("A", edges), draw(depth - 1), limit))
        parts = [negation(one) if rng.random() < 0.3 else one for one in parts]
        return conjunction(parts) if rng.random() < 0.6 else disjunction(parts)

    return [draw(int(rng.integers(0, 4))) for _ in range(count)]


@pytest.mark.parametrize("name", ["bbbp", "esol", "freesolv", "lipophilicity", "tox21"])
def test_thousands_of_molecules(name: str) -> None:
    read = gl.chem.from_smiles(smiles_file(name), column="smiles", errors="skip")
    assert len(read) > 500
    shaped = gl.structure(read.graphs, ["edges", "triangles", "degrees"])
    # Of many molecules each formula has some, and all of them have formulas.
    step = max(1, len(read) // 1500)
    for number, formula in enumerate(random_formulas(25)):
        some = np.arange(number % step, len(read), step)
        truth = formula.evaluate(shaped.take(some), level="node")
        mols = [read.mols[molecule] for molecule in some]
        assert matched(mols, gl.chem.to_smarts(formula)) == truth.tolist(), formula


REFUSED = {
    "1 carbon > 0": "cannot say what is true of other atoms.*smarts_rule",
    "carbon & 1-I-A oxygen > 0": "cannot say what is true of other atoms",
    "chiral=R": "predicate 'chiral=R'",
    '"core > 2"': "predicate 'core > 2'",
    "A[r] carbon > 0": "relation 'r'",
    "A[valence=2] chem=O > 0": "relation 'valence=2'.*takes them for aromatic",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_smarts_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(TranslationError, match=REFUSED[text]):
        gl.chem.to_smarts(gl.parse(text))


def test_rules_are_about_molecules() -> None:
    with pytest.raises(TranslationError, match="use to_smarts"):
        gl.chem.smarts_rule(gl.parse("carbon"))


def test_a_pattern_that_grows_without_bound_is_refused() -> None:
    formula: Formula = predicate("carbon")
    for _ in range(20):
        formula = modal(Modality.from_set("A"), formula, 2)
    with pytest.raises(TranslationError, match="shorter rule"):
        gl.chem.to_smarts(formula)


def test_atoms_of_the_tu_collection() -> None:
    assert gl.chem.to_smarts(gl.parse("chem=C & A[double](chem=O) > 0")) == "[#6&$(*=[#8])]"


RULE = "1(carbon & A[double] oxygen > 0) > 0 & !(1 nitrogen > 1)"


def test_a_rule_as_a_table(tmp_path: Path) -> None:
    rule = gl.chem.smarts_rule(gl.parse(RULE))
    rule.write_csv(tmp_path / "rule.csv")
    rows = list(csv.DictReader((tmp_path / "rule.csv").read_text().splitlines()))
    assert [row["name"] for row in rows] == ["c1", "c2", "rule"]
    assert rows[-1]["formula"] == "!c1 & c2"
    assert rows[0]["smarts"] == "[#7]"
    assert rows[0]["more_than"] == "1"


def test_a_rule_as_a_filter_catalog() -> None:
    rule = gl.chem.smarts_rule(gl.parse(RULE))
    catalog = rule.to_filter_catalog()
    found = [catalog.HasMatch(mol) for mol in molecules().mols]
    assert found == rule.matches(molecules()).tolist()
    assert any(found)
    assert not all(found)
    large = gl.chem.from_smiles(["C" * 1000, "C" * 999])
    most = gl.chem.smarts_rule(gl.parse("1 carbon > 999"))
    assert [most.to_filter_catalog().HasMatch(mol) for mol in large.mols] == [True, False]
    # RDKit's catalogs find no more than a thousand matches, and say nothing.
    with pytest.raises(TranslationError, match="counts up to 1000"):
        gl.chem.smarts_rule(gl.parse("1 carbon > 1000")).to_filter_catalog()
    share = gl.chem.smarts_rule(gl.parse("1 carbon > 1/2"))
    with pytest.raises(TranslationError, match="share"):
        share.to_filter_catalog()
