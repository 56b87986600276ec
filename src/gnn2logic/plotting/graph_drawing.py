"""One graph as matplotlib draws it: nodes with their texts above the edges, title and legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.export.view import one_line
from gnn2logic.plotting.graph_edges import (
    RelationLine,
    draw_edges,
    relation_lines,
    without_shape_edges,
)
from gnn2logic.plotting.sheet import font_family, text_width
from gnn2logic.plotting.words import (
    BLUE,
    EDGE,
    GREEN,
    INK,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
    tint,
)

__all__ = ["NodeStyle", "category_colours", "draw_graph", "spacing"]

FloatArray = npt.NDArray[np.float64]

# Elements have the colours that chemists expect, as near as the palette has them.
_ELEMENTS = {
    "C": "#B0B0B0",
    "N": BLUE,
    "O": VERMILLION,
    "S": YELLOW,
    "F": GREEN,
    "Cl": GREEN,
    "Br": "#9A6B00",
    "I": PURPLE,
    "P": ORANGE,
}
_CATEGORIES = (SKY, ORANGE, GREEN, PURPLE, YELLOW, BLUE, VERMILLION)


@dataclass(frozen=True)
class NodeStyle:
    """The text of every node, whether it is filled, and its category."""

    texts: list[str]
    filled: npt.NDArray[np.bool_] | None
    categories: list[str | None] | None


def draw_graph(
    ax: Any,
    graph: GraphBatch,
    points: FloatArray,
    style: NodeStyle,
    title: str | None,
    *,
    legend: bool,
) -> Any:
    """Draw a graph into the axes: edges, nodes above them, their texts, title and legend."""
    radius = _radius(points)
    graph = without_shape_edges(graph)
    # Styles go by all relations there are, so that they are the same in every graph of a batch.
    lines = {
        name: line
        for name, line in relation_lines(tuple(graph.relations)).items()
        if name is None or graph.relations[name].nnz
    }
    draw_edges(ax, graph, points, radius, lines)
    below = _draw_nodes(ax, points, radius, style)
    low, high = points.min(axis=0) - 1.6 * radius, points.max(axis=0) + 1.6 * radius
    if graph.has_loops:
        high[1] += radius
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1] - below, high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    if title is not None:
        ax.set_title(title, fontsize=10, parse_math=False, usetex=False)
    if legend:
        _draw_legend(ax, lines, style)
    return ax


def spacing(points: FloatArray) -> tuple[float, float]:
    """Return the usual and the smallest distance of a node to the node next to it."""
    if len(points) == 1:
        return 1.0, 1.0
    nearest: Any = cKDTree(points).query(points, k=2)[0]
    distances = nearest[:, 1]
    extent = float(np.ptp(points, axis=0).max())
    # Nodes in one place cannot be kept apart; they stay visible at least.
    least = extent / 100 if extent else 1.0
    return max(float(np.median(distances)), least), max(float(distances.min()), least)


def _radius(points: FloatArray) -> float:
    """Return a radius at which no two nodes touch, however the user has placed them."""
    usual, smallest = spacing(points)
    return min(0.33 * usual, 0.42 * smallest)


def _draw_nodes(ax: Any, points: FloatArray, radius: float, style: NodeStyle) -> float:
    """Draw nodes with their texts; return how far texts reach out below."""
    from matplotlib.patches import Circle

    from gnn2logic.plotting.scaled_text import ScaledText

    fills = _fills(style)
    lines = [line for text in style.texts for line in text.split("\n")]
    widest = max([text_width(line, 1.0) for line in lines] + [0.1])
    # In units of the data. Texts that would be tiny inside of their nodes stand below them, no
    # wider than nodes are apart.
    size = min(radius * 1.15, radius * 1.7 / widest)
    inside = size >= radius * 0.5 and len(lines) == len(style.texts)
    if not inside:
        size = min(radius * 0.75, radius * 3.0 / widest)
    family = font_family()
    for number, ((x, y), text) in enumerate(zip(points.tolist(), style.texts, strict=True)):
        on = style.filled is not None and bool(style.filled[number])
        ax.add_patch(
            Circle(
                (x, y),
                radius,
                facecolor=fills[number],
                edgecolor=INK if on else EDGE,
                # Filled nodes also have a thicker line, for print without colours.
                linewidth=2.2 if on else 1.0,
                zorder=2,
                gid=f"node-{number}",
            )
        )
        if text:
            ax.add_artist(
                ScaledText(
                    x,
                    y if inside else y - radius * 1.2,
                    text,
                    size,
                    color=INK,
                    fontfamily=family,
                    ha="center",
                    va="center_baseline" if inside else "top",
                    zorder=3,
                )
            )
    return 0.0 if inside else size * 1.4 * (1 + max(text.count("\n") for text in style.texts))


def _fills(style: NodeStyle) -> list[str]:
    if style.filled is not None:
        return [ORANGE if on else PAPER for on in style.filled]
    if style.categories is None:
        return [PAPER] * len(style.texts)
    return [tint(colour, 0.45) for colour in category_colours(style.categories)]


def category_colours(categories: Sequence[str | None]) -> list[str]:
    """Return the colour of each category; categories that are elements have those of chemists."""
    known = sorted({category for category in categories if category is not None})
    if all(len(category) <= 2 and category.isalpha() for category in known):
        return [_ELEMENTS.get(category or "", "#D8D8D8") for category in categories]
    order = {category: number for number, category in enumerate(known)}
    return [
        PAPER if category is None else _CATEGORIES[order[category] % len(_CATEGORIES)]
        for category in categories
    ]


def _draw_legend(ax: Any, lines: dict[str | None, RelationLine], style: NodeStyle) -> None:
    from matplotlib.lines import Line2D

    entries: list[tuple[Any, str]] = []
    if style.filled is not None:
        dot = Line2D([], [], marker="o", ls="", ms=8, mfc=ORANGE, mec=INK, mew=1.8)
        count = int(style.filled.sum())
        entries.append((dot, f"true at {count} of {len(style.filled)} nodes"))
    for name, line in lines.items():
        if name is not None:
            strands = tuple(
                Line2D([], [], color=line.colour, lw=1.2, ls=pattern) for _, pattern in line.strands
            )
            entries.append((strands if len(strands) > 1 else strands[0], one_line(name)))
    if not entries:
        return
    handles, names = zip(*entries, strict=True)
    legend = ax.legend(
        handles,
        names,
        handler_map={tuple: _strands_handler()},
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=_legend_columns(ax, names),
        fontsize=8,
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)


def _legend_columns(ax: Any, names: Sequence[str]) -> int:
    """Return how many columns of the legend fit below the axes."""
    widest = max(text_width(name, 8.0) for name in names) + 45
    room = ax.get_window_extent().width * 72 / ax.figure.dpi
    return int(np.clip(room // widest, 1, len(names)))


def _strands_handler() -> Any:
    """Return what draws parallel lines in a legend, one above the other."""
    from matplotlib.legend_handler import HandlerTuple

    class Strands(HandlerTuple):
        def create_artists(self, legend: Any, original: Any, *area: Any) -> Any:
            from matplotlib.lines import Line2D

            x, y, width, height, _, transform = area
            count = len(original)
            return [
                Line2D(
                    [x, x + width],
                    [y + height * (0.5 + 0.36 * (number - (count - 1) / 2))] * 2,
                    color=line.get_color(),
                    lw=line.get_linewidth(),
                    ls=line.get_linestyle(),
                    transform=transform,
                )
                for number, line in enumerate(original)
            ]

    return Strands()
