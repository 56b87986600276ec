from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, from_adjacency, from_edges

PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_one_matrix_also_as_nested_lists() -> None:
    expected = GraphBatch([[1], [0], [0]], PATH, names=["red"])
    assert from_adjacency(PATH, [[1], [0], [0]], names=["red"]) == expected
    assert from_adjacency(sp.csc_array(PATH), np.array([[1], [0], [0]]), names=["red"]) == expected


def test_many_matrices() -> None:
    batch = from_adjacency([PATH, np.zeros((1, 1))], [[[1], [0], [0]], [[1]]])
    assert batch.n_graphs == 2
    assert batch[0] == from_adjacency(PATH, [[1], [0], [0]])
    assert batch[1] == GraphBatch([[1]], [[0]])


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    matrix = torch.tensor(PATH, dtype=torch.float32, requires_grad=True)
    assert from_adjacency(matrix) == from_adjacency(PATH)
    with pytest.raises(UnsupportedInputError, match="of graph 0 must be dense.*to_dense"):
        from_adjacency(torch.tensor(PATH).to_sparse())


def test_multi_edges_and_repeated_entries_count() -> None:
    entries = ([1, 1, 1], ([0, 0, 1], [1, 1, 1]))
    batch = from_adjacency(sp.coo_array(entries, shape=(2, 2)))
    assert batch == GraphBatch(None, [[0, 2], [0, 1]])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"adjacency matrix of graph 1 must be square. Got shape \(2, 3\)"),
        (np.array([[0, -1], [0, 0]]), "graph 1 must hold edge counts.*Got -1 at row 0, column 1"),
        (np.array([[0, 0.5], [0, 0]]), "graph 1 must hold edge counts.*Got 0.5 at row 0, column 1"),
        (np.array([[0, np.nan], [0, 0]]), "graph 1 must hold edge counts.*Got nan"),
        (np.array([["a", "b"], ["c", "d"]]), "graph 1 must hold numbers. Got dtype <U1"),
    ],
)
def test_bad_matrices_are_named(matrix: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        from_adjacency([np.array(PATH), matrix])


def test_numbers_of_matrices_and_features_agree() -> None:
    with pytest.raises(GraphError, match="one feature matrix for each.*Got 1 for 2"):
        from_adjacency([np.array(PATH), np.array(PATH)], [np.zeros((3, 1))])
    with pytest.raises(GraphError, match="one feature matrix for each.*Got 1 for 2"):
        from_adjacency([np.array(PATH), np.array(PATH)], 3)
    with pytest.raises(GraphError, match="Got an empty list"):
        from_adjacency([])
    with pytest.raises(UnsupportedInputError, match="Expected square matrices. Got str"):
        from_adjacency("graph")


def test_edges_are_directed_as_given() -> None:
    batch = from_edges([(0, 1), (0, 1), (2, 2)], 4)
    expected = np.zeros((4, 4), dtype=int)
    expected[0, 1], expected[2, 2] = 2, 1
    assert batch == GraphBatch(None, expected)
    np.testing.assert_array_equal(
        batch.symmetrize().adjacency.toarray(), np.maximum(expected, expected.T)
    )


def test_edge_labels_are_relations() -> None:
    batch = from_edges(np.array([(0, 1), (1, 0), (0, 1)]), 2, relations=["b", 7, "b"])
    assert batch.relations["b"].toarray().tolist() == [[0, 2], [0, 0]]
    assert batch.relations["7"].toarray().tolist() == [[0, 0], [1, 0]]
    assert batch.adjacency.toarray().tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize("edges", [[], np.zeros((0, 2)), np.zeros((2, 0))])
def test_no_edges(edges: Any) -> None:
    assert from_edges(edges, 3) == GraphBatch(None, np.zeros((3, 3)))
    assert not from_edges(edges, 3, relations=[]).relations


@pytest.mark.parametrize(
    ("edges", "num_nodes", "message"),
    [
        (np.zeros((2, 5), dtype=int), 3, r"Got shape \(2, 5\) instead. Transpose it"),
        ([0, 1], 3, r"Got shape \(2,\)"),
        ([(0, 1), (1,)], 3, "edges must be an array. Got rows of unequal length"),
        ([(0.0, 1.0)], 3, "must hold node numbers as whole numbers. Got dtype float64"),
        ([(0, 1), (1, 3)], 3, "between 0 and 2 in graph 0, .* Got 3 as the target of edge 1"),
        ([(0, 1), (-1, 0)], 3, "Got -1 as the source of edge 1"),
        ([], 0, "Graph 0 must have at least one node. Got 0"),
        ([], 2.0, "n_nodes must be a whole number. Got 2.0"),
        ([], True, "n_nodes must be a whole number. Got True"),
    ],
)
def test_bad_edge_lists(edges: Any, num_nodes: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        from_edges(edges, num_nodes)


def test_bad_labels() -> None:
    with pytest.raises(GraphError, match="one label for each of the 1 edges. Got 2 labels"):
        from_edges([(0, 1)], 2, relations=["a", "b"])
    with pytest.raises(GraphError, match="one label for each of the 1 edges. Got 'a'"):
        from_edges([(0, 1)], 2, relations="a")
    with pytest.raises(GraphError, match="one label for each of the 1 edges. Got 5"):
        from_edges([(0, 1)], 2, relations=5)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedInputError, match=r"string or a whole number. Got 1\.5"):
        from_edges([(0, 1)], 2, relations=[1.5])  # type: ignore[list-item]
    with pytest.raises(FeatureError, match="Relation name must not be empty"):
        from_edges([(0, 1)], 2, relations=[""])
    with pytest.raises(GraphError, match="at most 1000 different values.*Got 1001"):
        from_edges([(0, 1)] * 1001, 2, relations=list(range(1001)))
