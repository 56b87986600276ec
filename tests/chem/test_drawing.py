"""Molecules of graphs, and their pictures."""

from __future__ import annotations

import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.chem.drawing import drawing_if_molecule, flat_coordinates
from gnn2logic.chem.vocabulary import atom_symbols
from gnn2logic.exceptions import GraphError, ParameterError
from molecule_samples import SMILES, smiles_file

Chem = pytest.importorskip("rdkit.Chem")


def test_a_graph_is_the_molecule_it_came_from() -> None:
    # Stereochemistry, isotopes and metals are not in the predicates.
    plain = [text for text in SMILES if "[Na+]" not in text and "Pt" not in text]
    read = gl.chem.from_smiles(plain)
    for graph, mol in zip(read.graphs, read.mols, strict=True):
        Chem.RemoveStereochemistry(mol)
        assert Chem.MolToSmiles(gl.chem.to_mol(graph)) == Chem.MolToSmiles(mol)


def test_hydrogens_that_are_atoms_are_not_there_twice() -> None:
    graph = gl.chem.from_smiles(["CO"], explicit_hydrogens=True).graphs
    mol = gl.chem.to_mol(graph)
    assert mol.GetNumAtoms() == 6
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == "CO"


def test_molecules_of_the_tu_collection() -> None:
    ring = np.roll(np.eye(6, dtype=int), 1, axis=1)
    predicates = np.ones((6, 1))
    graph = gl.GraphBatch(predicates, {"aromatic": ring + ring.T}, names=["symbol=C"])
    assert Chem.MolToSmiles(gl.chem.to_mol(graph)) == "c1ccccc1"


def without_notes(text: str, bonds: dict[str, str]) -> gl.GraphBatch:
    """Return a molecule as data sets have it that know elements, and some types of bonds."""
    read = gl.chem.from_smiles([text]).graphs
    elements = [name for name in ("carbon", "nitrogen", "oxygen") if read.column(name).any()]
    columns = np.stack([read.column(name) for name in elements], axis=1)
    relations = {bonds[name]: matrix for name, matrix in read.relations.items() if name in bonds}
    names = [f"symbol={name[0].upper()}" for name in elements]
    return gl.GraphBatch(columns, read.adjacency, names=names, relations=relations or None)


SAME = {name: name for name in ("single", "double", "triple", "aromatic")}


@pytest.mark.parametrize(
    "text",
    ["O=[N+]([O-])c1ccccc1", "C[N+](C)(C)C", "CC[N+](C)(C)[O-]", "CN=[N+]=[N-]", "CC(=O)O", "CC#N"],
)
def test_charges_and_hydrogens_that_are_not_noted_follow_from_the_bonds(text: str) -> None:
    valences = {"single": "valence=1", "double": "valence=2", "triple": "valence=3"}
    for bonds in (SAME, valences if "c" not in text else SAME):
        mol = gl.chem.to_mol(without_notes(text, bonds))
        assert Chem.MolToSmiles(mol) == Chem.CanonSmiles(text)


def test_no_hydrogens_are_made_up_where_bonds_are_not_known() -> None:
    mol = gl.chem.to_mol(without_notes("CC(=O)O", {}))
    assert sum(atom.GetTotalNumHs() for atom in mol.GetAtoms()) == 0
    assert "OH" not in gl.chem.draw(without_notes("CC(=O)O", {})).svg


@pytest.mark.parametrize(("name", "odd"), [("MUTAG", 2), ("AIDS", 2)])
def test_nearly_all_graphs_of_the_tu_collection_are_molecules(name: str, odd: int) -> None:
    smiles_file("bbbp")
    graphs = gl.datasets.load(name, edge_labels=True, download=False).graphs
    failed = [bool(Chem.SanitizeMol(gl.chem.to_mol(one), catchErrors=True)) for one in graphs]
    # Carbon with five bonds, among others: the files have them so.
    assert sum(failed) == odd


def test_other_graphs_are_no_molecules() -> None:
    graph = gl.random_graphs(1, random_state=0)
    assert atom_symbols(graph) is None
    assert flat_coordinates(graph) is None
    assert drawing_if_molecule(graph, np.zeros(graph.n_nodes, dtype=bool)) is None
    with pytest.raises(GraphError, match="must be one molecule"):
        gl.chem.to_mol(graph)
    both = gl.GraphBatch(np.ones((1, 2)), [[0]], names=["carbon", "oxygen"])
    assert atom_symbols(both) is None


def test_bonds_have_length_1() -> None:
    for graph in gl.chem.from_smiles(
        ["CCO", "c1ccc2ccccc2c1", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"]
    ).graphs:
        points = flat_coordinates(graph)
        assert points is not None
        sources, targets = graph.adjacency.nonzero()
        lengths = np.linalg.norm(points[sources] - points[targets], axis=1)
        assert lengths == pytest.approx(1.0, abs=0.05)


def test_marked_atoms_and_bonds_are_in_the_picture() -> None:
    graph = gl.chem.from_smiles(["CC(=O)O"]).graphs
    plain = gl.chem.draw(graph).svg
    marked = gl.chem.draw(graph, [1, 2]).svg
    assert "#F4B559" not in plain
    assert "#F4B559" in marked
    truth = np.array([False, True, True, False])
    assert gl.chem.draw(graph, truth).svg == marked
    assert gl.chem.draw(graph, [1, 2], [(0, 1)]).svg != marked
    with pytest.raises(ParameterError, match="from 0 to 3"):
        gl.chem.draw(graph, [4])
    with pytest.raises(ParameterError, match="4 atoms"):
        gl.chem.draw(graph, np.ones(3, dtype=bool))


def test_explanations_show_the_molecule() -> None:
    graph = gl.chem.from_smiles(["CC(=O)O"]).graphs
    rule = {"yes": "1(carbon & A[double] oxygen > 0) > 0"}
    idt = gl.from_formulas(
        rule, otherwise="no", names=list(graph.names), relations=list(graph.relations)
    )
    explanation = gl.explain(idt, graph)
    assert explanation.drawing is not None
    assert explanation._repr_html_().startswith("<svg")
    none = gl.from_formulas({"hub": "1(A true > 2) > 0"}, otherwise="no hub", names=[])
    assert gl.explain(none, gl.from_edges([(0, 1)], 2).symmetrize()).drawing is None
