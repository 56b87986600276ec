"""Graphs that are read more than once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnn2logic.graphs.read_pyg import is_dataset

__all__ = ["kept"]


def kept(graphs: Any) -> Any:
    """Return graphs that are the same each time they are read.

    An iterator can be walked only once, and a dataset may transform its graphs at random.
    """
    if isinstance(graphs, Iterator):
        return list(graphs)
    if is_dataset(graphs):
        return [graphs[number] for number in range(len(graphs))]
    return graphs
