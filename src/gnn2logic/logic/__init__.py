"""The logic EMLC%: formulas, their texts and their truth."""

from gnn2logic.logic.build import ALL, NOTHING, A, I, ModalOperator
from gnn2logic.logic.c2 import C2Formula, from_c2, parse_c2, to_c2
from gnn2logic.logic.documents import from_json, to_json
from gnn2logic.logic.equivalence import (
    Consequence,
    Equivalence,
    Satisfiability,
    disjoint,
    equivalent,
    find_model,
    implies,
)
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.simplification import simplify
from gnn2logic.logic.syntax import FALSE, TRUE, Formula, conjunction, disjunction, predicate
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas, substitute

__all__ = [
    "ALL",
    "FALSE",
    "NOTHING",
    "TRUE",
    "A",
    "C2Formula",
    "Consequence",
    "Equivalence",
    "Formula",
    "I",
    "ModalOperator",
    "Satisfiability",
    "conjunction",
    "disjoint",
    "disjunction",
    "equivalent",
    "evaluate",
    "find_model",
    "from_c2",
    "from_json",
    "implies",
    "parse",
    "parse_c2",
    "predicate",
    "predicate_names",
    "relation_names",
    "simplify",
    "subformulas",
    "substitute",
    "to_c2",
    "to_json",
]
