"""One tree as a part of a picture: where its nodes stand, what is cut, and its boxes and lines."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from gnn2logic.explanation.phrases import percent
from gnn2logic.idt.export.view import ModelView, ShownTree, one_line
from gnn2logic.idt.tree import Tree
from gnn2logic.plotting.legend import Names
from gnn2logic.plotting.sheet import LINE_HEIGHT, Sheet, Stroke, TextBox, Word, text_width
from gnn2logic.plotting.words import (
    EDGE,
    FAINT,
    INK,
    PAPER,
    QUIET,
    Piece,
    class_colours,
    coloured,
    tint,
    wrapped,
)

__all__ = ["Cut", "Placed", "cut_tree", "draw_tree", "place_nodes"]

# How far the two children of a node are apart at least: the words on their edges need room.
_SIBLINGS = 58.0


@dataclass(frozen=True)
class Placed:
    """The middle of every node, and where each row of nodes begins and ends."""

    x: list[float]
    depth: list[int]
    row_tops: list[float]
    row_bottoms: list[float]


def place_nodes(
    children: Sequence[tuple[int, int] | None],
    sizes: Sequence[tuple[float, float]],
    *,
    gap: float,
    level: float,
) -> Placed:
    """Return where nodes stand that have different sizes; the root is at x = 0.

    Children come after their parent in all sequences.

    Two subtrees stand as close as their outlines allow, and a node stands in the middle above its
    children (the idea of Reingold and Tilford's tidy trees).

    >>> placed = place_nodes([(1, 2), None, None], [(10, 10)] * 3, gap=90, level=20)
    >>> placed.x, placed.row_tops
    ([0.0, -50.0, 50.0], [0.0, 30.0])
    """
    offset: dict[int, float] = {}
    outlines: dict[int, list[tuple[float, float]]] = {}
    for node in reversed(range(len(children))):
        half = sizes[node][0] / 2
        below = children[node]
        outlines[node] = [(-half, half)]
        if below is not None:
            left, right = (outlines.pop(child) for child in below)
            apart = max(a[1] - b[0] + gap for a, b in zip(left, right, strict=False))
            shift = max(apart, _SIBLINGS) / 2
            offset[below[0]], offset[below[1]] = -shift, shift
            outlines[node] += _joined(left, right, shift)
    x = [0.0] * len(children)
    depth = [0] * len(children)
    for node, below in enumerate(children):
        for child in below or ():
            x[child] = x[node] + offset[child]
            depth[child] = depth[node] + 1
    tops, bottoms = [], []
    y = 0.0
    for row in range(max(depth) + 1):
        height = max(size[1] for size, at in zip(sizes, depth, strict=True) if at == row)
        tops.append(y)
        bottoms.append(y + height)
        y += height + level
    return Placed(x, depth, tops, bottoms)


def _joined(
    left: list[tuple[float, float]], right: list[tuple[float, float]], shift: float
) -> list[tuple[float, float]]:
    """Return the outline of two subtrees, moved apart."""
    joined = []
    for row in range(max(len(left), len(right))):
        ends = []
        if row < len(left):
            ends += [left[row][0] - shift, left[row][1] - shift]
        if row < len(right):
            ends += [right[row][0] + shift, right[row][1] + shift]
        joined.append((min(ends), max(ends)))
    return joined


_SIZE = 10.0
_SMALL = 8.0
_PAD = 6.0
_GAP = 14.0
_LEVEL = 34.0
_NARROWEST = 34.0
_BAR = 5.0
# Glyphs are set on whole pixels, which makes a text up to so much wider than it was measured.
_HINTING = 1.05
# Characters in a line of a split and of a class name, and lines at most.
_SPLIT_WIDTH = 32
_SPLIT_LINES = 6
_NAME_WIDTH = 22
_NAME_LINES = 3


@dataclass(frozen=True)
class Cut:
    """The part of a tree that is drawn: its nodes, and how many leaves are hidden below each."""

    nodes: tuple[int, ...]
    children: tuple[tuple[int, int] | None, ...]
    hidden: tuple[int, ...]

    @property
    def n_hidden(self) -> int:
        """The number of leaves that are not drawn."""
        return sum(self.hidden)


def cut_tree(tree: Tree, max_leaves: int | None, max_depth: int | None) -> Cut:
    """Return the part of a tree to draw: where most of the data goes, down to `max_depth`."""
    leaves_below = [1] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):
        if tree.splits[node] is not None:
            below = (tree.false_child[node], tree.true_child[node])
            leaves_below[node] = leaves_below[below[0]] + leaves_below[below[1]]
    opened: set[int] = set()
    waiting = [(-float(tree.weights[0]), 0, 0)]
    n_leaves = 1
    while waiting and (max_leaves is None or n_leaves < max_leaves):
        _, node, depth = heapq.heappop(waiting)
        if tree.splits[node] is None or depth == max_depth:
            continue
        opened.add(node)
        n_leaves += 1
        for child in (tree.false_child[node], tree.true_child[node]):
            heapq.heappush(waiting, (-float(tree.weights[child]), child, depth + 1))
    nodes = [0]
    children: list[tuple[int, int] | None] = []
    for node in nodes:
        if node not in opened:
            children.append(None)
            continue
        children.append((len(nodes), len(nodes) + 1))
        nodes += [tree.false_child[node], tree.true_child[node]]
    hidden = tuple(
        leaves_below[node] if below is None and tree.splits[node] is not None else 0
        for node, below in zip(nodes, children, strict=True)
    )
    return Cut(tuple(nodes), tuple(children), hidden)


@dataclass(frozen=True)
class _Label:
    """What stands at a node: lines of pieces, smaller lines below, and perhaps a bar of shares."""

    lines: list[list[Piece]]
    small: list[str]
    bold: bool = False
    fill: str = PAPER
    edge: str | None = None
    bar: tuple[tuple[float, str], ...] = ()

    @property
    def size(self) -> tuple[float, float]:
        widths = [
            sum(text_width(piece.text, _SIZE, self.bold) for piece in line) for line in self.lines
        ]
        widths += [text_width(line, _SMALL) for line in self.small]
        height = LINE_HEIGHT * (_SIZE * len(self.lines) + _SMALL * len(self.small))
        if self.bar:
            height += _BAR + 2
        boxed = self.edge is not None
        pad = _PAD if boxed else _PAD / 2
        return max(max(widths) * _HINTING + 2 * pad, _NARROWEST), height + 2 * pad * 0.7


def draw_tree(
    view: ModelView,
    shown: ShownTree,
    splits: Sequence[str | None],
    names: Names,
    *,
    cut: Cut,
    name: str,
    support: bool = True,
) -> Sheet:
    """Return the sheet of one tree.

    Parameters
    ----------
    splits : sequence of str or None
        The text of the split of every node.
    cut : Cut
        What to draw of the tree.
    name : str
        Begins the ids of the boxes.
    support : bool
        Whether leaves tell how much of the data reaches them, where the tree knows that.
    """
    support = support and _has_seen_data(shown.tree)
    leaves = dict(zip(shown.tree.leaves, range(shown.tree.n_leaves), strict=True))
    labels = []
    for node, children, hidden in zip(cut.nodes, cut.children, cut.hidden, strict=True):
        if children is not None:
            lines = wrapped(splits[node] or "", _SPLIT_WIDTH, _SPLIT_LINES)
            labels.append(_Label([coloured(line, names.colours) for line in lines], []))
        elif shown.classes is not None:
            labels.append(_class_label(view, shown, node, hidden, support))
        else:
            sets = () if hidden else shown.leaf_sets[leaves[node]]
            labels.append(_leaf_set_label(shown, node, sets, hidden, names, support))
    return _sheet(cut, labels, name)


def _has_seen_data(tree: Tree) -> bool:
    """Whether the weights tell about data; a tree made from formulas has one row in every leaf."""
    return bool((tree.weights[list(tree.leaves)] != 1).any()) and bool(tree.weights[0] > 0)


def _class_label(
    view: ModelView, shown: ShownTree, node: int, hidden: int, support: bool
) -> _Label:
    values = shown.tree.values[node]
    heaviest = int(values.argmax())
    colours = class_colours(len(values))
    name = wrapped(one_line(view.classes[heaviest]), _NAME_WIDTH, _NAME_LINES)
    small: list[str] = []
    bar: tuple[tuple[float, str], ...] = ()
    if hidden:
        small.append(f"… {hidden} leaves")
    if support:
        total = shown.tree.values[0].sum()
        if not view.is_number:
            # A number is hardly ever exactly right; how well the rule fits is told by R2.
            small.append(f"{percent(values[heaviest] / values.sum())} right")
        small.append(f"{percent(values.sum() / total)} of data")
        bar = tuple(
            (float(share), colour)
            for share, colour in zip(values / values.sum(), colours, strict=True)
            if share
        )
    colour = colours[heaviest]
    lines = [[Piece(line)] for line in name]
    return _Label(lines, small, True, tint(colour, 0.16), colour, bar)


def _leaf_set_label(
    shown: ShownTree, node: int, sets: Sequence[int], hidden: int, names: Names, support: bool
) -> _Label:
    lines = wrapped(", ".join(names.sets[column] for column in sets), _NAME_WIDTH)
    small = [f"… {hidden} leaves"] if hidden else []
    if support:
        small.append(f"{percent(shown.tree.weights[node] / shown.tree.weights[0])} of nodes")
    edge = EDGE if sets else FAINT
    return _Label([coloured(line, names.colours) for line in lines], small, False, PAPER, edge)


def _sheet(cut: Cut, labels: Sequence[_Label], name: str) -> Sheet:
    sizes = [label.size for label in labels]
    placed = place_nodes(cut.children, sizes, gap=_GAP, level=_LEVEL)
    sheet = Sheet()
    for number, (label, size) in enumerate(zip(labels, sizes, strict=True)):
        corner = (placed.x[number] - size[0] / 2, placed.row_tops[placed.depth[number]])
        _draw_label(sheet, label, (*corner, *size), f"{name}-node-{cut.nodes[number]}")
    for number, below in enumerate(cut.children):
        for word, child in zip(("False", "True"), below or (), strict=False):
            line = _edge(placed, sizes, number, child)
            sheet.strokes.append(Stroke(line, EDGE))
            # In the middle between the rows, where no boxes are.
            row = placed.depth[number]
            y = (placed.row_bottoms[row] + placed.row_tops[row + 1]) / 2
            (start_x, start_y), (end_x, end_y) = line[-2:]
            x = start_x + (end_x - start_x) * (y - start_y) / (end_y - start_y)
            _draw_edge_word(sheet, word, x, y)
    return sheet


def _edge(
    placed: Placed, sizes: Sequence[tuple[float, float]], parent: int, child: int
) -> tuple[tuple[float, float], ...]:
    """Return the way from a node to its child: straight, or around the boxes of its row."""
    row = placed.depth[parent]
    x, bottom = placed.x[parent], placed.row_tops[row] + sizes[parent][1]
    end = (placed.x[child], placed.row_tops[row + 1])
    # Where the straight line leaves the row, in which other boxes may be higher than this one.
    leaves = x + (end[0] - x) * (placed.row_bottoms[row] - bottom) / (end[1] - bottom)
    low, high = sorted((x, leaves))
    is_free = all(
        at + size[0] / 2 + _GAP / 2 < low or at - size[0] / 2 - _GAP / 2 > high
        for other, (at, size) in enumerate(zip(placed.x, sizes, strict=True))
        if placed.depth[other] == row and other != parent
    )
    start = (x, bottom)
    return (start, end) if is_free else (start, (x, placed.row_bottoms[row]), end)


def _draw_edge_word(sheet: Sheet, word: str, x: float, y: float) -> None:
    width = text_width(word, _SMALL) + 4
    height = _SMALL * LINE_HEIGHT
    sheet.boxes.append(TextBox(x - width / 2, y - height / 2, width, height, PAPER))
    sheet.words.append(Word(x, y, word, _SMALL, QUIET, centred=True))


def _draw_label(
    sheet: Sheet, label: _Label, area: tuple[float, float, float, float], name: str
) -> None:
    left, top, width, height = area
    corner = 3.0 if label.edge is not None else 0.0
    sheet.boxes.append(TextBox(left, top, width, height, label.fill, label.edge, corner, name))
    pad = (_PAD if label.edge is not None else _PAD / 2) * 0.7
    y = top + pad
    for line in label.lines:
        line_width = sum(text_width(piece.text, _SIZE, label.bold) for piece in line)
        x = left + (width - line_width) / 2
        centre_y = y + _SIZE * LINE_HEIGHT / 2
        if len(line) == 1:
            [(text, colour)] = line
            middle = left + width / 2
            sheet.words.append(
                Word(middle, centre_y, text, _SIZE, colour, label.bold, centred=True)
            )
            y += _SIZE * LINE_HEIGHT
            continue
        for piece in line:
            sheet.words.append(Word(x, centre_y, piece.text, _SIZE, piece.colour, label.bold))
            x += text_width(piece.text, _SIZE, label.bold)
        y += _SIZE * LINE_HEIGHT
    for text in label.small:
        middle = y + _SMALL * LINE_HEIGHT / 2
        sheet.words.append(Word(left + width / 2, middle, text, _SMALL, INK, centred=True))
        y += _SMALL * LINE_HEIGHT
    if label.bar:
        x = left + _PAD
        for share, colour in label.bar:
            bar_width = share * (width - 2 * _PAD)
            sheet.boxes.append(TextBox(x, y + 1, bar_width, _BAR, colour))
            x += bar_width
