"""A rule where the data is: in a database, and as a function without imports.

    python examples/queries.py

Molecules stand in two tables of SQLite, atoms and bonds. A rule is learned from graphs, written as
an SQL query and run in the database; the answers are those of the model.
"""

from __future__ import annotations

import argparse
import importlib.util
import sqlite3
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import gnn2logic as gl


def molecules(count: int, seed: int) -> tuple[list[Any], list[str]]:
    """Return made-up molecules; those with two charged nitrogens are active."""
    rng = np.random.default_rng(seed)
    graphs, labels = [], []
    for _ in range(count):
        graph = nx.random_labeled_tree(int(rng.integers(4, 12)), seed=int(rng.integers(2**31)))
        for atom in graph:
            graph.nodes[atom]["element"] = str(rng.choice(["C", "N", "O"], p=[0.5, 0.3, 0.2]))
            graph.nodes[atom]["charge"] = float(np.round(rng.normal(), 2))
        charged = [
            atom
            for atom, values in graph.nodes(data=True)
            if values["element"] == "N" and values["charge"] > 0
        ]
        graphs.append(graph)
        labels.append("active" if len(charged) > 1 else "inactive")
    return graphs, labels


def fill(database: sqlite3.Connection, graphs: list[Any]) -> None:
    database.execute(
        "CREATE TABLE atoms (molecule INTEGER, atom INTEGER, element TEXT, charge REAL)"
    )
    database.execute("CREATE TABLE bonds (molecule INTEGER, source INTEGER, target INTEGER)")
    for number, graph in enumerate(graphs):
        for atom, values in graph.nodes(data=True):
            row = (number, atom, values["element"], values["charge"])
            database.execute("INSERT INTO atoms VALUES (?, ?, ?, ?)", row)
        for source, target in graph.edges:
            database.execute("INSERT INTO bonds VALUES (?, ?, ?)", (number, source, target))


def function_from(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("rule", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.predict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("queries"))
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)

    train, labels = molecules(arguments.graphs, 0)
    model = gl.IDTClassifier(random_state=0).fit(train, labels)
    print(model)

    fresh, truth = molecules(200, 1)
    predicted = model.predict(fresh).tolist()
    right = np.mean([a == b for a, b in zip(predicted, truth, strict=True)])
    print(f"right about fresh molecules: {right:.1%}")

    tables = gl.SqlTables("atoms", "bonds", graph="molecule", node="atom", undirected=True)
    query = model.to_sql(tables=tables)
    (arguments.out / "rule.sql").write_text(query, encoding="utf-8")
    database = sqlite3.connect(":memory:")
    fill(database, fresh)
    answers = [row[1] for row in database.execute(query)]
    print(f"SQLite says the same: {answers == predicted}")

    path = arguments.out / "rule.py"
    path.write_text(model.to_python(), encoding="utf-8")
    predict = function_from(path)
    print(f"the function says the same: {[predict(graph) for graph in fresh] == predicted}")

    print("As Cypher, for a graph database:")
    print(model.to_cypher(names=gl.CypherNames("Atom", "molecule", "atom", undirected=True)))


if __name__ == "__main__":
    main()
