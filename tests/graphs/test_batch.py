from __future__ import annotations

import hashlib
import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs import (
    Direction,
    Edges,
    GraphBatch,
    ModalCounts,
    Modality,
    from_adjacency,
    from_edges,
    random,
    set_sizes,
)
from gnn2logic.graphs.random import random_graphs
from strategies import KINDS, RELATIONS, SETS, plain_graphs, to_batch

TRIANGLE = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_counts_and_sizes_of_every_parameter(name: str, kind: str, data: st.DataObject) -> None:
    """A block of columns at once, for every direction and relation, against plain loops."""
    graph = data.draw(plain_graphs(kind).filter(lambda g: kind != "typed" or bool(g.edges)))
    batch = to_batch(graph)
    direction = data.draw(st.sampled_from(list(Direction)))
    relation = data.draw(st.sampled_from((None, *RELATIONS))) if kind == "typed" else None
    modality = Modality.from_set(name, Edges(direction, relation))
    counts = ModalCounts(batch, batch.predicates)(modality)
    single = ModalCounts(batch, batch.column("U1"))(modality)
    sizes = set_sizes(batch, modality)
    row = {"set": name, "direction": direction.value, "relation": relation}
    for node in range(graph.n_nodes):
        members = oracle.seen_from(graph, node, row)
        assert sizes[node] == len(members)
        for number, column in enumerate(batch.names):
            assert counts[node, number] == sum(graph.predicates[column][w] for w in members)
        assert single[node] == counts[node, 1]


@settings(max_examples=60, deadline=None)
@given(
    graphs=st.lists(plain_graphs("multi", max_nodes=4), min_size=1, max_size=6),
    data=st.data(),
)
def test_take_keeps_rows_and_edges_together(
    graphs: list[oracle.PlainGraph], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(-len(graphs), len(graphs) - 1), min_size=1, max_size=8))
    batch = to_batch(*graphs)
    assert batch.take(chosen) == to_batch(*(graphs[number] for number in chosen))
    for number, single in enumerate(batch):
        assert single == to_batch(graphs[number]) == batch[number]


@settings(max_examples=60, deadline=None)
@given(
    graphs=st.lists(plain_graphs("directed", max_nodes=4), min_size=1, max_size=8),
    parts=st.integers(1, 10),
)
def test_split_and_concat_are_inverse(graphs: list[oracle.PlainGraph], parts: int) -> None:
    batch = to_batch(*graphs)
    pieces = batch.split(parts)
    assert 1 <= len(pieces) <= parts
    assert GraphBatch.concat(pieces) == batch
    assert sum(piece.n_graphs for piece in pieces) == batch.n_graphs


def test_split_is_balanced() -> None:
    batch = random_graphs(100, sizes=7, random_state=0)
    assert [piece.n_graphs for piece in batch.split(4)] == [25, 25, 25, 25]


def test_indexing() -> None:
    batch = random_graphs(5, sizes=[1, 2, 3, 4, 5], random_state=0)
    assert batch[-1].n_nodes == 5
    assert batch[1:3].sizes.tolist() == [2, 3]
    assert batch[np.array([4, 0])].sizes.tolist() == [5, 1]
    assert batch[[True, False, False, False, True]].sizes.tolist() == [1, 5]
    assert len(batch) == 5
    assert batch.shape == (5,)
    with pytest.raises(IndexError, match="graph 5 is out of range for 5 graphs"):
        batch[5]
    with pytest.raises(GraphError, match="below 5. Got 9"):
        batch.take([0, 9])
    with pytest.raises(GraphError, match="At least one graph"):
        batch.take([])
    with pytest.raises(GraphError, match="3 entries for 5 graphs"):
        batch.take([True, False, True])
    with pytest.raises(GraphError, match="whole numbers or a Boolean mask"):
        batch.take([0.5])


def test_immutable() -> None:
    predicates = np.zeros((3, 1), dtype=bool)
    matrix = sp.csr_array(np.array(TRIANGLE))
    batch = GraphBatch(predicates, matrix)
    predicates[:] = True
    matrix.data[:] = 7
    assert not batch.predicates.any()
    assert batch.n_edges == 6
    with pytest.raises(AttributeError, match="immutable"):
        batch.names = ("x",)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del batch._ptr
    for array in (batch.predicates, batch.ptr, batch.adjacency.data, batch.edges().degrees):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        batch.relations["r"] = matrix  # type: ignore[index]
    # What is handed out may be changed; the batch stays as it is.
    batch.adjacency.setdiag(1)
    batch.adjacency.resize((30, 30))  # type: ignore[arg-type]
    assert batch.n_edges == 6
    assert batch.adjacency.shape == (3, 3)
    assert not batch.has_loops


def test_pickle_and_equality() -> None:
    batch = random_graphs(4, relations=("r", "s"), directed=True, loops=True, random_state=0)
    copy = pickle.loads(pickle.dumps(batch))
    assert copy == batch
    assert not copy.predicates.flags.writeable
    assert batch != batch.take([0, 1, 2])
    assert batch != "batch"
    with pytest.raises(TypeError):
        hash(batch)


@pytest.mark.parametrize(
    "form", [sp.csr_array, sp.csc_array, sp.coo_array, np.array, sp.csr_matrix]
)
def test_all_matrix_forms_agree(form: type) -> None:
    expected = GraphBatch(None, TRIANGLE)
    assert GraphBatch(None, form(np.array(TRIANGLE))) == expected
    assert GraphBatch(None, form(np.array(TRIANGLE, dtype=float))) == expected


def test_stored_zeros_vanish_and_repeats_add_up() -> None:
    zeros = sp.coo_array(([0, 1, 1], ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert GraphBatch(None, zeros).n_edges == 2
    assert not GraphBatch(None, zeros).has_loops
    twice = sp.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2))
    batch = GraphBatch(None, twice)
    assert batch.adjacency.toarray().tolist() == [[0, 2], [0, 0]]
    assert batch.has_multi_edges


def test_kinds_of_graphs() -> None:
    simple = GraphBatch(None, TRIANGLE)
    directed = GraphBatch(None, [[0, 1], [0, 0]])
    looped = GraphBatch(None, [[1, 1], [1, 0]])
    multi = GraphBatch(None, [[0, 2], [2, 0]])
    assert simple.is_simple
    assert not any(batch.is_simple for batch in (directed, looped, multi))
    assert directed.symmetrize().adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert looped.without_loops().adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert multi.merge_multi_edges().adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert multi.symmetrize() == multi
    typed = GraphBatch(None, {"r": [[0, 1], [0, 0]], "s": [[0, 0], [1, 0]]}).symmetrize()
    assert typed.adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert typed.relations["r"].toarray().tolist() == [[0, 1], [1, 0]]
    assert multi.adjacency.toarray().tolist() == [[0, 2], [2, 0]]


def test_merged_edges_of_different_types_are_one_edge() -> None:
    typed = GraphBatch(None, {"r": [[0, 3], [0, 0]], "s": [[0, 1], [2, 0]]})
    merged = typed.merge_multi_edges()
    assert not merged.has_multi_edges
    assert merged.adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert merged.relations["r"].toarray().tolist() == [[0, 1], [0, 0]]
    assert merged.relations["s"].toarray().tolist() == [[0, 1], [1, 0]]
    assert merged.merge_multi_edges() == merged
    # One edge of two types is mirrored as one edge.
    assert merged.symmetrize().adjacency.toarray().tolist() == [[0, 1], [1, 0]]


def test_symmetrizing_looks_at_the_edges_between_two_nodes_alone() -> None:
    def mirrored(n_edges: int, first: tuple[int, int], second: tuple[int, int]) -> Any:
        """Nodes 0 and 1 are always joined alike; 2 and 3 have edges, of types r and s or not."""
        adjacency, r, s = np.zeros((3, 4, 4), dtype=int)
        adjacency[0, 1] = r[0, 1] = adjacency[1, 0] = s[1, 0] = 1
        adjacency[2, 3] = n_edges
        (r[2, 3], r[3, 2]), (s[2, 3], s[3, 2]) = first, second
        batch = GraphBatch(None, adjacency, relations={"r": r, "s": s}).symmetrize()
        GraphBatch(None, batch.adjacency, relations=batch.relations)
        assert batch.is_symmetric
        assert batch.adjacency[0, 1] == 2
        return batch.adjacency[2, 3]

    assert mirrored(0, (0, 0), (0, 0)) == 0
    assert mirrored(1, (0, 0), (0, 0)) == 1  # no type
    assert mirrored(2, (1, 0), (0, 0)) == 2  # one of two has a type
    assert mirrored(1, (1, 0), (1, 0)) == 1  # one edge of two types
    assert mirrored(2, (1, 0), (1, 0)) == 2


def test_typed_edges() -> None:
    single, double = [[0, 1], [1, 0]], [[0, 0], [1, 0]]
    batch = GraphBatch(None, {"single": single, "double": double})
    assert batch.adjacency.toarray().tolist() == [[0, 1], [2, 0]]
    assert batch.edges(Edges(relation="double")).degrees.tolist() == [0, 1]
    part = GraphBatch(None, single, relations={"forth": [[0, 1], [0, 0]]})
    assert part.edges(Edges(relation="forth")).degrees.tolist() == [1, 0]
    with pytest.raises(GraphError, match="'back' must be a part of adjacency.*node 1 to node 0"):
        GraphBatch(None, [[0, 1], [0, 0]], relations={"back": [[0, 0], [1, 0]]})
    with pytest.raises(GraphError, match="same nodes as adjacency, shape"):
        GraphBatch(None, single, relations={"r": [[0]]})
    with pytest.raises(GraphError, match="same nodes. Got shapes"):
        GraphBatch(None, {"r": [[0]], "s": single})
    with pytest.raises(GraphError, match="empty mapping"):
        GraphBatch(None, {})
    with pytest.raises(GraphError, match="not as both"):
        GraphBatch(None, {"r": single}, relations={"s": single})


def test_odd_graphs_are_valid() -> None:
    assert GraphBatch(None, [[0]]).n_nodes == 1
    isolated = GraphBatch(np.ones((3, 1)), np.zeros((3, 3)))
    assert isolated.n_edges == 0
    assert isolated.edges().degrees.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"adjacency": [[0, 1]]}, GraphError, r"square matrix. Got shape \(1, 2\)"),
        ({"adjacency": [[0, 1], [1]]}, GraphError, "rows of unequal length"),
        ({"adjacency": np.zeros((0, 0))}, GraphError, "at least one node. Got 0"),
        ({"adjacency": [[0, -1], [1, 0]]}, GraphError, "Got -1 at row 0, column 1"),
        (
            {"adjacency": [[0, 0.5], [1, 0]]},
            GraphError,
            r"Got 0.5 at row 0, column 1.*weights > 0.5",
        ),
        ({"adjacency": [[0, np.nan], [1, 0]]}, GraphError, "Got nan"),
        ({"adjacency": [[0, 2.0**40], [1, 0]]}, GraphError, "below 2"),
        ({"adjacency": [["a"]]}, GraphError, "must hold numbers. Got dtype"),
        (
            {"adjacency": TRIANGLE, "ptr": [0, 2]},
            GraphError,
            "end at the number of nodes, 3. Got 0 and 2",
        ),
        (
            {"adjacency": TRIANGLE, "ptr": [0, 0, 3]},
            GraphError,
            "Graph 0 must have at least one node",
        ),
        ({"adjacency": TRIANGLE, "ptr": [0.0, 3.0]}, GraphError, "whole numbers"),
        (
            {"adjacency": TRIANGLE, "ptr": [0, 1, 3]},
            GraphError,
            "must not join two graphs. Got an edge from node 0 of graph 0 to node 0 of graph 1",
        ),
        (
            {"adjacency": TRIANGLE, "predicates": [[0], [1]]},
            FeatureError,
            r"each of the 3 nodes.*\(2, 1\)",
        ),
        ({"adjacency": TRIANGLE, "predicates": [0, 1, 0]}, FeatureError, r"shape \(3,\)"),
        (
            {"adjacency": TRIANGLE, "predicates": [[0], [0.5], [1]]},
            FeatureError,
            "Got 0.5 at node 1, column 0. PredicateEncoder",
        ),
        (
            {"adjacency": TRIANGLE, "predicates": [[0], [np.nan], [1]]},
            FeatureError,
            "Got nan at node 1",
        ),
        ({"adjacency": TRIANGLE, "predicates": [["a"]] * 3}, FeatureError, "must be Boolean"),
        (
            {"adjacency": TRIANGLE, "predicates": np.zeros((3, 2)), "names": ["a"]},
            FeatureError,
            "Got 1 names for 2 columns",
        ),
        (
            {"adjacency": TRIANGLE, "predicates": np.zeros((3, 2)), "names": ["a", "a"]},
            FeatureError,
            "distinct. Got 'a' twice",
        ),
        (
            {"adjacency": TRIANGLE, "predicates": np.zeros((3, 2)), "names": "ab"},
            FeatureError,
            "single string 'ab'",
        ),
    ],
)
def test_bad_parts(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    predicates = arguments.pop("predicates", None)
    adjacency = arguments.pop("adjacency")
    with pytest.raises(error, match=message):
        GraphBatch(predicates, adjacency, **arguments)  # type: ignore[arg-type]


def test_concat_refuses_what_does_not_fit() -> None:
    one = GraphBatch(np.zeros((1, 1)), [[0]])
    with pytest.raises(FeatureError, match=r"Batch 0 has 1 \('U0'\), batch 1 has 2 \('U0', 'U1'\)"):
        GraphBatch.concat([one, GraphBatch(np.zeros((1, 2)), [[0]])])
    with pytest.raises(GraphError, match="Batch 0 has none, batch 1 has 'r'"):
        GraphBatch.concat([one, GraphBatch(np.zeros((1, 1)), {"r": [[0]]})])
    with pytest.raises(GraphError, match="empty sequence"):
        GraphBatch.concat([])
    with pytest.raises(UnsupportedInputError, match="Got int instead"):
        GraphBatch.concat([one, 1])  # type: ignore[list-item]
    assert GraphBatch.concat(one for _ in range(3)).n_graphs == 3


def test_scikit_learn_splits_batches() -> None:
    from sklearn.model_selection import train_test_split

    batch = random_graphs(10, sizes=range(1, 11), random_state=0)
    train, test = train_test_split(batch, random_state=0)
    assert sorted([*train.sizes, *test.sizes]) == list(range(1, 11))


def test_tensors_with_gradients_are_read() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra 'torch'")
    batch = GraphBatch(torch.ones(2, 1, requires_grad=True), np.zeros((2, 2), dtype=np.float16))
    assert batch.predicates.all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [1, 2, 3]}, "one for each of the 2 graphs"),
        ({"sizes": 2.7}, "whole numbers >= 1"),
        ({"probability": [0.1, 0.2, 0.3]}, "one for each of the 2 predicates"),
        ({"max_multiplicity": 0}, "max_multiplicity must be"),
        ({"density": 2}, "density must be between 0 and 1"),
        ({"density": np.nan}, "density must be between 0 and 1"),
        ({"sizes": 10**12}, "at most 100000000 nodes in memory. Got 2000000000000"),
        ({"sizes": np.inf}, "at most 100000000 nodes in memory. Got inf"),
        ({"sizes": 10**6, "density": 0.5}, "at most 100000000 edges. Got about 5e"),
    ],
)
def test_random_graphs_refuse_nonsense(options: dict[str, object], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        random_graphs(2, **options)  # type: ignore[arg-type]


def test_with_predicates_shares_the_edges() -> None:
    batch = random_graphs(3, sizes=4, random_state=0)
    other = batch.with_predicates(np.ones((12, 1)), ["all"])
    assert other.names == ("all",)
    assert np.shares_memory(other.adjacency.data, batch.adjacency.data)


def test_counts_beyond_int32_are_exact() -> None:
    big = 2**31 - 1
    batch = GraphBatch(None, [[0, big, big], [big, 0, 0], [big, 0, 0]])
    assert batch.n_edges == 4 * big
    counts = ModalCounts(batch, np.ones(3, dtype=bool))(Modality.from_set("A"))
    assert counts.tolist() == [2 * big, big, big]


def test_random_graphs_are_seeded_and_as_described() -> None:
    first = random_graphs(50, sizes=[3, 20] * 25, density=0.3, random_state=5)
    assert first == random_graphs(50, sizes=[3, 20] * 25, density=0.3, random_state=5)
    assert first != random_graphs(50, sizes=[3, 20] * 25, density=0.3, random_state=6)
    assert first.is_simple
    pairs = 25 * (3 * 2 + 20 * 19)
    assert abs(first.n_edges / pairs - 0.3) < 0.03
    typed = random_graphs(
        9, relations=("r", "s"), loops=True, directed=True, max_multiplicity=2, random_state=0
    )
    assert typed.has_loops
    assert typed.has_multi_edges
    assert not typed.is_symmetric
    total = typed.relations["r"] + typed.relations["s"]
    assert (total != typed.adjacency).nnz == 0
    with pytest.raises(GraphError, match="n_graphs must be a whole number >= 1. Got 0"):
        random_graphs(0)
    with pytest.raises(GraphError, match="sizes must be whole numbers >= 1"):
        random_graphs(2, sizes=[1, 0])


def test_large_batches_are_drawn_in_chunks() -> None:
    batch = random_graphs(300, sizes=100, density=0.01, names=(), random_state=0)
    assert batch.n_nodes == 30_000
    assert abs(batch.n_edges / (300 * 100 * 99) - 0.01) < 0.001


def test_seeds_mean_the_same_graphs_for_ever() -> None:
    """Data sets and results were made from such graphs; parts of large ones are drawn in turn."""
    options: dict[str, Any] = {"directed": True, "loops": True, "max_multiplicity": 3}
    batches = [
        random_graphs(7, sizes=[1, 2, 3, 4, 5, 6, 7], random_state=11),
        random_graphs(3, sizes=[1500, 3, 2000], density=[0.01, 0.5, 0.002], random_state=11),
        random_graphs(4, sizes=[1414, 1415, 9, 1], relations=("a", "b"), random_state=1, **options),
    ]
    expected = ["06049d9811b1372e", "3d30babe8cc60341", "236ae9521d762e23"]
    assert [_digest(batch) for batch in batches] == expected


def _digest(batch: GraphBatch) -> str:
    digest = hashlib.sha256(np.packbits(batch.predicates).tobytes())
    for matrix in (batch.adjacency, *batch.relations.values()):
        for array in (matrix.indptr, matrix.indices, matrix.data):
            digest.update(array.astype(np.int64).tobytes())
    return digest.hexdigest()[:16]


def test_large_sparse_graphs_take_as_much_memory_as_they_have_edges() -> None:
    tracemalloc.start()
    try:
        batch = random_graphs(2, sizes=[10**6, 3], density=[1e-6, 1.0], random_state=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300 * 2**20
    assert batch == random_graphs(2, sizes=[10**6, 3], density=[1e-6, 1.0], random_state=0)
    assert batch.is_simple
    assert batch[1].n_edges == 6
    assert abs(batch.n_edges - 10**6) < 10_000


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_edges_of_large_graphs_are_drawn_as_those_of_small_ones(
    directed: bool, loops: bool, density: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"directed": directed, "loops": loops, "density": density}
    for limit in ("_PAIRS_AT_ONCE", "_MOST_PAIRS"):
        monkeypatch.setattr(random, limit, 3)
    batch = random_graphs(4000, sizes=4, names=(), random_state=0, **options)
    assert batch.is_symmetric or directed
    place = np.arange(batch.n_nodes) % 4
    edges = batch.adjacency.tocoo()
    often = np.zeros((4, 4))
    np.add.at(often, (place[edges.row], place[edges.col]), edges.data)
    expected = np.full((4, 4), density)
    if not loops:
        np.fill_diagonal(expected, 0.0)
    # Four standard deviations, and exactly where nothing is left to chance.
    allowed = 4 * np.sqrt(expected * (1 - expected) / 4000)
    assert (np.abs(often / 4000 - expected) <= allowed).all()


def test_numbers_of_nodes_that_no_memory_holds() -> None:
    one = sp.coo_array(([1], ([0], [1])), shape=(10**12, 10**12))
    half = sp.csr_array((6 * 10**7, 6 * 10**7), dtype=np.int8)
    makers: list[Callable[[], GraphBatch]] = [
        lambda: GraphBatch(None, one),
        lambda: from_adjacency([one]),
        lambda: from_adjacency([half, half]),
        lambda: from_edges([(0, 1)], 10**12),
        lambda: from_edges([(0, 1)], 10**30),
        lambda: random_graphs(10**12),
    ]
    for make in makers:
        with pytest.raises(GraphError, match="at most 100000000 nodes in memory. Got 1"):
            make()
