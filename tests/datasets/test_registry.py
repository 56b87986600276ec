from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counted_calls import calls
from gnn2logic import GraphBatch, datasets, from_pyg, parse, random_graphs
from gnn2logic.datasets import Dataset, NodeAttributes
from gnn2logic.exceptions import (
    DataSetError,
    DownloadError,
    FeatureError,
    GraphError,
    LabelError,
    ParameterError,
)
from tu_texts import write_folder

REAL = ["AIDS", "BZR", "MUTAG", "PROTEINS"]


def real_folder(name: str) -> Path:
    root = os.environ.get("GNN2LOGIC_DATA")
    if not root or not (Path(root) / name / "raw").is_dir():
        pytest.skip(f"GNN2LOGIC_DATA names no folder with {name}/raw")
    return Path(root) / name / "raw"


# The table -------------------------------------------------------------------------------------


def test_the_table_of_data_sets() -> None:
    table = datasets.registry()
    assert [entry.name for entry in table] == list(datasets.names())
    assert len(table) == len(set(datasets.names()))
    lines = repr(table).splitlines()
    assert len(lines) == len(table) + 1
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["name", "graphs", "nodes", "edges", "features", "classes", "source"]
    assert table["BZR"].classes == 2
    with pytest.raises(DataSetError, match="no entry 'nothing'. There are: psi_0"):
        table["nothing"]


@pytest.mark.parametrize("name", ["psi_0", "psi_1", "psi_2", "BAMultiShapes", "BA-2Motifs"])
def test_generated_data_is_what_the_table_says(name: str) -> None:
    entry, data = datasets.registry()[name], datasets.load(name)
    assert (len(data), data.n_features, data.n_classes) == (
        entry.graphs,
        entry.features,
        entry.classes,
    )
    assert data.graphs.n_nodes / len(data) == entry.nodes
    assert abs(data.n_edges / len(data) - entry.edges) < 0.3
    assert data.name == name
    assert data.description.endswith(".")


@pytest.mark.parametrize("name", REAL)
def test_real_data_is_what_the_table_says(name: str) -> None:
    real_folder(name)
    data = datasets.load(name)
    entry = datasets.registry()[name]
    assert (len(data), data.n_features, data.n_classes) == (
        entry.graphs,
        entry.features,
        entry.classes,
    )
    # Some of the averages on the page are cut, not rounded.
    assert abs(data.graphs.n_nodes / len(data) - entry.nodes) < 0.01
    assert abs(data.n_edges / len(data) - entry.edges) < 0.01
    # A loop over the lines of any file would need more: there are files with a line for each node.
    assert calls(lambda: datasets.load(name)) < data.graphs.n_nodes
    assert data.graphs.is_simple
    assert (data.graphs.predicates.sum(axis=1) == 1).all()


def test_names_of_real_labels() -> None:
    real_folder("AIDS")
    aids = datasets.load("AIDS", node_attributes=True, edge_labels=True)
    counts = {name: int(aids.graphs.column(name).sum()) for name in aids.graphs.names[:3]}
    assert counts == {"symbol=C": 19564, "symbol=O": 5492, "symbol=N": 4149}
    assert aids.class_names == ("a", "i")
    assert np.bincount(aids.y).tolist() == [400, 1600]
    assert aids.attributes is not None
    assert aids.attributes.names == ("chem", "charge", "x", "y")
    assert tuple(aids.graphs.relations) == ("valence=1", "valence=2", "valence=3")
    assert parse("1(A[valence=2] symbol=O > 0) > 0").evaluate(aids.graphs).any()
    real_folder("MUTAG")
    mutag = datasets.load("MUTAG", edge_labels=True)
    assert mutag.graphs.names == tuple(
        f"symbol={atom}" for atom in ["C", "N", "O", "F", "I", "Cl", "Br"]
    )
    assert tuple(mutag.graphs.relations) == ("aromatic", "single", "double", "triple")


@pytest.mark.parametrize("name", REAL)
def test_real_data_is_what_pyg_reads(name: str) -> None:
    folder = real_folder(name)
    read_tu_data = pytest.importorskip("torch_geometric.io").read_tu_data
    data, slices, sizes = read_tu_data(str(folder), name)
    ours = datasets.load(name)
    assert slices["x"].tolist() == ours.graphs.ptr.tolist()
    assert data.y.tolist() == ours.y.tolist()
    # Node attributes come first there, and labels that no node has are columns too.
    labels = data.x.numpy()[:, sizes["num_node_attributes"] :] != 0
    assert np.array_equal(labels[:, labels.any(axis=0)], ours.graphs.predicates)
    edges = data.edge_index.numpy()
    local = np.repeat(ours.graphs.ptr[:-1], np.diff(slices["edge_index"].numpy()))
    keys = (edges[0] + local) * ours.graphs.n_nodes + edges[1] + local
    rows, columns = ours.graphs.adjacency.nonzero()
    assert np.array_equal(
        np.sort(keys), np.sort(rows.astype(np.int64) * ours.graphs.n_nodes + columns)
    )


# Loading ---------------------------------------------------------------------------------------


def test_names_in_other_letters_are_recognised() -> None:
    with pytest.raises(DataSetError, match="no data set 'mutag'. Did you mean 'MUTAG'"):
        datasets.load("mutag")
    with pytest.raises(DataSetError, match="Did you mean 'BAMultiShapes'"):
        datasets.load("bamultishapes")


def test_close_names_are_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNN2LOGIC_CACHE", str(tmp_path))
    monkeypatch.delenv("GNN2LOGIC_DATA", raising=False)
    with pytest.raises(DataSetError, match="Did you mean 'PROTEINS'") as caught:
        datasets.load("PROTEIN", download=False)
    assert not isinstance(caught.value, DownloadError)


@pytest.mark.parametrize(
    ("name", "option", "known"),
    [
        ("psi_0", "variant", "n_graphs, generator, sizes"),
        ("psi_0", "formula", "n_graphs, generator, sizes"),
        ("BAMultiShapes", "density", "n_graphs, variant, n_nodes, attachment"),
        ("BA-2Motifs", "variant", "n_graphs, n_nodes, attachment"),
        (
            "MUTAG",
            "random_state",
            "node_labels, node_attributes, edge_labels, node_names, edge_names, download",
        ),
    ],
)
def test_unknown_options(name: str, option: str, known: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}' has no option '{option}'. It has: {known}"):
        datasets.load(name, **{option: 1})


def test_download_is_true_or_false() -> None:
    with pytest.raises(ParameterError, match="download must be True or False. Got 'false'"):
        datasets.load("MUTAG", download="false")


def test_torch_is_not_needed(tmp_path: Path) -> None:
    write_folder(tmp_path / "DS")
    code = (
        "import sys; from gnn2logic import datasets\n"
        "for name in datasets.names()[:5]: str(datasets.load(name, n_graphs=20))\n"
        "str(datasets.registry()), list(datasets.load('DS', node_attributes=True))\n"
        "print(sorted({'torch', 'networkx', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "GNN2LOGIC_DATA": str(tmp_path)},
    )
    assert done.stdout.strip() == "[]"


# The data set as a value -----------------------------------------------------------------------


def small(**changes: Any) -> Dataset:
    graphs = random_graphs(4, sizes=[1, 2, 3, 4], random_state=0)
    parts: dict[str, Any] = {
        "name": "small",
        "graphs": graphs,
        "y": [0, 1, 1, 0],
        "class_names": ("no", "yes"),
        "motifs": {"ring": np.arange(10) % 2 == 0, "star": np.arange(10) == 9},
        "attributes": NodeAttributes(("weight",), np.arange(10.0)[:, None]),
    }
    return Dataset(**{**parts, **changes})


def test_unpacking_and_length() -> None:
    data = small(attributes=None)
    graphs, y = data
    assert graphs is data.graphs
    assert y is data.y
    assert len(data) == 4
    assert repr(data) == "Dataset('small', 4 graphs, 2 features, 2 classes)"


def test_nothing_can_be_changed() -> None:
    given = np.array([0, 1, 1, 0])
    data = small(y=given)
    given[0] = 1
    assert data.y.tolist() == [0, 1, 1, 0]
    assert data.motifs is not None
    assert data.attributes is not None
    for array in (data.y, data.motifs["ring"], data.attributes.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        data.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        data.motifs["ring"] = data.y  # type: ignore[index]


def test_taking_graphs_takes_all_that_belongs_to_them() -> None:
    data = small()
    part = data.take([3, 1])
    assert part.y.tolist() == [0, 1]
    assert part.graphs == data.graphs.take([3, 1])
    assert part.attributes is not None
    assert part.attributes.values[:, 0].tolist() == [6, 7, 8, 9, 1, 2]
    assert part.motifs is not None
    assert part.motifs["star"].tolist() == [False, False, False, True, False, False]
    assert part.motifs["ring"].tolist() == [True, False, True, False, False, True]
    assert data.take(np.array([True, False, False, True])).graphs.sizes.tolist() == [1, 4]
    with pytest.raises(GraphError):
        data.take([4])


def test_pickling() -> None:
    data = small(truth=parse("1 U0 > 0"))
    again = pickle.loads(pickle.dumps(data))
    assert again.graphs == data.graphs
    assert again.truth is data.truth
    assert again.motifs["star"].tolist() == data.motifs["star"].tolist()  # type: ignore[index]
    assert str(again) == str(data)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"y": [0, 1]}, LabelError, r"one label for each of the 4 graphs. Got shape \(2,\)"),
        ({"y": [0, 0.5, 1, 0]}, LabelError, "whole numbers. Got dtype float64"),
        ({"y": [0, 1, 2, 0]}, LabelError, "numbers from 0 to 1.*Got numbers from 0 to 2"),
        ({"class_names": ("a", "a")}, FeatureError, "Class names must be distinct"),
        ({"motifs": {"m": [True]}}, GraphError, "motif 'm' must have one row for each of the 10"),
        ({"attributes": NodeAttributes(("a",), np.ones((3, 1)))}, GraphError, "Got 3 rows"),
    ],
)
def test_parts_must_fit(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        small(**changes)


def test_attributes_must_be_numbers() -> None:
    with pytest.raises(FeatureError, match="must be finite"):
        NodeAttributes(("a",), np.array([[np.nan]]))
    with pytest.raises(FeatureError, match=r"Got shape \(1, 1\) for 2 names"):
        NodeAttributes(("a", "b"), np.ones((1, 1)))


def test_edges_are_counted_once() -> None:
    loop_and_edge = GraphBatch(None, [[1, 1], [1, 0]])
    one_way = GraphBatch(None, [[0, 1], [0, 0]])
    for graphs, expected in ((loop_and_edge, 2), (one_way, 1)):
        assert Dataset("x", graphs, np.array([0]), ("only",)).n_edges == expected


def test_as_pyg() -> None:
    pytest.importorskip("torch_geometric")
    data = small()
    found = data.to_pyg()
    assert [int(item.y) for item in found] == [0, 1, 1, 0]
    assert [item.x.shape for item in found] == [(1, 3), (2, 3), (3, 3), (4, 3)]
    assert found[3].x[:, 2].tolist() == [6, 7, 8, 9]
    assert found[3].node_mask.tolist() == [True, False, True, True]
    plain = small(attributes=None, motifs=None)
    assert from_pyg(plain.to_pyg()) == plain.graphs
