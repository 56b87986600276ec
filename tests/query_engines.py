"""Graphs in databases, and what queries say about them: SQLite, DuckDB, Ladybug, plain Python."""

from __future__ import annotations

import importlib.util
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import ladybug

from gnn2logic.logic.export.cypher import cypher_name
from gnn2logic.logic.export.sql_names import sql_name
from oracle import PlainGraph

Columns = dict[str, str]
"""The type of each property, as the database calls it."""


def _node_rows(graphs: Sequence[PlainGraph], names: Sequence[str]) -> list[tuple[Any, ...]]:
    return [
        (number, node, *(graph.predicates[name][node] for name in names))
        for number, graph in enumerate(graphs)
        for node in range(graph.n_nodes)
    ]


def _edge_rows(graphs: Sequence[PlainGraph]) -> list[tuple[Any, ...]]:
    return [(number, *edge) for number, graph in enumerate(graphs) for edge in graph.edges]


def _filled(connection: Any, graphs: Sequence[PlainGraph], columns: Columns) -> None:
    declared = "".join(f", {sql_name(name)} {kind}" for name, kind in columns.items())
    connection.execute(f"CREATE TABLE nodes (graph INTEGER, node INTEGER{declared})")
    connection.execute(
        "CREATE TABLE edges (graph INTEGER, source INTEGER, target INTEGER, relation TEXT)"
    )
    marks = ", ".join("?" * (2 + len(columns)))
    connection.executemany(f"INSERT INTO nodes VALUES ({marks})", _node_rows(graphs, list(columns)))
    edges = _edge_rows(graphs)
    if edges:
        connection.executemany("INSERT INTO edges VALUES (?, ?, ?, ?)", edges)


def sqlite_rows(query: str, graphs: Sequence[PlainGraph], columns: Columns) -> list[Any]:
    """Return the rows that SQLite gives."""
    connection = sqlite3.connect(":memory:")
    try:
        _filled(connection, graphs, columns)
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def duckdb_rows(query: str, graphs: Sequence[PlainGraph], columns: Columns) -> list[Any]:
    """Return the rows that DuckDB gives."""
    with duckdb.connect(":memory:") as connection:
        _filled(connection, graphs, columns)
        rows: list[Any] = connection.execute(query).fetchall()
        return rows


def ladybug_rows(
    query: str,
    graphs: Sequence[PlainGraph],
    columns: Columns,
    relations: Sequence[str] = (),
    *,
    once: bool = False,
) -> list[Any]:
    """Return the sorted rows that Ladybug gives; `once` stores undirected edges once."""
    database = ladybug.Database(":memory:", buffer_pool_size=1 << 28, max_db_size=1 << 30)
    connection = ladybug.Connection(database, num_threads=1)
    try:
        return _asked(connection.execute, query, graphs, columns, relations, once)
    finally:
        connection.close()
        database.close()


def _asked(
    run: Callable[..., Any],
    query: str,
    graphs: Sequence[PlainGraph],
    columns: Columns,
    relations: Sequence[str],
    once: bool,
) -> list[Any]:
    declared = "".join(f", {cypher_name(name)} {kind}" for name, kind in columns.items())
    run(f"CREATE NODE TABLE Node(id INT64 PRIMARY KEY, graph INT64, node INT64{declared})")
    types = list(relations) or ["EDGE"]
    for name in types:
        run(f"CREATE REL TABLE {cypher_name(name)}(FROM Node TO Node)")
    numbers: dict[tuple[int, int], int] = {}
    for row in _node_rows(graphs, list(columns)):
        numbers[row[0], row[1]] = len(numbers)
        values = dict(zip((f"p{k}" for k in range(len(columns))), row[2:], strict=True))
        set_to = "".join(f", {cypher_name(name)}: $p{k}" for k, name in enumerate(columns))
        run(
            f"CREATE (:Node {{id: $id, graph: $graph, node: $node{set_to}}})",
            {"id": len(numbers) - 1, "graph": row[0], "node": row[1], **values},
        )
    for graph, source, target, relation in _edge_rows(graphs):
        if once and source > target:
            continue
        run(
            "MATCH (a:Node {id: $a}), (b:Node {id: $b}) "
            f"CREATE (a)-[:{cypher_name(relation or types[0])}]->(b)",
            {"a": numbers[graph, source], "b": numbers[graph, target]},
        )
    return sorted(tuple(row) for row in run(query).get_all())


def function_in(source: str, name: str) -> Callable[..., Any]:
    """Return a function from its source, as a module that is imported."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("exported", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function


def adjacency_lists(graph: PlainGraph, *, typed: bool) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return a graph as lists: what the edges of each node lead to, and its properties."""
    ends: list[Any] = [[] for _ in range(graph.n_nodes)]
    for source, target, relation in graph.edges:
        ends[source].append((target, relation) if typed else target)
    properties = [
        {name: values[node] for name, values in graph.predicates.items()}
        for node in range(graph.n_nodes)
    ]
    return ends, properties
