"""Molecules: SMILES in, SMARTS and drawings out. RDKit lives here alone (extra ``chem``)."""

from gnn2logic.chem.drawing import Drawing, draw, to_mol
from gnn2logic.chem.molecules import Molecules, Problem, from_mols, from_sdf, from_smiles
from gnn2logic.chem.pyg_features import named_pyg
from gnn2logic.chem.smarts import SmartsCondition, SmartsRule, smarts_rule, to_smarts
from gnn2logic.chem.tables import read_csv, scaffold_split, scaffolds
from gnn2logic.chem.vocabulary import OGB_ATOM_FEATURES, PYG_ATOM_FEATURES
from gnn2logic.chem.words import GROUPS, in_words, molecule_words, named_groups

__all__ = [
    "GROUPS",
    "OGB_ATOM_FEATURES",
    "PYG_ATOM_FEATURES",
    "Drawing",
    "Molecules",
    "Problem",
    "SmartsCondition",
    "SmartsRule",
    "draw",
    "from_mols",
    "from_sdf",
    "from_smiles",
    "in_words",
    "molecule_words",
    "named_groups",
    "named_pyg",
    "read_csv",
    "scaffold_split",
    "scaffolds",
    "smarts_rule",
    "to_mol",
    "to_smarts",
]
