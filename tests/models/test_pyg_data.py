from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import Subset
from torch_geometric.data import Batch, Data, Dataset, HeteroData
from torch_geometric.loader import DataLoader

from gnn2logic import from_networkx, random_graphs
from gnn2logic.exceptions import (
    FeatureError,
    Gnn2LogicError,
    GraphError,
    ParameterError,
    UnsupportedInputError,
)
from gnn2logic.graphs.reading import read_once
from gnn2logic.models import mini_batches, pyg_graphs
from gnn2logic.models.tensors import GraphTensors


def datas(sizes: list[int], seed: int = 0) -> list[Data]:
    generator = torch.Generator().manual_seed(seed)
    found = []
    for size in sizes:
        x = torch.rand(size, 3, generator=generator)
        edges = torch.randint(0, size, (2, 2 * size), generator=generator)
        found.append(Data(x=x, edge_index=edges, y=torch.tensor([size])))
    return found


class Three(Dataset):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.items = datas([1, 2, 3])

    def len(self) -> int:
        return len(self.items)

    def get(self, number: int) -> Data:
        return self.items[number]


# Reading --------------------------------------------------------------------------------------


def test_pyg_graphs_are_taken_as_they_are() -> None:
    graphs = datas([2, 3])
    assert all(own is given for own, given in zip(pyg_graphs(graphs), graphs, strict=True))
    assert pyg_graphs(graphs[0])[0] is graphs[0]
    assert [data.y.item() for data in pyg_graphs(Three())] == [1, 2, 3]
    assert [data.y.item() for data in pyg_graphs(Three()[1:])] == [2, 3]


def test_loaders_are_read_once() -> None:
    loader = DataLoader(datas([1, 2, 3, 4, 5]), batch_size=2, shuffle=True)
    found = pyg_graphs(loader)
    assert sorted(data.y.item() for data in found) == [1, 2, 3, 4, 5]
    assert found[0].x.dtype == torch.float32
    assert [data.y.item() for data in pyg_graphs(iter(datas([2, 3])))] == [2, 3]
    assert [data.y.item() for data in pyg_graphs(Subset(Three(), [2, 0]))] == [3, 1]
    read = read_once(loader)
    assert read_once(read) is read
    assert read_once(datas([1])[0]).num_nodes == 1


def test_batches_are_cut_into_their_graphs() -> None:
    graphs = datas([2, 3, 1])
    mixed = [Batch.from_data_list(graphs[:2]), graphs[2]]
    for found in (pyg_graphs(Batch.from_data_list(graphs)), pyg_graphs(mixed)):
        assert [data.y.item() for data in found] == [2, 3, 1]
        assert torch.equal(found[1].edge_index, graphs[1].edge_index)


def test_other_graphs_become_predicates() -> None:
    path = nx.path_graph(3)
    nx.set_node_attributes(path, {0: True, 1: False, 2: False}, "red")
    for graphs in ([path], from_networkx(path), [from_networkx(path)]):
        (data,) = pyg_graphs(graphs)
        assert data.x.dtype == torch.float32
        assert data.x.tolist() == [[1.0], [0.0], [0.0]]
        assert sorted(data.edge_index.t().tolist()) == [[0, 1], [1, 0], [1, 2], [2, 1]]
        assert data.predicate_names == ["red"]


def test_ones_where_there_are_no_features() -> None:
    (data,) = pyg_graphs([1 - np.eye(3, dtype=int)])
    assert data.x.tolist() == [[1.0]] * 3
    bare = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3)
    assert pyg_graphs([bare])[0] is bare
    (filled,) = pyg_graphs([bare], fill_x=True)
    assert filled.x.tolist() == [[1.0]] * 3
    assert filled.edge_index is bare.edge_index
    assert bare.x is None


@pytest.mark.parametrize(
    ("graphs", "kind", "message"),
    [
        ([], GraphError, "At least one graph is needed"),
        ((), GraphError, "Got an empty tuple"),
        (3, UnsupportedInputError, "Got int instead"),
        (None, UnsupportedInputError, "Got NoneType instead"),
        ([HeteroData()], UnsupportedInputError, "to_homogeneous"),
        ([*datas([2]), 1 - np.eye(2)], UnsupportedInputError, "ndarray at position 1"),
        ([*datas([2]), Data(num_nodes=0)], GraphError, "Graph 1 has none"),
        (Batch(x=torch.ones(2, 1), batch=torch.tensor([0, 1])), UnsupportedInputError, "from_data"),
        (Data(x=torch.ones(2, 1), batch=torch.tensor([0, 1])), UnsupportedInputError, "several"),
        ([(np.eye(2), np.array([[0.5], [1.0]]))], FeatureError, "PredicateEncoder"),
    ],
)
def test_what_cannot_be_read(graphs: Any, kind: type[Gnn2LogicError], message: str) -> None:
    with pytest.raises(kind, match=message):
        pyg_graphs(graphs)


# Mini-batches ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    max_graphs=st.integers(1, 5),
    max_nodes=st.integers(1, 20),
)
def test_batches_are_bounded_and_lose_nothing(
    sizes: list[int], max_graphs: int, max_nodes: int
) -> None:
    graphs = datas(sizes)
    batches = list(mini_batches(graphs, max_graphs=max_graphs, max_nodes=max_nodes))
    for batch in batches:
        assert batch.num_graphs <= max_graphs
        assert batch.num_nodes <= max_nodes or batch.num_graphs == 1
    # No two neighbours could have been one.
    for first, second in pairwise(batches):
        joined = first.num_nodes + int(second.ptr[1])
        assert first.num_graphs == max_graphs or joined > max_nodes
    found = [data for batch in batches for data in batch.to_data_list()]
    assert all(torch.equal(a.x, b.x) for a, b in zip(found, graphs, strict=True))


@settings(deadline=None, max_examples=25)
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), data=st.data())
def test_collated_graphs_give_the_batches_of_pyg(sizes: list[int], data: st.DataObject) -> None:
    graphs = datas(sizes)
    graphs[0].edge_index = graphs[0].edge_index[:, :0]
    numbers = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=9))
    expected = Batch.from_data_list([graphs[number] for number in numbers])
    got = GraphTensors.collate(graphs).batch(torch.tensor(numbers))
    assert torch.equal(got.x, expected.x)
    assert torch.equal(got.edge_index, expected.edge_index)
    assert torch.equal(got.batch, expected.batch)


@pytest.mark.parametrize("bounds", [{"max_graphs": 0}, {"max_nodes": 0}])
def test_bounds_are_checked(bounds: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="must be a whole number >= 1"):
        list(mini_batches(datas([1]), **bounds))


# Checks of what a network is given ------------------------------------------------------------


def broken(**changes: Any) -> list[Data]:
    good, bad = datas([3, 3])
    for name, value in changes.items():
        setattr(bad, name, value)
    return [good, bad]


@pytest.mark.parametrize(
    ("graphs", "kind", "message"),
    [
        (broken(x=torch.ones(3, 2)), FeatureError, "Got 3 in graph 0 and 2 in graph 1"),
        (broken(x=torch.ones(3)), FeatureError, "reshape"),
        (broken(x=torch.ones(3, 0)), FeatureError, "at least one column"),
        (broken(x=torch.ones(3, 3).to_sparse()), UnsupportedInputError, "dense"),
        (broken(x=torch.full((3, 3), torch.nan)), FeatureError, "nan at node 0 of graph 1"),
        (broken(x=torch.full((3, 3), 1e39, dtype=torch.float64)), FeatureError, "float32. Got inf"),
        (broken(num_nodes=4), FeatureError, "each of the 4 nodes"),
        (broken(edge_index=torch.tensor([[0, 3], [1, 1]])), GraphError, "from 0 to 2. Got .*3, 1"),
        (broken(edge_index=torch.tensor([[0, -1], [1, 1]])), GraphError, "graph 1 must hold"),
        (broken(edge_index=torch.tensor([[0, 1], [1, 2], [2, 0]])), GraphError, "Transpose"),
        (broken(edge_index=torch.tensor([[0.5], [1.0]])), GraphError, "whole numbers"),
        (broken(edge_index=None, adj_t=torch.eye(3)), UnsupportedInputError, "Got adj_t"),
    ],
)
def test_bad_tensors(graphs: list[Data], kind: type[Gnn2LogicError], message: str) -> None:
    with pytest.raises(kind, match=message):
        GraphTensors.collate(graphs)


def test_numbers_of_nodes_that_no_memory_holds() -> None:
    pair = torch.tensor([[0, 1], [1, 0]])
    graphs = [Data(edge_index=pair, num_nodes=2), Data(edge_index=pair, num_nodes=10**12)]
    with pytest.raises(GraphError, match="Graph 1 must have at most 100000000 nodes in memory"):
        pyg_graphs(graphs)


def test_graphs_with_other_names_do_not_mix() -> None:
    first = pyg_graphs(random_graphs(1, names=("a",), random_state=0))
    second = pyg_graphs(random_graphs(1, names=("b",), random_state=0))
    with pytest.raises(FeatureError, match="same predicate_names"):
        GraphTensors.collate([*first, *second])
    assert GraphTensors.collate(first).names == ("a",)
