"""The single changes of a graph: a value, an edge or a node."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from gnn2logic._text import one_line
from gnn2logic._validation import some_of
from gnn2logic.exceptions import FeatureError, ParameterError, UnsupportedInputError
from gnn2logic.explanation.drafts import Draft, form_of_graph
from gnn2logic.explanation.shapes import is_shape
from gnn2logic.graphs.columns import RawColumn
from gnn2logic.graphs.encoded_columns import EncodedColumn, category_text
from gnn2logic.graphs.fitted_encoder import FittedEncoder

__all__ = ["ALLOWED", "Edit", "GraphEdits"]

Allowed = Literal["predicates", "edges", "nodes"]
ALLOWED: tuple[Allowed, ...] = ("predicates", "edges", "nodes")


@dataclass(frozen=True)
class Edit:
    """One change of a graph.

    Parameters
    ----------
    text : str
        What to do, in words.
    nodes : tuple of str
        The names of the nodes that it is about.
    """

    text: str
    nodes: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


class GraphEdits:
    """All single changes of graphs of the user's type.

    Parameters
    ----------
    graph : one graph
    encoder : FittedEncoder
    node : int or None
        A node that stays, because it is the one that is classified.
    allowed : sequence of str
        Which changes are made.
    one_hot : sequence of sequences of str, or None
        Columns of which exactly one is true; None guesses one such group.
    """

    def __init__(
        self,
        graph: Any,
        encoder: FittedEncoder,
        *,
        node: int | None,
        allowed: Sequence[str],
        one_hot: Sequence[Sequence[str]] | None,
    ) -> None:
        self.form, raw = form_of_graph(graph, encoder)
        self._allowed = frozenset(allowed)
        self._node = node
        names = [column.name for column in raw.columns]
        shapes = [name for name in names if is_shape(name)]
        if shapes:
            raise UnsupportedInputError(
                f"The predicates {some_of(shapes)} follow from the edges, so they cannot be "
                "changed apart from them. Give the graph without them, to a model whose encoder "
                "has structure=...; molecules must be as gnn2logic.chem.from_smiles reads them."
            )
        learned = {column.name: column for column in encoder.columns_}
        self._columns = [learned[name] for name in names]
        self._values = [
            _values(column, read) for column, read in zip(self._columns, raw.columns, strict=True)
        ]
        tables = [column.values.tolist() for column in raw.columns]
        rows = tuple(tuple(table[at] for table in tables) for at in range(len(self.form.names)))
        self.start = Draft(rows, tuple(range(len(rows))), self.form.names, self.form.edges)
        self._groups = self._one_hot_groups(one_hot)

    # What searches ask ------------------------------------------------------------------------

    def key(self, draft: Draft) -> object:
        """Return what is the same for drafts that are the same graph, node by node."""
        return draft.rows, draft.origins, draft.edges, self.position(draft)

    def position(self, draft: Draft) -> int | None:
        """Return where the node is that is classified."""
        return None if self._node is None else draft.names.index(self.form.names[self._node])

    def write(self, draft: Draft) -> Any:
        """Return the graph in the user's type."""
        return self.form.write(draft)

    def edits(self, draft: Draft) -> Iterator[tuple[Edit, Draft]]:
        """Yield every single change, always in the same order."""
        if "predicates" in self._allowed:
            yield from self._value_edits(draft)
        if "edges" in self._allowed:
            yield from self._edge_edits(draft)
        if "nodes" in self._allowed:
            yield from self._node_edits(draft)

    # Values -----------------------------------------------------------------------------------

    def _one_hot_groups(self, one_hot: Sequence[Sequence[str]] | None) -> list[list[int]]:
        position = {
            column.name: number
            for number, column in enumerate(self._columns)
            if column.feature_type == "binary"
        }
        if one_hot is None:
            everything = list(position.values())
            sums = {sum(bool(row[at]) for at in everything) for row in self.start.rows}
            return [everything] if len(everything) > 1 and sums == {1} else []
        if isinstance(one_hot, str) or any(isinstance(group, str) for group in one_hot):
            raise ParameterError(
                f"one_hot must be a list of groups of names, [['red', 'blue']]. Got {one_hot!r}."
            )
        named = [name for group in one_hot for name in group]
        unknown = [name for name in named if name not in position]
        if unknown or len(set(named)) < len(named):
            raise FeatureError(
                "one_hot must name columns of 0 and 1, each once: "
                f"{some_of(tuple(position))}. Got {some_of(unknown or named)}."
            )
        return [[position[name] for name in group] for group in one_hot]

    def _value_edits(self, draft: Draft) -> Iterator[tuple[Edit, Draft]]:
        grouped = {at for group in self._groups for at in group}
        for node, row in enumerate(draft.rows):
            name = draft.names[node]
            for at, column in enumerate(self._columns):
                if at in grouped:
                    continue
                for value in self._values[at]:
                    if _code(column, value) != _code(column, row[at]):
                        text = _value_text(column, name, row[at], value)
                        yield Edit(text, (name,)), _with_values(draft, node, {at: value})
            for group in self._groups:
                for at in group:
                    if not row[at]:
                        values = {other: _like(row[other], other == at) for other in group}
                        before = [self._columns[o].name for o in group if row[o]]
                        text = (
                            f"change node {name} from {one_line(' and '.join(before) or 'none')} "
                            f"to {one_line(self._columns[at].name)}"
                        )
                        yield Edit(text, (name,)), _with_values(draft, node, values)

    # Edges and nodes --------------------------------------------------------------------------

    def _edge_edits(self, draft: Draft) -> Iterator[tuple[Edit, Draft]]:
        sorts = self.form.sorts
        for source, target, sort in dict.fromkeys(draft.edges):
            edges = list(draft.edges)
            edges.remove((source, target, sort))
            ends = draft.names[source], draft.names[target]
            text = f"remove the {_edge_words(sorts[sort])} {self._between(*ends)}"
            yield Edit(text, ends), replace(draft, edges=tuple(edges))
        joined = {(source, target) for source, target, _ in draft.edges}
        size = len(draft.rows)
        for source in range(size):
            for target in range(source + 1 if self.form.undirected else 0, size):
                if source == target or (source, target) in joined:
                    continue
                ends = draft.names[source], draft.names[target]
                for sort, words in enumerate(sorts):
                    text = f"add {_article(_edge_words(words))} {self._between(*ends)}"
                    yield Edit(text, ends), _with_edge(draft, (source, target, sort))

    def _between(self, source: str, target: str) -> str:
        if self.form.undirected:
            return f"between nodes {source} and {target}"
        return f"from node {source} to node {target}"

    def _node_edits(self, draft: Draft) -> Iterator[tuple[Edit, Draft]]:
        kept = self.position(draft)
        for node, name in enumerate(draft.names):
            if node != kept and len(draft.names) > 1:
                count = sum(node in edge[:2] for edge in draft.edges)
                lost = f" and its {count} edge{'s' * (count > 1)}" if count else ""
                yield Edit(f"remove node {name}{lost}", (name,)), _without(draft, node)
        # A new node has the values of one of the given nodes, so these values belong together.
        first: dict[tuple[Any, ...], int] = {}
        for node, row in enumerate(self.start.rows):
            first.setdefault(row, node)
        new = f"new {1 + sum(name.startswith('new ') for name in draft.names)}"
        for row, origin in first.items():
            added = replace(
                draft,
                rows=(*draft.rows, row),
                origins=(*draft.origins, origin),
                names=(*draft.names, new),
            )
            text = f"add a node ({new}) like node {self.form.names[origin]}"
            yield Edit(text, (new,)), added
            at = len(draft.names)
            for other, name in enumerate(draft.names):
                for sort, words in enumerate(self.form.sorts):
                    arrows = [(other, at, sort)]
                    if not self.form.undirected:
                        arrows.append((at, other, sort))
                    for arrow in arrows:
                        ends = [(*draft.names, new)[end] for end in arrow[:2]]
                        by = f"{_article(_edge_words(words))} {self._between(*ends)}"
                        yield Edit(f"{text}, with {by}", (new, name)), _with_edge(added, arrow)


def _edge_words(sort: str) -> str:
    return f"edge ({one_line(sort)})" if sort else "edge"


def _article(noun: str) -> str:
    return f"an {noun}"


def _with_values(draft: Draft, node: int, values: dict[int, Any]) -> Draft:
    row = list(draft.rows[node])
    for at, value in values.items():
        row[at] = value
    return replace(draft, rows=(*draft.rows[:node], tuple(row), *draft.rows[node + 1 :]))


def _with_edge(draft: Draft, edge: tuple[int, int, int]) -> Draft:
    return replace(draft, edges=tuple(sorted((*draft.edges, edge))))


def _without(draft: Draft, node: int) -> Draft:
    """Return the draft without a node and its edges."""
    stay = [at for at in range(len(draft.rows)) if at != node]
    number = {at: new for new, at in enumerate(stay)}
    return Draft(
        tuple(draft.rows[at] for at in stay),
        tuple(draft.origins[at] for at in stay),
        tuple(draft.names[at] for at in stay),
        tuple(
            (number[source], number[target], sort)
            for source, target, sort in draft.edges
            if node not in (source, target)
        ),
    )


# The values that a column may have ------------------------------------------------------------


def _like(before: Any, value: bool) -> Any:
    """Return 0 or 1 of the type that the column has."""
    return type(before)(value)


def _values(column: EncodedColumn, read: RawColumn) -> list[Any]:
    """Return one value for every different set of predicates that a column can give."""
    if column.feature_type == "binary":
        return [read.values.dtype.type(value).item() for value in (0, 1)]
    if column.feature_type == "categorical":
        if read.is_text:
            return list(column.categories)
        return [read.values.dtype.type(value).item() for value in column.categories]
    return _between_thresholds(column.thresholds, read.values.dtype)


def _between_thresholds(thresholds: Sequence[float], dtype: np.dtype[Any]) -> list[Any]:
    """Return a value in each interval between thresholds that has one of this type."""
    if not thresholds:
        return []
    values: list[Any]
    step = (thresholds[-1] - thresholds[0]) / max(len(thresholds) - 1, 1) or 1.0
    if dtype.kind in "iu":
        values = [math.floor(thresholds[0]), *(math.floor(low) + 1 for low in thresholds)]
    else:
        middles = [(low + high) / 2 for low, high in pairwise(thresholds)]
        lowest = dtype.type(thresholds[0])
        if lowest > thresholds[0]:
            lowest = np.nextafter(lowest, dtype.type(-np.inf))
        values = [lowest, *middles, thresholds[-1] + step]
    by_code: dict[int, Any] = {}
    for value in values:
        plain = dtype.type(value).item()
        by_code.setdefault(sum(plain > limit for limit in thresholds), plain)
    return list(by_code.values())


def _code(column: EncodedColumn, value: Any) -> object:
    """Return what a rule can see of a value."""
    if column.feature_type == "continuous":
        return sum(value > limit for limit in column.thresholds)
    return bool(value) if column.feature_type == "binary" else value


def _value_text(column: EncodedColumn, node: str, before: Any, after: Any) -> str:
    name = one_line(column.name)
    if column.feature_type == "binary":
        return f"make {name} {'true' if after else 'false'} at node {node}"
    shown = [one_line(category_text(value)) for value in (before, after)]
    return f"change {name} of node {node} from {shown[0]} to {shown[1]}"
