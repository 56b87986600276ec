"""What inner layers are fitted to when there is no network to learn from: the labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges

__all__ = ["graph_label_targets", "node_label_targets"]

FloatArray = npt.NDArray[np.float64]


def graph_label_targets(
    batch: GraphBatch, codes: npt.NDArray[np.int64], n_classes: int
) -> FloatArray:
    """Return the paper's IDT(True): the label of the graph on each of its nodes."""
    per_node: FloatArray = np.eye(n_classes)[codes][batch.graph_index]
    return per_node


def node_label_targets(
    batch: GraphBatch,
    codes: npt.NDArray[np.int64],
    known: npt.NDArray[np.bool_],
    n_classes: int,
    steps: int,
) -> FloatArray:
    """Return the labels of each node and of the nodes around it that are known.

    What holds at a node shows in the labels of those that look at it. So the layer that is k steps
    before the final one is fitted to the mean labels up to k steps away as well.
    """
    own = np.where(known[:, None], np.eye(n_classes)[codes], 0.0)
    near = batch.edges(Edges(Direction.EITHER)).matrix.astype(np.float64)
    rings, seen = [own], known.astype(float)
    for _ in range(steps):
        weight = near @ seen
        ring: FloatArray = (near @ (rings[-1] * seen[:, None])) / np.maximum(weight, 1.0)[:, None]
        rings.append(ring)
        seen = (weight > 0).astype(float)
    return np.concatenate(rings, axis=1)
