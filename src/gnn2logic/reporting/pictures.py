"""What is to be seen in a report: the model as SVG, and graphs as plain data to draw."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.plotting.graph_drawing import spacing
from gnn2logic.plotting.graph_labels import category_column, node_labels
from gnn2logic.plotting.graph_layout import layout
from gnn2logic.plotting.trees import plot_idt

__all__ = ["drawn_graph", "idt_svg", "inline_svg", "nodes_to_draw"]


def idt_svg(idt: IDTPredictor, classes: Sequence[str], max_leaves: int) -> str:
    """Return the picture of a model; the same model gives the same text."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="A report")
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A report")
    # Letters are drawn as shapes, so that boxes fit their texts on every machine.
    settings = {"svg.hashsalt": "gnn2logic", "svg.fonttype": "path", "savefig.transparent": True}
    with matplotlib.rc_context(settings):
        ax = plot_idt(idt, class_names=classes, max_leaves=max_leaves)
        try:
            file = io.StringIO()
            nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
            ax.figure.savefig(file, format="svg", metadata=nothing)
        finally:
            pyplot.close(ax.figure)
    return inline_svg(file.getvalue())


def inline_svg(text: str) -> str:
    """Return an SVG file as a part of HTML: without declarations, comments and addresses.

    >>> inline_svg('<?xml version="1.0"?><!-- a --><svg xmlns="http://b"><path d="M0"/></svg>')
    '<svg><path d="M0"/></svg>'
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, tag, body = text.partition(">")
    head = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", head)
    # Blank lines come from the comments.
    return re.sub(r"\n\s*", "\n", head + tag + body).strip()


IntArray = npt.NDArray[np.int64]


def nodes_to_draw(graph: GraphBatch, focus: int | None, limit: int) -> IntArray:
    """Return the nodes to draw: all, or the nearest ones to the node in question.

    A large graph without such a node is drawn around the node with most neighbours.
    """
    if graph.n_nodes <= limit:
        return np.arange(graph.n_nodes)
    near = sp.csr_array(graph.adjacency + graph.adjacency.T)
    start = int(np.argmax(np.diff(near.indptr))) if focus is None else focus
    order = sp.csgraph.breadth_first_order(near, start, return_predecessors=False)
    return np.sort(order[:limit]).astype(np.int64)


def drawn_graph(graph: GraphBatch, nodes: IntArray, seed: int) -> dict[str, Any]:
    """Return one graph, or a part of it, as it is drawn.

    Neighbours are about 1 apart and y points up. An edge is a pair of positions in ``nodes``
    and the number of its relation, -1 without one; undirected edges are there once.
    """
    drawn = graph if len(nodes) == graph.n_nodes else _induced(graph, nodes)
    points = layout(drawn, seed)
    usual, smallest = spacing(points)
    categories = category_column(drawn)
    return {
        "nodes": nodes.tolist(),
        "x": np.round(points[:, 0], 2).tolist(),
        "y": np.round(points[:, 1], 2).tolist(),
        "radius": round(min(0.33 * usual, 0.42 * smallest), 3),
        "labels": [str(node) for node in nodes.tolist()]
        if categories is None
        else node_labels(drawn, "category"),
        "categories": categories,
        "predicates": [
            [number for number, on in enumerate(row) if on]
            for row in np.asarray(drawn.predicates).tolist()
        ],
        "directed": not graph.is_symmetric,
        "edges": _edges(drawn, directed=not graph.is_symmetric),
    }


def _induced(graph: GraphBatch, nodes: IntArray) -> GraphBatch:
    return GraphBatch(
        graph.predicates[nodes],
        graph.adjacency[nodes][:, nodes],
        names=graph.names,
        relations={name: matrix[nodes][:, nodes] for name, matrix in graph.relations.items()},
    )


def _edges(graph: GraphBatch, *, directed: bool) -> list[list[int]]:
    typed: Any = sp.csr_array(graph.adjacency.shape, dtype=graph.adjacency.dtype)
    for matrix in graph.relations.values():
        typed = typed + matrix
    edges = []
    for number, matrix in enumerate((graph.adjacency - typed, *graph.relations.values()), -1):
        entries = sp.coo_array(matrix)
        for source, target, count in zip(*entries.coords, entries.data, strict=True):
            if count > 0 and (directed or source <= target):
                edges.append([int(source), int(target), number])
    return edges
