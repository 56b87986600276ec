"""Numbers at the nodes, beside the predicates: kept as they are until an encoder cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_names
from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.writing import edge_rows

__all__ = ["AttributedGraph", "NodeAttributes", "attributed_graphs"]


@dataclass(frozen=True, eq=False)
class NodeAttributes:
    """Named columns of finite numbers, one row per node.

    Parameters
    ----------
    names : tuple of str
    values : array of float, shape (n_nodes, n_attributes)
    """

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        names = check_names(self.names, what="Attribute")
        if values.ndim != 2 or values.shape[1] != len(names):
            raise FeatureError(
                "values must have one row per node and one column per name. "
                f"Got shape {values.shape} for {len(names)} names."
            )
        if not np.isfinite(values).all():
            raise FeatureError("values must be finite. Got NaN or an infinity.")
        values.setflags(write=False)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, eq=False, slots=True)
class AttributedGraph:
    """One graph with numbers at its nodes, in the shape of a PyG ``Data`` but on numpy.

    The readers know this shape by its attributes, so `PredicateEncoder` and all estimators take
    lists of these as they take PyG graphs, and torch is not needed.
    """

    x: npt.NDArray[np.float64]
    edge_index: npt.NDArray[np.int64]
    num_nodes: int
    predicate_names: Sequence[str]
    relation_names: Sequence[str] | None = None
    edge_relations: npt.NDArray[np.bool_] | None = None


def attributed_graphs(graphs: GraphBatch, attributes: NodeAttributes) -> list[AttributedGraph]:
    """Return every graph with its predicates and attributes as columns side by side."""
    names = check_names((*graphs.names, *attributes.names), what="Feature")
    table = np.concatenate([graphs.predicates.astype(np.float64), attributes.values], axis=1)
    table.setflags(write=False)
    sources, targets, held = edge_rows(graphs)
    cuts = np.searchsorted(sources, graphs.ptr)
    relations = list(graphs.relations) or None
    found = []
    for number in range(graphs.n_graphs):
        start, stop = int(graphs.ptr[number]), int(graphs.ptr[number + 1])
        edges = slice(int(cuts[number]), int(cuts[number + 1]))
        found.append(
            AttributedGraph(
                x=table[start:stop],
                edge_index=np.stack([sources[edges], targets[edges]]) - start,
                num_nodes=stop - start,
                predicate_names=list(names),
                relation_names=relations,
                edge_relations=held[edges] if relations else None,
            )
        )
    return found
