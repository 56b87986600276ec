"""Graphs of PyTorch Geometric's own reader of SMILES."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import pytest

import gnn2logic as gl
from gnn2logic.chem.vocabulary import BONDS
from gnn2logic.exceptions import GraphError, ParameterError
from gnn2logic.graphs.modality import Edges, Modality
from gnn2logic.logic.syntax import TRUE, modal, predicate
from molecule_samples import SMILES, smiles_file

Chem = pytest.importorskip("rdkit.Chem")
torch = pytest.importorskip("torch")
utils = pytest.importorskip("torch_geometric.utils")
from torch import nn  # noqa: E402
from torch_geometric.data import Batch  # noqa: E402
from torch_geometric.nn import GINEConv, global_max_pool  # noqa: E402


def test_the_columns_are_those_of_pyg() -> None:
    from torch_geometric.utils.smiles import x_map

    ours = [name.removeprefix("total_") for name in gl.chem.PYG_ATOM_FEATURES]
    assert ours == list(x_map)


# What OGB's reader of SMILES does with one atom and one bond.
OGB_HYBRIDISATIONS = ["SP", "SP2", "SP3", "SP3D", "SP3D2"]
OGB_BONDS = ["SINGLE", "DOUBLE", "TRIPLE", "AROMATIC"]


def index(values: list[str], value: object) -> int:
    return values.index(str(value)) if str(value) in values else len(values)


def ogb_graph(text: str) -> Any:
    graph, mol = utils.from_smiles(text), Chem.MolFromSmiles(text)
    for row, atom in zip(graph.x, mol.GetAtoms(), strict=True):
        row[0] = atom.GetAtomicNum() - 1
        row[6] = index(OGB_HYBRIDISATIONS, atom.GetHybridization())
    for number, (first, second) in enumerate(graph.edge_index.T.tolist()):
        bond = mol.GetBondBetweenAtoms(first, second)
        graph.edge_attr[number, 0] = index(OGB_BONDS, bond.GetBondType())
    return graph


READERS: dict[str, Callable[[str], Any]] = {"pyg": utils.from_smiles, "ogb": ogb_graph}
# Hydrogens that are atoms, charges of 2, and bonds of no everyday type among them.
RARE = ["[2H]C([2H])O", "[Ca+2].[O-]C", "[Fe]<-N", "C[S@](=O)CC", "O=S(=O)(O)F", "[Na+].[Cl-]"]
TEXTS = [*SMILES, *RARE]


@pytest.mark.parametrize("features", READERS)
def test_patterns_of_all_columns_match_where_they_are_true(features: str) -> None:
    graphs = gl.chem.named_pyg(map(READERS[features], TEXTS), features=features)
    batch = gl.PredicateEncoder().fit_transform(graphs)
    mols = [Chem.MolFromSmiles(text) for text in TEXTS]
    columns = ("atomic_num", "total_degree", "formal_charge", "num_hs", "is_aromatic", "is_in_ring")
    assert {name.partition("=")[0].removeprefix("ogb_") for name in batch.names} >= set(columns)
    known = [name for name in batch.names if name.removeprefix("ogb_").startswith(columns)]
    formulas = [predicate(name) for name in known]
    formulas += [modal(Modality.from_set("A", Edges(relation=bond)), TRUE, 0) for bond in BONDS]
    for formula in formulas:
        pattern = Chem.MolFromSmarts(gl.chem.to_smarts(formula))
        matched = [
            mol.HasSubstructMatch(pattern)
            and (number,) in mol.GetSubstructMatches(pattern, maxMatches=1000)
            for mol in mols
            for number in range(mol.GetNumAtoms())
        ]
        assert matched == formula.evaluate(batch, level="node").tolist(), formula


def test_the_degree_with_hydrogens_is_another_than_that_of_nodes() -> None:
    assert gl.chem.to_smarts(gl.parse("total_degree=3")) == "[X3]"
    assert gl.chem.to_smarts(gl.parse("degree=3")) == "[D3]"


SAID = {
    "1(atomic_num=6 & num_hs=0 & A[double](atomic_num=8) > 0) > 1": (
        "at least two (carbon atoms without hydrogens and double-bonded to an oxygen atom)"
    ),
    "1(ogb_atomic_num=6 & ogb_hybridization=1 & is_in_ring) > 0": (
        "at least one sp2 nitrogen atom in a ring"
    ),
    "1(atomic_num=20 & formal_charge=7) > 0": "at least one calcium atom with charge +2",
    "1(formal_charge=5 & !total_degree=3) > 0": (
        "at least one uncharged atom not with three neighbours counting hydrogens"
    ),
}


@pytest.mark.parametrize("text", SAID)
def test_words_for_these_columns(text: str) -> None:
    assert gl.chem.in_words(gl.parse(text)) == SAID[text]


def test_groups_of_these_molecules_are_named() -> None:
    rule = gl.parse("1(atomic_num=7 & formal_charge=6) > 0")
    graphs = gl.chem.named_pyg(map(utils.from_smiles, ["O=[N+]([O-])c1ccccc1", "CCN"]))
    batch = gl.PredicateEncoder().fit_transform(graphs)
    assert gl.chem.in_words(rule, batch) == "at least one nitrogen of a nitro group"


@pytest.mark.parametrize("features", READERS)
def test_drawings_are_the_molecules_that_were_read(features: str) -> None:
    # Hydrogens that are atoms, chirality and bonds of no everyday type are drawn in another way.
    texts = [text for text in TEXTS if not {"@", "<"} & set(text) and "[2H]" not in text]
    graphs = gl.chem.named_pyg(map(READERS[features], texts), features=features)
    batch = gl.PredicateEncoder().fit_transform(graphs)
    for text, graph in zip(texts, batch, strict=True):
        drawn = Chem.MolToSmiles(gl.chem.to_mol(graph))
        assert drawn == Chem.CanonSmiles(text), text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, "x of graph 1 must have the 9 columns.*nothing"),
        ({"x": torch.zeros(3, 2)}, r"9 columns.*shape \(3, 2\)"),
        ({"edge_attr": None}, "edge_attr of graph 1 .*nothing"),
        ({"edge_attr": torch.full((4, 3), 40)}, "from 0 to 21. Got 40 to 40"),
    ],
)
def test_other_graphs_are_refused(change: dict[str, Any], message: str) -> None:
    wrong = utils.from_smiles("CCO")
    wrong.update(change)
    with pytest.raises(GraphError, match=message):
        gl.chem.named_pyg([utils.from_smiles("CC"), wrong])
    with pytest.raises(ParameterError, match="features must be"):
        gl.chem.named_pyg([], features="other")


class BondNetwork(nn.Module):
    """A small GIN that reads bonds as well."""

    def __init__(self) -> None:
        super().__init__()
        layers = [nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16)]
        self.atoms, self.bonds = nn.Embedding(120, 16), nn.Embedding(22, 16)
        self.conv, self.head = GINEConv(nn.Sequential(*layers)), nn.Linear(16, 2)

    def forward(self, x: Any, edge_index: Any, edge_attr: Any, batch: Any) -> Any:
        hidden = self.conv(self.atoms(x[:, 0].long()), edge_index, self.bonds(edge_attr[:, 0]))
        return self.head(global_max_pool(hidden.relu(), batch))


def test_a_network_with_these_features_is_a_teacher() -> None:
    path = smiles_file("bbbp")
    texts = [row["smiles"] for row in csv.DictReader(path.read_text().splitlines())][:100]
    texts = [text for text in texts if Chem.MolFromSmiles(text)]
    graphs = gl.chem.named_pyg(map(utils.from_smiles, texts))
    carbonyl = Chem.MolFromSmarts("[#6]=O")
    labels = torch.tensor([Chem.MolFromSmiles(text).HasSubstructMatch(carbonyl) for text in texts])
    torch.manual_seed(0)
    network, whole = BondNetwork(), Batch.from_data_list(graphs)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(150):
        optimiser.zero_grad()
        answer = network(whole.x, whole.edge_index, whole.edge_attr, whole.batch)
        loss: Any = nn.functional.cross_entropy(answer, labels.long())
        loss.backward()
        optimiser.step()
    model = gl.distill(network.eval(), graphs, relative=False, random_state=0)
    told, formula = model.predict(graphs), model.formula(1)
    assert (told == answer.argmax(1).numpy()).mean() > 0.97
    batch = model.encoder_.transform(graphs)
    assert gl.chem.in_words(formula, batch) == "at least one oxygen of a carbonyl group"
    rule = gl.chem.smarts_rule(formula)
    assert (rule.matches(map(Chem.MolFromSmiles, texts)) == told).all()
    assert "<svg" in gl.chem.draw(batch[0]).svg


def test_rules_speak_of_these_columns() -> None:
    graphs = [utils.from_smiles(text) for text in SMILES]
    encoder = gl.PredicateEncoder(feature_names=gl.chem.PYG_ATOM_FEATURES)
    # The first column is the atomic number.
    labels = [int((graph.x[:, 0] == 8).any()) for graph in graphs]
    model = gl.IDTClassifier(encoder=encoder, random_state=0).fit(graphs, labels)
    assert model.score(graphs, labels) == 1.0
    assert "atomic_num=8" in str(model.formula(1))
