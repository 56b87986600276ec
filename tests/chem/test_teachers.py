"""Graphs of PyTorch Geometric's own reader of SMILES."""

from __future__ import annotations

import pytest

import gnn2logic as gl
from molecule_samples import SMILES

pytest.importorskip("rdkit")
utils = pytest.importorskip("torch_geometric.utils")


def test_the_columns_are_those_of_pyg() -> None:
    from torch_geometric.utils.smiles import x_map

    assert tuple(x_map) == gl.chem.PYG_ATOM_FEATURES


def test_rules_speak_of_these_columns() -> None:
    graphs = [utils.from_smiles(text) for text in SMILES]
    encoder = gl.PredicateEncoder(feature_names=gl.chem.PYG_ATOM_FEATURES)
    # The first column is the atomic number.
    labels = [int((graph.x[:, 0] == 8).any()) for graph in graphs]
    model = gl.IDTClassifier(encoder=encoder, random_state=0).fit(graphs, labels)
    assert model.score(graphs, labels) == 1.0
    assert "atomic_num=8" in str(model.formula(1))
