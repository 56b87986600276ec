"""What is written on the nodes of a graph: categories, numbers, or the predicates that hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gnn2logic.exceptions import GraphError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.export.view import one_line

__all__ = ["Labels", "category_column", "node_labels"]

Labels = bool | Literal["auto", "category", "number", "predicates"] | Sequence[object]
_KINDS = ("auto", "category", "number", "predicates")


def category_column(graph: GraphBatch) -> list[str | None] | None:
    """Return the category of every node, if predicates such as ``symbol=N`` are one column.

    Of several such columns the one with most categories counts. None if there is none.
    """
    columns: dict[str, list[int]] = {}
    for number, name in enumerate(graph.names):
        column, sign, value = name.partition("=")
        if sign and column and value:
            columns.setdefault(column, []).append(number)
    exclusive = [
        numbers
        for numbers in columns.values()
        if len(numbers) > 1 and (graph.predicates[:, numbers].sum(axis=1) <= 1).all()
    ]
    if not exclusive:
        return None
    numbers = max(exclusive, key=len)
    values = [graph.names[number].partition("=")[2] for number in numbers]
    held = graph.predicates[:, numbers]
    return [
        one_line(values[int(np.argmax(row))]) if row.any() else None for row in np.asarray(held)
    ]


def node_labels(graph: GraphBatch, labels: Labels) -> list[str]:
    """Return the text of every node."""
    count = graph.n_nodes
    if labels is False:
        return [""] * count
    if labels is True:
        labels = "auto"
    if isinstance(labels, str):
        if labels not in _KINDS:
            raise ParameterError(
                f"labels must be one of {', '.join(map(repr, _KINDS))}, True, False or one text "
                f"per node. Got {labels!r} instead."
            )
        categories = category_column(graph) if labels in ("auto", "category") else None
        if categories is not None:
            return [category or "?" for category in categories]
        if labels == "category":
            raise GraphError(
                "labels='category' needs predicates of one column, such as 'symbol=C' and "
                f"'symbol=N'. Got {list(graph.names)!r} instead."
            )
        if labels == "predicates":
            return [
                "\n".join(one_line(name) for name, on in zip(graph.names, row, strict=True) if on)
                for row in np.asarray(graph.predicates)
            ]
        return [str(node) for node in range(count)]
    texts = [one_line(str(label)) for label in labels]
    if len(texts) != count:
        raise GraphError(
            f"labels must have one text for each of the {count} nodes. Got {len(texts)} instead."
        )
    return texts
