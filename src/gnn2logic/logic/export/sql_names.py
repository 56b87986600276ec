"""How tables and columns are called that SQL reads, and how names and values are quoted."""

from __future__ import annotations

from dataclasses import dataclass

from gnn2logic._validation import check_name
from gnn2logic.graphs.encoded_columns import ColumnTest
from gnn2logic.logic.export.questions import Label, without_null

__all__ = ["SqlTables", "sql_condition", "sql_literal", "sql_name", "sql_text"]


@dataclass(frozen=True)
class SqlTables:
    """How the tables and columns are called that a query reads.

    Parameters
    ----------
    nodes, edges : str
        The tables. Each node is a row, with the columns that predicates are read from. Each edge
        is a row; parallel edges are several rows.
    graph : str or None
        The column of both tables that says which graph a row belongs to; None where all is one
        graph.
    node : str
        The column of `nodes` that tells the nodes of one graph apart.
    source, target : str
        The columns of `edges` that name two nodes.
    relation : str
        The column of `edges` with the name of the relation, read for ``A[r]`` only.
    undirected : bool
        Whether each edge is one row that counts in both directions. Without it an undirected edge
        is two rows.
    """

    nodes: str = "nodes"
    edges: str = "edges"
    graph: str | None = "graph"
    node: str = "node"
    source: str = "source"
    target: str = "target"
    relation: str = "relation"
    undirected: bool = False

    def __post_init__(self) -> None:
        for name in (self.nodes, self.edges, self.node, self.source, self.target, self.relation):
            check_name(name, what="Table or column")
        if self.graph is not None:
            check_name(self.graph, what="Column")


def sql_name(name: str) -> str:
    """Return a name in quotes."""
    return '"' + without_null(name, "SQL").replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """Return a text as a literal."""
    return "'" + without_null(text, "SQL").replace("'", "''") + "'"


def sql_literal(value: Label) -> str:
    """Return a value as SQL writes it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return sql_text(value)
    if isinstance(value, int):
        return str(value)
    # With an exponent it is a floating number everywhere, never a decimal with few digits.
    shortest = repr(value)
    return shortest if "e" in shortest else f"{shortest}e0"


def sql_condition(test: ColumnTest) -> str:
    """Return the test of a predicate on the row ``t`` of the table of nodes."""
    column = f"t.{sql_name(test.column)}"
    if test.comparison == "is true" or test.value is None:
        return column
    return f"{column} {test.comparison} {sql_literal(test.value)}"
