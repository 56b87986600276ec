from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from counted_calls import calls
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs import GraphBatch, as_batch, from_pyg

torch: Any = pytest.importorskip("torch")
pyg: Any = pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402
from torch_geometric.transforms import ToSparseTensor  # noqa: E402

EDGES = [[0, 1, 1, 2, 2], [1, 0, 2, 2, 2]]
MATRIX = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
X = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


def graph(**changes: Any) -> Any:
    """A directed graph with a double loop and an isolated last node."""
    parts: dict[str, Any] = {
        "x": torch.tensor(X),
        "edge_index": torch.tensor(EDGES),
    }
    return Data(**(parts | changes))


EXPECTED = GraphBatch(X, MATRIX)


class Stored(InMemoryDataset):  # type: ignore[misc]
    def __init__(self, graphs: list[Any]) -> None:
        super().__init__(None)
        self._data, self.slices = self.collate(graphs)


def test_every_container_gives_the_same_graphs() -> None:
    alone = Data(x=torch.ones(1, 2), edge_index=torch.empty(2, 0, dtype=torch.long))
    graphs = [graph(), alone, graph()]
    expected = GraphBatch.concat([EXPECTED, GraphBatch([[1, 1]], [[0]]), EXPECTED])
    assert from_pyg(graphs) == expected
    assert as_batch(graphs) == expected
    assert as_batch(tuple(graphs)) == expected
    assert as_batch(Batch.from_data_list(graphs)) == expected
    dataset = Stored([graph(), graph(), graph()])
    assert as_batch(dataset) == GraphBatch.concat([EXPECTED] * 3)
    assert as_batch(dataset[1:]) == GraphBatch.concat([EXPECTED] * 2)
    assert as_batch(torch.utils.data.Subset(dataset, [0])) == EXPECTED
    assert as_batch(DataLoader(dataset, batch_size=2)) == GraphBatch.concat([EXPECTED] * 3)
    assert as_batch(graph()) == EXPECTED


def test_edges_are_read_as_they_are() -> None:
    np.testing.assert_array_equal(from_pyg(graph()).adjacency.toarray(), MATRIX)


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor(X, requires_grad=True),
        torch.tensor(X, dtype=torch.bfloat16),
        torch.tensor(X, dtype=torch.float64),
        torch.tensor(X).long(),
        torch.tensor(X).bool(),
        torch.tensor(X).T.contiguous().T,
    ],
)
def test_tensors_of_any_type(x: Any) -> None:
    assert from_pyg(graph(x=x)) == EXPECTED


def test_edge_index_class() -> None:
    assert from_pyg(graph(edge_index=pyg.EdgeIndex(torch.tensor(EDGES)))) == EXPECTED


def test_no_features_and_isolated_nodes_at_the_end() -> None:
    bare = from_pyg(Data(edge_index=torch.tensor(EDGES), num_nodes=6))
    assert (bare.n_nodes, bare.names) == (6, ())
    assert from_pyg(Data(num_nodes=3)) == GraphBatch(None, np.zeros((3, 3)))
    assert from_pyg(Data(num_nodes=2, edge_index=torch.empty(2, 0))).n_edges == 0
    assert from_pyg(Data(x=torch.zeros(2, 0))).names == ()


def test_unknown_number_of_nodes() -> None:
    # PyTorch Geometric guesses and warns; its warning is not swallowed.
    with pytest.warns(UserWarning, match="num_nodes"):
        assert from_pyg(Data(edge_index=torch.tensor(EDGES))).n_nodes == 3
    with pytest.raises(GraphError, match="number of nodes of graph 0 must be known.*num_nodes"):
        from_pyg(SimpleNamespace(edge_index=np.array(EDGES)))
    with pytest.raises(GraphError, match="num_nodes of graph 0 must be a whole number. Got 2.5"):
        from_pyg(SimpleNamespace(edge_index=np.array(EDGES), num_nodes=2.5))


def test_rows_must_match_the_number_of_nodes() -> None:
    with pytest.raises(FeatureError, match="features of graph 1 must have .* 6 nodes. Got 4 rows"):
        from_pyg([graph(), graph(num_nodes=6)])


def test_no_nodes() -> None:
    empty = Data(x=torch.zeros(0, 2), edge_index=torch.empty(2, 0, dtype=torch.long))
    with pytest.raises(GraphError, match="Graph 1 must have at least one node"):
        from_pyg([graph(), empty])
    with pytest.raises(GraphError, match="Graph 1 must have at least one node"):
        from_pyg(Batch.from_data_list([graph(), empty, graph()]))
    with pytest.raises(GraphError, match="Got an empty list"):
        from_pyg([])


@pytest.mark.parametrize(
    ("edge_index", "message"),
    [
        (torch.tensor(EDGES).T, r"graph 1 must have shape \(2, n_edges\).*\(5, 2\).*Transpose it"),
        (torch.tensor([0, 1]), r"Got shape \(2,\) instead"),
        (torch.tensor(EDGES).float(), "graph 1 must hold node numbers as whole.*float32"),
        (torch.tensor([[0, 1, 0], [1, 2, 4]]), "0 and 3 in graph 1.*Got 4 as the target of edge 2"),
        (torch.tensor([[0, -1], [1, 2]]), "in graph 1.*Got -1 as the source of edge 1"),
        (object(), "edge_index of graph 1 must be a tensor or array. Got object"),
    ],
)
def test_bad_edge_index(edge_index: Any, message: str) -> None:
    bad = SimpleNamespace(x=torch.tensor(X), edge_index=edge_index, num_nodes=4)
    with pytest.raises((GraphError, UnsupportedInputError), match=message):
        from_pyg([graph(), bad])


@pytest.mark.filterwarnings("ignore:Sparse")
def test_other_storage_of_edges() -> None:
    with pytest.raises(
        UnsupportedInputError, match="edges of graph 1 must be in edge_index.*adj_t"
    ):
        from_pyg([graph(), ToSparseTensor()(graph())])
    with pytest.raises(UnsupportedInputError, match="Got adj instead"):
        from_pyg(Data(x=torch.tensor(X), adj=torch.tensor(MATRIX)))
    with pytest.raises(UnsupportedInputError, match="features of graph 0 must be dense"):
        from_pyg(graph(x=torch.tensor(X).to_sparse()))


def test_hetero_data_is_not_mixed_with_others() -> None:
    data = HeteroData()
    data["paper"].x = torch.zeros(2, 1)
    with pytest.raises(UnsupportedInputError, match="All graphs must be HeteroData, or none"):
        as_batch([graph(), data])


def test_batch_vectors() -> None:
    two = Batch.from_data_list([graph(), graph()])
    expected = GraphBatch.concat([EXPECTED, EXPECTED])
    vector_only = Data(x=two.x, edge_index=two.edge_index, batch=two.batch)
    assert from_pyg(vector_only) == expected
    unsorted = Data(x=two.x, edge_index=two.edge_index, batch=two.batch.flip(0))
    with pytest.raises(GraphError, match="sorted.*Got graph 0 after graph 1 at node 4"):
        from_pyg(unsorted)
    # Nothing is made for each number, so the largest one takes no longer.
    far = Data(x=two.x, edge_index=two.edge_index, batch=two.batch * 10**12)
    with pytest.raises(GraphError, match=r"Graph 1 must .* Got 0 nodes.*1000000000000 at node"):
        from_pyg(far)
    late = Data(x=two.x, edge_index=two.edge_index, batch=two.batch + 10**12)
    with pytest.raises(GraphError, match=r"Graph 1 must .* Got 0 nodes.*1000000000000 at node 0"):
        from_pyg([two[0], late])
    with pytest.raises(GraphError, match="Graph 1 must have at most 100000000 nodes in memory"):
        from_pyg([two[0], Data(edge_index=two.edge_index, num_nodes=10**12)])
    gap = Data(x=two.x, edge_index=two.edge_index, batch=two.batch * 2)
    with pytest.raises(GraphError, match="Graph 1 must have at least one node"):
        from_pyg(gap)
    with pytest.raises(GraphError, match="Got -1 instead"):
        from_pyg(Data(x=two.x, edge_index=two.edge_index, batch=two.batch - 1))
    with pytest.raises(GraphError, match=r"for each of the 8 nodes. Got shape \(3,\)"):
        from_pyg(Data(x=two.x, edge_index=two.edge_index, batch=two.batch[:3]))
    two.ptr = torch.tensor([0, 3, 8])
    with pytest.raises(GraphError, match="ptr and batch must describe the same graphs"):
        from_pyg(two)
    two.ptr = torch.tensor([0, 3, 9])
    with pytest.raises(GraphError, match="from 0 to its number of nodes, 8. Got 0, 3, 9"):
        from_pyg(two)


def test_an_edge_across_two_graphs() -> None:
    two = Batch.from_data_list([graph(), graph()])
    two.edge_index[:, 0] = torch.tensor([1, 6])
    with pytest.raises(GraphError, match="from node 1 of graph 0 to node 2 of graph 1"):
        from_pyg(two)
    two.edge_index[1, 0] = 8
    with pytest.raises(GraphError, match="in the batch of graphs 1 to 2, which has 8 nodes. Got 8"):
        from_pyg([graph(), two])


def test_features() -> None:
    with pytest.raises(FeatureError, match="Got 2 in graph 0 and 1 in graph 2"):
        from_pyg([graph(), graph(), graph(x=torch.zeros(4, 1))])
    with pytest.raises(FeatureError, match=r"reshape\(-1, 1\)"):
        from_pyg(graph(x=torch.zeros(4)))
    assert from_pyg(graph(), feature_names=["a", "b"]).names == ("a", "b")
    with pytest.raises(FeatureError, match="Got 3 names for 2 columns"):
        from_pyg(graph(), feature_names=["a", "b", "c"])
    nan = torch.tensor(X)
    nan[2, 1] = float("nan")
    with pytest.raises(FeatureError, match="Got nan at node 2 of graph 1, column 'U1'"):
        from_pyg([graph(), graph(x=nan)])
    with pytest.raises(FeatureError, match="Column 'U1'.*Got 2.0 at node 1 of graph 1.*Predicate"):
        from_pyg([graph(), graph(x=torch.tensor(X) * torch.tensor([1.0, 2.0]))])


# Edge types -----------------------------------------------------------------------------------


def test_edge_type_gives_relations() -> None:
    typed = graph(edge_type=torch.tensor([0, 0, 2, 0, 2]))
    batch = from_pyg([typed, Data(x=torch.zeros(1, 2))])
    assert set(batch.relations) == {"0", "2"}
    assert batch[0].relations["2"].toarray().tolist() == [
        [0, 0, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 0],
    ]
    assert not from_pyg(typed, edge_types=False).relations


def test_relations_from_other_attributes() -> None:
    numbers = torch.tensor([0, 0, 1, 0, 1])
    by_number = from_pyg(graph(edge_type=numbers))
    rows = torch.nn.functional.one_hot(numbers, 2)
    for values in (numbers, rows, rows.float(), rows.bool()):
        assert as_batch(graph(edge_attr=values), edge_types="edge_attr") == by_number
    assert not from_pyg(graph(edge_attr=rows)).relations
    wide = from_pyg(
        graph(edge_attr=torch.nn.functional.one_hot(numbers, 3)), edge_types="edge_attr"
    )
    assert set(wide.relations) == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (torch.tensor([0.5] * 5), r"edge_attr must be one whole number per edge.*\(5,\).*float32"),
        (torch.tensor([[1.0, 1.0]] * 5), r"must be one-hot rows.*Got a row \[1.0, 1.0\]"),
        (torch.tensor([[0.0, 0.0]] * 5), r"Got a row \[0.0, 0.0\]"),
        (torch.tensor([[2, 0]] * 5), r"Got a row \[2, 0\]"),
        (torch.tensor([1, 2]), r"graph 0 must have one entry for each of its 5 edges.*\(2,\)"),
        (None, "missing in graph 0"),
    ],
)
def test_bad_edge_types(values: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        from_pyg(graph(edge_attr=values), edge_types="edge_attr")


def test_stored_names() -> None:
    typed = graph(edge_type=torch.tensor([0, 0, 1, 0, 1]), relation_names=["r", "s", "t"])
    assert list(from_pyg(typed).relations) == ["r", "s", "t"]
    named = graph(predicate_names=["a", "b"])
    assert from_pyg([named, named]).names == ("a", "b")
    assert from_pyg([named, named], feature_names=["c", "d"]).names == ("c", "d")
    with pytest.raises(FeatureError, match=r"same predicate_names. Got \('a', 'b'\) at.*None at"):
        from_pyg([named, graph()])
    with pytest.raises(GraphError, match="below the number of relation_names, 1. Got .* 0 to 1"):
        from_pyg(graph(edge_type=typed.edge_type, relation_names=["r"]))
    # Attributes of the same name that mean something else are left alone.
    assert not from_pyg(graph(relation_names=["r"], predicate_names=3)).relations
    table = torch.zeros(5, 2)
    with pytest.raises(GraphError, match=r"edge_relations of graph 0 must be a Boolean.*float32"):
        from_pyg(graph(relation_names=["r", "s"], edge_relations=table))


def test_edge_types_agree_between_graphs() -> None:
    typed = graph(edge_type=torch.tensor([0, 0, 1, 0, 1]))
    with pytest.raises(GraphError, match="attribute 'edge_type'. It is missing in graph 1"):
        from_pyg([typed, graph()])
    wide = [graph(edge_attr=torch.eye(5)), graph(edge_attr=torch.eye(5, 6))]
    with pytest.raises(GraphError, match=r"\(5, 5\) in graph 0 and \(5, 6\) in graph 1"):
        from_pyg(wide, edge_types="edge_attr")
    with pytest.raises(UnsupportedInputError, match="name of an edge attribute.*Got True"):
        from_pyg(typed, edge_types=True)


def test_graphs_are_never_changed() -> None:
    data = graph(edge_type=torch.tensor([0, 0, 1, 0, 1]))
    before = data.clone()
    batch = from_pyg(data)
    assert data.keys() == before.keys()
    assert all(torch.equal(data[key], before[key]) for key in data.keys())  # noqa: SIM118
    data.x.fill_(1)
    data.edge_index.fill_(0)
    assert batch.with_predicates(batch.predicates, ["U0", "U1"]).column("U1").sum() == 2
    assert batch.n_edges == 5


def test_thousands_of_graphs_are_read() -> None:
    batch = as_batch([graph() for _ in range(5000)])
    assert batch.n_graphs == 5000
    assert batch[4999] == EXPECTED


def test_there_is_no_matrix_for_each_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    make = sp.coo_array.__init__

    def counted(self: Any, *arguments: Any, **options: Any) -> None:
        made.append(self)
        make(self, *arguments, **options)

    monkeypatch.setattr(sp.coo_array, "__init__", counted)
    as_batch([graph()] * 2)
    few = len(made)
    as_batch([graph()] * 50)
    assert 0 < few == len(made) - few


def test_there_is_no_loop_over_nodes_or_edges() -> None:
    def ring(size: int) -> Any:
        ends = torch.arange(size)
        return graph(x=torch.ones(size, 2), edge_index=torch.stack([ends, (ends + 1) % size]))

    small, large = [ring(5)] * 2, [ring(5000)] * 2
    as_batch(small)
    assert calls(lambda: as_batch(large)) == calls(lambda: as_batch(small))
