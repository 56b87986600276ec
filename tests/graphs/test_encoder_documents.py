from __future__ import annotations

import copy
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs import GraphBatch, PredicateEncoder


def graph(x: Any) -> Any:
    array = np.asarray(x)
    return SimpleNamespace(x=array, num_nodes=len(array), edge_index=np.zeros((2, 0), int))


def through_json(encoder: PredicateEncoder) -> PredicateEncoder:
    return PredicateEncoder.from_document(json.loads(json.dumps(encoder.to_document())))


def example() -> dict[str, Any]:
    x = [[7, 0.0, 0.12], [8, 1.0, 0.48], [7, 1.0, 0.97]]
    five: Any = np.int64(5)
    encoder = PredicateEncoder(
        feature_names=("atom", "ring", "charge"),
        feature_types={"ring": "binary"},
        n_thresholds=five,
    )
    return encoder.fit([graph(x)]).to_document()


def test_the_document() -> None:
    assert example() == {
        "format": "gnn2logic.predicate_encoder",
        "version": 2,
        "settings": {
            "feature_names": ["atom", "ring", "charge"],
            "kinds": {"ring": "binary"},
            "max_categories": 32,
            "n_thresholds": 5,
            "edge_types": None,
            "node_attributes": None,
            "edge_attributes": None,
            "structure": None,
        },
        "columns": [
            {"kind": "categorical", "name": "atom", "categories": [7, 8]},
            {"kind": "binary", "name": "ring"},
            {"kind": "continuous", "name": "charge", "thresholds": [0.3, 0.7]},
        ],
        "relations": [],
    }


values = st.one_of(
    st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False, width=32)
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(values, values), min_size=1, max_size=20),
    st.lists(st.tuples(values, values), min_size=1, max_size=20),
    st.sampled_from([np.float32, np.float64]),
)
def test_saved_encoders_encode_alike(
    train: list[tuple[float, float]], test: list[tuple[float, float]], dtype: type
) -> None:
    encoder = PredicateEncoder(
        feature_types={"U0": "continuous", "U1": "categorical"}, n_thresholds=3
    ).fit([graph(np.array(train, dtype=dtype))])
    again = through_json(encoder)
    assert again.columns_ == encoder.columns_
    assert again.names_ == encoder.names_
    assert again.relations_ == encoder.relations_
    assert again.to_document() == encoder.to_document()
    seen = [(first, train[0][1]) for first, _ in test]
    graphs = [graph(np.array(seen, dtype=dtype)), graph(np.array(train, dtype=dtype))]
    assert again.transform(graphs) == encoder.transform(graphs)


def test_strings_relations_and_options_are_kept() -> None:
    nx = pytest.importorskip("networkx")
    one = nx.Graph()
    one.add_node(0, atom='say "N"', charge=2**60)
    one.add_node(1, atom="C", charge=7)
    one.add_edge(0, 1, bond=1)
    encoder = PredicateEncoder(edge_attributes=("bond",)).fit(one)
    again = through_json(encoder)
    assert again.relations_ == ("bond=1",)
    assert again.edge_attributes == ["bond"]
    assert again.columns_ == encoder.columns_
    assert again.transform(one) == encoder.transform(one)
    ignoring = PredicateEncoder(edge_types=False, edge_attributes=()).fit(GraphBatch(None, [[1]]))
    assert through_json(ignoring).edge_types is False
    assert through_json(ignoring).edge_attributes == []


def test_whole_floats_in_a_document_are_whole_categories() -> None:
    document = example()
    document["columns"][0]["categories"] = [7.0, 8.0]
    assert PredicateEncoder.from_document(document).names_[:2] == ("atom=7", "atom=8")


Change = Callable[[dict[str, Any]], object]

BAD: dict[str, tuple[Change, str]] = {
    "version": (lambda d: d.update(version=4), "version 3.*Got 4 instead.*another version"),
    "format": (lambda d: d.update(format="x"), "not a valid encoder document.*format"),
    "unknown": (lambda d: d.update(extra=1), "unknown field `extra`"),
    "missing": (lambda d: d.pop("columns"), "missing required field `columns`"),
    "setting": (lambda d: d["settings"].update(extra=1), "unknown field `extra`.*settings"),
    "kinds": (lambda d: d["settings"].update(kinds={"a": "x"}), "Invalid enum value 'x'"),
    "edge types": (lambda d: d["settings"].update(edge_types=True), "edge_types must not be true"),
    "kind": (lambda d: d["columns"][0].update(kind="x"), "Invalid value 'x'"),
    "column field": (lambda d: d["columns"][1].update(thresholds=[1]), "unknown field"),
    "names": (lambda d: d["columns"][1].update(name="atom"), "Column names must be.*'atom' twice"),
    "empty name": (lambda d: d["columns"][1].update(name=""), "Column name must not be empty"),
    "thresholds": (
        lambda d: d["columns"][2].update(thresholds=[2.0, 1.0]),
        r"thresholds of column 'charge' must be rising numbers. Got \[2.0, 1.0\]",
    ),
    "nan": (lambda d: d["columns"][2].update(thresholds=[float("nan")]), "rising.*nan"),
    "inf": (lambda d: d["columns"][2].update(thresholds=[float("inf")]), "rising.*inf"),
    "text threshold": (lambda d: d["columns"][2].update(thresholds=["1"]), "Expected `float`"),
    "categories": (lambda d: d["columns"][0].update(categories=[8, 7]), "categories of .*'atom'"),
    "no category": (lambda d: d["columns"][0].update(categories=[]), "at least one. Got"),
    "mixed": (lambda d: d["columns"][0].update(categories=[7, "8"]), "categories of .*'atom'"),
    "bool category": (lambda d: d["columns"][0].update(categories=[True]), "got `bool`"),
    "relations": (lambda d: d.update(relations=["r", "r"]), "Relation names must be distinct"),
    "clash": (
        lambda d: d["columns"][1].update(name="atom=7"),
        "columns 'atom' and 'atom=7' both give a predicate 'atom=7'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_documents_are_checked(case: str) -> None:
    change, message = BAD[case]
    document = example()
    change(document)
    before = copy.deepcopy(document)
    with pytest.raises(FeatureError, match=message):
        PredicateEncoder.from_document(document)
    assert repr(document) == repr(before)


@pytest.mark.parametrize("document", [None, [], "text", 3, {}])
def test_other_data_is_no_document(document: object) -> None:
    with pytest.raises(FeatureError, match="not a valid encoder document"):
        PredicateEncoder.from_document(document)
