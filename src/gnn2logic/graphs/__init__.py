"""Graphs as data: batches, modal parameters and the counts they give."""

from typing import TYPE_CHECKING, Any

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.encoded_columns import EncodedColumn
from gnn2logic.graphs.links import link_graphs
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.graphs.random import random_graphs
from gnn2logic.graphs.read_matrix import from_adjacency, from_edges
from gnn2logic.graphs.read_networkx import from_networkx
from gnn2logic.graphs.read_pyg import from_pyg
from gnn2logic.graphs.reading import as_batch
from gnn2logic.graphs.structural import structure
from gnn2logic.graphs.write_hetero import to_hetero_data
from gnn2logic.graphs.writing import to_networkx, to_pyg

if TYPE_CHECKING:
    from gnn2logic.graphs.encoder import PredicateEncoder

__all__ = [
    "Direction",
    "Edges",
    "EncodedColumn",
    "GraphBatch",
    "ModalCounts",
    "Modality",
    "PredicateEncoder",
    "as_batch",
    "from_adjacency",
    "from_edges",
    "from_networkx",
    "from_pyg",
    "link_graphs",
    "random_graphs",
    "set_sizes",
    "structure",
    "to_hetero_data",
    "to_networkx",
    "to_pyg",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes longer to import than all the rest, and reading formulas needs none of it.
    if name == "PredicateEncoder":
        from gnn2logic.graphs.encoder import PredicateEncoder

        return PredicateEncoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
