"""The edges of one graph: lines, bonds, arrows and loops, by relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.structure_names import RELATIONS
from gnn2logic.logic.printing.molecule_names import everyday_bond
from gnn2logic.logic.syntax import Formula
from gnn2logic.logic.walk import relation_names
from gnn2logic.plotting.words import BLUE, EDGE, QUIET

__all__ = [
    "RelationLine",
    "draw_edges",
    "relation_lines",
    "with_used_thresholds",
    "without_shape_edges",
]

FloatArray = npt.NDArray[np.float64]


class RelationLine(NamedTuple):
    """How a relation is drawn: offsets and dash patterns of parallel lines, and a colour."""

    strands: tuple[tuple[float, str], ...]
    colour: str


# Offsets are in parts of the radius of a node.
_SINGLE = ((0.0, "solid"),)
_BONDS = {
    "single": _SINGLE,
    "double": ((-0.23, "solid"), (0.23, "solid")),
    "triple": ((-0.4, "solid"), (0.0, "solid"), (0.4, "solid")),
    "aromatic": ((-0.23, "solid"), (0.23, "dotted")),
}
# How an encoder calls the relations of numbers on edges.
_THRESHOLD = " > "
_STYLES = ("solid", "dashed", "dotted", "dashdot")
_RELATIONS = (QUIET, BLUE, "#B34E00", "#007856", "#A0437A")


def relation_lines(names: Sequence[str]) -> dict[str | None, RelationLine]:
    """Return how each relation is drawn; None stands for edges without a type."""
    if not names:
        return {None: RelationLine(_SINGLE, EDGE)}
    bonds = {name: everyday_bond(name) for name in names}
    if all(bond in _BONDS for bond in bonds.values()):
        return {name: RelationLine(_BONDS[bond], QUIET) for name, bond in bonds.items()}
    return {
        name: RelationLine(
            ((0.0, _STYLES[number % len(_STYLES)]),), _RELATIONS[number % len(_RELATIONS)]
        )
        for number, name in enumerate(names)
    }


def without_shape_edges(graph: GraphBatch) -> GraphBatch:
    """Return a graph without the relations of its structure, which anyone sees in the picture."""
    shown = {name: matrix for name, matrix in graph.relations.items() if name not in RELATIONS}
    if len(shown) == len(graph.relations):
        return graph
    return GraphBatch(
        graph.predicates, graph.adjacency, ptr=graph.ptr, names=graph.names, relations=shown
    )


def with_used_thresholds(graph: GraphBatch, formulas: Sequence[Formula]) -> GraphBatch:
    """Return a graph without the relations by thresholds that no formula speaks of.

    Those of one number lie within each other, so that drawn together they hide what matters.
    """
    used = relation_names(*formulas)
    shown = {
        name: matrix
        for name, matrix in graph.relations.items()
        if name in used or _THRESHOLD not in name
    }
    return GraphBatch(
        graph.predicates, graph.adjacency, ptr=graph.ptr, names=graph.names, relations=shown
    )


def draw_edges(
    ax: Any,
    graph: GraphBatch,
    points: FloatArray,
    radius: float,
    lines: dict[str | None, RelationLine],
) -> None:
    """Draw all edges; those without a type are added to `lines` if there are any."""
    from matplotlib.collections import LineCollection

    relations: dict[str | None, Any] = {None: graph.adjacency}
    relations.update(graph.relations)
    typed: Any = sp.csr_array(graph.adjacency.shape, dtype=graph.adjacency.dtype)
    for name in lines:
        typed = typed + relations[name] if name is not None else typed
    # An edge may be in several relations, so that there are fewer edges than types.
    untyped = (graph.adjacency > typed).tocsr()
    if None not in lines and untyped.nnz:
        relations[None] = untyped
        lines[None] = RelationLine(_SINGLE, "#C8C8C8")
    order: list[str | None] = sorted(lines, key=lambda name: name is not None)
    for name in order:
        matrix = relations[name].tocoo()
        pairs = np.column_stack([matrix.row, matrix.col])
        loops = pairs[pairs[:, 0] == pairs[:, 1]]
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        colour = lines[name].colour
        for node in loops[:, 0]:
            _draw_loop(ax, points[node], radius, colour)
        if graph.is_symmetric:
            pairs = pairs[pairs[:, 0] < pairs[:, 1]]
            for offset, pattern in lines[name].strands:
                shift = _sideways(points, pairs) * offset * radius
                ends: Any = np.stack(
                    [points[pairs[:, 0]] + shift, points[pairs[:, 1]] + shift], axis=1
                )
                ax.add_collection(
                    LineCollection(
                        ends, colors=colour, linewidths=1.2, linestyles=pattern, zorder=1
                    )
                )
        else:
            _draw_arrows(ax, points, pairs, radius, lines[name])


def _sideways(points: FloatArray, pairs: npt.NDArray[Any]) -> FloatArray:
    """Return for every pair a vector of length 1 across the line between them."""
    along = points[pairs[:, 1]] - points[pairs[:, 0]]
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    across: FloatArray = np.column_stack([-along[:, 1], along[:, 0]]) / length
    return across


def _draw_arrows(
    ax: Any, points: FloatArray, pairs: npt.NDArray[Any], radius: float, line: RelationLine
) -> None:
    from matplotlib.patches import FancyArrowPatch

    there = {(int(a), int(b)) for a, b in pairs}
    sideways = _sideways(points, pairs)
    for (start, end), across in zip(pairs.tolist(), sideways, strict=True):
        begin, stop = points[start], points[end]
        along = stop - begin
        length = max(float(np.linalg.norm(along)), 1e-12)
        # Two edges between the same nodes in opposite directions run side by side.
        shift = across * radius * 0.3 if (end, start) in there else np.zeros(2)
        tip = stop - along / length * min(radius * 1.05, length / 2)
        ax.add_patch(
            FancyArrowPatch(
                begin + shift,
                tip + shift,
                arrowstyle="-|>",
                mutation_scale=9,
                shrinkA=0,
                shrinkB=0,
                color=line.colour,
                linewidth=1.1,
                linestyle=line.strands[0][1],
                zorder=1,
            )
        )


def _draw_loop(ax: Any, point: FloatArray, radius: float, colour: str) -> None:
    from matplotlib.patches import Circle

    centre = (float(point[0]), float(point[1]) + radius * 1.15)
    ax.add_patch(Circle(centre, radius * 0.7, fill=False, edgecolor=colour, lw=1.1, zorder=1))
