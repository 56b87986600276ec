from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import MissingDependencyError
from gnn2logic.graphs import GraphBatch, as_batch, from_networkx, from_pyg, to_networkx, to_pyg
from strategies import KINDS, plain_graphs, to_batch

IntMatrix = npt.NDArray[np.int64]


@st.composite
def matrices(draw: st.DrawFn, n_nodes: int, below: IntMatrix, symmetric: bool) -> IntMatrix:
    drawn = [[draw(st.integers(0, int(entry))) for entry in row] for row in below]
    matrix = np.array(drawn, dtype=np.int64).reshape(n_nodes, n_nodes)
    return np.minimum(matrix, matrix.T) if symmetric else matrix


@st.composite
def any_batches(draw: st.DrawFn) -> GraphBatch:
    """Graphs with loops and parallel edges, and relations that overlap or leave edges out."""
    symmetric, n_relations = draw(st.booleans()), draw(st.integers(0, 3))
    graphs = []
    for _ in range(draw(st.integers(1, 3))):
        n_nodes = draw(st.integers(1, 4))
        most = np.full((n_nodes, n_nodes), draw(st.integers(0, 3)))
        adjacency = draw(matrices(n_nodes, most, symmetric))
        relations = {
            name: draw(matrices(n_nodes, adjacency, symmetric))
            for name in ("bond=1", "is it?", "z")[:n_relations]
        }
        predicates = [[draw(st.booleans()), draw(st.booleans())] for _ in range(n_nodes)]
        names = ("b > 2", "a")
        graphs.append(GraphBatch(predicates, adjacency, names=names, relations=relations))
    return GraphBatch.concat(graphs)


@settings(max_examples=100, deadline=None)
@given(any_batches())
def test_networkx_gives_the_batch_back(batch: GraphBatch) -> None:
    pytest.importorskip("networkx")
    graphs = to_networkx(batch)
    assert from_networkx(graphs) == batch
    assert all(as_batch(one) == single for one, single in zip(graphs, batch, strict=True))


@settings(max_examples=100, deadline=None)
@given(any_batches())
def test_pyg_gives_the_batch_back(batch: GraphBatch) -> None:
    pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    graphs = to_pyg(batch)
    assert from_pyg(graphs) == batch
    assert as_batch(data.Batch.from_data_list(graphs)) == batch
    assert all(as_batch(one) == single for one, single in zip(graphs, batch, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_kind_of_graph_comes_back(kind: str, data: st.DataObject) -> None:
    pytest.importorskip("networkx")
    pytest.importorskip("torch_geometric")
    batch = to_batch(data.draw(plain_graphs(kind, max_nodes=4)))
    assert from_networkx(to_networkx(batch)) == batch
    assert from_pyg(to_pyg(batch)) == batch


def test_classes_of_networkx_graphs() -> None:
    nx = pytest.importorskip("networkx")
    blocks = {
        nx.Graph: [[1, 1], [1, 0]],
        nx.MultiGraph: [[0, 2], [2, 0]],
        nx.DiGraph: [[0, 1], [0, 0]],
        nx.MultiDiGraph: [[0, 2], [1, 0]],
    }
    batch = as_batch([np.array(matrix) for matrix in blocks.values()])
    graphs = to_networkx(batch)
    # By the graph alone, whatever the others of the batch are.
    assert [type(graph) for graph in graphs] == list(blocks)
    assert [graph.number_of_edges() for graph in graphs] == [2, 2, 1, 3]
    relation = GraphBatch(None, [[0, 1], [1, 0]], relations={"r": [[0, 1], [0, 0]]})
    assert type(to_networkx(relation)[0]) is nx.DiGraph


def test_attributes_of_networkx_graphs() -> None:
    pytest.importorskip("networkx")
    batch = GraphBatch([[1], [0]], {"r": [[0, 1], [1, 0]], "s": [[0, 0], [0, 1]]}, names=["red"])
    (graph,) = to_networkx(batch)
    assert dict(graph.nodes(data=True)) == {0: {"red": True}, 1: {"red": False}}
    assert list(graph.edges(data=True)) == [
        (0, 1, {"r": True, "s": False}),
        (1, 1, {"r": False, "s": True}),
    ]
    assert graph.nodes[0]["red"] is True


def test_relations_without_edges_come_back() -> None:
    pytest.importorskip("networkx")
    pytest.importorskip("torch_geometric")
    batch = GraphBatch(None, [[0]], relations={"r": [[0]]})
    assert from_networkx(to_networkx(batch)) == batch
    assert from_pyg(to_pyg(batch)) == batch


def test_parts_of_pyg_data() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    shared_out: dict[str, Any] = {"r": [[0, 1], [0, 0]], "s": [[0, 1], [1, 0]]}
    (data,) = to_pyg(GraphBatch([[1], [0]], shared_out, names=["red"]))
    assert data.x.dtype == torch.float32
    assert data.x.tolist() == [[1.0], [0.0]]
    assert data.edge_index.tolist() == [[0, 0, 1], [1, 1, 0]]
    assert data.edge_type.tolist() == [0, 1, 1]
    assert data.num_nodes == 2
    assert data.predicate_names == ["red"]
    assert data.relation_names == ["r", "s"]
    (data,) = to_pyg(GraphBatch(None, [[1]], relations={"r": [[1]], "s": [[1]]}))
    assert "edge_type" not in data
    assert data.edge_relations.tolist() == [[True, True]]
    assert data.x.shape == (1, 0)


def test_written_graphs_can_be_changed() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    batch = as_batch([(np.eye(1), np.ones((1, 1))), (np.eye(1), np.ones((1, 1)))])
    before = to_pyg(batch)
    for data in to_pyg(batch):
        data.x.zero_()
        data.edge_index.add_(7)
    assert from_pyg(before) == batch == from_pyg(to_pyg(batch))


def test_a_loader_reads_what_was_written() -> None:
    pytest.importorskip("torch")
    loader = pytest.importorskip("torch_geometric.loader")
    batch = as_batch([np.eye(2), 1 - np.eye(3), np.ones((1, 1))])
    assert as_batch(loader.DataLoader(to_pyg(batch), batch_size=2)) == batch


@pytest.mark.parametrize(
    ("write", "package", "extra"), [(to_networkx, "networkx", "plot"), (to_pyg, "torch", "torch")]
)
def test_missing_packages(
    write: Any, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(module: str) -> Any:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(
        MissingDependencyError, match=rf"'{package}'.*pip install 'gnn2logic\[{extra}\]'"
    ):
        write(GraphBatch(None, [[0]]))
