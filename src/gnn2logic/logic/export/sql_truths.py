"""The truth of formulas as common table expressions: one for what is counted or shared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from gnn2logic.exceptions import TranslationError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.export.questions import (
    Question,
    check_threshold,
    comment_text,
    folded_modal,
    is_beyond_counts,
    signed_sum,
)
from gnn2logic.logic.export.sql_names import SqlTables, sql_condition, sql_name, sql_text
from gnn2logic.logic.syntax import And, Constant, Formula, Modal, Not, Predicate
from gnn2logic.logic.walk import predicate_names, subformulas

__all__ = ["Cell", "TruthTables"]

# SQLite joins at most 64 tables; it would count those of other expressions too if it did not have
# to keep each of them apart (MATERIALIZED), which also computes what is shared once.
_MOST_OPERANDS = 30
# Nested conditions on predicates get a table of their own from here on.
_MOST_SIZE = 60
# SQLite reads a table at most 65535 times in a query.
_MOST_REFERENCES = 50_000


@dataclass(frozen=True)
class Cell:
    """Where the truth of a formula is read: a table, and a condition on a row of it.

    The condition has ``{}`` in place of the name of the row. There are no names of users in it.
    """

    table: str
    condition: str

    def holds(self, row: str) -> str:
        """Return the condition on a row of this name."""
        return self.condition.replace("{}", row)

    def number(self, row: str) -> str:
        """Return 1 where it holds and 0 elsewhere."""
        return f"CASE WHEN {self.holds(row)} THEN 1 ELSE 0 END"


class TruthTables:
    """Tables that hold the truth of all formulas of a question.

    Attributes
    ----------
    parts : list of str
        The common table expressions, in the order in which they need each other.
    cells : dict from Formula to Cell
        Where the truth of each formula is read.
    """

    def __init__(self, question: Question, tables: SqlTables) -> None:
        self.question = question
        self.tables = tables
        self.names = predicate_names(*question.answer.formulas)
        # Own names must not hide the tables that are read.
        self.prefix = "q_"
        while any(table.lower().startswith(self.prefix) for table in (tables.nodes, tables.edges)):
            self.prefix += "_"
        self.node_table = f"{self.prefix}nodes"
        self.parts: list[str] = []
        self.edge_tables: dict[Edges, str] = {}
        self.cells: dict[Formula, Cell] = {}
        self.n_tables = 0
        # How often the table of nodes is read once everything is written out.
        self.references = {self.node_table: 1}
        self._write_nodes()
        nodes = subformulas(*question.answer.formulas)
        uses = Counter(child for node in nodes for child in node.children)
        for node in nodes:
            self.cells[node] = self._cell(node, is_shared=uses[node] > 1)

    # Tables of nodes and edges -----------------------------------------------------------------

    def _write_nodes(self) -> None:
        tables = self.tables
        graph = "0" if tables.graph is None else f"t.{sql_name(tables.graph)}"
        columns = [
            f"CASE WHEN {sql_condition(self.question.test(name))} THEN 1 ELSE 0 END AS p{number}"
            for number, name in enumerate(self.names)
        ]
        head = f"SELECT {graph} AS g, t.{sql_name(tables.node)} AS v"
        lines = ",\n    ".join([head, *columns])
        source = f"FROM {sql_name(tables.nodes)} AS t"
        self.parts.append(f"{self.node_table} AS (\n  {lines}\n  {source}\n)")

    def _edge_table(self, edges: Edges) -> str:
        """Return the table (g, v, w, n) of how many edges lead from v to w, as `edges` sees it."""
        if self.tables.undirected:
            edges = Edges(relation=edges.relation)
        known = self.edge_tables.get(edges)
        if known is not None:
            return known
        name = f"{self.prefix}edges_{len(self.edge_tables) + 1}"
        if edges.direction is Direction.EITHER:
            # The union of two multisets: a neighbour on both sides counts as on the larger one.
            sides = [
                f"SELECT s.g, s.v, s.w, s.n FROM ({self._edge_rows(edges.relation, ends)}) AS s"
                for ends in (("source", "target"), ("target", "source"))
            ]
            united = "\n    UNION ALL ".join(sides)
            text = f"SELECT b.g, b.v, b.w, MAX(b.n) AS n\n  FROM (\n    {united}\n  ) AS b"
            text += "\n  GROUP BY b.g, b.v, b.w"
        else:
            out = edges.direction is Direction.OUT
            ends = ("source", "target") if out else ("target", "source")
            text = self._edge_rows(edges.relation, ends)
        self.parts.append(
            f"-- {edges}: how many edges lead from v to w\n{name} AS MATERIALIZED (\n  {text}\n)"
        )
        self.edge_tables[edges] = name
        return name

    def _edge_rows(self, relation: str | None, ends: tuple[str, str]) -> str:
        tables = self.tables
        columns = {"source": sql_name(tables.source), "target": sql_name(tables.target)}
        graph = "0" if tables.graph is None else f"t.{sql_name(tables.graph)}"
        first, second = (f"t.{columns[end]}" for end in ends)
        where = (
            [] if relation is None else [f"t.{sql_name(tables.relation)} = {sql_text(relation)}"]
        )

        def rows(v: str, w: str, conditions: list[str]) -> str:
            filtered = f" WHERE {' AND '.join(conditions)}" if conditions else ""
            return (
                f"SELECT {graph} AS g, {v} AS v, {w} AS w FROM {sql_name(tables.edges)} AS t"
                f"{filtered}"
            )

        united = rows(first, second, where)
        if tables.undirected:
            united += "\n    UNION ALL " + rows(second, first, [*where, f"{first} <> {second}"])
        return f"SELECT d.g, d.v, d.w, COUNT(*) AS n FROM ({united}) AS d GROUP BY d.g, d.v, d.w"

    # Formulas ----------------------------------------------------------------------------------

    def _cell(self, node: Formula, *, is_shared: bool) -> Cell:
        if isinstance(node, Constant):
            return Cell(self.node_table, "1 = 1" if node.value else "1 = 0")
        if isinstance(node, Predicate):
            return Cell(self.node_table, f"{{}}.p{self.names.index(node.name)} = 1")
        if isinstance(node, Modal):
            folded = folded_modal(node)
            if folded is not None:
                return self.cells.get(folded) or Cell(self.node_table, "1 = 0")
            return self._modal(node)
        if isinstance(node, Not):
            cell = self.cells[node.child]
            return Cell(cell.table, f"NOT ({cell.condition})")
        operands = [self.cells[child] for child in node.children]
        word = "AND" if isinstance(node, And) else "OR"
        local = all(cell.table == self.node_table for cell in operands)
        if local and not is_shared and node.size <= _MOST_SIZE:
            return Cell(self.node_table, _joined(word, [cell.condition for cell in operands]))
        return self._connective(node, word, operands)

    def _connective(self, node: Formula, word: str, operands: list[Cell]) -> Cell:
        while len(operands) > _MOST_OPERANDS:
            first, rest = operands[:_MOST_OPERANDS], operands[_MOST_OPERANDS:]
            operands = [*rest, self._connective(node, word, first)]
        rows = {self.node_table: "n"}
        for cell in operands:
            rows.setdefault(cell.table, f"f{len(rows)}")
        condition = _joined(word, [cell.holds(rows[cell.table]) for cell in operands])
        joins = [
            f"  JOIN {table} AS {row} ON {row}.g = n.g AND {row}.v = n.v"
            for table, row in rows.items()
            if row != "n"
        ]
        return self._table(node, condition, joins, list(rows))

    def _modal(self, node: Modal) -> Cell:
        check_threshold(node.threshold, "SQL")
        if is_beyond_counts(node.threshold):
            return Cell(self.node_table, "1 = 0")
        modality, cell = node.modality, self.cells[node.child]
        counts, joins = self._counts(modality, cell)
        hits, size = (
            signed_sum([term.format(column) for term in counts]) for column in ("hits", "size")
        )
        if isinstance(node.threshold, Fraction):
            a, q = node.threshold.numerator, node.threshold.denominator
            condition = f"{q} * ({hits}) > {a} * ({size})"
        else:
            condition = f"{hits} > {node.threshold}"
        return self._table(node, condition, joins, [self.node_table] + [cell.table] * len(counts))

    def _counts(self, modality: Modality, cell: Cell) -> tuple[list[str], list[str]]:
        """Return the terms of a count (``{}`` is hits or size), and the tables they are read in."""
        terms, joins = [], []
        if modality.others:
            terms.append("every.{}")
            joins += [
                "  JOIN (",
                f"    SELECT f.g, SUM({cell.number('f')}) AS hits, COUNT(*) AS size",
                f"    FROM {cell.table} AS f GROUP BY f.g",
                "  ) AS every ON every.g = n.g",
            ]
        if modality.itself != modality.others:
            terms.append("- own.{}" if modality.others else "own.{}")
            joins += [
                f"  JOIN (SELECT f.g, f.v, {cell.number('f')} AS hits, 1 AS size",
                f"    FROM {cell.table} AS f) AS own ON own.g = n.g AND own.v = n.v",
            ]
        if modality.uses_edges:
            terms.append(("- " if modality.others else "") + "COALESCE(near.{}, 0)")
            # Complements are complements of sets: there every neighbour counts once.
            weight = "1" if modality.others else "e.n"
            # The node itself is left out where the parameter speaks of it in its own right.
            others = " WHERE e.w <> e.v" if modality.itself == modality.neighbours else ""
            edge_table = self._edge_table(modality.edges)
            joins += [
                "  LEFT JOIN (",
                f"    SELECT e.g, e.v, SUM({weight} * {cell.number('f')}) AS hits, "
                f"SUM({weight}) AS size",
                f"    FROM {edge_table} AS e",
                f"    JOIN {cell.table} AS f ON f.g = e.g AND f.v = e.w{others}",
                "    GROUP BY e.g, e.v",
                "  ) AS near ON near.g = n.g AND near.v = n.v",
            ]
        return terms, joins

    def _table(self, node: Formula, condition: str, joins: list[str], sources: list[str]) -> Cell:
        self.n_tables += 1
        name = f"{self.prefix}{self.n_tables}"
        self.references[name] = sum(self.references[source] for source in sources)
        if self.references[name] > _MOST_REFERENCES:
            raise TranslationError(
                "The formula is nested too deeply for one SQL query: databases write out what is "
                "shared. Use to_python, or simplify the formula."
            )
        comment = comment_text(node)
        lines = [
            *([f"-- {comment}"] if comment else []),
            f"{name} AS MATERIALIZED (",
            f"  SELECT n.g, n.v, CASE WHEN {condition} THEN 1 ELSE 0 END AS yes",
            f"  FROM {self.node_table} AS n",
            *joins,
            ")",
        ]
        self.parts.append("\n".join(lines))
        return Cell(name, "{}.yes = 1")


def _joined(word: str, conditions: list[str]) -> str:
    return f" {word} ".join(f"({condition})" for condition in conditions)
