from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, as_batch, from_networkx

nx: Any = pytest.importorskip("networkx")


def molecule() -> Any:
    graph = nx.Graph()
    graph.add_node("b", atom="N", ring=True, charge=0)
    graph.add_node("a", atom="C", ring=False, charge=1)
    graph.add_node("c", atom="C", ring=True, charge=0)
    graph.add_edge("a", "b", bond=1, aromatic=False)
    graph.add_edge("b", "c", bond=2, aromatic=True)
    return graph


def test_attributes_become_predicates_and_relations() -> None:
    batch = from_networkx(molecule())
    assert batch.names == ("atom=C", "atom=N", "ring", "charge")
    np.testing.assert_array_equal(batch.predicates, [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0]])
    assert batch.adjacency.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert set(batch.relations) == {"bond=1", "bond=2", "aromatic"}
    assert batch.relations["bond=1"].toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    double = [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert batch.relations["bond=2"].toarray().tolist() == double
    assert batch.relations["aromatic"].toarray().tolist() == double


def test_attributes_can_be_chosen() -> None:
    batch = as_batch([molecule()], node_attributes=["ring"], edge_attributes=())
    assert batch.names == ("ring",)
    assert not batch.relations
    batch = from_networkx(molecule(), node_attributes=(), edge_attributes=["bond"])
    assert batch.names == ()
    assert set(batch.relations) == {"bond=1", "bond=2"}
    with pytest.raises(FeatureError, match="Node attribute names must be a sequence.*'ring'"):
        from_networkx(molecule(), node_attributes="ring")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("multiple", [False, True])
def test_directions_loops_and_parallel_edges(directed: bool, multiple: bool) -> None:
    kind = {
        (False, False): nx.Graph,
        (False, True): nx.MultiGraph,
        (True, False): nx.DiGraph,
        (True, True): nx.MultiDiGraph,
    }[directed, multiple]
    graph = kind()
    graph.add_nodes_from("xyz")
    graph.add_edges_from([("x", "y"), ("x", "y"), ("z", "z"), ("z", "z")])
    times = 2 if multiple else 1
    expected = np.zeros((3, 3), dtype=int)
    expected[0, 1] = expected[2, 2] = times
    expected[1, 0] = 0 if directed else times
    assert from_networkx(graph) == GraphBatch(None, expected)


def test_relations_of_parallel_edges_and_loops() -> None:
    graph = nx.MultiGraph()
    graph.add_edge(0, 1, kind="a")
    graph.add_edge(0, 1, kind="b")
    graph.add_edge(1, 0, kind="a")
    graph.add_edge(1, 1, kind="b")
    batch = from_networkx(graph)
    assert batch.relations["kind=a"].toarray().tolist() == [[0, 2], [2, 0]]
    assert batch.relations["kind=b"].toarray().tolist() == [[0, 1], [1, 1]]
    assert batch.adjacency.toarray().tolist() == [[0, 3], [3, 1]]


def test_values_are_collected_over_all_graphs() -> None:
    other = nx.Graph()
    other.add_node(0, atom="O", ring=False, charge=0)
    batch = from_networkx([molecule(), other])
    assert batch.names[:3] == ("atom=C", "atom=N", "atom=O")
    assert batch.column("atom=O").tolist() == [False, False, False, True]
    assert batch[1].relations["bond=1"].nnz == 0


def test_order_of_nodes_is_that_of_the_graph() -> None:
    graph = nx.Graph()
    graph.add_node("late", first=True)
    graph.add_node("early", first=False)
    assert from_networkx(graph).column("first").tolist() == [True, False]


@pytest.mark.parametrize("value", [1, 1.0, np.int64(1), np.float32(1), True, np.bool_(True)])
def test_zero_and_one_of_any_type_are_predicates(value: Any) -> None:
    graph = nx.Graph()
    graph.add_node(0, on=value)
    graph.add_node(1, on=type(value)(0))
    assert from_networkx(graph).column("on").tolist() == [True, False]


def test_whole_floats_name_relations_as_whole_numbers() -> None:
    graph = nx.path_graph(2)
    graph.edges[0, 1]["bond"] = 2.0
    assert set(from_networkx(graph).relations) == {"bond=2"}


def test_missing_attributes_are_named() -> None:
    graph = molecule()
    del graph.nodes["a"]["ring"]
    with pytest.raises(FeatureError, match="'ring'.*missing at node 'a' of graph 1.*node_attr"):
        from_networkx([molecule(), graph])
    graph = molecule()
    del graph.edges["b", "c"]["bond"]
    with pytest.raises(GraphError, match=r"'bond'.*missing at edge \('b', 'c'\) of graph 0.*edge_"):
        from_networkx([graph])
    with pytest.raises(FeatureError, match="'mass'.*missing at node 'b' of graph 0"):
        from_networkx(molecule(), node_attributes=["mass"])


def test_other_numbers_need_the_encoder() -> None:
    graph = molecule()
    graph.nodes["c"]["charge"] = 0.5
    with pytest.raises(FeatureError, match="'charge'.*Got 0.5 at node 2 of graph 0.*Predicate"):
        from_networkx(graph)


@pytest.mark.parametrize("value", [0.5, float("nan"), float("inf")])
def test_continuous_edge_attributes_ask_for_a_choice(value: float) -> None:
    graph = molecule()
    graph.edges["b", "c"]["bond"] = value
    with pytest.raises(
        GraphError,
        match=rf"'bond'.*Got {value} at edge \('b', 'c'\) of graph 0.*edge_attributes=\[\.\.\.\].*"
        r"edge_attributes=\(\)",
    ):
        from_networkx(graph)
    assert not from_networkx(graph, edge_attributes=()).relations


def test_values_that_are_no_numbers_are_located() -> None:
    graph = molecule()
    graph.nodes["c"]["charge"] = float("nan")
    with pytest.raises(FeatureError, match="Got nan at node 'c' of graph 0, column 'charge'"):
        from_networkx(graph)


@pytest.mark.parametrize("value", [None, [1, 2], "C", 2**70, object(), np.zeros(2)])
def test_values_of_other_types_are_named(value: Any) -> None:
    graph = molecule()
    graph.nodes["a"]["charge"] = value
    with pytest.raises(
        FeatureError,
        match=f"'charge' must be all Boolean.* of type {type(value).__name__} at node 'a' of "
        "graph 0 and 0 at node 'b' of graph 0",
    ):
        from_networkx(graph)


def test_numbers_among_strings_are_named() -> None:
    graph = molecule()
    graph.nodes["c"]["atom"] = 6
    with pytest.raises(FeatureError, match="Got 6 of type int at node 'c' of graph 0 and 'N' at"):
        from_networkx(graph)


def test_names_that_clash() -> None:
    graph = nx.Graph()
    graph.add_node(0, **{"a": "1", "a=1": True})
    with pytest.raises(FeatureError, match="columns 'a' and 'a=1' both give a predicate 'a=1'"):
        from_networkx(graph)
    graph = nx.Graph()
    graph.add_edge(0, 1, **{"a": 1, "a=1": True})
    with pytest.raises(GraphError, match="attributes 'a' and 'a=1' both give a relation 'a=1'"):
        from_networkx(graph)


def test_names_must_be_strings() -> None:
    graph = nx.Graph()
    graph.add_node(0)
    graph.nodes[0][7] = True
    with pytest.raises(FeatureError, match="Node attribute name must be a string. Got 7"):
        from_networkx(graph)


def test_too_many_values_are_not_categories() -> None:
    graph = nx.Graph()
    for node in range(1001):
        graph.add_node(node, label=str(node))
    with pytest.raises(FeatureError, match="'label' must have at most 1000.*Got 1001.*node_attr"):
        from_networkx(graph)


def test_empty_graphs_and_other_objects() -> None:
    with pytest.raises(GraphError, match="Graph 1 must have at least one node"):
        from_networkx([molecule(), nx.Graph()])
    with pytest.raises(GraphError, match="Got an empty list"):
        from_networkx([])
    with pytest.raises(UnsupportedInputError, match="networkx graphs. Got int at position 1"):
        from_networkx([molecule(), 3])


def test_one_node_without_anything() -> None:
    assert from_networkx(nx.empty_graph(1)) == GraphBatch(None, [[0]])


def test_graphs_are_never_changed() -> None:
    graph = molecule()
    before = copy.deepcopy(graph)
    from_networkx(graph)
    assert nx.utils.graphs_equal(graph, before)
