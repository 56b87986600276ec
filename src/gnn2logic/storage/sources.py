"""Graphs of any kind, one after the other: measured and read block by block, never all at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels
from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import (
    FeatureError,
    GraphError,
    LabelError,
    ParameterError,
    UnseenCategoryWarning,
    UnsupportedInputError,
)
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.graphs.inputs import graphs_inside
from gnn2logic.graphs.read_pyg import graph_sizes, is_dataset
from gnn2logic.graphs.reading import format_of
from gnn2logic.storage.label_codes import Level

__all__ = ["BlockEncoder", "Item", "blocks", "cuts", "items_from", "labels_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One graph as it was given, or a batch of them, and its labels.

    Parameters
    ----------
    graphs : object
    sizes : array of int
        The number of nodes of every graph in it.
    labels : list or None
        One label for each graph or node; None where there are none.
    """

    graphs: Any
    sizes: npt.NDArray[np.int64]
    labels: list[Any] | None

    @property
    def n_graphs(self) -> int:
        """The number of graphs in it."""
        return len(self.sizes)

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all of its graphs."""
        return int(self.sizes.sum())


def items_from(graphs: Any, y: object, level: Level, most_nodes: int) -> Iterator[Item]:
    """Go through graphs of any kind lazily; batches come in pieces of at most `most_nodes`."""
    labels = _Labels(y, level)
    n_graphs = 0
    for number, given in enumerate(_walk(graphs)):
        graph, graph_labels = _with_label(given)
        if format_of(graph) is None:
            raise UnsupportedInputError(
                "Expected graphs (GraphBatch, PyTorch Geometric, networkx, adjacency matrices or "
                "pairs of adjacency and features), or pairs (graph, label) of these. "
                f"Got {type(graph).__name__} at position {number}."
            )
        used = 0
        for piece, sizes in _pieces(graph, most_nodes):
            rows = len(sizes) if level == "graph" else int(sizes.sum())
            piece_labels = labels.take(graph_labels, used, rows, number)
            used += rows
            yield Item(piece, sizes, piece_labels)
            n_graphs += len(sizes)
        if graph_labels is not None and len(graph_labels) != used:
            raise LabelError(
                f"There must be one label per {level}. Got {len(graph_labels)} labels for {used} "
                f"{level}s at position {number}."
            )
    if not n_graphs:
        raise GraphError(f"At least one graph is needed. Got an empty {type(graphs).__name__}.")
    labels.check_end()


def blocks(items: Iterable[Item], most_nodes: int) -> Iterator[list[Item]]:
    """Group items so that reading them together takes bounded memory."""
    block: list[Item] = []
    n_nodes = 0
    for item in items:
        if block and n_nodes + item.n_nodes > most_nodes:
            yield block
            block, n_nodes = [], 0
        block.append(item)
        n_nodes += item.n_nodes
    if block:
        yield block


def cuts(ptr: Any, most_nodes: int) -> list[int]:
    """Return where to cut graphs with these boundaries so that parts are as large as allowed.

    A part holds a larger graph only if it is alone. The last part may still have room.

    >>> cuts([0, 3, 6, 16, 17, 18], 6)
    [0, 2, 3, 5]
    """
    boundaries = np.asarray(ptr)
    starts = [0]
    while starts[-1] < len(boundaries) - 1:
        start = starts[-1]
        fits = np.searchsorted(boundaries, boundaries[start] + most_nodes, side="right") - 1
        starts.append(max(int(fits), start + 1))
    return starts


def _walk(graphs: Any) -> Iterator[Any]:
    graphs = graphs_inside(graphs)
    input_format = format_of(graphs)
    if input_format == "pair":
        # Two matrices in a tuple are two graphs, as everywhere.
        return iter(graphs)
    if input_format is not None:
        return iter([graphs])
    if is_dataset(graphs):
        # PyG walks a dataset by number, without an end of its own.
        return (graphs[number] for number in range(len(graphs)))
    if isinstance(graphs, str | bytes | dict):
        raise UnsupportedInputError(f"Expected graphs. Got {type(graphs).__name__} instead.")
    try:
        return iter(graphs)
    except TypeError:
        raise UnsupportedInputError(
            f"Expected graphs, or something that gives them one after the other. "
            f"Got {type(graphs).__name__} instead."
        ) from None


def _with_label(given: Any) -> tuple[Any, list[Any] | None]:
    """Return a graph and its labels, if it came with them."""
    is_labelled = (
        isinstance(given, tuple)
        and len(given) == 2
        and format_of(given[0]) is not None
        # Two dimensions are the features of an adjacency matrix.
        and given[1] is not None
        and format_of(given[1]) is None
        and _dimensions(given[1]) < 2
    )
    if not is_labelled:
        return given, None
    label = to_numpy(given[1])
    return given[0], np.atleast_1d(label).tolist() if np.ndim(label) else [label]


def _dimensions(value: object) -> int:
    try:
        return np.ndim(to_numpy(value))
    except ValueError:
        return 2  # rows of unequal length, which whoever reads features complains about


def _pieces(graph: Any, most_nodes: int) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
    """Give what was given together with the sizes of its graphs; batches are cut."""
    input_format = format_of(graph)
    if input_format == "batch":
        boundaries = cuts(graph.ptr, most_nodes)
        for start, stop in pairwise(boundaries):
            piece: GraphBatch = graph if len(boundaries) == 2 else graph[start:stop]
            yield piece, piece.sizes
    elif input_format == "pyg":
        yield graph, graph_sizes(graph)
    elif input_format == "networkx":
        yield graph, np.array([len(graph)])
    else:
        matrix = graph[0] if input_format == "pair" else graph
        yield graph, np.array([matrix.shape[0]])


class _Labels:
    """Hands out labels: those that come with the graphs, or else those of an array."""

    def __init__(self, y: object, level: Level) -> None:
        self._level = level
        self._used = 0
        self._all: list[Any] | None = None
        if y is not None:
            values: Any = to_numpy(y)
            try:
                self._all = check_labels(values, len(values), of=level).tolist()
            except TypeError:
                raise LabelError(
                    f"y must hold one label per {level}. Got {type(y).__name__} instead."
                ) from None

    def take(
        self, graph_labels: list[Any] | None, used: int, rows: int, number: int
    ) -> list[Any] | None:
        if graph_labels is not None:
            if self._all is not None:
                raise LabelError(
                    "Give labels as y or in pairs (graph, label), not both. Got both at position "
                    f"{number}."
                )
            return graph_labels[used : used + rows]
        if self._all is None:
            return None
        taken = self._all[self._used : self._used + rows]
        self._used += rows
        if len(taken) < rows:
            raise LabelError(
                f"y must hold one label per {self._level}. Got {len(self._all)} labels, and at "
                f"least {self._used} {self._level}s."
            )
        return taken

    def check_end(self) -> None:
        if self._all is not None and self._used != len(self._all):
            raise LabelError(
                f"y must hold one label per {self._level}. Got {len(self._all)} labels for "
                f"{self._used} {self._level}s."
            )


_ADVICE = (
    "The encoder has seen the first graphs only. Fit a PredicateEncoder on graphs that show all "
    "there is, and give it as write_shards(..., encoder=...)"
)


class BlockEncoder:
    """Makes predicates of the features of graphs.

    Parameters
    ----------
    encoder : PredicateEncoder or None
        If it is fitted it is used as it is. If not, a copy is fitted on the first block.
    """

    def __init__(self, encoder: object) -> None:
        if encoder is not None and not isinstance(encoder, FittedEncoder):
            raise ParameterError(
                f"encoder must be a PredicateEncoder or None. Got {encoder!r} instead."
            )
        self._given = encoder
        self._is_ours = not hasattr(encoder, "columns_")
        self.fitted: FittedEncoder | None = None if self._is_ours else encoder

    def encode(self, block: Sequence[Item], first_graph: int) -> GraphBatch:
        """Return the graphs of a block with predicates."""
        graphs = [item.graphs for item in block]
        where = f"In the graphs from number {first_graph} on"
        try:
            if self.fitted is None:
                encoder = self._unfitted()
                batch: GraphBatch = encoder.fit_transform(graphs)
                self.fitted = encoder
                return batch
            batch, unseen = self.fitted._encode(self.fitted._read(graphs))
        except (GraphError, FeatureError, UnsupportedInputError) as error:
            advice = f" {_ADVICE}." if self._is_ours and first_graph else ""
            raise type(error)(f"{where}: {error}{advice}") from error
        for message in unseen:
            if self._is_ours:
                raise FeatureError(f"{where}: {message} {_ADVICE}.")
            warnings.warn(f"{where}: {message}", UnseenCategoryWarning, stacklevel=2)
        return batch

    def _unfitted(self) -> Any:
        # scikit-learn is needed to fit, and not to read a store.
        from gnn2logic.graphs.encoder import PredicateEncoder

        if self._given is None:
            return PredicateEncoder()
        if not isinstance(self._given, PredicateEncoder):
            raise ParameterError("encoder must be fitted, or a PredicateEncoder that can be.")
        return PredicateEncoder(**self._given.get_params())


def labels_of(block: Sequence[Item], level: Level) -> npt.NDArray[Any] | None:
    """Return the labels of a block of items, all of which have some, or none of which has."""
    having = [item for item in block if item.labels is not None]
    if not having:
        return None
    if len(having) < len(block):
        raise LabelError("All graphs must have labels, or none. Got some with and some without.")
    listed = [label for item in block for label in item.labels or ()]
    labels = check_labels(listed, len(listed), of=level)
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    return labels
