"""A few dozen well-known molecules, of all sorts that rules may speak of, and files of many."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SMILES = (
    "C",
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "CC(=O)Nc1ccc(O)cc1",
    "CN1CCC[C@H]1c1cccnc1",
    "OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O",
    "C[N+](C)(C)CCOC(C)=O",
    "NCC(=O)[O-]",
    "O=[N+]([O-])c1ccccc1",
    "c1ccc2ccccc2c1",
    "c1ccc2[nH]ccc2c1",
    "C1CC1",
    "C1CCC1C#N",
    "C1CC2CCC1C2",
    "C12C3C4C1C5C2C3C45",
    "C1C2CC3CC1CC(C2)C3",
    "CC#CC",
    "N#N",
    "[Na+].[Cl-]",
    "O=S(=O)(N)c1ccc(N)cc1",
    "CS(C)=O",
    "OP(=O)(O)O",
    "FC(F)(F)c1ccc(Cl)cc1Br",
    "IC(I)I",
    "C[Si](C)(C)C",
    "OB(O)c1ccccc1",
    "CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O",
    "c1ccsc1",
    "C1CCCCCCC1",
    "C1CCCCCC1",
    "C1CCCCCCCCCCC1",
    "CCN(CC)C(=O)c1cccnc1",
    "CN(C)CCCN1c2ccccc2CCc2ccccc21",
    "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O",
    "N[Pt](N)(Cl)Cl",
    "[SeH]CC(N)C(=O)O",
    "O=C=O",
    "[O-][n+]1ccccc1",
    "c1ccc(cc1)-c1ccccc1",
)


def smiles_file(name: str) -> Path:
    folder = os.environ.get("GNN2LOGIC_DATA")
    path = Path(folder or ".").parent / "smiles" / f"{name}.csv"
    if folder is None or not path.is_file():
        pytest.skip("needs the folder smiles with bbbp.csv beside GNN2LOGIC_DATA")
    return path
