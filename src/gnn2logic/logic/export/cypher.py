"""Formulas as Cypher: what is counted stands in a ``COUNT { }`` of its own, one in the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from gnn2logic._validation import check_name
from gnn2logic.exceptions import TranslationError
from gnn2logic.graphs.encoded_columns import ColumnTest
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.export.questions import (
    ClassAnswer,
    Label,
    PointsColumn,
    Question,
    ScoreAnswer,
    TruthAnswer,
    as_question,
    check_threshold,
    folded_modal,
    is_beyond_counts,
    without_null,
)
from gnn2logic.logic.nodes import post_order
from gnn2logic.logic.syntax import (
    FALSE,
    And,
    Constant,
    Formula,
    Modal,
    Not,
    Predicate,
    modal,
    negation,
)

__all__ = ["CypherNames", "to_cypher"]

# Cypher has no names for shared parts, so a text may grow beyond all bounds.
_MOST_CHARACTERS = 1_000_000
_EVERYTHING = Modality.from_set("1")


@dataclass(frozen=True)
class CypherNames:
    """How nodes, edges and properties are called in the graph database.

    Parameters
    ----------
    label : str
        The label of the nodes.
    graph : str or None
        The property of nodes that says which graph they belong to; None where all is one graph.
    node : str
        The property that tells the nodes of one graph apart.
    edge : str or None
        The type of relationship that ``A`` follows; None for all of them. ``A[r]`` follows the
        relationships of type ``r``.
    undirected : bool
        Whether each edge is stored once and counts in both directions. Graphs with self loops
        need both directions stored.
    multi_edges : bool
        Whether nodes may be joined by parallel edges. ``A|A^T`` is then refused: the union of two
        multisets cannot be said.
    """

    label: str = "Node"
    graph: str | None = "graph"
    node: str = "id"
    edge: str | None = None
    undirected: bool = False
    multi_edges: bool = False

    def __post_init__(self) -> None:
        for name in (self.label, self.node):
            check_name(name, what="Label or property")
        for other in (self.graph, self.edge):
            if other is not None:
                check_name(other, what="Property or relationship")


def to_cypher(
    formula: Formula | Question,
    *,
    level: Literal["graph", "node"] = "graph",
    names: CypherNames | None = None,
) -> str:
    """Return a formula as one Cypher query with whole numbers only: Neo4j 5, Ladybug.

    Parameters
    ----------
    formula : Formula
    level : {"graph", "node"}
        ``"graph"``: a row ``graph, truth`` for each graph, true where the formula is true at all
        of its nodes. ``"node"``: a row ``graph, node, truth`` for each node.
    names : CypherNames, optional
        How nodes, edges and properties are called; each predicate is a Boolean property. What is
        missing (null) is false.

    Raises
    ------
    TranslationError
        For ``A|A^T`` on graphs with parallel edges, shares with huge denominators, and formulas
        whose shared parts make the text too long: `to_sql` shares them.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(to_cypher(parse("A U0 > 1"), level="node"))
    MATCH (v0:`Node`)
    RETURN v0.`graph` AS graph, v0.`id` AS node, COUNT { MATCH (v0)-[]->(v1:`Node`) \
WHERE (coalesce(v1.`U0`, false)) } > 1 AS truth
    """
    question = as_question(formula, level)
    return _CypherWriter(question, CypherNames() if names is None else names).query()


def cypher_name(name: str) -> str:
    """Return a name in quotes."""
    return "`" + without_null(name, "Cypher").replace("`", "``") + "`"


def cypher_text(text: str) -> str:
    """Return a text as a literal."""
    return "'" + without_null(text, "Cypher").replace("\\", "\\\\").replace("'", "\\'") + "'"


def _literal(value: Label) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return cypher_text(value) if isinstance(value, str) else repr(value)


def _condition(test: ColumnTest, variable: str) -> str:
    column = f"{variable}.{cypher_name(test.column)}"
    if test.comparison == "is true" or test.value is None:
        return f"coalesce({column}, false)"
    return f"coalesce({column} {test.comparison} {_literal(test.value)}, false)"


# A formula, and how many nodes stand around the one that it is about.
_At = tuple[Formula, int]


class _CypherWriter:
    def __init__(self, question: Question, names: CypherNames) -> None:
        # What is asked of whole graphs needs no node to begin with.
        self.without_node = question.level == "graph"
        self.question = _about_graphs(question) if self.without_node else question
        self.names = names
        self.texts: dict[_At, str] = {}

    def query(self) -> str:
        names = self.names
        roots = [(formula, 0) for formula in self.question.answer.formulas]
        for at in post_order(roots, lambda at: self._needed_first(*at)):
            text = self._write(*at)
            if len(text) > _MOST_CHARACTERS:
                raise TranslationError(
                    "The formula is too long for Cypher, which has no names for shared parts. "
                    "Use to_sql, or simplify the formula."
                )
            self.texts[at] = text
        graph = "0" if names.graph is None else f"v0.{cypher_name(names.graph)}"
        match = f"MATCH (v0:{cypher_name(names.label)})"
        if self.question.level == "node":
            keys = {"graph": graph, "node": f"v0.{cypher_name(names.node)}"}
            return f"{match}\n{self._stages(keys)}"
        return f"{match}\nWITH DISTINCT {graph} AS graph\n{self._stages({'graph': 'graph'})}"

    def _stages(self, keys: dict[str, str]) -> str:
        """Return the answer beside the names of graphs and nodes; scores come before it."""
        answer = self.question.answer
        if isinstance(answer, TruthAnswer):
            return f"RETURN {_named(keys | {'truth': self.texts[answer.formula, 0]})}"
        if isinstance(answer, ClassAnswer):
            cases = [(self.texts[formula, 0], label) for formula, label in answer.cases]
            return f"RETURN {_named(keys | {'prediction': _cases(cases, answer.otherwise)})}"
        names = ["score"]
        if len(answer.columns) > 1:
            names = [f"score_{number}" for number in range(len(answer.columns))]
        sums = {
            name: self._sum_of_points(column)
            for name, column in zip(names, answer.columns, strict=True)
        }
        known = {name: name for name in (*keys, *names)}
        prediction = {"prediction": _prediction(answer, names)}
        return f"WITH {_named(keys | sums)}\nRETURN {_named(known | prediction)}"

    def _sum_of_points(self, column: PointsColumn) -> str:
        points = [
            f"CASE WHEN {self.texts[formula, 0]} THEN {worth} ELSE 0 END"
            for formula, worth in column.points
        ]
        return " + ".join([str(column.base), *points])

    # Formulas ----------------------------------------------------------------------------------

    def _needed_first(self, node: Formula, depth: int) -> Iterator[_At]:
        if isinstance(node, Modal) and folded_modal(node) is None:
            yield node.child, depth + 1
            if node.modality.itself and node.modality.neighbours and not node.modality.others:
                yield node.child, depth
        else:
            for child in node.children:
                yield child, depth

    def _write(self, node: Formula, depth: int) -> str:
        variable = f"v{depth}"
        if isinstance(node, Constant):
            return "true" if node.value else "false"
        if isinstance(node, Predicate):
            return _condition(self.question.test(node.name), variable)
        if isinstance(node, Not):
            return f"NOT ({self.texts[node.child, depth]})"
        if isinstance(node, Modal):
            return self._modal(node, depth)
        word = " AND " if isinstance(node, And) else " OR "
        return word.join(f"({self.texts[child, depth]})" for child in node.children)

    def _modal(self, node: Modal, depth: int) -> str:
        check_threshold(node.threshold, "Cypher")
        folded = folded_modal(node)
        if folded is not None:
            return "false" if folded is FALSE else self.texts[folded, depth]
        if is_beyond_counts(node.threshold):
            return "false"
        hits = self._count(node, depth, self.texts[node.child, depth + 1])
        if not isinstance(node.threshold, Fraction):
            return f"{hits} > {node.threshold}"
        size = self._count(node, depth, None)
        return f"{node.threshold.denominator} * {hits} > {node.threshold.numerator} * {size}"

    def _count(self, node: Modal, depth: int, counted: str | None) -> str:
        """Return the number of nodes in eps_S that satisfy a condition; None counts them all."""
        here, there = f"v{depth}", f"v{depth + 1}"
        modality = node.modality
        wanted = [] if counted in (None, "true") else [f"({counted})"]
        target = f"({there}:{cypher_name(self.names.label)})"
        itself, neighbours, others = modality.itself, modality.neighbours, modality.others
        edges = self._directed(modality.edges)
        if not others and edges.direction is not Direction.EITHER:
            start, end = self._arrow(edges)
            apart = [f"{there} <> {here}"] if itself else []
            count = _counted(f"({here}){start}{end}{target}", [*apart, *wanted])
            if not itself:
                return count
            itself_counted = "1"
            if counted is not None:
                itself_counted = f"CASE WHEN {self.texts[node.child, depth]} THEN 1 ELSE 0 END"
            return f"({count} + {itself_counted})"
        guards = []
        if self.names.graph is not None:
            graph = cypher_name(self.names.graph)
            outer = "graph" if depth == 0 and self.without_node else f"{here}.{graph}"
            guards.append(f"{there}.{graph} = {outer}")
        # By a property: Ladybug loses sight of the outer node where nodes themselves are compared.
        key = cypher_name(self.names.node)
        same, apart_by_key = (f"{there}.{key} {sign} {here}.{key}" for sign in ("=", "<>"))
        if neighbours and others:
            guards += [] if itself else [apart_by_key]
            return _counted(target, [*guards, *wanted])
        near = self._joined(edges, here, there)
        if neighbours:
            self._check_no_multi_edges(modality.edges)
            guards.append(f"({same} OR {near})" if itself else near)
        else:
            guards += [f"NOT ({near})"] if itself else [apart_by_key, f"NOT ({near})"]
        return _counted(target, [*guards, *wanted])

    def _directed(self, edges: Edges) -> Edges:
        return Edges(Direction.OUT, edges.relation) if self.names.undirected else edges

    def _check_no_multi_edges(self, edges: Edges) -> None:
        if self.names.multi_edges:
            raise TranslationError(
                f"{edges} cannot be counted by Cypher where edges may be parallel. Use to_sql, "
                "or merge parallel edges and leave multi_edges=False."
            )

    def _arrow(self, edges: Edges) -> tuple[str, str]:
        relation = self.names.edge if edges.relation is None else edges.relation
        label = "[]" if relation is None else f"[:{cypher_name(relation)}]"
        if self.names.undirected:
            return f"-{label}", "-"
        return (f"<-{label}", "-") if edges.direction is Direction.IN else (f"-{label}", "->")

    def _joined(self, edges: Edges, here: str, there: str) -> str:
        directions = (
            (Direction.OUT, Direction.IN)
            if edges.direction is Direction.EITHER
            else (edges.direction,)
        )
        exists = []
        for direction in directions:
            start, end = self._arrow(Edges(direction, edges.relation))
            exists.append(f"EXISTS {{ MATCH ({here}){start}{end}({there}) }}")
        return exists[0] if len(exists) == 1 else f"({' OR '.join(exists)})"


def _about_graphs(question: Question) -> Question:
    """Return a question whose formulas are all about whole graphs: "no node fails"."""
    answer = question.answer
    if question.is_about_graphs or not isinstance(answer, TruthAnswer):
        return question
    failing = modal(_EVERYTHING, negation(answer.formula), 0)
    return replace(question, answer=TruthAnswer(negation(failing)))


def _named(columns: dict[str, str]) -> str:
    return ", ".join(
        name if text == name else f"{text} AS {name}" for name, text in columns.items()
    )


def _cases(cases: list[tuple[str, Label]], otherwise: Label) -> str:
    if not cases:
        return _literal(otherwise)
    whens = " ".join(f"WHEN {condition} THEN {_literal(label)}" for condition, label in cases)
    return f"CASE {whens} ELSE {_literal(otherwise)} END"


def _prediction(answer: ScoreAnswer, scores: list[str]) -> str:
    """Return what scores say, given their names."""
    labels = answer.labels
    if not labels:
        return f"{answer.intercept!r} + {answer.slope!r} * {scores[0]}"
    if len(scores) == 1:
        return _cases([(f"{scores[0]} >= {answer.threshold}", labels[1])], labels[0])
    return _cases(
        [
            (" AND ".join(f"{scores[number]} >= {later}" for later in scores[number + 1 :]), label)
            for number, label in enumerate(labels[:-1])
        ],
        labels[-1],
    )


def _counted(pattern: str, conditions: list[str]) -> str:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"COUNT {{ MATCH {pattern}{where} }}"
