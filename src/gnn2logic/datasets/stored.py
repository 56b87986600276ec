"""Shard stores as data sets, all graphs in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import DataSetError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.storage import open_shards

__all__ = ["read_stored"]

# More nodes than this take gigabytes, and nobody looks at so many graphs.
_MOST_NODES = 10_000_000


def read_stored(folder: Path) -> Dataset:
    """Return the graphs of a shard store with their labels; without them there is one class."""
    store = open_shards(folder)
    name = folder.resolve().name
    if store.n_nodes > _MOST_NODES:
        raise DataSetError(
            f"A shard store that is read as a whole must have at most {_MOST_NODES:,} nodes. "
            f"{str(folder)!r} has {store.n_nodes:,}; the commands check, distill and evaluate read "
            "it in parts, for others write a smaller one."
        )
    graphs = GraphBatch.concat(store)
    labels = store.y if store.label_level == "graph" else None
    y = np.zeros(graphs.n_graphs, dtype=np.int64)
    class_names = ["graph"]
    if labels is not None:
        # In the order of the labels themselves: 10 comes after 9.
        values, codes = np.unique(labels, return_inverse=True)
        y, class_names = codes.reshape(-1).astype(np.int64), [str(each) for each in values.tolist()]
    return Dataset(
        name,
        graphs,
        y,
        tuple(class_names),
        description="Graphs of a shard store, as predicates.",
    )
