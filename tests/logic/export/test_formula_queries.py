"""Queries and code say what the formulas mean: on any graphs, whatever names are like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import oracle
from gnn2logic import A, Formula, I, parse, predicate, to_networkx
from gnn2logic.exceptions import ParameterError, TranslationError, UnsupportedInputError
from gnn2logic.logic.export import CypherNames, SqlTables, to_cypher, to_python, to_sql
from gnn2logic.logic.walk import relation_names
from oracle import PlainGraph
from strategies import KINDS, NAMES, RELATIONS, formulas, plain_graphs, to_batch

pytest.importorskip("duckdb", reason="needs duckdb, of the extra 'dev'")
pytest.importorskip("ladybug", reason="needs ladybug, of the extra 'dev'")

from query_engines import adjacency_lists, duckdb_rows, function_in, ladybug_rows, sqlite_rows

HOSTILE = ('say "hi"; DROP TABLE nodes; --', "it's `x` \\u0041 */ 'y'", "two\nlines\t\u2028")
BOOLEANS = dict.fromkeys(NAMES, "BOOLEAN")

slow = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def truth(formula: Formula, graph: PlainGraph) -> list[bool]:
    return oracle.truth(json.loads(formula.to_json()), graph)


def node_rows(formula: Formula, graphs: list[PlainGraph]) -> list[tuple[Any, ...]]:
    return [
        (number, node, value)
        for number, graph in enumerate(graphs)
        for node, value in enumerate(truth(formula, graph))
    ]


def graph_rows(formula: Formula, graphs: list[PlainGraph]) -> list[tuple[Any, ...]]:
    return [(number, all(truth(formula, graph))) for number, graph in enumerate(graphs)]


@st.composite
def cases(
    draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, max_steps: int = 8
) -> tuple[Formula, list[PlainGraph]]:
    kind = draw(st.sampled_from(kinds))
    relations = RELATIONS if kind == "typed" else ()
    formula = draw(formulas(relations=relations, max_steps=max_steps))
    return formula, draw(st.lists(plain_graphs(kind), min_size=1, max_size=3))


@given(cases())
@settings(deadline=None)
def test_sqlite_says_what_formulas_mean(case: tuple[Formula, list[PlainGraph]]) -> None:
    formula, graphs = case
    rows = sqlite_rows(formula.to_sql(level="node"), graphs, BOOLEANS)
    assert rows == node_rows(formula, graphs)
    assert sqlite_rows(formula.to_sql(), graphs, BOOLEANS) == graph_rows(formula, graphs)


@given(cases())
@slow
def test_duckdb_says_what_formulas_mean(case: tuple[Formula, list[PlainGraph]]) -> None:
    formula, graphs = case
    rows = duckdb_rows(formula.to_sql(level="node"), graphs, BOOLEANS)
    assert rows == node_rows(formula, graphs)
    assert duckdb_rows(formula.to_sql(), graphs, BOOLEANS) == graph_rows(formula, graphs)


@given(cases(kinds=("simple", "directed", "looped", "typed"), max_steps=5))
@slow
def test_ladybug_says_what_formulas_mean(case: tuple[Formula, list[PlainGraph]]) -> None:
    formula, graphs = case
    typed = any(relation for graph in graphs for _, _, relation in graph.edges)
    relations = RELATIONS if typed or relation_names(formula) else ()
    # Edges of two relations between the same nodes are parallel for A|A^T.
    assume(not (typed and "A|A^T" in str(formula)))
    names = CypherNames(node="node")
    rows = ladybug_rows(formula.to_cypher(level="node", names=names), graphs, BOOLEANS, relations)
    assert rows == node_rows(formula, graphs)
    rows = ladybug_rows(formula.to_cypher(names=names), graphs, BOOLEANS, relations)
    assert rows == graph_rows(formula, graphs)


@given(cases())
@settings(deadline=None)
def test_python_says_what_formulas_mean(case: tuple[Formula, list[PlainGraph]]) -> None:
    formula, graphs = case
    typed = bool(relation_names(formula))
    everywhere = function_in(formula.to_python(level="node"), "holds")
    whole = function_in(formula.to_python(name="rule"), "rule")
    drawn = [to_networkx(to_batch(graph))[0] for graph in graphs]
    for graph, as_networkx in zip(graphs, drawn, strict=True):
        wanted = truth(formula, graph)
        ends, properties = adjacency_lists(graph, typed=typed)
        assert everywhere(ends, properties) == dict(enumerate(wanted))
        assert whole(dict(enumerate(ends)), properties) == all(wanted)
        assert everywhere(as_networkx) == dict(enumerate(wanted))


@given(formulas(directed=False), st.lists(plain_graphs("simple"), min_size=1, max_size=2))
@slow
def test_undirected_edges_may_be_stored_once(formula: Formula, graphs: list[PlainGraph]) -> None:
    halves = [
        PlainGraph(
            graph.n_nodes, graph.predicates, [edge for edge in graph.edges if edge[0] < edge[1]]
        )
        for graph in graphs
    ]
    query = formula.to_sql(level="node", tables=SqlTables(undirected=True))
    assert sqlite_rows(query, halves, BOOLEANS) == node_rows(formula, graphs)
    names = CypherNames(node="node", undirected=True)
    query = formula.to_cypher(level="node", names=names)
    assert ladybug_rows(query, graphs, BOOLEANS, once=True) == node_rows(formula, graphs)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_names(name: str) -> None:
    graph = PlainGraph(
        2, {name: [True, False]}, [(0, 1, name), (1, 0, name), (1, 0, "other"), (1, 1, name)]
    )
    text = json.dumps(name, ensure_ascii=True)
    formula = parse(f"A[{text}]({text}) > 0 | 1-A[{text}]({text}) > 1/2")
    wanted = node_rows(formula, [graph])
    assert any(row[2] for row in wanted)
    query = formula.to_sql(level="node")
    columns = {name: "BOOLEAN"}
    assert sqlite_rows(query, [graph], columns) == wanted
    assert duckdb_rows(query, [graph], columns) == wanted
    cypher = formula.to_cypher(level="node", names=CypherNames(node="node"))
    assert ladybug_rows(cypher, [graph], columns, (name, "other")) == wanted
    ends, properties = adjacency_lists(graph, typed=True)
    holds = function_in(formula.to_python(level="node"), "holds")
    assert holds(ends, properties) == {node: value for _, node, value in wanted}


def test_tables_and_columns_have_the_names_that_are_given() -> None:
    tables = SqlTables(nodes='q_"atoms"', edges="q__bonds", graph=None, node="id")
    query = parse("1(A U0 > 0) > 1").to_sql(level="node", tables=tables)
    assert 'FROM "q_""atoms""" AS t' in query
    assert 'FROM "q__bonds" AS t' in query
    assert 'SELECT 0 AS g, t."id" AS v' in query
    cypher = parse("1(A U0 > 0) > 1").to_cypher(names=CypherNames("Atom", None, "id", "BOND"))
    assert "-[:`BOND`]->(v2:`Atom`)" in cypher


def test_sqlite_takes_wide_and_deep_formulas() -> None:
    graph = PlainGraph(
        3, {"U0": [True, False, True], "U1": [False] * 3}, [(0, 1, None), (1, 0, None)]
    )
    wide = parse(" & ".join(f"1 U0 < {number + 3}" for number in range(90)))
    deep = _nested(8)
    for formula in (wide, deep):
        rows = sqlite_rows(formula.to_sql(level="node"), [graph], BOOLEANS)
        assert rows == node_rows(formula, [graph])
    with pytest.raises(TranslationError, match="nested too deeply"):
        _nested(60).to_sql()
    assert function_in(_nested(60).to_python(), "holds")([[]], [{"U0": True}]) is False


def _nested(depth: int) -> Formula:
    formula = predicate("U0")
    for _ in range(depth):
        formula = (A(formula) > 0) | (~formula & (A(formula) > 1))
    return formula


def test_counts_beyond_all_graphs_are_false_and_huge_shares_refused() -> None:
    graph = PlainGraph(1, {"U0": [True], "U1": [True]}, [])
    huge = parse(f"1 U0 > {10**30}")
    assert sqlite_rows(huge.to_sql(), [graph], BOOLEANS) == [(0, 0)]
    assert "false" in huge.to_cypher()
    share = parse(f"1 U0 > 1/{2**31 + 1}")
    assert function_in(share.to_python(), "holds")([[]], [{"U0": True}]) is True
    for write in (to_sql, to_cypher):
        with pytest.raises(TranslationError, match="denominator"):
            write(share)


def test_functions_say_what_is_no_graph() -> None:
    holds = function_in(parse("1(A U0 > 0) > 0").to_python(), "holds")
    with pytest.raises(ValueError, match="at least one node"):
        holds([], [])
    with pytest.raises(ValueError, match="lead to nodes of the graph"):
        holds([[1]], [{"U0": True}])
    assert function_in(parse("U0").to_python(level="node"), "holds")([], []) == {}


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(TranslationError, match="parallel"):
        parse("A|A^T U0 > 1").to_cypher(names=CypherNames(multi_edges=True))
    with pytest.raises(TranslationError, match=r"U\+0000"):
        predicate("a\0b").to_sql()
    with pytest.raises(TranslationError, match=r"U\+0000"):
        predicate("a\0b").to_cypher()
    with pytest.raises(ParameterError, match="name of Python"):
        predicate("a").to_python(name="not a name")
    with pytest.raises(ParameterError, match="level must be"):
        to_python(predicate("a"), level="edge")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedInputError, match="formula is needed"):
        to_sql("U0")  # type: ignore[arg-type]
    shared = predicate("U0")
    for _ in range(40):
        shared = (I + A)(shared) > 0
    with pytest.raises(TranslationError, match="no names for shared parts"):
        shared.to_cypher()
