"""Formulas and models as queries and code for other programs: one module per language."""

from gnn2logic.logic.export.cypher import CypherNames, to_cypher
from gnn2logic.logic.export.python import to_python
from gnn2logic.logic.export.questions import (
    ClassAnswer,
    PointsColumn,
    Question,
    ScoreAnswer,
    TruthAnswer,
)
from gnn2logic.logic.export.sql import SqlTables, to_sql

__all__ = [
    "ClassAnswer",
    "CypherNames",
    "PointsColumn",
    "Question",
    "ScoreAnswer",
    "SqlTables",
    "TruthAnswer",
    "to_cypher",
    "to_python",
    "to_sql",
]
