"""Graphs as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import GraphError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import as_batch
from gnn2logic.logic.syntax import Formula
from gnn2logic.plotting.axes import needs_matplotlib, new_axes, new_grid
from gnn2logic.plotting.graph_drawing import NodeStyle, draw_graph, spacing
from gnn2logic.plotting.graph_layout import Labels, category_column, layout, node_labels
from gnn2logic.plotting.legend import formula_text
from gnn2logic.plotting.words import wrapped

__all__ = ["plot_graph", "plot_graphs"]

_TITLE_WIDTH = 42
_TITLE_LINES = 4


def plot_graph(
    graph: Any,
    highlight: Formula | npt.ArrayLike | None = None,
    *,
    title: str | None = None,
    positions: npt.ArrayLike | None = None,
    labels: Labels = "auto",
    legend: bool = True,
    random_state: int = 0,
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
        Where the nodes stand; by default a layout in which neighbours are about equally far apart.
    labels : {"auto", "category", "number", "predicates"}, bool or sequence
        What to write on nodes. ``"category"`` is the value of predicates of one column, such as N
        for ``symbol=N``; ``"predicates"`` are the names of all predicates that hold; ``"auto"``
        and True are the category if there is one and else the number; False is nothing. A
        sequence gives one text per node.
    legend : bool
        Whether to explain filled nodes and the lines of typed edges below the graph.
    random_state : int
        Another seed gives another layout.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Edges of the relations ``single``, ``double``, ``triple`` and ``aromatic`` (also ``valence=1``
    and so on) are drawn as chemists draw bonds.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graph = gl.from_adjacency([[0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]])
    >>> ax = gl.plot_graph(graph, gl.parse("A true > 2"))
    >>> ax.get_title()
    'A true > 2'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_graph", ax)
    batch = as_batch(graph)
    if batch.n_graphs != 1:
        raise GraphError(
            f"plot_graph draws one graph. Got {batch.n_graphs}; choose one with batch[number], or "
            "use plot_graphs."
        )
    return _plot(batch, highlight, title, positions, labels, legend, random_state, ax)


def plot_graphs(
    graphs: Any,
    highlight: Formula | npt.ArrayLike | None = None,
    *,
    titles: Sequence[str] | None = None,
    labels: Labels = "auto",
    n_columns: int = 3,
    random_state: int = 0,
) -> npt.NDArray[Any]:
    """Draw several graphs side by side in a new figure, as `plot_graph` draws each of them.

    Parameters
    ----------
    graphs : GraphBatch or anything that `gnn2logic.as_batch` reads
    highlight : Formula or array of bool, optional
        The formula whose nodes are filled, or the nodes themselves, of all graphs together.
    titles : sequence of str, optional
        One for each graph; by default their numbers.
    labels : {"auto", "category", "number", "predicates"} or bool
    n_columns : int
    random_state : int

    Returns
    -------
    array of matplotlib Axes, one for each graph

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.plotting import plot_graphs
    >>> axes = plot_graphs(gl.random_graphs(2, sizes=5, random_state=0), gl.parse("A true > 1"))
    >>> len(axes)
    2
    >>> import matplotlib.pyplot as plt
    >>> plt.close(axes[0].figure)
    """
    needs_matplotlib("plot_graphs")
    batch = as_batch(graphs)
    columns = min(check_whole("n_columns", n_columns, least=1), batch.n_graphs)
    names = [f"Graph {number}" for number in range(batch.n_graphs)] if titles is None else titles
    if isinstance(names, str) or len(names) != batch.n_graphs:
        raise GraphError(
            f"titles must have one text for each of the {batch.n_graphs} graphs. "
            f"Got {names!r} instead."
        )
    if not isinstance(labels, str | bool):
        raise UnsupportedInputError("labels must be a word or a bool here. Got a sequence instead.")
    filled = _filled(batch, highlight)
    heading = formula_text(highlight) if isinstance(highlight, Formula) else None
    for number in range(batch.n_graphs):
        node_labels(batch[number], labels)
    axes = new_grid(batch.n_graphs, columns, heading)
    for number, ax in enumerate(axes):
        of_graph = None if filled is None else filled[batch.ptr[number] : batch.ptr[number + 1]]
        _plot(batch[number], of_graph, str(names[number]), None, labels, False, random_state, ax)
    return axes


def _plot(
    graph: GraphBatch,
    highlight: Formula | npt.ArrayLike | None,
    title: str | None,
    positions: npt.ArrayLike | None,
    labels: Labels,
    legend: bool,
    random_state: int,
    ax: Any,
) -> Any:
    filled = _filled(graph, highlight)
    texts = node_labels(graph, labels)
    if positions is None:
        points = layout(graph, check_whole("random_state", random_state, least=0))
    else:
        points = _positions(positions, graph.n_nodes)
    categories = category_column(graph) if labels in ("auto", "category", True) else None
    if title is None and isinstance(highlight, Formula):
        title = "\n".join(wrapped(formula_text(highlight), _TITLE_WIDTH, _TITLE_LINES))
    if ax is None:
        n_entries = (filled is not None) + len(graph.relations) if legend else 0
        ax = new_axes(_figure_size(points, title, n_entries))
    style = NodeStyle(texts, filled, categories)
    return draw_graph(ax, graph, points, style, title, legend=legend)


def _figure_size(
    points: npt.NDArray[np.float64], title: str | None, n_entries: int
) -> tuple[float, float]:
    """Return a size in inches that has the shape of the graph and room for title and legend."""
    extent = np.ptp(points, axis=0) / spacing(points)[0] + 1.0
    width, height = (extent * min(0.5, 9.0 / extent.max())).tolist()
    room = 0.0 if title is None else 0.25 + 0.17 * (title.count("\n") + 1)
    room += 0.15 + 0.2 * -(-n_entries // 2) if n_entries else 0.0
    return max(width, 3.4), max(height, 1.0) + room


def _positions(positions: npt.ArrayLike, n_nodes: int) -> npt.NDArray[np.float64]:
    array = np.asarray(positions, dtype=float)
    if array.shape != (n_nodes, 2) or not np.isfinite(array).all():
        raise GraphError(
            f"positions must have one row (x, y) of finite numbers for each of the {n_nodes} "
            f"nodes. Got shape {array.shape} instead."
        )
    return array


def _filled(
    graph: GraphBatch, highlight: Formula | npt.ArrayLike | None
) -> npt.NDArray[np.bool_] | None:
    if highlight is None:
        return None
    if isinstance(highlight, Formula):
        return highlight.evaluate(graph, level="node")
    nodes = np.asarray(highlight)
    if nodes.shape != (graph.n_nodes,) or nodes.dtype != bool:
        raise GraphError(
            f"highlight must be a formula or one truth value for each of the {graph.n_nodes} "
            f"nodes. Got shape {nodes.shape}, dtype {nodes.dtype} instead."
        )
    return nodes
