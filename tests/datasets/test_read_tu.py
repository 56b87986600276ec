from __future__ import annotations

import os
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnn2logic import IDTClassifier, PredicateEncoder
from gnn2logic.datasets import Dataset, read_tu, tu, tu_files
from gnn2logic.exceptions import DataSetError, ParameterError
from tu_texts import GOOD, write_folder

ALL: dict[str, Any] = {"node_attributes": True, "edge_labels": True}

README = """README for dataset DS

(4) \tDS_node_labels.txt (n lines)
\tcolumn vector of node labels,
\tclass labels for all graphs in the dataset,

Node labels:\t\t[symbol]

Node attributes:\t[charge, x]

Node labels were converted to integer values using this map:

Component 0:
\t0\tC
\t1\tCl\x20
\t2\tN

Edge labels:

  0  single
  1  double

Class labels were converted to integer values using this map:

\t-1\tinactive
\t1\tactive
"""


def edges_of(data: Dataset) -> set[tuple[int, int]]:
    rows, columns = data.graphs.adjacency.nonzero()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


# What is valid ---------------------------------------------------------------------------------


def test_everything_in_the_folder_is_read(tmp_path: Path) -> None:
    data = read_tu(write_folder(tmp_path), "DS", **ALL)
    assert data.graphs.sizes.tolist() == [3, 2, 1]
    assert edges_of(data) == {(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)}
    assert data.graphs.names == ("label=0", "label=1", "label=2")
    assert data.graphs.column("label=1").tolist() == [False, True, False, True, True, False]
    assert data.class_names == ("-1", "1")
    assert data.y.tolist() == [1, 0, 1]
    assert data.attributes is not None
    assert data.attributes.names == ("x0", "x1")
    assert data.attributes.values.tolist() == [
        [0.5, 1], [-1000, 2], [0.25, 3], [1, 4], [2, 5], [3, 6]
    ]  # fmt: skip
    assert set(data.graphs.relations) == {"0", "1"}
    assert data.graphs.relations["0"].nonzero()[0].tolist() == [0, 1]
    assert data.n_edges == 3


def test_labels_only_by_default(tmp_path: Path) -> None:
    data = read_tu(write_folder(tmp_path, node_attributes="junk", edge_labels="junk"), "DS")
    assert data.attributes is None
    assert not data.graphs.relations
    assert data.inputs is data.graphs
    assert read_tu(write_folder(tmp_path), "DS", node_labels=False).graphs.names == ()


def test_names_come_from_the_text_in_the_folder(tmp_path: Path) -> None:
    data = read_tu(write_folder(tmp_path, README=README), "DS", **ALL)
    assert data.graphs.names == ("symbol=C", "symbol=Cl", "symbol=N")
    assert tuple(data.graphs.relations) == ("single", "double")
    assert data.class_names == ("inactive", "active")
    assert data.attributes is not None
    assert data.attributes.names == ("charge", "x")


def test_names_that_would_mix_labels_up_are_not_used(tmp_path: Path) -> None:
    text = "Node labels:\n  0  C\n  1  C\n"
    data = read_tu(write_folder(tmp_path, README=text), "DS")
    assert data.graphs.names == ("label=0", "label=1", "label=2")


CONVERTED = "labels were converted to integer values using this map:"


def test_texts_with_the_number_behind_the_element(tmp_path: Path) -> None:
    text = f"Node {CONVERTED}\n\nComponent 0:\nO 0\nC 1\nU 2\n"
    for name, names in (("DS", ["label=O", "label=C", "label=U"]), ("P388", ["symbol=O"])):
        folder = write_folder(tmp_path / name, README=text)
        for path in list(folder.glob("DS_*")):
            path.rename(folder / path.name.replace("DS", name))
        data = read_tu(folder, name, edge_labels=True)
        assert list(data.graphs.names[: len(names)]) == names
    edges = f"Edge {CONVERTED}\n\t0\t1\n\t1\t2\n"
    (folder / "README.txt").write_text(text + "\n" + edges)
    data = read_tu(folder, "P388", edge_labels=True)
    assert data.graphs.relation_names == ("valence=1", "valence=2")


def test_names_that_are_given(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, README=README)
    data = read_tu(
        folder, "DS", edge_labels=True, node_names={"0": "O", 1: "N"}, edge_names={1: "far"}
    )
    assert data.graphs.names == ("symbol=O", "symbol=N", "symbol=2")
    assert data.graphs.relation_names == ("0", "far")
    numbers = read_tu(
        write_folder(tmp_path, node_labels="6\n7\n8\n6\n6\n6\n"), "DS", node_names="atomic_numbers"
    )
    assert numbers.graphs.names == ("symbol=C", "symbol=N", "symbol=O")
    wrongs: list[Any] = [{}, {"a": "C"}, {0: 1}, ["C"], "elements"]
    for wrong in wrongs:
        with pytest.raises(ParameterError, match="node_names must map numbers"):
            read_tu(folder, "DS", node_names=wrong)


def test_a_value_without_a_name_keeps_its_number(tmp_path: Path) -> None:
    data = read_tu(write_folder(tmp_path, README="Node labels:\n  0  C\n"), "DS")
    assert data.graphs.names == ("label=C", "label=1", "label=2")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n\n",
        lambda text: text + " \r\n",
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", " \t\n").replace(", ", "\t ,"),
        lambda text: re.sub(r"(?m)^(?=\d)", "+", text),
    ],
    ids=["crlf", "bom", "blank end", "spaces at end", "no last newline", "spaces", "plus"],
)
def test_ways_to_write_the_same(tmp_path: Path, change: Callable[[str], str]) -> None:
    expected = read_tu(write_folder(tmp_path), "DS", **ALL)
    changed = {part: change(text) for part, text in GOOD.items()}
    data = read_tu(write_folder(tmp_path, **changed), "DS", **ALL)
    assert data.graphs == expected.graphs
    assert data.y.tolist() == expected.y.tolist()


def test_one_way_double_and_loop_edges_stay(tmp_path: Path) -> None:
    data = read_tu(
        write_folder(tmp_path, A="1, 2\n1, 2\n6, 6\n", edge_labels="0\n1\n0\n"), "DS", **ALL
    )
    assert data.graphs.adjacency[0, 1] == 2
    assert data.graphs.adjacency[1, 0] == 0
    assert data.graphs.adjacency[5, 5] == 1
    assert data.graphs.relations["1"][0, 1] == 1
    assert data.n_edges == 3


def test_no_edges_at_all(tmp_path: Path) -> None:
    data = read_tu(write_folder(tmp_path, A="", edge_labels="\n"), "DS", **ALL)
    assert data.n_edges == 0
    assert len(data) == 3


def test_no_node_labels(tmp_path: Path) -> None:
    assert read_tu(write_folder(tmp_path, node_labels=None), "DS").graphs.names == ()


def test_several_columns_of_labels(tmp_path: Path) -> None:
    texts = write_folder(
        tmp_path,
        node_labels="0, 7\n1, 7\n0, 7\n1, 8\n1, 8\n2, 8\n",
        edge_labels="0,1\n" * 5 + "1,1\n",
    )
    data = read_tu(texts, "DS", **ALL)
    assert data.graphs.names == ("label0=0", "label0=1", "label0=2", "label1=7", "label1=8")
    assert data.graphs.predicates.sum(axis=1).tolist() == [2] * 6
    assert {name: int(m.sum()) for name, m in data.graphs.relations.items()} == {
        "0=0": 5,
        "0=1": 1,
        "1=1": 6,
    }
    (texts / "README.txt").write_text("Node labels: [kind, side]\n")
    assert "side=7" in read_tu(texts, "DS").graphs.names


def test_the_name_is_the_folder_s(tmp_path: Path) -> None:
    for folder in (tmp_path / "DS", tmp_path / "other" / "DS" / "raw"):
        write_folder(folder)
        assert read_tu(folder).name == "DS"
        assert len(read_tu(str(folder))) == 3


def test_estimators_cut_attributes_into_predicates(tmp_path: Path) -> None:
    data = read_tu(write_folder(tmp_path), "DS", **ALL)
    graphs, y = data
    encoder = PredicateEncoder().fit(graphs)
    assert encoder.names_[:3] == ("label=0", "label=1", "label=2")
    assert any(name.startswith("x0 > ") for name in encoder.names_)
    assert encoder.relations_ == ("0", "1")
    encoded = encoder.transform(graphs)
    assert np.array_equal(encoded.adjacency.toarray(), data.graphs.adjacency.toarray())
    assert np.array_equal(encoded.column("label=1"), data.graphs.column("label=1"))
    assert len(IDTClassifier(n_layers=1, random_state=0).fit(graphs, y).predict(graphs)) == 3


def test_numbers_of_graphs(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, graph_labels=None, graph_attributes="0.5, 1\n-2, 2\n1e3, 3\n")
    data = read_tu(folder, "DS", task="regression", target=0)
    assert data.numbers is not None
    assert data.numbers.tolist() == [0.5, -2.0, 1000.0]
    assert data.take([1]).numbers == [-2.0]
    with pytest.raises(ParameterError, match="which of the 2 columns"):
        read_tu(folder, "DS", task="regression")
    with pytest.raises(ParameterError, match="target must be a whole number from 0 to 1"):
        read_tu(folder, "DS", task="regression", target=2)
    with pytest.raises(ParameterError, match="target is for task='regression'"):
        read_tu(folder, "DS", target=0)
    write_folder(tmp_path, graph_attributes="1\n2\n")
    with pytest.raises(DataSetError, match=r"DS_graph_attributes.txt, line 3: .* 3 graphs"):
        read_tu(folder, "DS", task="regression")
    write_folder(tmp_path, graph_attributes=None)
    with pytest.raises(DataSetError, match="must hold the numbers of graphs"):
        read_tu(folder, "DS", task="regression")


# What is broken --------------------------------------------------------------------------------

BROKEN: dict[str, tuple[dict[str, str | bytes | None], str]] = {
    "missing edges": ({"A": None}, r"DS_A.txt: the file is missing"),
    "missing indicator": (
        {"graph_indicator": None},
        r"DS_graph_indicator.txt: the file is missing",
    ),
    "missing labels": ({"graph_labels": None}, r"DS_graph_labels.txt: the file is missing"),
    "regression": (
        {"graph_labels": None, "graph_attributes": "0.5\n"},
        r"DS_graph_labels.txt: .* only DS_graph_attributes.txt",
    ),
    "missing attributes": (
        {"node_attributes": None},
        r"DS_node_attributes.txt: the file is missin",
    ),
    "missing edge labels": ({"edge_labels": None}, r"DS_edge_labels.txt: the file is missing"),
    "truncated edge": ({"A": "1, 2\n2,"}, r"DS_A.txt, line 2: .* 2 whole numbers.*Got '2,'"),
    "half an edge": ({"A": "1, 2\n2"}, r"DS_A.txt, line 2: .* Got '2'"),
    "three ends": ({"A": "1, 2, 3\n"}, r"DS_A.txt, line 1: .* 2 whole numbers"),
    "node 0": (
        {"A": "1, 2\n0, 1\n"},
        r"DS_A.txt, line 2: nodes must be numbered from 1 to 6.*Got 0",
    ),
    "negative node": ({"A": "1, 2\n2, 1\n-1, 1\n"}, r"DS_A.txt, line 3: .*Got -1"),
    "node past the end": ({"A": "1, 7\n"}, r"DS_A.txt, line 1: .*Got 7"),
    "huge node": ({"A": "1, 999999999999999999\n"}, r"DS_A.txt, line 1: .*Got 9{18}"),
    "overflow": ({"A": "1, 2\n1, 99999999999999999999\n"}, r"DS_A.txt, line 2: .*18 digits"),
    "edge across graphs": (
        {"A": "1, 2\n3, 4\n"},
        r"DS_A.txt, line 2: an edge .* node 3 of graph 1 and node 4 of graph 2",
    ),
    "word": ({"A": "1, 2\none, 2\n"}, r"DS_A.txt, line 2: .*Got 'one, 2'"),
    "decimal node": ({"A": "1, 2.0\n"}, r"DS_A.txt, line 1: .*whole numbers.*Got '1, 2.0'"),
    "blank line inside": ({"A": "1, 2\n\n2, 1\n"}, r"DS_A.txt, line 2: .*Got an empty line"),
    "blank first line": ({"A": "\n1, 2\n"}, r"DS_A.txt, line 1: .*Got an empty line"),
    "comment": ({"A": "1, 2\n# more\n"}, r"DS_A.txt, line 2: .*Got '# more'"),
    "semicolon": ({"A": "1; 2\n"}, r"DS_A.txt, line 1"),
    "carriage returns alone": ({"A": "1, 2\r2, 1\r"}, r"DS_A.txt, line 1: .*\\r"),
    "binary junk": ({"A": b"\x00\xff\xfe1, 2\n"}, r"DS_A.txt, line 1: .*\\\\xff"),
    "digits of another script": ({"A": "\u0661, 2\n"}, r"DS_A.txt, line 1"),
    "utf-16": ({"graph_labels": "1\n-1\n1\n".encode("utf-16")}, r"DS_graph_labels.txt, line 1"),
    "empty indicator": ({"graph_indicator": ""}, r"DS_graph_indicator.txt, line 1: .*not be empty"),
    "graphs from 0": (
        {"graph_indicator": "0\n0\n0\n1\n1\n2\n"},
        r"DS_graph_indicator.txt, line 1: graphs are numbered from 1 on. Got graph 0",
    ),
    "gap in the indicator": (
        {"graph_indicator": "1\n1\n1\n3\n3\n4\n"},
        r"DS_graph_indicator.txt, line 4: .*Got graph 3 after graph 1",
    ),
    "indicator falls": (
        {"graph_indicator": "1\n1\n1\n2\n1\n3\n"},
        r"DS_graph_indicator.txt, line 5: .*Got graph 1 after graph 2",
    ),
    "huge graph": (
        {"graph_indicator": "1\n1\n1\n2\n2\n999999999999999999\n"},
        r"DS_graph_indicator.txt, line 6",
    ),
    "too few graph labels": (
        {"graph_labels": "1\n-1\n"},
        r"DS_graph_labels.txt, line 3: the file ends too early.* 3 graphs .*Got 2 lines",
    ),
    "too many graph labels": (
        {"graph_labels": "1\n-1\n1\n1\n"},
        r"DS_graph_labels.txt, line 4: the file goes on too long.* 3 graphs .*Got 4 lines",
    ),
    "two labels of a graph": ({"graph_labels": "1, 2\n"}, r"DS_graph_labels.txt, line 1"),
    "fractional class": ({"graph_labels": "1\n0.5\n1\n"}, r"DS_graph_labels.txt, line 2"),
    "too few node labels": ({"node_labels": "0\n1\n"}, r"DS_node_labels.txt, line 3: .* 6 nodes"),
    "too many node labels": ({"node_labels": "0\n" * 7}, r"DS_node_labels.txt, line 7: .* 6 nodes"),
    "ragged node labels": ({"node_labels": "0, 1\n0\n"}, r"DS_node_labels.txt, line 2"),
    "nan": (
        {"node_attributes": "0.5, 1\nnan, 2\n"},
        r"DS_node_attributes.txt, line 2: .*2 finite numbers.*'nan, 2'",
    ),
    "inf": ({"node_attributes": "0.5, inf\n"}, r"DS_node_attributes.txt, line 1"),
    "float overflow": (
        {"node_attributes": "1\n1e999\n"},
        r"DS_node_attributes.txt, line 2: .*finite",
    ),
    "ragged attributes": (
        {"node_attributes": "0.5, 1\n1, 2\n1, 2, 3\n"},
        r"DS_node_attributes.txt, line 3: .*2 finite numbers",
    ),
    "hexadecimal": ({"node_attributes": "0x10\n"}, r"DS_node_attributes.txt, line 1"),
    "too few attributes": ({"node_attributes": "0.5, 1\n"}, r"DS_node_attributes.txt, line 2"),
    "too few edge labels": ({"edge_labels": "0\n" * 5}, r"DS_edge_labels.txt, line 6: .* 6 edges"),
    "too many edge labels": ({"edge_labels": "0\n" * 7}, r"DS_edge_labels.txt, line 7"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_folders(tmp_path: Path, kind: str) -> None:
    changes, message = BROKEN[kind]
    folder = write_folder(tmp_path, **changes)
    with pytest.raises(DataSetError, match=message) as caught:
        read_tu(folder, "DS", **ALL)
    assert str(folder) in str(caught.value)


def test_too_many_labels_are_refused(tmp_path: Path) -> None:
    n_nodes = 1001
    numbers = "".join(f"{node}\n" for node in range(n_nodes))
    folder = write_folder(
        tmp_path, A="", graph_indicator="1\n" * n_nodes, graph_labels="1\n", node_labels=numbers
    )
    with pytest.raises(DataSetError, match=r"at most 1000 .*Got 1001; .*node_labels=False"):
        read_tu(folder, "DS")
    assert read_tu(folder, "DS", node_labels=False).graphs.n_nodes == n_nodes


def test_a_long_line_is_shown_in_part(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"line 1") as caught:
        read_tu(write_folder(tmp_path, A="x" * 100_000), "DS")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("option", ["node_labels", "node_attributes", "edge_labels"])
@pytest.mark.parametrize("value", ["false", 0, None])
def test_options_are_true_or_false(tmp_path: Path, option: str, value: Any) -> None:
    folder = write_folder(tmp_path)
    with pytest.raises(ParameterError, match=f"{option} must be True or False. Got {value!r}"):
        read_tu(folder, "DS", **{option: value})
    true: Any = np.True_
    assert len(read_tu(folder, "DS", **{option: true})) == 3


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"nowhere: a folder .* must be there"):
        read_tu(tmp_path / "nowhere")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_something_else_in_place_of_a_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    folder = write_folder(tmp_path, A=None)
    make(folder / "DS_A.txt")
    with pytest.raises(DataSetError, match=r"DS_A.txt: the file cannot be read: it is not a plain"):
        read_tu(folder, "DS")


# Memory --------------------------------------------------------------------------------------


def peak_of(folder: Path, **options: Any) -> float:
    """Return how much memory is taken at most, as a multiple of the size of the files."""
    tracemalloc.start()
    try:
        read_tu(folder, "DS", **options)
        return tracemalloc.get_traced_memory()[1] / sum(f.stat().st_size for f in folder.iterdir())
    finally:
        tracemalloc.stop()


def test_files_are_never_in_memory_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tu_files, "_BLOCK_BYTES", 2**14)
    monkeypatch.setattr(tu, "_BLOCK_ROWS", 2**12)
    rng = np.random.default_rng(0)
    n_graphs, size, per_graph = 500, 50, 500
    first = np.repeat(np.arange(n_graphs) * size, per_graph) + 1
    ends = rng.integers(size, size=(2, n_graphs * per_graph)) + first
    folder = write_folder(
        tmp_path,
        A="\n".join(f"{a}, {b}" for a, b in ends.T.tolist()),
        graph_indicator="\n".join(f"{1 + node // size}" for node in range(n_graphs * size)),
        graph_labels="\n".join("01"[n % 2] for n in range(n_graphs)),
        node_labels="\n".join("0123"[n % 4] for n in range(n_graphs * size)),
        node_attributes=None,
        edge_labels=None,
    )
    assert peak_of(folder) < 2.5


def test_lines_shorter_than_the_first_promises(tmp_path: Path) -> None:
    # Room for as many rows as there are lines would be 80 GB.
    text = ",".join("1" * 100_000) + "\n" + "1\n" * 100_000
    folder = write_folder(tmp_path, node_attributes=text)
    with pytest.raises(DataSetError, match="node_attributes.txt, line 2: a line must hold 100000"):
        peak_of(folder, node_attributes=True)


def test_a_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tu_files, "_BLOCK_BYTES", 2**10)
    monkeypatch.setattr(tu_files, "_MOST_LINE_BYTES", 2**12)
    folder = write_folder(tmp_path, A="1, 2\n" + "1" * 10**5)
    with pytest.raises(DataSetError, match="A.txt, line 2: a line must have at most 4096 bytes"):
        read_tu(folder, "DS")
