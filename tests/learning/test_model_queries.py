"""Models as queries and code predict what the models predict."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.exceptions import TranslationError
from oracle import PlainGraph

pytest.importorskip("duckdb", reason="needs duckdb, of the extra 'dev'")
pytest.importorskip("ladybug", reason="needs ladybug, of the extra 'dev'")

from query_engines import duckdb_rows, function_in, ladybug_rows, sqlite_rows

COLUMNS = {"element": "TEXT", 'it\'s a "charge"': "DOUBLE", "ring": "BOOLEAN"}
CYPHER_COLUMNS = COLUMNS | {"element": "STRING"}
LABELS = ['it\'s "in"', "out\\", "third; --"]


def molecules(count: int, seed: int) -> tuple[list[Any], list[PlainGraph]]:
    """Return graphs with texts, numbers and truths at their nodes, in two forms."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        graph = nx.gnp_random_graph(int(rng.integers(2, 7)), 0.5, seed=int(rng.integers(2**31)))
        for node in graph:
            graph.nodes[node].update(
                {
                    "element": str(rng.choice(["C", "N'", "O"])),
                    'it\'s a "charge"': float(rng.normal()),
                    "ring": bool(rng.integers(2)),
                }
            )
        drawn.append(graph)
    plain = [
        PlainGraph(
            len(graph),
            {name: [graph.nodes[v][name] for v in graph] for name in COLUMNS},
            [(v, w, None) for v in graph for w in graph.adj[v]],
        )
        for graph in drawn
    ]
    return drawn, plain


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[PlainGraph], list[str]]:
    drawn, plain = molecules(120, 0)
    n_n = [sum(graph.nodes[v]["element"] == "N'" for v in graph) for graph in drawn]
    charged = [sum(graph.nodes[v]['it\'s a "charge"'] > 0.2 for v in graph) for graph in drawn]
    y = [LABELS[0 if n > 1 else 1 if c > 2 else 2] for n, c in zip(n_n, charged, strict=True)]
    return drawn, plain, y


def check(model: Any, drawn: list[Any], plain: list[PlainGraph]) -> None:
    predicted = [(number, label) for number, label in enumerate(model.predict(drawn).tolist())]
    query = model.to_sql()
    assert [row[:2] for row in sqlite_rows(query, plain, COLUMNS)] == predicted
    assert [row[:2] for row in duckdb_rows(query, plain, COLUMNS)] == predicted
    cypher = model.to_cypher(names=gl.CypherNames(node="node"))
    rows = ladybug_rows(cypher, plain, CYPHER_COLUMNS)
    assert [(row[0], row[-1]) for row in rows] == predicted
    predict = function_in(model.to_python(), "predict")
    assert [(number, predict(graph)) for number, graph in enumerate(drawn)] == predicted


def test_rules_on_the_columns_that_users_have(data: Any) -> None:
    drawn, _, y = data
    model = gl.IDTClassifier(algorithm="layers", n_layers=1, random_state=0).fit(drawn, y)
    assert len(set(model.predict(drawn))) == 3
    fresh = molecules(25, 1)
    check(model, *fresh)


@pytest.mark.parametrize(("n_classes", "max_lines", "n_layers"), [(2, 2, 1), (3, 4, 0)])
def test_scorecards(data: Any, n_classes: int, max_lines: int, n_layers: int) -> None:
    drawn, _, y = data
    labels = [LABELS.index(label) % n_classes for label in y]
    card = gl.ScorecardClassifier(max_lines, n_layers=n_layers, random_state=0).fit(drawn, labels)
    fresh = molecules(20, 2)
    check(card, *fresh)
    scores = [row[2:] for row in sqlite_rows(card.to_sql(), fresh[1], COLUMNS)]
    assert np.array_equal(np.array(scores).squeeze(), card.decision_function(fresh[0]))


def test_scorecards_of_numbers(data: Any) -> None:
    drawn, _, _ = data
    target = [3.5 * sum(graph.nodes[v]["ring"] for v in graph) + len(graph) for graph in drawn]
    card = gl.ScorecardRegressor(max_lines=3, n_layers=0, random_state=0).fit(drawn, target)
    graphs, plain = molecules(20, 3)
    wanted = card.predict(graphs)
    assert np.allclose([row[1] for row in sqlite_rows(card.to_sql(), plain, COLUMNS)], wanted)
    assert np.allclose([row[1] for row in duckdb_rows(card.to_sql(), plain, COLUMNS)], wanted)
    cypher = card.to_cypher(names=gl.CypherNames(node="node"))
    rows = ladybug_rows(cypher, plain, CYPHER_COLUMNS)
    assert np.allclose([row[-1] for row in rows], wanted)
    predict = function_in(card.to_python(), "predict")
    assert np.allclose([predict(graph) for graph in graphs], wanted)


def test_rules_of_numbers() -> None:
    graphs = gl.random_graphs(60, sizes=5, random_state=0)
    target = 2.5 * gl.parse("1 U0 > 2").evaluate(graphs) + gl.parse("1 U1 > 3").evaluate(graphs)
    model = gl.IDTRegressor(n_layers=0, max_size=8, random_state=0).fit(graphs, target)
    predict = function_in(model.to_python(), "predict")
    said = [predict(graph) for graph in gl.to_networkx(graphs)]
    assert said == model.predict(graphs).tolist()
    assert len(set(said)) > 1


@pytest.mark.parametrize(
    "estimator",
    [
        gl.IDTNodeClassifier(algorithm="layers", n_layers=1, random_state=0),
        gl.ScorecardNodeClassifier(max_lines=2, n_layers=1, random_state=0),
    ],
)
def test_models_of_nodes(estimator: Any) -> None:
    graphs = gl.random_graphs(30, sizes=5, random_state=0)
    y = gl.parse("A U0 > 1 & U1").evaluate(graphs, level="node")
    model = estimator.fit(graphs, y)
    wanted = model.predict(graphs).tolist()
    drawn = gl.to_networkx(graphs)
    predict = function_in(model.to_python(name="label"), "label")
    assert [predict(graph)[v] for graph in drawn for v in graph] == wanted
    plain = [
        PlainGraph(
            len(graph),
            {name: [graph.nodes[v][name] for v in graph] for name in graphs.names},
            [(v, w, None) for v in graph for w in graph.adj[v]],
        )
        for graph in drawn
    ]
    truths = dict.fromkeys(graphs.names, "BOOLEAN")
    for rows in (sqlite_rows, duckdb_rows):
        assert [bool(row[2]) for row in rows(model.to_sql(), plain, truths)] == wanted
    cypher = model.to_cypher(names=gl.CypherNames(node="node"))
    assert [row[-1] for row in ladybug_rows(cypher, plain, truths)] == wanted


@pytest.mark.parametrize("kinds", [("single", "it's = double"), (1, 2), (1.0, -2.0), (False, True)])
def test_functions_read_edge_attributes_as_models_do(kinds: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(60):
        graph = nx.gnp_random_graph(int(rng.integers(3, 7)), 0.6, seed=int(rng.integers(2**31)))
        for ends in graph.edges:
            graph.edges[ends]["a=b"] = kinds[int(rng.integers(2))]
        drawn.append(graph)
    y = [sum(kind == kinds[1] for *_, kind in g.edges(data="a=b")) > 2 for g in drawn]
    model = gl.IDTClassifier(algorithm="layers", n_layers=1, random_state=0).fit(drawn, y)
    predict = function_in(model.to_python(), "predict")
    said = [predict(graph) for graph in drawn]
    assert said == model.predict(drawn).tolist()
    assert len(set(said)) == 2


def test_one_class_is_said_of_every_graph() -> None:
    model = gl.from_formulas({"yes": "true"}, otherwise="no", names=["U0"])
    graph = PlainGraph(1, {"U0": [True]}, [])
    assert sqlite_rows(model.to_sql(), [graph], {"U0": "BOOLEAN"}) == [(0, "yes")]


def test_shapes_that_no_query_measures_are_refused() -> None:
    graphs = gl.random_graphs(60, sizes=6, random_state=0)
    encoder = gl.PredicateEncoder(structure="triangles")
    batch = encoder.fit_transform(graphs)
    shape = next(name for name in batch.names if name not in graphs.names)
    y = gl.evaluate(gl.ALL(gl.predicate(shape)) > 0, batch)
    model = gl.IDTClassifier(
        algorithm="layers",
        n_layers=0,
        encoder=gl.PredicateEncoder(structure="triangles"),
        random_state=0,
    ).fit(graphs, y)
    with pytest.raises(TranslationError, match="measured on whole graphs"):
        model.to_sql()


def test_rules_as_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = ModuleType("pandas")
    pandas.__dict__["DataFrame"] = lambda rows, columns: (rows, columns)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    graphs = gl.random_graphs(60, sizes=6, random_state=0)
    y = gl.parse("1 U0 > 3").evaluate(graphs)
    rules = gl.IDTClassifier(algorithm="layers", n_layers=0, random_state=0).fit(graphs, y)
    assert rules.get_rules()[0] == rules.rules_.to_records()
    card = gl.ScorecardClassifier(max_lines=2, n_layers=0, random_state=0).fit(graphs, y)
    rows, names = card.get_rules()
    assert names == ["line", "formula", "size", "modal_depth", "points for True"]
    cases = [case for line in card.lines_ for case in line.cases]
    assert [(row["formula"], row["points for True"]) for row in rows] == [
        (str(formula), points) for formula, (points,) in cases
    ]
