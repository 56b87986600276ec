"""Where the nodes of a graph go: every component by its distances, components side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.graphs.batch import GraphBatch

__all__ = ["layout"]

FloatArray = npt.NDArray[np.float64]

# Placing by all distances looks best and takes cubic time; larger components use springs.
_ALL_DISTANCES = 80
_BETWEEN = 1.2


def layout(graph: GraphBatch, seed: int) -> FloatArray:
    """Return one row (x, y) per node; neighbours are about 1 apart, one seed gives one layout."""
    networkx = import_optional("networkx", extra="plot", purpose="plot_graph")
    adjacency = sp.csr_array(graph.adjacency + graph.adjacency.T)
    count, component = sp.csgraph.connected_components(adjacency, directed=False)
    members = [np.flatnonzero(component == number) for number in range(count)]
    members.sort(key=lambda nodes: (-len(nodes), nodes[0]))
    components = []
    for nodes in members:
        within = adjacency[nodes][:, nodes]
        drawn = networkx.Graph()
        drawn.add_nodes_from(range(len(nodes)))
        rows, columns = within.nonzero()
        drawn.add_edges_from((int(a), int(b)) for a, b in zip(rows, columns, strict=True) if a < b)
        components.append(_wide(_component(networkx, drawn, seed)))
    return _side_by_side(members, components)


def _component(networkx: Any, drawn: Any, seed: int) -> FloatArray:
    count = drawn.number_of_nodes()
    if count == 1:
        return np.zeros((1, 2))
    # Springs untangle; distances then make the edges equally long.
    point_of = networkx.spring_layout(drawn, seed=seed, iterations=100)
    if count <= _ALL_DISTANCES:
        point_of = networkx.kamada_kawai_layout(drawn, pos=point_of)
    points = np.array([point_of[node] for node in range(count)], dtype=float)
    edges = np.array(drawn.edges)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    return points / max(float(np.median(lengths)), 1e-9)


def _wide(points: FloatArray) -> FloatArray:
    """Return the points turned so that they are wider than high, in the first quadrant."""
    centred = points - points.mean(axis=0)
    if len(points) > 2:
        _, _, axes = np.linalg.svd(centred, full_matrices=False)
        # An axis and its opposite are both right; fix one, and do not mirror.
        axes = axes * np.where(axes[:, [0]] + 1e-6 * axes[:, [1]] < 0, -1.0, 1.0)
        if np.linalg.det(axes) < 0:
            axes[1] *= -1
        centred = centred @ axes.T
    moved: FloatArray = centred - centred.min(axis=0)
    return moved


def _side_by_side(members: list[npt.NDArray[np.intp]], components: list[FloatArray]) -> FloatArray:
    """Put the components into rows, as a line of text is set, about as wide as high."""
    sizes = [component.max(axis=0) + _BETWEEN for component in components]
    room = max(float(np.sqrt(sum(w * h for w, h in sizes))) * 1.3, max(w for w, _ in sizes))
    points = np.zeros((sum(len(nodes) for nodes in members), 2))
    x = y = height = 0.0
    for nodes, component, (width, component_height) in zip(members, components, sizes, strict=True):
        if x and x + width > room:
            x, y, height = 0.0, y - height, 0.0
        # Rows grow downwards, and the components of a row hang from its top.
        points[nodes] = component + np.array([x, y - float(component_height)])
        x += float(width)
        height = max(height, float(component_height))
    return points
