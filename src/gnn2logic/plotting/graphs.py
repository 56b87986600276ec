"""One graph as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import as_batch
from gnn2logic.logic.syntax import Formula

__all__ = ["plot_graph"]

# Okabe and Ito's colours: told apart with every common kind of colour blindness.
_ON = "#E69F00"
_OFF = "#FFFFFF"
_LINE = "#444444"


def plot_graph(
    graph: Any,
    highlight: Formula | npt.NDArray[np.bool_] | None = None,
    *,
    title: str | None = None,
    positions: npt.NDArray[np.float64] | None = None,
    labels: bool = True,
    ax: Any = None,
) -> Any:
    """Draw a graph and fill the nodes where a formula is true.

    Parameters
    ----------
    graph : GraphBatch or anything that `gnn2logic.as_batch` reads
        One graph, such as ``batch[3]``.
    highlight : Formula or array of bool, optional
        The formula whose nodes are filled, or the nodes themselves.
    title : str, optional
        By default the text of the formula.
    positions : array of shape (n_nodes, 2), optional
        Where the nodes stand; by default a spring layout, the same every time.
    labels : bool
        Whether to write node numbers.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    graph = as_batch(graph)
    if graph.n_graphs != 1:
        raise GraphError(
            f"plot_graph draws one graph. Got {graph.n_graphs}; choose one with batch[number]."
        )
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plot_graph")
    networkx = import_optional("networkx", extra="plot", purpose="plot_graph")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(4, 4))
    drawn = networkx.from_numpy_array(
        graph.adjacency.toarray(),
        create_using=networkx.Graph if graph.is_symmetric else networkx.DiGraph,
    )
    if positions is None:
        where = networkx.spring_layout(drawn, seed=0)
    else:
        where = dict(enumerate(_positions(positions, graph.n_nodes)))
    filled = _filled(graph, highlight)
    networkx.draw_networkx_edges(drawn, where, ax=ax, edge_color="#999999", node_size=260)
    networkx.draw_networkx_nodes(
        drawn,
        where,
        ax=ax,
        node_color=[_ON if on else _OFF for on in filled],
        edgecolors=_LINE,
        # Filled nodes also have a thicker line, for print without colours.
        linewidths=[2.0 if on else 1.0 for on in filled],
        node_size=260,
    )
    if labels:
        networkx.draw_networkx_labels(drawn, where, ax=ax, font_size=8)
    if title is None and isinstance(highlight, Formula):
        title = str(highlight)
    if title is not None:
        # Names may hold a dollar sign, which matplotlib would read as mathematics.
        ax.set_title(title.replace("$", r"\$"), fontsize=10)
    ax.set_axis_off()
    return ax


def _positions(positions: npt.ArrayLike, n_nodes: int) -> npt.NDArray[np.float64]:
    array = np.asarray(positions, dtype=float)
    if array.shape != (n_nodes, 2):
        raise GraphError(
            f"positions must have one row (x, y) for each of the {n_nodes} nodes. "
            f"Got shape {array.shape} instead."
        )
    return array


def _filled(
    graph: GraphBatch, highlight: Formula | npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]:
    if highlight is None:
        return np.zeros(graph.n_nodes, dtype=bool)
    if isinstance(highlight, Formula):
        return highlight.evaluate(graph, level="node")
    nodes = np.asarray(highlight)
    if nodes.shape != (graph.n_nodes,) or nodes.dtype != bool:
        raise GraphError(
            f"highlight must be a formula or one truth value for each of the {graph.n_nodes} "
            f"nodes. Got shape {nodes.shape}, dtype {nodes.dtype} instead."
        )
    return nodes
