"""Dispatch: every kind of input gives the same graphs, anything else a clear error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, as_batch, from_edges

# A triangle with a tail, a loop at node 0 and an isolated node at the end.
DENSE = np.array(
    [
        [1, 1, 1, 0, 0],
        [1, 0, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
)
EXPECTED = GraphBatch(None, DENSE)


def stored_zeros() -> sp.csr_array:
    rows, columns = np.indices(DENSE.shape)
    return sp.csr_array((DENSE.ravel(), (rows.ravel(), columns.ravel())), shape=DENSE.shape)


def string_labelled() -> Any:
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_nodes_from("zyxwv")
    graph.add_edges_from([("z", "z"), ("z", "y"), ("z", "x"), ("x", "y"), ("w", "x")])
    return graph


def pyg_like() -> Any:
    return SimpleNamespace(edge_index=np.array(np.nonzero(DENSE)), num_nodes=5, x=None)


FORMS: dict[str, Callable[[], Any]] = {
    "batch": lambda: EXPECTED,
    "dense": DENSE.copy,
    "float": lambda: DENSE.astype(float),
    "bool": lambda: DENSE.astype(bool),
    "csr": lambda: sp.csr_array(DENSE),
    "csc": lambda: sp.csc_array(DENSE),
    "coo": lambda: sp.coo_array(DENSE),
    "lil": lambda: sp.lil_array(DENSE),
    "spmatrix": lambda: sp.csr_matrix(DENSE),
    "stored zeros": stored_zeros,
    "networkx": string_labelled,
    "pyg": pyg_like,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_graph(form: str) -> None:
    make = FORMS[form]
    assert as_batch(make()) == EXPECTED
    two = GraphBatch.concat([EXPECTED, EXPECTED])
    assert as_batch([make(), make()]) == two
    assert as_batch((make(), make())) == two
    assert as_batch(make() for _ in range(2)) == two


def test_a_batch_is_returned_as_it_is() -> None:
    assert as_batch(EXPECTED) is EXPECTED


def test_matrices_with_features_in_pairs() -> None:
    features = np.eye(5, 2)
    batch = as_batch([(DENSE, features), (DENSE, features)], feature_names=["a", "b"])
    assert batch.names == ("a", "b")
    np.testing.assert_array_equal(batch.predicates, np.vstack([features, features]) == 1)
    assert as_batch([(sp.csr_array(DENSE), None)]) == EXPECTED


def test_a_stack_of_matrices_is_many_graphs() -> None:
    assert as_batch(np.stack([DENSE, DENSE])).n_graphs == 2


@pytest.mark.parametrize("empty", [[], (), np.zeros((0, 3, 3)), iter(())])
def test_no_graph_is_an_error(empty: Any) -> None:
    with pytest.raises(GraphError, match=r"At least one graph is needed\. Got an empty \w+"):
        as_batch(empty)


@pytest.mark.parametrize("empty", [np.zeros((0, 0)), SimpleNamespace(edge_index=None, num_nodes=0)])
def test_a_graph_without_nodes_is_named(empty: Any) -> None:
    full = DENSE if isinstance(empty, np.ndarray) else pyg_like()
    with pytest.raises(GraphError, match="Graph 2 must have at least one node. Got 0 nodes"):
        as_batch([full, full, empty])


@pytest.mark.parametrize("odd", ["graph", b"graph", {"x": 1}, 5, None, object()])
def test_other_objects_are_refused_by_type(odd: Any) -> None:
    name = type(odd).__name__
    with pytest.raises(UnsupportedInputError, match=f"Expected a GraphBatch.* Got {name} instead"):
        as_batch(odd)
    with pytest.raises(UnsupportedInputError, match=f"Got {name} at position 1 instead"):
        as_batch([DENSE, odd])


def test_nested_lists_are_not_guessed() -> None:
    with pytest.raises(UnsupportedInputError, match="Got list at position 0"):
        as_batch([[0, 1], [1, 0]])


def test_kinds_are_not_mixed() -> None:
    with pytest.raises(UnsupportedInputError, match=r"Got ndarray at position 0 and .* position 1"):
        as_batch([DENSE, EXPECTED])


def test_batches_with_other_predicates_do_not_join() -> None:
    named = GraphBatch(np.zeros((5, 1)), DENSE, names=["red"])
    with pytest.raises(FeatureError, match="Batch 0 has 0 .* batch 1 has 1 .*'red'"):
        as_batch([EXPECTED, named])


@pytest.mark.parametrize(
    ("graphs", "option", "reader"),
    [
        (DENSE, {"edge_types": "edge_attr"}, "PyTorch Geometric"),
        (DENSE, {"node_attributes": ["x"]}, "networkx"),
        (pyg_like(), {"edge_attributes": ()}, "networkx"),
    ],
)
def test_options_of_another_reader_are_refused(
    graphs: Any, option: dict[str, Any], reader: str
) -> None:
    with pytest.raises(UnsupportedInputError, match=f"{next(iter(option))} is only for {reader}"):
        as_batch(graphs, **option)


def test_names_for_networkx_and_batches() -> None:
    with pytest.raises(UnsupportedInputError, match="feature_names is only for feature matrices"):
        as_batch(string_labelled(), feature_names=["a"])
    named = GraphBatch(np.zeros((5, 1)), DENSE, names=["red"])
    assert as_batch(named, feature_names=["red"]) is named
    for graphs in (named, [named]):
        with pytest.raises(FeatureError, match=r"\('blue'\) for a batch with \('red'\)"):
            as_batch(graphs, feature_names=["blue"])


def test_features_of_other_widths() -> None:
    pairs = [(DENSE, np.zeros((5, 2))), (DENSE, np.zeros((5, 2))), (DENSE, np.zeros((5, 3)))]
    with pytest.raises(FeatureError, match="Got 2 in graph 0 and 3 in graph 2"):
        as_batch(pairs)
    with pytest.raises(FeatureError, match="Got 0 in graph 0 and 2 in graph 1"):
        as_batch([(DENSE, None), pairs[0]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_located(value: float) -> None:
    features = np.zeros((5, 2))
    features[3, 1] = value
    with pytest.raises(FeatureError, match=f"Got {value} at node 3 of graph 1, column 'charge'"):
        as_batch([(DENSE, np.zeros((5, 2))), (DENSE, features)], feature_names=["a", "charge"])


def test_other_numbers_need_the_encoder() -> None:
    features = np.zeros((5, 2))
    features[4, 0] = 0.37
    with pytest.raises(
        FeatureError,
        match=r"Column 'U0' must be Boolean.*Got 0.37 at node 4 of graph 1.*PredicateEncoder\(\)"
        r"\.fit\(train\)\.transform\(graphs\)",
    ):
        as_batch([(DENSE, np.zeros((5, 2))), (DENSE, features)])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros(5), r"shape \(5,\) instead\. For one feature per node use x\.reshape\(-1, 1\)"),
        (np.zeros((5, 1, 1)), r"shape \(5, 1, 1\)"),
        (np.zeros((4, 2)), "features of graph 0 must have one row for each of its 5 nodes. Got 4"),
        (np.full((5, 1), "a"), "features of graph 0 must be numbers. Got dtype <U1"),
        ([[1], [1, 2], [1], [1], [1]], "features of graph 0 must be an array.*unequal length"),
    ],
)
def test_feature_matrices_of_a_wrong_form(features: Any, message: str) -> None:
    with pytest.raises(FeatureError, match=message):
        as_batch([(DENSE, features)])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "Got 1 names for 2 columns"),
        (["a", "a"], "Feature names must be distinct. Got 'a' twice"),
        (["a", ""], "must not be empty"),
        ("ab", "single string 'ab'"),
        (3, "Feature names must be a sequence of strings. Got 3 instead"),
        (["a", 3], "must be a string. Got 3"),
    ],
)
def test_feature_names_are_checked(names: Any, message: str) -> None:
    with pytest.raises(FeatureError, match=message):
        as_batch([(DENSE, np.zeros((5, 2)))], feature_names=names)


def test_odd_names_are_kept() -> None:
    names = ['say "hi"', "a > b", r"$\alpha$", "<b>x</b>"]
    assert as_batch([(DENSE, np.zeros((5, 4)))], feature_names=names).names == tuple(names)


def test_inputs_are_never_changed_or_shared() -> None:
    matrix, features = sp.coo_array(stored_zeros()), np.eye(5, 2)
    data = pyg_like()
    before = matrix.copy(), features.copy(), data.edge_index.copy()
    batch = as_batch([(matrix, features)])
    other = as_batch(data)
    for array, old in ((matrix.data, before[0].data), (matrix.row, before[0].row)):
        np.testing.assert_array_equal(array, old)
    np.testing.assert_array_equal(features, before[1])
    np.testing.assert_array_equal(data.edge_index, before[2])
    matrix.data[:] = 0
    features[:] = 1
    data.edge_index[:] = 0
    assert batch.adjacency.nnz == other.adjacency.nnz == np.count_nonzero(DENSE)
    assert batch.predicates.sum() == 2


def test_reading_imports_neither_torch_nor_networkx_nor_sklearn() -> None:
    code = (
        "import sys, numpy as np, gnn2logic.graphs as g; g.as_batch([np.eye(2)]);"
        "print(sorted({'torch', 'torch_geometric', 'networkx', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def random_pyg_like(rng: np.random.Generator) -> Any:
    n_nodes = int(rng.integers(1, 6))
    edge_index: npt.NDArray[np.int64] = rng.integers(0, n_nodes, (2, int(rng.integers(0, 9))))
    x = rng.integers(0, 2, (n_nodes, 3))
    return SimpleNamespace(x=x, edge_index=edge_index, num_nodes=n_nodes)


def test_many_graphs_are_read_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    items = [random_pyg_like(rng) for _ in range(60)]
    singles = [from_edges(item.edge_index.T, item.num_nodes, item.x) for item in items]
    assert as_batch(items) == GraphBatch.concat(singles)
