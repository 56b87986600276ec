"""`as_batch`: any graphs that we can read, as a `GraphBatch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnn2logic._validation import check_names, some_of
from gnn2logic.exceptions import FeatureError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawGraphs, raw_from_batch, to_batch
from gnn2logic.graphs.edge_features import EdgeFeatures
from gnn2logic.graphs.inputs import graphs_inside, items_of
from gnn2logic.graphs.read_hetero import FeatureNames, names_of_one_type
from gnn2logic.graphs.read_matrix import is_matrix, is_pair, read_matrices
from gnn2logic.graphs.read_networkx import is_networkx, read_networkx
from gnn2logic.graphs.read_pyg import is_dataset, is_pyg, read_pyg

__all__ = ["as_batch", "format_of", "read_graphs", "read_once"]

_EXPECTED = (
    "a GraphBatch, PyTorch Geometric graphs, networkx graphs, adjacency matrices (scipy sparse or "
    "2-D arrays) or a list of these, or a list of pairs (adjacency, features)"
)


def as_batch(
    graphs: Any,
    *,
    feature_names: FeatureNames = None,
    edge_types: str | bool | None = None,
    node_attributes: Sequence[str] | None = None,
    edge_attributes: Sequence[str] | None = None,
) -> GraphBatch:
    """Return graphs of any kind that can be read as a batch; nothing given is ever changed.

    Parameters
    ----------
    graphs : GraphBatch, PyG Data, Batch or Dataset, networkx graph, matrix, or iterable of these
        A `GraphBatch` is returned as it is. All items of an iterable must be of one kind; pairs
        ``(adjacency, features)`` in a list give matrices with features. Molecules of
        `gnn2logic.chem` are their graphs.
    feature_names : sequence of str, optional
        Names of the columns of feature matrices, ``U0, U1, ...`` by default.
    edge_types : str, optional
        For PyG: see `from_pyg`.
    node_attributes, edge_attributes : sequence of str, optional
        For networkx: see `from_networkx`.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = 1 - np.eye(3, dtype=int)
    >>> as_batch([triangle, triangle])
    GraphBatch(n_graphs=2, n_nodes=6, n_edges=12, names=())
    """
    graphs = graphs_inside(graphs)
    if isinstance(graphs, GraphBatch):
        _check_batch_names(graphs, names_of_one_type(feature_names))
        return graphs
    raw = read_graphs(
        graphs,
        feature_names=feature_names,
        edge_types=edge_types,
        node_attributes=node_attributes,
        edge_attributes=edge_attributes,
    )
    return to_batch(raw)


def read_once(graphs: Any) -> Any:
    """Return graphs that are the same each time they are read.

    An iterator can be walked only once, a data loader may shuffle, and a dataset may transform its
    graphs at random: these become lists. One graph, a batch or a list is returned as it is.
    """
    graphs = graphs_inside(graphs)
    if isinstance(graphs, list | tuple | str | bytes | dict) or format_of(graphs) is not None:
        return graphs
    if is_dataset(graphs):
        # PyG walks a dataset by number, without an end of its own.
        return [graphs[number] for number in range(len(graphs))]
    try:
        walk = iter(graphs)
    except TypeError:
        # Not graphs at all: whoever reads them says so.
        return graphs
    return list(walk)


def read_graphs(
    graphs: Any,
    *,
    feature_names: FeatureNames,
    edge_types: str | bool | None,
    node_attributes: Sequence[str] | None,
    edge_attributes: Sequence[str] | None,
    edge_features: EdgeFeatures = None,
) -> RawGraphs:
    """Return graphs of any kind as raw columns and edges."""
    graphs = graphs_inside(graphs)
    items = items_of(graphs, lambda item: format_of(item) is not None, expected=_EXPECTED)
    input_format = format_of(items[0])
    if input_format == "pair" and items[0] is graphs:
        # Two matrices in a tuple are two graphs; only in a list is such a tuple one graph.
        items, input_format = list(graphs), "matrix"
    for number, item in enumerate(items):
        if format_of(item) != input_format:
            raise UnsupportedInputError(
                f"All graphs must be of one kind. Got {type(items[0]).__name__} at position 0 and "
                f"{type(item).__name__} at position {number}."
            )
    if input_format == "batch":
        # These graphs were read before, so options about reading have nothing left to say.
        batch = GraphBatch.concat(items)
        _check_batch_names(batch, names_of_one_type(feature_names))
        return raw_from_batch(batch)
    if input_format == "networkx":
        _refuse(input_format, feature_names=feature_names, edge_types=edge_types)
        return read_networkx(
            items,
            node_attributes=node_attributes,
            edge_attributes=edge_attributes,
            edge_features=edge_features,
        )
    _refuse(input_format, node_attributes=node_attributes, edge_attributes=edge_attributes)
    if input_format == "pyg":
        return read_pyg(
            items,
            feature_names=feature_names,
            edge_types=edge_types,
            edge_features=edge_features,
        )
    _refuse(input_format, edge_types=edge_types, edge_features=edge_features)
    if input_format == "pair":
        matrices, features = zip(*items, strict=True)
        return read_matrices(matrices, features, feature_names=names_of_one_type(feature_names))
    return read_matrices(items, [None] * len(items), feature_names=names_of_one_type(feature_names))


def format_of(value: object) -> str | None:
    """Return what one object is, or None where it may be an iterable of graphs."""
    if isinstance(value, GraphBatch):
        return "batch"
    if is_pair(value):
        return "pair"
    if is_matrix(value):
        return "matrix"
    if is_networkx(value):
        return "networkx"
    return "pyg" if is_pyg(value) else None


_READERS = {
    "edge_types": "PyTorch Geometric graphs",
    "edge_features": "PyTorch Geometric and networkx graphs",
    "feature_names": "feature matrices",
    "node_attributes": "networkx graphs",
    "edge_attributes": "networkx graphs",
}


def _refuse(input_format: str | None, **options: object) -> None:
    """Raise for an option that the reader does not know: to ignore it would mislead."""
    for name, value in options.items():
        if value is not None:
            raise UnsupportedInputError(
                f"{name} is only for {_READERS[name]}. Got {name}={value!r} with graphs of kind "
                f"{input_format!r}; leave it out."
            )


def _check_batch_names(batch: GraphBatch, feature_names: Sequence[str] | None) -> None:
    if feature_names is None:
        return
    names = check_names(feature_names, what="Feature")
    if names != batch.names:
        raise FeatureError(
            "A GraphBatch has the names of its predicates already. Got feature_names "
            f"({some_of(names)}) for a batch with ({some_of(batch.names)}). Leave feature_names "
            "out, or rename with batch.with_predicates(batch.predicates, names)."
        )
