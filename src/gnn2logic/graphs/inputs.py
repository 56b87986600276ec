"""What the readers share: one object or many, arrays and tensors, places named in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError

__all__ = ["Where", "as_array", "items_of", "locate", "node_locator"]

# Says in words where the entry with a number is, for messages.
Where = Callable[[int], str]


def as_array(
    value: object, *, what: str, error: type[GraphError] | type[FeatureError] = GraphError
) -> npt.NDArray[Any]:
    """Return an array-like or a torch tensor (read by duck typing) as a numpy array.

    The result may share memory with `value`; it is never written to.
    """
    source: Any = value
    if hasattr(source, "detach") and hasattr(source, "numpy"):
        if "strided" not in str(getattr(source, "layout", "strided")):
            raise UnsupportedInputError(
                f"{what} must be dense. Got a sparse tensor instead; convert it with .to_dense()."
            )
        return np.asarray(to_numpy(source))
    try:
        return np.asarray(source)
    except ValueError as cause:
        raise error(f"{what} must be an array. Got rows of unequal length.") from cause


def items_of(graphs: Any, is_one: Callable[[object], bool], *, expected: str) -> list[Any]:
    """Return one graph, or an iterable of graphs, as a list whose items all pass `is_one`."""
    if is_one(graphs):
        return [graphs]
    if isinstance(graphs, str | bytes | dict):
        raise UnsupportedInputError(f"Expected {expected}. Got {type(graphs).__name__} instead.")
    try:
        # Not only Iterable: torch datasets can be walked through by number alone.
        walk: Iterable[Any] = iter(graphs)
    except TypeError:
        raise UnsupportedInputError(
            f"Expected {expected}. Got {type(graphs).__name__} instead."
        ) from None
    items = list(walk)
    if not items:
        raise GraphError(f"At least one graph is needed. Got an empty {type(graphs).__name__}.")
    for number, item in enumerate(items):
        if not is_one(item):
            raise UnsupportedInputError(
                f"Expected {expected}. Got {type(item).__name__} at position {number} instead."
            )
    return items


def locate(ptr: npt.NDArray[np.int64], node: int) -> tuple[int, int]:
    """Return the graph that owns `node` and the number of the node inside it."""
    graph = int(np.searchsorted(ptr, node, side="right")) - 1
    return graph, int(node - ptr[graph])


def node_locator(ptr: npt.NDArray[np.int64]) -> Where:
    """Return a function that names the node with a number: ``node 2 of graph 5``."""

    def where(at: int) -> str:
        graph, node = locate(ptr, at)
        return f"node {node} of graph {graph}"

    return where
