"""Molecules from SMILES, tables and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.exceptions import (
    DataSetError,
    GraphError,
    LabelError,
    ParameterError,
    UnsupportedInputError,
)
from molecule_samples import SMILES

Chem = pytest.importorskip("rdkit.Chem")


def test_atoms_and_bonds_of_one_molecule() -> None:
    read = gl.chem.from_smiles(["CC(=O)[O-]"])
    graph = read.graphs
    true_of = [[n for n in graph.names if graph.column(n)[v]] for v in range(4)]
    assert true_of == [
        ["carbon", "sp3", "hydrogens=3"],
        ["carbon", "sp2", "hydrogens=0"],
        ["oxygen", "sp2", "hydrogens=0"],
        ["oxygen", "charge=-1", "sp2", "hydrogens=0"],
    ]
    assert graph.relations["double"].toarray()[1].tolist() == [0, 0, 1, 0]
    assert graph.relations["single"].sum() == 4
    assert graph.is_simple


def test_what_rdkit_says_of_all_atoms() -> None:
    read = gl.chem.from_smiles(SMILES, stereo=True)
    graph = read.graphs
    atoms = [atom for mol in read.mols for atom in mol.GetAtoms()]
    assert len(atoms) == graph.n_nodes
    expected = {
        "carbon": [a.GetSymbol() == "C" for a in atoms],
        "aromatic": [a.GetIsAromatic() for a in atoms],
        "metal": [a.GetSymbol() in ("Na", "Pt") for a in atoms],
        "ring=6": [a.IsInRingSize(6) for a in atoms],
        "hydrogens=2": [a.GetTotalNumHs() == 2 for a in atoms],
        "chiral=R": [a.HasProp("_CIPCode") and a.GetProp("_CIPCode") == "R" for a in atoms],
    }
    for name, column in expected.items():
        assert graph.column(name).tolist() == column, name
        assert any(column), name
    assert graph.sizes.tolist() == [mol.GetNumAtoms() for mol in read.mols]


def test_names_are_the_same_for_all_molecules() -> None:
    assert gl.chem.from_smiles(["C"]).graphs.names == gl.chem.from_smiles(["c1ccccc1"]).graphs.names


def test_rings_are_nearly_always_those_of_the_structure() -> None:
    graphs = gl.chem.from_smiles(SMILES).graphs
    shaped = gl.structure(graphs.with_predicates(np.zeros((graphs.n_nodes, 0)), ()), "rings")
    for size in range(3, 9):
        name = f"ring={size}"
        assert (shaped.column(name) == graphs.column(name)).all(), name


def test_hydrogens_as_atoms() -> None:
    assert gl.chem.from_smiles(["C"], explicit_hydrogens=True).graphs.n_nodes == 5
    hidden = gl.chem.from_smiles(["[H]C([H])([H])[H]"]).graphs
    assert hidden.n_nodes == 1
    assert hidden.column("hydrogens=4").all()


BAD = ["CCO", "C(C)(C)(C)(C)C", "xyz", "", "c1ccccc1"]


def test_bad_rows_are_named_with_the_reason() -> None:
    with pytest.raises(DataSetError) as caught:
        gl.chem.from_smiles(BAD)
    message = str(caught.value)
    assert "3 cannot be read" in message
    assert "row 1 ('C(C)(C)(C)(C)C'): Explicit valence for atom # 0 C, 5," in message
    assert "row 2 ('xyz')" in message
    assert "row 3 (''): it is empty" in message
    assert "errors='skip'" in message


def test_bad_rows_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    read = gl.chem.from_smiles(BAD, errors="skip")
    assert read.rows.tolist() == [0, 4]
    assert [problem.row for problem in read.problems] == [1, 2, 3]
    assert repr(read) == "<2 molecules, 9 atoms, 3 left out>"
    assert capfd.readouterr().err == ""
    with pytest.raises(GraphError, match="none of which can be read"):
        gl.chem.from_smiles(["xyz"], errors="skip")


def test_bad_settings() -> None:
    with pytest.raises(ParameterError, match="errors must be"):
        gl.chem.from_smiles(["C"], errors="ignore")
    with pytest.raises(ParameterError, match="given in a list"):
        gl.chem.from_smiles("CCO")
    with pytest.raises(TypeError, match="position 1"):
        gl.chem.from_smiles(["C", 3])
    for wrong in (None, 3, b"C", {"a": "C"}):
        with pytest.raises(UnsupportedInputError, match="sequence of strings"):
            gl.chem.from_smiles(wrong)


def test_cells_without_a_value_are_rows_that_cannot_be_read() -> None:
    read = gl.chem.from_smiles(["C", None, float("nan"), np.float32("nan").item()], errors="skip")
    assert read.rows.tolist() == [0]
    assert {problem.reason for problem in read.problems} == {"it is empty"}


def test_what_stands_behind_a_line_break_is_not_passed_over() -> None:
    for text in ("CCO\nCC", "C\x00C"):
        with pytest.raises(DataSetError, match="line break"):
            gl.chem.from_smiles([text])
    # A name may follow.
    assert gl.chem.from_smiles([" CCO\t", "CCO ethanol"]).smiles == ["CCO", "CCO"]


def test_molecules_of_rdkit_must_be_ready() -> None:
    with pytest.raises(UnsupportedInputError, match="list of molecules"):
        gl.chem.from_mols(Chem.MolFromSmiles("C"))
    unfinished = Chem.MolFromSmiles("c1ccccc1", sanitize=False)
    drawn = gl.chem.to_mol(gl.chem.from_smiles(["CC"]).graphs)
    for wrong in (unfinished, drawn, Chem.MolFromSmarts("[#6]=O")):
        with pytest.raises(UnsupportedInputError, match="position 1 is not; use Chem.SanitizeMol"):
            gl.chem.from_mols([Chem.MolFromSmiles("C"), wrong])
    Chem.SanitizeMol(drawn)
    assert gl.chem.from_mols([drawn, Chem.MolFromSmiles("*[Fe+2].[H+].C$C")]).graphs.n_graphs == 2


TABLE = "name,smiles,toxic\nethanol,CCO,0\nbad,xyz,1\nbenzene,c1ccccc1,1.0\nunknown,C,\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def test_a_table(table: Path) -> None:
    data, molecules = gl.chem.read_csv(table, smiles="smiles", label="toxic", errors="skip")
    assert data.class_names == ("0", "1")
    assert data.y.tolist() == [0, 1]
    assert molecules.rows.tolist() == [0, 2]
    assert [str(problem)[:5] for problem in molecules.problems] == ["row 1"]
    assert gl.chem.from_smiles(table, column="smiles", errors="skip").rows.tolist() == [0, 2, 3]


def test_bad_tables(table: Path) -> None:
    with pytest.raises(DataSetError, match="there must be a column 'SMILES'"):
        gl.chem.read_csv(table, smiles="SMILES", label="toxic")
    with pytest.raises(DataSetError, match="cannot be read as a CSV file"):
        gl.chem.read_csv(table.parent / "none.csv", smiles="smiles", label="toxic")
    rows = "".join(f"C{'C' * n},{n / 7}\n" for n in range(30))
    table.write_text("smiles,value\n" + rows)
    with pytest.raises(LabelError, match="at most 20"):
        gl.chem.read_csv(table, smiles="smiles", label="value")


ODD_TABLES = {
    "smiles,smiles,toxic\nC,N,1\n": "column 'smiles' only once",
    "smiles;toxic\nC;1\n": "Cells must be divided by commas",
    "Smiles,toxic\nC,1\n": "Did you mean 'Smiles'",
    "smiles,name,toxic\nC,a,1\nCC,b, or c,0\n": "row 1 has more cells than there are columns, 3",
    'smiles,toxic\n"C,1\nCC,0\n': "unexpected end of data",
    "smiles,toxic,name\nC,1,\xe9\n": "must be in UTF-8",
}


@pytest.mark.parametrize("text", ODD_TABLES)
def test_tables_that_would_be_misread_are_refused(table: Path, text: str) -> None:
    table.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataSetError, match=ODD_TABLES[text]):
        gl.chem.read_csv(table, smiles="smiles", label="toxic")


def test_tables_as_other_programs_write_them(table: Path) -> None:
    text = '\ufeffsmiles,toxic\r\n"C",1,,\r\n\r\nCC,NaN\r\nCCC,NA\r\nCCO,0\r\n'
    table.write_bytes(text.encode())
    data, molecules = gl.chem.read_csv(table, smiles="smiles", label="toxic")
    assert data.class_names == ("0", "1")
    assert molecules.smiles == ["C", "CCO"]
    assert molecules.rows.tolist() == [0, 3]
    with pytest.raises(ParameterError, match="another column"):
        gl.chem.read_csv(table, smiles="smiles", label="smiles")


class TwoColumns:
    """A table whose columns have the same name, as pandas allows."""

    columns = ("smiles", "smiles")


def test_a_column_of_a_table_must_be_one() -> None:
    with pytest.raises(ParameterError, match="only one"):
        gl.chem.from_smiles(TwoColumns(), column="smiles")


def test_files_of_molecules(tmp_path: Path) -> None:
    mols = [Chem.MolFromSmiles(text) for text in ("CCO", "c1ccccc1O")]
    with Chem.SDWriter(str(tmp_path / "two.sdf")) as writer:
        for mol in mols:
            mol.SetProp("_Name", "a name")
            mol.SetProp("active", str(mol.GetNumAtoms() > 3))
            writer.write(mol)
    (tmp_path / "one.mol").write_text(Chem.MolToMolBlock(mols[0]))
    assert gl.chem.from_sdf(tmp_path / "two.sdf").graphs == gl.chem.from_mols(mols).graphs
    read = gl.chem.from_sdf(tmp_path / "two.sdf")
    assert [mol.GetProp("active") for mol in read.mols] == ["False", "True"]
    assert gl.chem.from_sdf(tmp_path / "one.mol").smiles == ["CCO"]
    text = (tmp_path / "two.sdf").read_text()
    odd = text.replace("  3  2  0", "  9  2  0", 1)
    (tmp_path / "odd.sdf").write_text(odd.replace("\n", "\r\n"))
    left = gl.chem.from_sdf(tmp_path / "odd.sdf", errors="skip")
    assert (left.rows.tolist(), [problem.row for problem in left.problems]) == ([1], [0])
    with pytest.raises(DataSetError, match="SDF or mol file"):
        gl.chem.from_sdf(tmp_path / "none.sdf")


def test_scaffolds_are_never_in_two_parts() -> None:
    molecules = gl.chem.from_smiles(SMILES)
    train, validation, test = gl.chem.scaffold_split(molecules, (0.6, 0.2, 0.2))
    assert sorted([*train, *validation, *test]) == list(range(len(SMILES)))
    frames = gl.chem.scaffolds(molecules)
    groups = [{frames[n] for n in part} for part in (train, validation, test)]
    assert not groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2]
    assert len(train) <= 0.6 * len(SMILES)
    # The largest group, molecules without rings, is trained on.
    assert "" in groups[0]
    with pytest.raises(ParameterError, match="sum 1"):
        gl.chem.scaffold_split(molecules, (0.5, 0.1, 0.1))


def test_molecules_are_given_wherever_graphs_are(tmp_path: Path) -> None:
    molecules = gl.chem.from_smiles(SMILES)
    graphs = molecules.graphs
    assert gl.as_batch(molecules) is graphs
    assert list(molecules) == list(graphs)
    assert molecules[1] == graphs[1]
    assert molecules[[True] + [False] * (len(SMILES) - 1)] == graphs[:1]
    formula = gl.parse("1 carbon > 1")
    y = formula.evaluate(molecules)
    assert np.array_equal(y, formula.evaluate(graphs))
    model = gl.IDTClassifier(n_layers=1, algorithm="layers", random_state=0).fit(molecules, y)
    assert np.array_equal(model.predict(molecules), model.predict(graphs))
    assert gl.explain(model, molecules[0]).to_dict() == gl.explain(model, graphs[0]).to_dict()
    assert gl.write_shards(tmp_path / "store", molecules, y).n_graphs == len(SMILES)
    nx_graphs = gl.to_networkx(molecules)
    assert [graph.number_of_nodes() for graph in nx_graphs] == graphs.sizes.tolist()
    with pytest.raises(GraphError, match="One graph is explained at a time"):
        gl.explain(model, molecules)
    with pytest.raises(UnsupportedInputError, match=r"list.*as_batch\(graphs\)"):
        gl.to_networkx(nx_graphs)  # type: ignore[arg-type]
