from __future__ import annotations

import pickle
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from gnn2logic.exceptions import FeatureError, UnseenCategoryWarning, UnsupportedInputError
from gnn2logic.graphs import EncodedColumn, GraphBatch, PredicateEncoder, as_batch, from_edges

Table = list[list[float]] | npt.NDArray[Any]


def graph(x: Table | None, **more: Any) -> Any:
    """A graph without edges, as PyTorch Geometric would hold it."""
    rows = np.asarray(x)
    return SimpleNamespace(x=rows, num_nodes=len(rows), edge_index=np.zeros((2, 0), int), **more)


def column(values: Any, name: str = "c") -> Any:
    """One column of numbers, each node a graph of its own; or strings, as a networkx graph."""
    if isinstance(values[0], str):
        nx = pytest.importorskip("networkx")
        one = nx.Graph()
        for node, value in enumerate(values):
            one.add_node(node, **{name: value})
        return [one]
    array = np.asarray(values)
    return [graph(array[node : node + 1, None]) for node in range(len(array))]


def fit_column(values: Any, **options: Any) -> PredicateEncoder:
    names = None if isinstance(values[0], str) else ["c"]
    return PredicateEncoder(feature_names=names, **options).fit(column(values))


# What the values suggest -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "learned"),
    [
        ([0, 1, 1], EncodedColumn("c", "binary")),
        ([0.0, 1.0], EncodedColumn("c", "binary")),
        ([True, False], EncodedColumn("c", "binary")),
        ([0, 0], EncodedColumn("c", "binary")),
        ([1.0], EncodedColumn("c", "binary")),
        ([7, 8, 7], EncodedColumn("c", "categorical", categories=(7, 8))),
        ([7.0, -2.0], EncodedColumn("c", "categorical", categories=(-2, 7))),
        (["N", "C"], EncodedColumn("c", "categorical", categories=("C", "N"))),
        ([5, 5], EncodedColumn("c", "categorical", categories=(5,))),
        ([0.25, 0.25], EncodedColumn("c", "categorical", categories=(0.25,))),
        ([0.12, 0.48, 0.97], EncodedColumn("c", "continuous", thresholds=(0.3, 0.7))),
    ],
)
def test_kinds_of_columns(values: Any, learned: EncodedColumn) -> None:
    encoder = fit_column(values)
    assert encoder.columns_ == [learned]
    assert encoder.names_ == learned.names
    for category in learned.categories:
        assert type(category) in (int, float, str)


def test_names_of_predicates() -> None:
    assert fit_column([7, 8]).names_ == ("c=7", "c=8")
    assert fit_column([0.25, 0.25]).names_ == ("c=0.25",)
    assert fit_column([0.12, 0.48, 0.97]).names_ == ("c > 0.3", "c > 0.7")
    assert fit_column([0.5, 0, -1]).names_ == ("c > -0.5", "c > 0")
    assert fit_column([0, 1]).get_feature_names_out().tolist() == ["c"]
    assert fit_column([0, 1]).get_feature_names_out(["c"]).tolist() == ["c"]
    with pytest.raises(FeatureError, match="columns seen at fit: 'c'. Got 'd'"):
        fit_column([0, 1]).get_feature_names_out(["d"])


def test_many_whole_numbers_are_cut_by_thresholds() -> None:
    values = list(range(33))
    assert fit_column(values).columns_[0].feature_type == "continuous"
    assert len(fit_column(values).names_) == 8
    assert len(fit_column(values, n_thresholds=3).names_) == 3
    assert fit_column(values, max_categories=33).columns_[0].feature_type == "categorical"
    assert fit_column(values[:32]).columns_[0].feature_type == "categorical"


def test_many_strings_are_refused() -> None:
    words = [f"w{number:02}" for number in range(33)]
    with pytest.raises(
        FeatureError, match="'c' must have at most max_categories=32.*Got 33.*feature_types"
    ):
        fit_column(words)
    assert len(fit_column(words, feature_types={"c": "categorical"}).names_) == 33


@pytest.mark.parametrize(
    ("values", "kind", "names"),
    [
        ([7, 8, 9], "continuous", ("c > 7", "c > 8")),
        ([0, 1], "continuous", ("c > 0",)),
        ([0, 1], "categorical", ("c=0", "c=1")),
        ([True, False], "categorical", ("c=0", "c=1")),
        ([0.5, 0.25], "categorical", ("c=0.25", "c=0.5")),
        ([3, 3], "continuous", ()),
        ([0, 1], "binary", ("c",)),
    ],
)
def test_kinds_can_be_chosen(values: Any, kind: str, names: tuple[str, ...]) -> None:
    encoder = fit_column(values, feature_types={"c": kind})
    assert encoder.names_ == names
    assert encoder.transform(column(values)).names == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_types": {"d": "binary"}}, "columns of the graphs: 'c'. Got 'd'"),
        (
            {"feature_types": {"c": "ordinal"}},
            "column 'c' must be one of 'binary', .* Got 'ordinal'",
        ),
        ({"feature_types": ["binary"]}, r"feature_types must map column names.*Got \['binary'\]"),
        ({"feature_types": {"c": "binary"}}, "'c' must be binary.*Got 7 at node 0 of graph 0"),
        ({"max_categories": 0}, "max_categories must be a whole number >= 1. Got 0"),
        ({"n_thresholds": 2.5}, "n_thresholds must be a whole number >= 1. Got 2.5"),
        ({"n_thresholds": True}, "n_thresholds must be a whole number >= 1. Got True"),
    ],
)
def test_bad_options_are_found_at_fit(options: dict[str, Any], message: str) -> None:
    PredicateEncoder(**options)
    with pytest.raises(FeatureError, match=message):
        fit_column([7, 8], **options)


def test_strings_are_only_categories() -> None:
    for kind in ("continuous", "binary"):
        with pytest.raises(FeatureError, match="'c' must have numbers. Got the string 'N' at node"):
            fit_column(["N", "C"], feature_types={"c": kind})


# Encoding ---------------------------------------------------------------------------------------


def test_transform() -> None:
    train = [
        graph([[7, 0.0, 0.12, 1.0], [8, 1.0, 0.48, 0.0]]),
        graph([[7, 1.0, 0.97, 1.0]]),
    ]
    encoder = PredicateEncoder(feature_names=["atom", "ring", "charge", "old"])
    batch = encoder.fit_transform(train)
    assert batch.names == ("atom=7", "atom=8", "ring", "charge > 0.3", "charge > 0.7", "old")
    np.testing.assert_array_equal(
        batch.predicates, [[1, 0, 0, 0, 0, 1], [0, 1, 1, 1, 0, 0], [1, 0, 1, 1, 1, 1]]
    )
    assert batch.ptr.tolist() == [0, 2, 3]
    assert encoder.transform(train) == batch
    assert encoder.transform(iter(train)) == batch
    assert PredicateEncoder(feature_names=encoder.feature_names).fit_transform(iter(train)) == batch


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3), st.just(-0.0))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(numbers, min_size=2, max_size=30),
    st.lists(st.one_of(numbers, st.floats(allow_nan=False, allow_infinity=False)), min_size=1),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 6),
)
def test_transform_compares_with_the_printed_threshold(
    train: list[float], test: list[float], dtype: type, most: int
) -> None:
    encoder = PredicateEncoder(
        feature_names=["c"], feature_types={"c": "continuous"}, n_thresholds=most
    ).fit([graph(np.array(train, dtype=dtype)[:, None])])
    with np.errstate(over="ignore"):
        values: npt.NDArray[Any] = np.array(test, dtype=dtype)
    values = values[np.isfinite(values)]
    if not len(values):
        return
    batch = encoder.transform([graph(values[:, None])])
    assert batch.names == encoder.names_
    for number, name in enumerate(batch.names):
        printed = float(name.removeprefix("c > "))
        expected = [float(value) > printed for value in values]
        assert batch.predicates[:, number].tolist() == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-5, 40), min_size=1, max_size=30), st.sampled_from("iufl"))
def test_categories_are_the_values(values: list[int], form: str) -> None:
    dtype = {"i": np.int32, "u": np.int16, "f": np.float32, "l": np.float64}[form]
    array = np.array(values, dtype=dtype)[:, None]
    encoder = PredicateEncoder(
        feature_names=["c"], feature_types={"c": "categorical"}, max_categories=50
    ).fit([graph(array)])
    batch = encoder.transform([graph(array.astype(np.int64))])
    for value in set(values):
        assert batch.column(f"c={value}").tolist() == [other == value for other in values]


def test_a_float32_value_is_the_same_at_fit_and_transform() -> None:
    values = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    encoder = fit_column(values)
    assert encoder.names_ == ("c > 0.15", "c > 0.25")
    expected = [[False, False], [True, False], [True, True]]
    for dtype in (np.float32, np.float64):
        looks = np.array([0.1, 0.2, 0.3], dtype=dtype)
        assert encoder.transform(column(looks)).predicates.tolist() == expected
    constant = fit_column(np.array([0.1], dtype=np.float32))
    assert constant.transform(column(np.array([0.1], dtype=np.float32))).predicates.all()


def test_huge_whole_numbers_stay_apart_as_categories() -> None:
    values = np.array([2**60, 2**60 + 1])
    batch = fit_column(values).transform(column(values))
    assert batch.names == (f"c={2**60}", f"c={2**60 + 1}")
    assert batch.predicates.tolist() == [[True, False], [False, True]]


def test_unseen_categories_warn_once_and_are_false() -> None:
    encoder = fit_column([7, 8])
    with pytest.warns(UnseenCategoryWarning) as caught:
        batch = encoder.transform(column([7, 9, 9, 6]))
    assert batch.predicates.tolist() == [[True, False], [False] * 2, [False] * 2, [False] * 2]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    assert "Column 'c'" in message
    assert "6, 9, first at node 0 of graph 1" in message


def test_unseen_strings() -> None:
    encoder = fit_column(["N", "C"])
    with pytest.warns(UnseenCategoryWarning, match="'c'.*'O', first at node 1 of graph 0"):
        batch = encoder.transform(column(["N", "O"]))
    assert batch.predicates.tolist() == [[False, True], [False, False]]


def test_binary_columns_stay_binary() -> None:
    encoder = fit_column([0, 1])
    with pytest.raises(
        FeatureError, match="'c' must be binary.*Got 2 at node 0 of graph 1.*feature_types"
    ):
        encoder.transform(column([1, 2]))


def test_types_of_values_stay() -> None:
    nx = pytest.importorskip("networkx")
    one, two = nx.Graph(), nx.Graph()
    one.add_node(0, c="N")
    two.add_node(0, c=7)
    with pytest.raises(FeatureError, match="'c' must have strings, as in.*Got .*7.* at node 0"):
        PredicateEncoder().fit(one).transform(two)
    with pytest.raises(FeatureError, match="'c' must have numbers, as in.*Got 'N' at node 0"):
        PredicateEncoder().fit(two).transform(one)
    two.nodes[0]["c"] = 0.5
    three = nx.Graph()
    three.add_node(0, c=0.7)
    for kind in ("continuous", "binary"):
        table = {"continuous": [two, three], "binary": [nx.Graph(two)]}[kind]
        if kind == "binary":
            table[0].nodes[0]["c"] = 1
        with pytest.raises(FeatureError, match="must have numbers. Got the string 'N'"):
            PredicateEncoder().fit(table).transform(one)


def test_other_columns_at_transform() -> None:
    encoder = PredicateEncoder().fit([graph([[1.0, 0.0]])])
    message = r"2 columns that the model was made for \('U0', 'U1'\). Got 3 \('U0'"
    with pytest.raises(FeatureError, match=message):
        encoder.transform([graph([[1.0, 0.0, 0.0]])])
    named = GraphBatch([[1, 0]], [[0]], names=["a", "b"])
    with pytest.raises(FeatureError, match=r"\('U0', 'U1'\). Got 2 \('a', 'b'\)"):
        encoder.transform(named)
    encoder = PredicateEncoder(feature_names=["a"]).fit([graph([[1.0]])])
    with pytest.raises(FeatureError, match="Got 1 names for 2 columns"):
        encoder.transform([graph([[1.0, 0.0]])])


def test_columns_are_found_by_name() -> None:
    encoder = PredicateEncoder().fit(GraphBatch([[1, 0]], [[0]], names=["a", "b"]))
    swapped = GraphBatch([[0, 1]], [[0]], names=["b", "a"])
    assert encoder.transform(swapped) == GraphBatch([[1, 0]], [[0]], names=["a", "b"])


def test_names_that_clash() -> None:
    encoder = PredicateEncoder(feature_names=["a", "a=7"])
    with pytest.raises(FeatureError, match="columns 'a' and 'a=7' both give a predicate 'a=7'"):
        encoder.fit([graph([[7, 1], [8, 0]])])
    assert not hasattr(encoder, "columns_")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(value: float) -> None:
    bad = [graph([[0.0]]), graph([[0.5], [value]])]
    with pytest.raises(FeatureError, match=f"Got {value} at node 1 of graph 1, column 'U0'"):
        PredicateEncoder().fit(bad)
    with pytest.raises(FeatureError, match=f"Got {value} at node 1 of graph 1, column 'U0'"):
        PredicateEncoder().fit([graph([[0.0], [0.5]])]).transform(bad)


def test_no_features() -> None:
    matrix = np.eye(2)
    encoder = PredicateEncoder().fit(matrix)
    assert encoder.names_ == ()
    assert encoder.transform([matrix, matrix]) == as_batch([matrix, matrix])


def test_a_batch_passes_through() -> None:
    batch = GraphBatch(
        [[1, 0], [0, 0]], {"r": [[0, 1], [0, 0]], "s": [[1, 0], [0, 0]]}, names=["a > 1", "b"]
    )
    encoder = PredicateEncoder()
    assert encoder.fit_transform(batch) == batch
    assert encoder.transform([batch, batch]) == GraphBatch.concat([batch, batch])


def test_batches_keep_what_was_derived() -> None:
    batch = GraphBatch([[1, 0]], [[1]])
    edges = batch.edges()
    assert PredicateEncoder().fit_transform(batch).edges() is edges


# Relations --------------------------------------------------------------------------------------


def typed(kinds: list[int]) -> Any:
    edge_index = np.array([[0, 1, 0], [1, 0, 0]])
    return SimpleNamespace(x=None, num_nodes=2, edge_index=edge_index, edge_type=np.array(kinds))


def test_relations_are_those_of_the_training_graphs() -> None:
    encoder = PredicateEncoder().fit([typed([0, 1, 2])])
    assert encoder.relations_ == ("0", "1", "2")
    fewer = encoder.transform([typed([0, 0, 2])])
    assert set(fewer.relations) == {"0", "1", "2"}
    assert fewer.relations["1"].nnz == 0
    with pytest.warns(UnseenCategoryWarning, match="relations.*'5', first in graph 1") as caught:
        other = encoder.transform([typed([0, 1, 2]), typed([0, 5, 0])])
    assert caught[0].filename == __file__
    assert set(other.relations) == {"0", "1", "2"}
    assert other.n_edges == 6
    assert [other.relations[name].nnz for name in "012"] == [3, 1, 1]


def test_options_for_reading() -> None:
    data = SimpleNamespace(
        x=None, num_nodes=2, edge_index=np.array([[0, 1], [1, 0]]), edge_attr=np.eye(2)
    )
    encoder = PredicateEncoder(edge_types="edge_attr").fit([data])
    assert encoder.relations_ == ("0", "1")
    assert encoder.transform(as_batch(data, edge_types="edge_attr")).n_edges == 2
    nx = pytest.importorskip("networkx")
    one = nx.Graph()
    one.add_node(0, charge=0.5, ring=True)
    one.add_node(1, charge=0.75, ring=True)
    one.add_edge(0, 1, length=1.5)
    encoder = PredicateEncoder(node_attributes=["charge"], edge_attributes=())
    assert encoder.fit_transform(one).names == ("charge > 0.6",)
    with pytest.raises(UnsupportedInputError, match="node_attributes is only for networkx"):
        encoder.transform([data])


# scikit-learn ------------------------------------------------------------------------------------


def test_it_is_an_estimator() -> None:
    names = ["c"]
    encoder = PredicateEncoder(feature_names=names, n_thresholds=2)
    assert encoder.feature_names is names
    assert clone(encoder).get_params() == encoder.get_params()
    with pytest.raises(NotFittedError, match="This PredicateEncoder is not fitted yet"):
        encoder.transform(column([1, 2]))
    with pytest.raises(NotFittedError):
        encoder.get_feature_names_out()
    with pytest.raises(NotFittedError):
        encoder.to_document()
    assert encoder.fit(column([0.1, 0.2, 0.3, 0.4]), y=[0, 1, 0, 1]) is encoder
    assert not hasattr(clone(encoder), "columns_")
    assert repr(encoder) == "PredicateEncoder(feature_names=['c'], n_thresholds=2)"
    pipeline = make_pipeline(clone(encoder))
    assert pipeline.fit_transform(column([1, 2, 3])).names == ("c=1", "c=2", "c=3")


def test_it_pickles() -> None:
    train = column([0.1, 0.2, 0.3, 0.4])
    encoder = PredicateEncoder().fit(train)
    again = pickle.loads(pickle.dumps(encoder))
    assert again.columns_ == encoder.columns_
    assert again.transform(train) == encoder.transform(train)


def test_refitting_forgets() -> None:
    encoder = PredicateEncoder().fit(column([7, 8]))
    assert encoder.fit(column([0, 1])).names_ == ("U0",)


def test_features_are_never_changed() -> None:
    x = np.array([[7.0, 0.25], [8.0, 0.5]])
    before = x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PredicateEncoder().fit_transform([graph(x)])
    np.testing.assert_array_equal(x, before)


def test_lost_edge_types_are_an_error() -> None:
    train = from_edges([(0, 1), (1, 0)], 2, relations=["a", "b"])
    encoder = PredicateEncoder().fit(train)
    with pytest.raises(
        FeatureError, match="must say which relation their edges belong to.*'a', 'b'"
    ):
        encoder.transform(from_edges([(0, 1), (1, 0)], 2))
    assert encoder.transform(from_edges([], 2)).relations.keys() == {"a", "b"}


def test_float32_categories_are_the_decimals_they_look_like() -> None:
    square = np.zeros((2, 2))
    narrow = [(square, np.array([[0.1], [0.7]], dtype=np.float32))]
    wide = [(square, np.array([[0.1], [0.7]]))]
    encoder = PredicateEncoder(feature_types={"U0": "categorical"}).fit(narrow)
    assert encoder.names_ == ("U0=0.1", "U0=0.7")
    assert encoder.transform(wide).predicates.tolist() == [[True, False], [False, True]]
