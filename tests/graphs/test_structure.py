"""Rings, bridges, triangles, cores, cliques and degrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnn2logic as gl
import structure_oracle as slow
from gnn2logic.exceptions import FeatureError, ParameterError
from gnn2logic.graphs import GraphBatch, cycles
from gnn2logic.graphs.structure_names import FAMILIES, structure_predicates
from oracle import PlainGraph
from strategies import any_graphs, plain_graphs, to_batch


def pairs_of(graph: PlainGraph) -> list[tuple[int, int]]:
    return [(source, target) for source, target, _ in graph.edges]


def expected(graph: PlainGraph) -> dict[str, list[bool]]:
    """Return all predicates by the slow definitions."""
    near = slow.neighbour_sets(graph.n_nodes, pairs_of(graph))
    nodes = range(graph.n_nodes)
    rings = [slow.ring_sizes(near, v) for v in nodes]
    counts = [slow.triangles(near, v) for v in nodes]
    cores = [slow.core_number(near, v) for v in nodes]
    columns = {f"ring={k}": [k in rings[v] for v in nodes] for k in range(3, 9)}
    columns |= {f"triangles > {t}": [counts[v] > t for v in nodes] for t in (0, 1, 3, 7)}
    columns |= {f"core > {k}": [cores[v] > k for v in nodes] for k in range(1, 6)}
    columns |= {f"clique={k}": [slow.in_clique(near, v, k) for v in nodes] for k in (4, 5)}
    columns |= {f"degree={k}": [len(near[v]) == k for v in nodes] for k in range(5)}
    columns |= {f"degree > {k}": [len(near[v]) > k for v in nodes] for k in (4, 9)}
    return columns


@given(any_graphs)
@settings(max_examples=150, deadline=None)
def test_predicates_are_those_of_the_slow_definitions(graph: PlainGraph) -> None:
    shaped = gl.structure(to_batch(graph))
    for name, column in expected(graph).items():
        assert shaped.column(name).tolist() == column, name


@given(plain_graphs("simple", max_nodes=8))
@settings(max_examples=40, deadline=None)
def test_long_rings_are_those_of_the_slow_definitions(graph: PlainGraph) -> None:
    shaped = gl.structure(to_batch(graph), "rings")
    near = slow.neighbour_sets(graph.n_nodes, pairs_of(graph))
    for v in range(graph.n_nodes):
        sizes = {k for k in range(3, 9) if shaped.column(f"ring={k}")[v]}
        assert sizes == slow.ring_sizes(near, v)


@given(any_graphs)
@settings(max_examples=100, deadline=None)
def test_relations_split_the_edges_between_two_nodes(graph: PlainGraph) -> None:
    batch = to_batch(graph)
    relations = gl.structure(batch, "edges").relations
    ring, bridge = relations["ring"].toarray(), relations["bridge"].toarray()
    whole = batch.adjacency.toarray()
    near = slow.neighbour_sets(graph.n_nodes, pairs_of(graph))
    for v in range(graph.n_nodes):
        for w in range(graph.n_nodes):
            on_cycle = v != w and w in near[v] and slow.cycle_length(near, v, w) > 0
            assert ring[v, w] == (whole[v, w] if on_cycle else 0)
            assert bridge[v, w] == (whole[v, w] if v != w and not on_cycle else 0)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_nothing_depends_on_the_order_of_nodes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 40))
    drawn = np.triu(rng.random((n_nodes, n_nodes)) < 3 / n_nodes, 1)
    matrix = (drawn | drawn.T).astype(int)
    order = rng.permutation(n_nodes)
    one = gl.structure(GraphBatch(None, matrix))
    other = gl.structure(GraphBatch(None, matrix[order][:, order]))
    assert (other.predicates == one.predicates[order]).all()
    for name in ("ring", "bridge"):
        moved = one.relations[name].toarray()[order][:, order]
        assert (other.relations[name].toarray() == moved).all()


def test_a_graph_has_the_same_structure_in_a_batch() -> None:
    graphs = gl.random_graphs(60, random_state=5)
    together = gl.structure(graphs)
    alone = GraphBatch.concat([gl.structure(graph) for graph in graphs])
    assert together == alone


def ring_of(size: int) -> GraphBatch:
    return gl.from_edges([(v, (v + 1) % size) for v in range(size)], size).symmetrize()


@pytest.mark.parametrize("size", range(3, 13))
def test_a_ring_alone(size: int) -> None:
    shaped = gl.structure(ring_of(size))
    for other in range(3, 9):
        assert (shaped.column(f"ring={other}") == (other == size)).all()
    # Longer ones are still cycles.
    assert shaped.relations["ring"].nnz == 2 * size
    assert shaped.relations["bridge"].nnz == 0


def test_fused_rings_give_their_nodes_both_sizes() -> None:
    # Indole: a ring of five and one of six that share the edge 3-4.
    indole = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 5), (5, 6), (6, 7), (7, 8), (8, 3)]
    shaped = gl.structure(gl.from_edges(indole, 9).symmetrize(), "rings")
    assert np.flatnonzero(shaped.column("ring=5")).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(shaped.column("ring=6")).tolist() == [3, 4, 5, 6, 7, 8]


def test_a_search_that_is_too_wide_is_done_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = gl.random_graphs(20, random_state=3)
    whole = gl.structure(graphs, "rings")
    monkeypatch.setattr(cycles, "_MOST_STEPS", 10)
    monkeypatch.setattr(cycles, "_CHUNK", 7)
    assert gl.structure(graphs, "rings") == whole


def test_edges_alone_are_no_predicates() -> None:
    graph = gl.structure(ring_of(4), "edges")
    assert graph.names == ()
    assert graph.relation_names == ("ring", "bridge")


def test_one_word_several_and_all() -> None:
    graph = ring_of(4)
    assert gl.structure(graph, "rings").names == structure_predicates(["rings"])
    both = gl.structure(graph, ["degrees", "rings"])
    assert both.names == structure_predicates(["rings", "degrees"])
    assert gl.structure(graph, "all") == gl.structure(graph, True) == gl.structure(graph, FAMILIES)


@pytest.mark.parametrize("families", ["ring", ["rings", "loops"], 3, [3]])
def test_unknown_words_are_named(families: object) -> None:
    with pytest.raises(ParameterError, match="rings"):
        gl.structure(ring_of(4), families)  # type: ignore[arg-type]


def test_names_that_are_taken_are_refused() -> None:
    graph = ring_of(4)
    with pytest.raises(FeatureError, match="'ring=4'"):
        gl.structure(graph.with_predicates(np.ones((4, 1)), ["ring=4"]), "rings")
    with pytest.raises(FeatureError, match="relation of the name 'ring'"):
        gl.structure(gl.structure(graph, "edges"), "edges")


# In encoders ---------------------------------------------------------------------------------


def test_an_encoder_adds_the_structure() -> None:
    graphs = gl.random_graphs(10, random_state=1)
    encoder = gl.PredicateEncoder(structure=["edges", "rings"])
    assert encoder.fit_transform(graphs) == gl.structure(graphs, ["edges", "rings"])
    assert encoder.names_ == (*graphs.names, *structure_predicates(["rings"]))
    assert encoder.relations_ == ("ring", "bridge")
    assert encoder.given_relations_ == ()
    assert gl.PredicateEncoder().fit_transform(graphs) == graphs


def test_a_column_of_the_same_name_is_refused() -> None:
    graph = ring_of(6).with_predicates(np.ones((6, 1)), ["ring=6"])
    with pytest.raises(FeatureError, match="both give a predicate 'ring=6'"):
        gl.PredicateEncoder(structure="rings").fit(graph)


def test_relations_of_graphs_come_first() -> None:
    edges = {
        "double": [[0, 1, 0], [1, 0, 0], [0, 0, 0]],
        "single": [[0, 0, 1], [0, 0, 1], [1, 1, 0]],
    }
    graph = GraphBatch(None, edges)
    encoder = gl.PredicateEncoder(structure=True).fit(graph)
    assert encoder.relations_ == ("double", "single", "ring", "bridge")
    assert encoder.transform(graph).relations["ring"].nnz == 6


def test_an_encoder_comes_back_from_its_document() -> None:
    graphs = gl.random_graphs(5, random_state=1)
    for structure in (True, "rings", ["cores", "edges"]):
        encoder = gl.PredicateEncoder(structure=structure).fit(graphs)
        again = gl.PredicateEncoder.from_document(encoder.to_document())
        assert again.transform(graphs) == encoder.transform(graphs)
        assert again.structure_ == encoder.structure_


def test_documents_of_version_1_have_no_structure() -> None:
    document = gl.PredicateEncoder().fit(gl.random_graphs(5, random_state=1)).to_document()
    document["version"] = 1
    del document["settings"]["structure"]
    assert gl.PredicateEncoder.from_document(document).structure is None


def test_a_document_with_an_unknown_word_is_refused() -> None:
    document = gl.PredicateEncoder(structure=True).fit(ring_of(3)).to_document()
    document["settings"]["structure"] = ["loops"]
    with pytest.raises(FeatureError, match="not a valid encoder document.*'loops'"):
        gl.PredicateEncoder.from_document(document)


# In formulas ---------------------------------------------------------------------------------


def test_words() -> None:
    formula = gl.parse('1(ring=6 & A[bridge] "triangles > 0" > 0) > 1')
    assert formula.to_english() == (
        "more than 1 node is in a ring of 6, and has at least one neighbour along a bridge that is "
        "on a triangle"
    )
    every = [gl.predicate(name).to_english() for name in structure_predicates(FAMILIES)]
    assert len(set(every)) == len(every)
    assert not any("=" in words or ">" in words for words in every)


def test_a_name_that_reads_like_our_words_is_another_one() -> None:
    assert gl.predicate("in a ring of 6").to_english() != gl.predicate("ring=6").to_english()


def test_c2_says_that_the_structure_is_beyond_it() -> None:
    with pytest.warns(gl.exceptions.BeyondC2Warning, match=r"ring=6, A\[bridge\]"):
        translated = gl.parse("A[bridge](ring=6) > 0").to_c2()
    assert "ring=6" in str(translated)


def test_equivalence_says_that_the_structure_is_free() -> None:
    answer = gl.equivalent(gl.parse("ring=3"), gl.parse("ring=3 & A true > 1"), max_nodes=3)
    assert not answer
    assert "The structure (ring=3) was free here" in str(answer)
    same = gl.equivalent(gl.parse("ring=3"), gl.parse("!!ring=3 | false & U0"), max_nodes=2)
    assert same.method == "identical"
    assert "free" not in str(same)


# In models -----------------------------------------------------------------------------------


def test_a_rule_about_rings_is_learned_saved_and_explained(tmp_path: object) -> None:
    hexagons = [ring_with_tail(6, tail) for tail in range(1, 21)]
    pentagons = [ring_with_tail(5, tail + 1) for tail in range(1, 21)]
    graphs = GraphBatch.concat([*hexagons, *pentagons])
    y = [1] * 20 + [0] * 20
    encoder = gl.PredicateEncoder(structure="rings")
    model = gl.IDTClassifier(0, encoder=encoder, random_state=0).fit(graphs, y)
    assert str(model.formula(0)) == "1(ring=5) > 0"
    assert model.score(graphs, y) == 1.0
    path = f"{tmp_path}/model.json"
    model.save(path)
    again = gl.load(path)
    assert isinstance(again, gl.IDTPredictor)
    assert (again.predict(graphs) == model.predict(graphs)).all()
    assert again.formula(1) is model.formula(1)
    refitted = gl.IDTClassifier.load(path)
    assert refitted.encoder_.structure_ == ("rings",)
    assert isinstance(refitted.encoder, gl.PredicateEncoder)
    assert refitted.encoder.structure == ["rings"]
    reasons = gl.explain(again, pentagons[3]).witnesses
    assert np.flatnonzero(reasons.nodes).tolist() == [0, 1, 2, 3, 4]
    assert len(reasons.edges) == 10
    assert "ring=" in str(model.formula(1))
    assert "structure of graphs" in gl.report(model, graphs, y).to_markdown()


def ring_with_tail(size: int, tail: int) -> GraphBatch:
    ring = [(v, (v + 1) % size) for v in range(size)]
    path = [(size + v - 1, size + v) for v in range(tail)]
    return gl.from_edges([*ring, *path], size + tail).symmetrize()
