"""Formulas as a Python function that needs nothing: no package, not even ours."""

from __future__ import annotations

import keyword
from fractions import Fraction
from typing import Literal

from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.encoded_columns import ColumnTest
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.logic.export.questions import (
    ClassAnswer,
    Question,
    ScoreAnswer,
    TruthAnswer,
    as_question,
    comment_text,
    folded_modal,
    signed_sum,
)
from gnn2logic.logic.syntax import FALSE, And, Constant, Formula, Modal, Not, Predicate
from gnn2logic.logic.walk import subformulas

__all__ = ["to_python"]

_HEAD = '''\
def {name}(graph, properties=None):
    """Return {returned}.

    graph: a networkx graph, or a mapping (or list) from each node to the list of nodes that its
        edges lead to, parallel ones several times; an undirected edge is in both lists.
{typed}    properties: for plain graphs, a mapping (or list) from each node to a mapping of its
        properties; those of a networkx graph are the attributes of its nodes.
    """
    if hasattr(graph, "adj"):
        nodes = list(graph.nodes)
        properties = graph.nodes
        edges = [(v, w, data) for v in nodes for w, data in graph.adj[v].items()]
        if graph.is_multigraph():
            edges = [(v, w, data) for v, w, several in edges for data in several.values()]
    else:
        rows = list(graph.items() if hasattr(graph, "items") else enumerate(graph))
        nodes = [v for v, _ in rows]
        edges = [(v, {entry}) for v, ends in rows for {ends} in ends]
        if not {{w for _, w, _ in edges}} <= set(nodes):
            raise ValueError("Edges must lead to nodes of the graph.")
'''
_NOT_EMPTY = """\
    if not nodes:
        raise ValueError("The graph must have at least one node.")
"""
_TYPED = """\
        An edge of a networkx graph is in relation r if its attribute "relation" is r, or its
        attribute r is true, and in relation name=value if its attribute of this name has this
        value. In a plain graph each edge is a pair (node, relation).
"""


def to_python(
    formula: Formula | Question,
    *,
    level: Literal["graph", "node"] = "graph",
    name: str | None = None,
) -> str:
    r"""Return the source of a Python function that imports nothing.

    It takes a networkx graph, or a plain adjacency list with the properties of the nodes.

    Parameters
    ----------
    formula : Formula
    level : {"graph", "node"}
        ``"graph"``: the function returns whether the formula is true at all nodes. ``"node"``: it
        returns a dictionary with the truth at each node.
    name : str, optional
        The name of the function: ``holds`` by default, and ``predict`` for models.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> source = to_python(parse("1(A red > 1) > 0"))
    >>> print("\n".join(source.splitlines()[-8:]))
        f1 = {v: bool(properties[v].get('red')) for v in nodes}  # red
        edges_1 = {v: {} for v in nodes}
        for v, w, _ in edges:
            edges_1[v][w] = edges_1[v].get(w, 0) + 1
        f2 = {v: sum(n * f1[w] for w, n in edges_1[v].items()) > 1 for v in nodes}  # A red > 1
        n_f2 = sum(f2.values())
        f3 = dict.fromkeys(nodes, n_f2 > 0)  # 1(A red > 1) > 0
        return all(f3.values())
    """
    question = as_question(formula, level)
    default = "holds" if isinstance(question.answer, TruthAnswer) else "predict"
    function = default if name is None else name
    if not (isinstance(function, str) and function.isidentifier()) or keyword.iskeyword(function):
        raise ParameterError(f"name must be a name of Python. Got {name!r} instead.")
    return _PythonWriter(question).source(function)


class _PythonWriter:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.lines: list[str] = []
        self.edge_names: dict[Edges, str] = {}
        self.values: dict[Formula, str] = {}
        self.totals: set[str] = set()
        self.n_values = 0

    def source(self, name: str) -> str:
        answer, level = self.question.answer, self.question.level
        nodes = subformulas(*answer.formulas)
        is_typed = any(
            isinstance(node, Modal) and node.modality.edges.relation is not None for node in nodes
        )
        what = "the predicted class"
        if isinstance(answer, TruthAnswer):
            what = "whether the formula is true"
        elif isinstance(answer, ScoreAnswer) and not answer.labels:
            what = "the predicted number"
        head = _HEAD.format(
            name=name,
            returned=what if level == "graph" else f"{what} at each node, by node",
            typed=_TYPED if is_typed else "",
            entry='w, {"relation": r}' if is_typed else "w, {}",
            ends="w, r" if is_typed else "w",
        )
        for node in nodes:
            self.values[node] = self._value(node)
        self.lines += self._final()
        head += _NOT_EMPTY if level == "graph" else ""
        return head + "\n".join(f"    {line}" if line else "" for line in self.lines) + "\n"

    # Formulas ----------------------------------------------------------------------------------

    def _value(self, node: Formula) -> str:
        """Write the truth of a formula at each node, and return its name."""
        if isinstance(node, Modal):
            folded = folded_modal(node)
            if folded is not None and folded is not FALSE:
                return self.values[folded]
            if folded is FALSE:
                return self._line(node, "dict.fromkeys(nodes, False)")
            return self._line(node, self._modal(node))
        if isinstance(node, Constant):
            return self._line(node, f"dict.fromkeys(nodes, {node.value})")
        if isinstance(node, Predicate):
            test = _condition(self.question.test(node.name))
            return self._line(node, f"{{v: {test} for v in nodes}}")
        if isinstance(node, Not):
            return self._line(node, f"{{v: not {self.values[node.child]}[v] for v in nodes}}")
        word = " and " if isinstance(node, And) else " or "
        condition = word.join(f"{self.values[child]}[v]" for child in node.children)
        return self._line(node, f"{{v: {condition} for v in nodes}}")

    def _line(self, node: Formula, expression: str) -> str:
        self.n_values += 1
        name = f"f{self.n_values}"
        comment = comment_text(node)
        self.lines.append(f"{name} = {expression}" + (f"  # {comment}" if comment else ""))
        return name

    def _modal(self, node: Modal) -> str:
        modality, counted = node.modality, self.values[node.child]
        hits, size = [], []
        if modality.others:
            hits.append(self._total(counted))
            size.append("len(nodes)")
        if modality.itself != modality.others:
            sign = "- " if modality.others else ""
            hits.append(f"{sign}{counted}[v]")
            size.append(f"{sign}1")
        if modality.uses_edges:
            sign = "- " if modality.others else ""
            near = f"{self._edges(modality.edges)}[v].items()"
            # Complements are complements of sets: there every neighbour counts once. The node
            # itself is left out where the parameter speaks of it in its own right.
            weight = "" if modality.others else "n * "
            apart = " if w != v" if modality.itself == modality.neighbours else ""
            number = "1" if modality.others else "n"
            hits.append(f"{sign}sum({weight}{counted}[w] for w, n in {near}{apart})")
            size.append(f"{sign}sum({number} for w, n in {near}{apart})")
        left, right = signed_sum(hits), signed_sum(size)
        if isinstance(node.threshold, Fraction):
            a, q = node.threshold.numerator, node.threshold.denominator
            condition = f"{q} * ({left}) > {a} * ({right})"
        else:
            condition = f"{left} > {node.threshold}"
        if modality.neighbours and modality.others and modality.itself:
            return f"dict.fromkeys(nodes, {condition})"
        return f"{{v: {condition} for v in nodes}}"

    def _total(self, counted: str) -> str:
        """Write how many nodes of the graph satisfy a formula, once, and return the name."""
        name = f"n_{counted}"
        if name not in self.totals:
            self.totals.add(name)
            self.lines.append(f"{name} = sum({counted}.values())")
        return name

    def _edges(self, edges: Edges) -> str:
        """Write how many edges lead from each node to each other one, and return the name."""
        if edges in self.edge_names:
            return self.edge_names[edges]
        if edges.direction is Direction.EITHER:
            sides = [
                self._edges(Edges(direction, edges.relation))
                for direction in (Direction.OUT, Direction.IN)
            ]
            name = self._name_of(edges)
            self.lines += [
                f"{name} = {{v: dict({sides[0]}[v]) for v in nodes}}",
                "for v in nodes:",
                f"    for w, n in {sides[1]}[v].items():",
                f"        {name}[v][w] = max(n, {name}[v].get(w, 0))",
            ]
            return name
        name = self._name_of(edges)
        first, second = ("v", "w") if edges.direction is Direction.OUT else ("w", "v")
        add = f"{name}[{first}][{second}] = {name}[{first}].get({second}, 0) + 1"
        self.lines.append(f"{name} = {{v: {{}} for v in nodes}}")
        if edges.relation is None:
            self.lines += ["for v, w, _ in edges:", f"    {add}"]
        else:
            self.lines += [
                "for v, w, data in edges:",
                f"    if {_relation_condition(edges.relation)}:",
                f"        {add}",
            ]
        return name

    def _name_of(self, edges: Edges) -> str:
        name = self.edge_names[edges] = f"edges_{len(self.edge_names) + 1}"
        return name

    # The answer --------------------------------------------------------------------------------

    def _final(self) -> list[str]:
        answer, for_graph = self.question.answer, self.question.level == "graph"
        if isinstance(answer, TruthAnswer):
            value = self.values[answer.formula]
            return [f"return all({value}.values())" if for_graph else f"return {value}"]
        lines = ["predicted = {}", "for v in nodes:"]
        if isinstance(answer, ClassAnswer):
            lines += self._class_lines(answer)
        else:
            lines += self._score_lines(answer)
        # A model for graphs says the same at all of their nodes.
        return [*lines, "return predicted[nodes[0]]" if for_graph else "return predicted"]

    def _class_lines(self, answer: ClassAnswer) -> list[str]:
        lines: list[str] = []
        for formula, label in answer.cases:
            word = "elif" if lines else "if"
            lines.append(f"    {word} {self.values[formula]}[v]:")
            lines.append(f"        predicted[v] = {label!r}")
        if not lines:
            return [f"    predicted[v] = {answer.otherwise!r}"]
        return [*lines, "    else:", f"        predicted[v] = {answer.otherwise!r}"]

    def _score_lines(self, answer: ScoreAnswer) -> list[str]:
        lines = [f"    scores = {[column.base for column in answer.columns]}"]
        for number, column in enumerate(answer.columns):
            lines += [
                f"    scores[{number}] += {worth} * {self.values[formula]}[v]"
                for formula, worth in column.points
            ]
        if not answer.labels:
            return [
                *lines,
                f"    predicted[v] = {answer.intercept!r} + {answer.slope!r} * scores[0]",
            ]
        labels = list(answer.labels)
        if len(answer.columns) == 1:
            return [*lines, f"    predicted[v] = {labels}[scores[0] >= {answer.threshold}]"]
        return [*lines, f"    predicted[v] = {labels}[scores.index(max(scores))]"]


def _relation_condition(name: str) -> str:
    """Return when the attributes of an edge put it into a relation, as readers of graphs do."""
    conditions = [f'data.get("relation") == {name!r}', f"data.get({name!r}) is True"]
    for at, sign in enumerate(name):
        if sign == "=":
            key, text = name[:at], name[at + 1 :]
            # Numbers are whole there, and written as such.
            is_number = text.removeprefix("-").isdecimal() and str(int(text)) == text
            wanted = f"in ({text!r}, {text})" if is_number else f"== {text!r}"
            conditions.append(f"data.get({key!r}) {wanted}")
    return " or ".join(conditions)


def _condition(test: ColumnTest) -> str:
    value = f"properties[v].get({test.column!r})"
    if test.comparison == "is true" or test.value is None:
        return f"bool({value})"
    if test.comparison == "=":
        return f"{value} == {test.value!r}"
    return f"{value} is not None and {value} > {test.value!r}"
