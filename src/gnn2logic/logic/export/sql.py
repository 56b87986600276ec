"""Formulas and models as SQL queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gnn2logic.logic.export.questions import (
    ClassAnswer,
    Question,
    ScoreAnswer,
    TruthAnswer,
    as_question,
)
from gnn2logic.logic.export.sql_names import SqlTables, sql_literal
from gnn2logic.logic.export.sql_truths import Cell, TruthTables
from gnn2logic.logic.syntax import Formula

__all__ = ["SqlTables", "to_sql"]


def to_sql(
    formula: Formula | Question,
    *,
    level: Literal["graph", "node"] = "graph",
    tables: SqlTables | None = None,
) -> str:
    """Return a formula as one SQL query, for SQLite 3.35, DuckDB and PostgreSQL 12 or newer.

    All comparisons are in whole numbers.

    Parameters
    ----------
    formula : Formula
    level : {"graph", "node"}
        ``"graph"``: a row ``graph, truth`` for each graph, 1 where the formula is true at all of
        its nodes. ``"node"``: a row ``graph, node, truth`` for each node.
    tables : SqlTables, optional
        How tables and columns are called; each predicate is a column of truth values (or 0 and 1,
        where the database takes numbers for these). What is missing (NULL) is false.

    Raises
    ------
    TranslationError
        For names that SQL cannot hold, and shares with huge denominators.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(to_sql(parse("1 U0 > 1/2")))
    WITH
    q_nodes AS (
      SELECT t."graph" AS g, t."node" AS v,
        CASE WHEN t."U0" THEN 1 ELSE 0 END AS p0
      FROM "nodes" AS t
    ),
    -- 1 U0 > 1/2
    q_1 AS MATERIALIZED (
      SELECT n.g, n.v, CASE WHEN 2 * (every.hits) > 1 * (every.size) THEN 1 ELSE 0 END AS yes
      FROM q_nodes AS n
      JOIN (
        SELECT f.g, SUM(CASE WHEN f.p0 = 1 THEN 1 ELSE 0 END) AS hits, COUNT(*) AS size
        FROM q_nodes AS f GROUP BY f.g
      ) AS every ON every.g = n.g
    )
    SELECT a.g AS "graph", MIN(a.yes) AS "truth"
    FROM q_1 AS a GROUP BY a.g ORDER BY a.g
    """
    question = as_question(formula, level)
    return _SqlWriter(question, SqlTables() if tables is None else tables).query()


@dataclass(frozen=True)
class _Points:
    """Points that rows of a table give where a condition holds."""

    column: int
    cell: Cell
    worth: int


class _SqlWriter:
    def __init__(self, question: Question, tables: SqlTables) -> None:
        self.question = question
        truths = TruthTables(question, tables)
        self.parts = truths.parts
        self.cells = truths.cells
        self.prefix = truths.prefix
        self.node_table = truths.node_table

    def query(self) -> str:
        final = self._final()
        return "WITH\n" + ",\n".join(self.parts) + "\n" + final

    def _final(self) -> str:
        answer = self.question.answer
        if isinstance(answer, TruthAnswer):
            return self._truth(answer)
        return self._classes(answer) if isinstance(answer, ClassAnswer) else self._scores(answer)

    def _truth(self, answer: TruthAnswer) -> str:
        cell = self.cells[answer.formula]
        value = "a.yes" if cell.condition == "{}.yes = 1" else cell.number("a")
        return self._rows(cell.table, [f'{self._whole(value)} AS "truth"'])

    def _classes(self, answer: ClassAnswer) -> str:
        points = [
            _Points(number, self.cells[formula], 1)
            for number, (formula, _) in enumerate(answer.cases)
        ]
        table = self._points_table([0] * len(answer.cases), points)
        cases = " ".join(
            f"WHEN {self._whole(f'a.s{number}')} = 1 THEN {sql_literal(label)}"
            for number, (_, label) in enumerate(answer.cases)
        )
        otherwise = sql_literal(answer.otherwise)
        prediction = f"CASE {cases} ELSE {otherwise} END" if cases else otherwise
        return self._rows(table, [f'{prediction} AS "prediction"'])

    def _scores(self, answer: ScoreAnswer) -> str:
        points = [
            _Points(number, self.cells[formula], worth)
            for number, column in enumerate(answer.columns)
            for formula, worth in column.points
        ]
        bases = [column.base for column in answer.columns]
        table = self._points_table(bases, points)
        scores = [self._whole(f"a.s{number}") for number in range(len(bases))]
        names = ["score"] if len(scores) == 1 else [f"score_{n}" for n in range(len(scores))]
        if not answer.labels:
            prediction = (
                f"{sql_literal(answer.intercept)} + {sql_literal(answer.slope)} * {scores[0]}"
            )
        elif len(scores) == 1:
            first, second = (sql_literal(label) for label in answer.labels)
            least = answer.threshold
            prediction = f"CASE WHEN {scores[0]} >= {least} THEN {second} ELSE {first} END"
        else:
            cases = []
            for number, label in enumerate(answer.labels[:-1]):
                wins = [f"{scores[number]} >= {later}" for later in scores[number + 1 :]]
                cases.append(f"WHEN {' AND '.join(wins)} THEN {sql_literal(label)}")
            prediction = f"CASE {' '.join(cases)} ELSE {sql_literal(answer.labels[-1])} END"
        columns = [f'{score} AS "{name}"' for score, name in zip(scores, names, strict=True)]
        return self._rows(table, [f'{prediction} AS "prediction"', *columns])

    def _points_table(self, bases: list[int], points: list[_Points]) -> str:
        """Write a table (g, v, s0, s1, ...) of sums, and return its name."""
        if not bases:
            return self.node_table
        n_columns = len(bases)
        name = f"{self.prefix}sums"
        sources = [
            f"SELECT n.g, n.v, {', '.join(f'{base} AS s{k}' for k, base in enumerate(bases))}"
            f" FROM {self.node_table} AS n"
        ]
        for row in points:
            worth = [
                f"{row.worth} * {row.cell.number('f')}" if k == row.column else "0"
                for k in range(n_columns)
            ]
            sources.append(f"SELECT f.g, f.v, {', '.join(worth)} FROM {row.cell.table} AS f")
        sums = ", ".join(f"SUM(u.s{k}) AS s{k}" for k in range(n_columns))
        united = "\n    UNION ALL ".join(sources)
        self.parts.append(
            f"{name} AS MATERIALIZED (\n  SELECT u.g, u.v, {sums}\n  FROM (\n    {united}\n"
            "  ) AS u\n  GROUP BY u.g, u.v\n)"
        )
        return name

    def _whole(self, value: str) -> str:
        """Return a value of a row, or for graphs the least of all their nodes."""
        return f"MIN({value})" if self.question.level == "graph" else value

    def _rows(self, table: str, columns: list[str]) -> str:
        if self.question.level == "graph":
            return (
                f'SELECT a.g AS "graph", {", ".join(columns)}\n'
                f"FROM {table} AS a GROUP BY a.g ORDER BY a.g"
            )
        return (
            f'SELECT a.g AS "graph", a.v AS "node", {", ".join(columns)}\n'
            f"FROM {table} AS a ORDER BY a.g, a.v"
        )
