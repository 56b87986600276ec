"""Where the nodes of a graph go, and what is written on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.chem.drawing import flat_coordinates
from gnn2logic.chem.vocabulary import atom_symbols
from gnn2logic.exceptions import GraphError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.export.view import one_line

__all__ = ["Labels", "category_column", "layout", "node_labels"]

FloatArray = npt.NDArray[np.float64]

# Placing by all distances looks best and takes cubic time; larger components use springs.
_ALL_DISTANCES = 80
_LARGEST_POLYGON = 8
_BETWEEN = 1.2


def layout(graph: GraphBatch, seed: int) -> FloatArray:
    """Return one row (x, y) per node; neighbours are about 1 apart, one seed gives one layout.

    Molecules are laid out by RDKit where it is installed.
    """
    points = flat_coordinates(graph)
    if points is not None:
        return points
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
        point_of = _by_distances(networkx, drawn, point_of)
    points = np.array([point_of[node] for node in range(count)], dtype=float)
    edges = np.array(drawn.edges)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    return points / max(float(np.median(lengths)), 1e-9)


def _by_distances(networkx: Any, drawn: Any, springs: Any) -> Any:
    """Return a layout in which nodes are as far apart as the graph says, and rings are round.

    Springs may fold a ring, and a start without crossings keeps it open: the layout with fewer
    crossings is taken.
    """
    distances = dict(networkx.all_pairs_shortest_path_length(drawn))
    wanted = {node: dict(row) for node, row in distances.items()}
    for ring in _small_rings(networkx, drawn, distances):
        size = len(ring)
        for (i, one), (j, other) in combinations(enumerate(ring), 2):
            # Corners of a regular polygon with sides of length 1.
            chord = np.sin(np.pi * (j - i) / size) / np.sin(np.pi / size)
            wanted[one][other] = wanted[other][one] = float(chord)
    starts = [springs]
    is_planar, _ = networkx.check_planarity(drawn)
    if is_planar and drawn.number_of_nodes() > 3:
        starts.append(networkx.planar_layout(drawn))
    layouts = [networkx.kamada_kawai_layout(drawn, dist=wanted, pos=start) for start in starts]
    return min(layouts, key=lambda point_of: _crossings(drawn, point_of))


def _small_rings(networkx: Any, drawn: Any, distances: Any) -> list[list[int]]:
    """Return rings of at most eight nodes that are to be drawn as polygons."""
    if drawn.number_of_edges() > 2 * drawn.number_of_nodes():
        # Nothing is round in a dense graph.
        return []
    return [
        ring for ring in networkx.minimum_cycle_basis(drawn) if 4 < len(ring) <= _LARGEST_POLYGON
    ]


def _crossings(drawn: Any, point_of: Any) -> int:
    """Return how many pairs of edges cross."""
    edges = np.array(drawn.edges)
    points = np.array([point_of[node] for node in range(drawn.number_of_nodes())])
    first, second = np.triu_indices(len(edges), 1)
    apart = (edges[first][:, :, None] != edges[second][:, None, :]).all(axis=(1, 2))
    a, b = points[edges[first[apart]]].transpose(1, 0, 2)
    c, d = points[edges[second[apart]]].transpose(1, 0, 2)

    def side(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
        turned: FloatArray = (q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (
            r[:, 0] - p[:, 0]
        )
        return turned

    crosses = (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)
    return int(crosses.sum())


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


Labels = bool | Literal["auto", "category", "number", "predicates"] | Sequence[object]
_KINDS = ("auto", "category", "number", "predicates")


def category_column(graph: GraphBatch) -> list[str | None] | None:
    """Return the category of every node, if predicates such as ``symbol=N`` are one column.

    Elements of molecules come first, then types of nodes as `HeteroData` has them, and else of
    several such columns the one with most categories. None if there is none.
    """
    symbols = atom_symbols(graph)
    if symbols is not None:
        return list(symbols)
    types = _node_types(graph)
    if types is not None:
        return list(types)
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


def _node_types(graph: GraphBatch) -> list[str] | None:
    """Return the type of every node, where others are named after it: ``paper``, ``paper.open``."""
    names = graph.names
    types = [
        number
        for number, name in enumerate(names)
        if not any(name.startswith(f"{other}.") for other in names)
    ]
    if len(types) < 2 or len(types) == len(names):
        return None
    held = np.asarray(graph.predicates[:, types])
    if (held.sum(axis=1) != 1).any():
        return None
    return [one_line(names[types[at]]) for at in held.argmax(axis=1).tolist()]


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
