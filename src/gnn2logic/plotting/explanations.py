"""An explanation as a picture: the graph once for each count that conditions are about."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.explanation.card_reasons import LineReason
from gnn2logic.explanation.explanations import Explanation
from gnn2logic.explanation.path import Condition
from gnn2logic.explanation.score_explanations import ScoreExplanation
from gnn2logic.explanation.score_wording import points_words, score_columns
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.export.view import one_line
from gnn2logic.idt.target import Target
from gnn2logic.logic.syntax import TRUE, conjunction
from gnn2logic.plotting.axes import needs_matplotlib, new_axes
from gnn2logic.plotting.graph_drawing import NodeStyle, draw_graph, spacing
from gnn2logic.plotting.graph_edges import with_used_thresholds, without_shape_edges
from gnn2logic.plotting.graph_layout import category_column, layout, node_labels
from gnn2logic.plotting.legend import formula_text
from gnn2logic.plotting.sheet import text_width
from gnn2logic.plotting.words import BLUE, wrapped

__all__ = ["plot_explanation"]

# Inches: an edge, the width of one graph at least and at most, and that of all of a row.
_EDGE = 0.42
_NARROWEST, _WIDEST = 3.4, 5.8
_ROW = 12.0
# Points.
_SIZE = 9.0
_HEADING_SIZE = 11.0
_LINE = _SIZE * 1.3
_MAX_LINES = 4
# Characters of a line at least, however narrow the axes are.
_FEWEST = 8
# Letters of a category that are written whole.
_LONGEST_CATEGORY = 3
_LEGEND = 30.0
_GAP = 0.04


def plot_explanation(
    explanation: Explanation | ScoreExplanation,
    *,
    max_graphs: int | None = 12,
    random_state: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the graph of an explanation once for each count that the path compares.

    Of a scorecard it is drawn once for each line that gives points.

    The nodes that are counted are filled; the caption has the condition, the count and the
    threshold, or the points. Conditions about the same nodes share a picture. Nodes have their
    numbers, as in the text of the explanation. The node that is classified, if the model classifies
    nodes, has a blue ring.

    Parameters
    ----------
    explanation : Explanation or ScoreExplanation
        What `gnn2logic.explain` returns.
    max_graphs : int, optional
        How many times the graph is drawn at most: for the first counts of the path, or for the
        first lines. The heading says how many there are. None draws all.
    random_state : int
        Another seed gives another layout.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        The graphs are its ``child_axes``, in the order of the path.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.explanation import explain
    >>> from gnn2logic.plotting import plot_explanation
    >>> idt = gl.from_formulas({"hub": "1(A true > 2) > 0"}, otherwise="no hub", names=[])
    >>> star = gl.from_edges([(0, 1), (0, 2), (0, 3)], 4).symmetrize()
    >>> ax = plot_explanation(explain(idt, star))
    >>> print(ax.get_title())
    Class hub
    >>> print(ax.child_axes[0].get_title())
    1(A true > 2) > 0
    1 of 4 nodes, more than 0 needed
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_explanation", ax)
    if not isinstance(explanation, Explanation | ScoreExplanation):
        raise UnsupportedInputError(
            f"explanation must be what explain returns. Got {type(explanation).__name__} instead."
        )
    graph = explanation.graph
    points = layout(graph, check_whole("random_state", random_state, least=0))
    limit = None if max_graphs is None else check_whole("max_graphs", max_graphs, least=1)
    every_term = _terms(explanation)
    terms = every_term[:limit]
    count = max(len(terms), 1)
    left_out = f", the first {count} of {len(every_term)}" if count < len(every_term) else ""
    width, height = _cell(points)
    drawn = with_used_thresholds(graph, [term.formula for each in every_term for term in each])
    legend = bool(without_shape_edges(drawn).relations)
    foot = _LEGEND if legend else 0.0
    is_new = ax is None
    if is_new:
        columns = min(count, int(_ROW // width))
        captions = _captions(explanation, width * 72)[:count]
        above = _LINE * _n_lines(captions) + _SIZE + foot
        size = (width * columns, (height + above / 72) * -(-count // columns) + 0.4)
        ax = new_axes(size)
    ax.set_axis_off()
    text = _heading(explanation, left_out)
    heading = "\n".join(_fitted(text, _extent(ax)[0], _HEADING_SIZE, 2))
    ax.set_title(heading, fontsize=_HEADING_SIZE, parse_math=False, usetex=False)
    # The heading takes some of the room, so what is left is known only now.
    wide, high = _extent(ax)
    if not is_new:
        columns = _columns(explanation, count, (wide, high - foot), height / width)
    rows = -(-count // columns)
    captions = _captions(explanation, wide / columns)[:count]
    room = (_n_lines(captions) * _LINE + _SIZE) / high
    for number, caption in enumerate(captions):
        left = (number % columns + _GAP) / columns
        top = 1 - number // columns / rows - room
        tall = max(1 / rows - room - foot / high, 0.1 / rows)
        panel = ax.inset_axes((left, top - tall, (1 - 2 * _GAP) / columns, tall))
        filled = terms[number][0].counted if terms else None
        style = NodeStyle(_texts(graph), filled, category_column(graph))
        draw_graph(panel, drawn, points, style, None, legend=legend)
        # The picture hangs from its caption.
        panel.set_anchor("N")
        panel.set_title(caption, fontsize=_SIZE, parse_math=False, usetex=False)
        if explanation.node is not None:
            _ring(panel, explanation.node)
    return ax


def _cell(points: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the width and height in inches at which a graph is drawn well."""
    wide, high = (np.ptp(points, axis=0) / spacing(points)[0] + 1.2).tolist()
    width = float(np.clip(_EDGE * wide, _NARROWEST, _WIDEST))
    return width, float(np.clip(width * high / wide, 1.0, _WIDEST))


def _columns(
    explanation: Explanation | ScoreExplanation,
    count: int,
    room: tuple[float, float],
    shape: float,
) -> int:
    """Return in how many columns the graphs are largest, with their captions above them."""
    best, largest = 1, -np.inf
    for columns in range(1, count + 1):
        wide, high = room[0] / columns, room[1] / -(-count // columns)
        n_lines = _n_lines(_captions(explanation, wide)[:count])
        scale = min(wide, (high - n_lines * _LINE - _SIZE) / shape)
        if scale > largest:
            best, largest = columns, scale
    return best


def _captions(explanation: Explanation | ScoreExplanation, width: float) -> list[str]:
    if isinstance(explanation, ScoreExplanation):
        columns = score_columns(explanation)
        captions = [_line_caption(line, columns, width) for line in explanation.reasons]
        return captions or ["no line gives points"]
    if not explanation.conditions:
        return [f"every {explanation.level}, without conditions"]
    return [_caption(term, width) for term in _terms(explanation)]


def _terms(explanation: Explanation | ScoreExplanation) -> list[list[Condition]]:
    """Return the conditions by what they count, or those of every line with points."""
    if isinstance(explanation, ScoreExplanation):
        return [list(line.deciding) for line in explanation.reasons]
    terms: dict[object, list[Condition]] = {}
    for condition in explanation.conditions:
        terms.setdefault((condition.modality, condition.inner), []).append(condition)
    return list(terms.values())


def _n_lines(captions: list[str]) -> int:
    return max(caption.count("\n") + 1 for caption in captions)


def _heading(explanation: Explanation | ScoreExplanation, left_out: str) -> str:
    text = one_line(str(explanation.label))
    target = explanation.target or Target()
    is_number, node = explanation.answer == "number", explanation.node
    if is_number:
        if isinstance(explanation, ScoreExplanation):
            text = target.rounded(explanation.label)
        what = "number" if target.name is None else target.noun
        text = f"Predicted {what}{'' if node is None else f' of node {node}'}: {text}"
    else:
        text = f"Class {text}" if node is None else f"Node {node}: class {text}"
    if isinstance(explanation, ScoreExplanation):
        scores = ", ".join(map(str, explanation.scores))
        text += f", score{'' if len(explanation.scores) == 1 else 's'} {scores}"
    if explanation.teacher is not None:
        said = explanation.teacher.label
        text += f", teacher: {target.rounded(said) if is_number else one_line(str(said))}"
    return text + left_out


def _caption(conditions: Sequence[Condition], width: float) -> str:
    """Return what is demanded of one count, and the count, in lines that fit into a cell."""
    formula = conjunction(condition.formula for condition in conditions)
    room = width * (1 - 2 * _GAP)
    lines = _fitted(formula_text(formula), room, _SIZE, _MAX_LINES)
    first = conditions[0]
    nodes = "nodes" if first.inner is TRUE else f"of {first.size} nodes"
    needed = " and ".join(_needed(condition) for condition in conditions)
    last = _fitted(f"{first.count} {nodes}, {needed} needed", room, _SIZE, _MAX_LINES)
    return "\n".join([*lines, *last])


def _line_caption(line: LineReason, columns: Sequence[str], width: float) -> str:
    """Return what a line says, the count, and its points."""
    room, first = width * (1 - 2 * _GAP), line.deciding[0]
    nodes = "nodes" if first.inner is TRUE else f"of {first.size} nodes"
    points = points_words(line.points, columns)
    lines = _fitted(f"{line.number}. {formula_text(line.formula)}", room, _SIZE, _MAX_LINES)
    return "\n".join(
        [*lines, *_fitted(f"{first.count} {nodes}: {points}", room, _SIZE, _MAX_LINES)]
    )


def _fitted(text: str, room: float, size: float, max_lines: int) -> list[str]:
    """Return a text in lines that are measured to be no wider than `room` points."""
    # As many as the narrowest letters would allow, then fewer until all lines fit.
    n_characters = max(min(int(room / text_width("i", size)), len(text)), _FEWEST)
    while True:
        lines = wrapped(text, n_characters, max_lines)
        if n_characters == _FEWEST or max(text_width(line, size) for line in lines) <= room:
            return lines
        n_characters = max(n_characters - 2, _FEWEST)


def _needed(condition: Condition) -> str:
    bound = "more than" if condition.met else "at most"
    of_all = " of them" if isinstance(condition.threshold, Fraction) else ""
    return f"{bound} {condition.threshold}{of_all}"


def _texts(graph: GraphBatch) -> list[str]:
    """Return the numbers of nodes, after their elements as chemists write them: N7.

    Of longer categories, such as the types of nodes, only so many letters as tell them apart.
    """
    categories = category_column(graph)
    if categories is None or any(
        category is not None and not category.isalpha() for category in categories
    ):
        return node_labels(graph, "number")
    known = {category for category in categories if category is not None}
    longest = max(map(len, known), default=0)
    if longest > _LONGEST_CATEGORY:
        enough = (n for n in range(1, longest) if len({name[:n] for name in known}) == len(known))
        longest = next(enough, longest)
    return [f"{(category or '')[:longest]}{number}" for number, category in enumerate(categories)]


def _extent(ax: Any) -> tuple[float, float]:
    """Return the width and height of axes in points, once the layout is known."""
    ax.figure.draw_without_rendering()
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def _ring(panel: Any, node: int) -> None:
    from matplotlib.patches import Circle

    circle = next(patch for patch in panel.patches if patch.get_gid() == f"node-{node}")
    panel.add_patch(
        Circle(
            circle.center,
            circle.radius * 1.3,
            fill=False,
            edgecolor=BLUE,
            linewidth=2.5,
            zorder=4,
            gid="classified",
        )
    )
