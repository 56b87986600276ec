"""A sheet of boxes, lines and words in typographic points: laid out first, then drawn at once.

Layout needs the widths of words and nothing else of matplotlib, and a sheet is put into axes of
any size by scaling it as a whole. x runs to the right and y down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from gnn2logic.plotting.axes import check_axes, new_axes
from gnn2logic.plotting.words import INK, PAPER

__all__ = ["LINE_HEIGHT", "Sheet", "Stroke", "TextBox", "Word", "font_family", "text_width"]

LINE_HEIGHT = 1.3
_MARGIN = 8.0
_DPI = 288
# A sheet that needs a larger figure than this (in inches) is scaled down to it.
_LARGEST = 24.0
_NARROWEST = 230.0
_TITLE = 11.0


@dataclass(frozen=True)
class TextBox:
    """A filled rectangle; `name` becomes its id in SVG files."""

    left: float
    top: float
    width: float
    height: float
    fill: str
    edge: str | None = None
    round: float = 0.0
    name: str | None = None


@dataclass(frozen=True)
class Stroke:
    """A line through some points."""

    points: tuple[tuple[float, float], ...]
    colour: str
    width: float = 0.9
    dashed: bool = False


@dataclass(frozen=True)
class Word:
    """A text in one line; `x` is its left end or its middle, `y` the middle of its height."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    bold: bool = False
    centred: bool = False


@dataclass
class Sheet:
    """Things with their places; later ones cover earlier ones of their kind."""

    strokes: list[Stroke] = field(default_factory=list)
    boxes: list[TextBox] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    def paste(self, other: Sheet, dx: float, dy: float) -> None:
        """Copy everything from another sheet, moved."""
        self.strokes += [
            replace(s, points=tuple((x + dx, y + dy) for x, y in s.points)) for s in other.strokes
        ]
        self.boxes += [replace(b, left=b.left + dx, top=b.top + dy) for b in other.boxes]
        self.words += [replace(w, x=w.x + dx, y=w.y + dy) for w in other.words]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The left, top, right and bottom end of all there is."""
        xs = [0.0]
        ys = [0.0]
        for box in self.boxes:
            xs += [box.left, box.left + box.width]
            ys += [box.top, box.top + box.height]
        for stroke in self.strokes:
            xs += [x for x, _ in stroke.points]
            ys += [y for _, y in stroke.points]
        for word in self.words:
            width = text_width(word.text, word.size, word.bold)
            left = word.x - width / 2 if word.centred else word.x
            xs += [left, left + width]
            ys += [word.y - word.size * 0.6, word.y + word.size * 0.6]
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def width(self) -> float:
        """How wide it is."""
        left, _, right, _ = self.bounds
        return right - left

    @property
    def height(self) -> float:
        """How high it is."""
        _, top, _, bottom = self.bounds
        return bottom - top

    def draw(self, ax: Any, title: str | None = None) -> Any:
        """Draw everything into `ax`, or into a new figure of the right size; return the axes."""
        left, top, right, bottom = self.bounds
        width, height = right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN
        if ax is None:
            room = (max(width, _NARROWEST), height)
            above = 0.0
            if title is not None:
                lines = title.split("\n")
                above = 12.0 + _TITLE * LINE_HEIGHT * len(lines)
                widest = max(text_width(line, _TITLE) for line in lines)
                room = (max(room[0], widest + 2 * _MARGIN), height)
            scale = min(1.0, _LARGEST * 72 / max(room[0], room[1] + above))
            size = (room[0] * scale / 72, (room[1] * scale + above) / 72)
            ax = new_axes(size, (0.0, 0.0, 1.0, room[1] * scale / 72 / size[1]))
        else:
            check_axes(ax)
            extent = ax.get_window_extent()
            points = 72 / ax.figure.dpi
            # Larger axes leave room around the sheet; smaller ones scale it down.
            scale = min(1.0, extent.width * points / width, extent.height * points / height)
            room = (extent.width * points / scale, extent.height * points / scale)
        middle = ((left + right) / 2, (top + bottom) / 2)
        ax.set_xlim(middle[0] - room[0] / 2, middle[0] + room[0] / 2)
        ax.set_ylim(middle[1] + room[1] / 2, middle[1] - room[1] / 2)
        ax.set_aspect("equal")
        ax.set_axis_off()
        # The sheet brings its own paper, for styles with a dark background.
        paper = TextBox(left - _MARGIN, top - _MARGIN, width, height, PAPER)
        replace(self, boxes=[paper, *self.boxes])._add(ax)
        if title is not None:
            ax.set_title(title, fontsize=_TITLE, parse_math=False, usetex=False)
        return ax

    def _add(self, ax: Any) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import FancyBboxPatch

        from gnn2logic.plotting.scaled_text import ScaledText

        for stroke in self.strokes:
            style: Any = (0, (4, 3)) if stroke.dashed else "solid"
            xs, ys = zip(*stroke.points, strict=True)
            ax.add_line(Line2D(xs, ys, color=stroke.colour, lw=stroke.width, ls=style, zorder=1))
        for number, box in enumerate(self.boxes):
            rounding = f"round,pad=0,rounding_size={box.round}" if box.round else "square,pad=0"
            ax.add_patch(
                FancyBboxPatch(
                    (box.left, box.top),
                    box.width,
                    box.height,
                    boxstyle=rounding,
                    facecolor=box.fill,
                    edgecolor="none" if box.edge is None else box.edge,
                    linewidth=1.1,
                    gid=box.name,
                    zorder=0 if number == 0 else 2,
                )
            )
        family = font_family()
        for word in self.words:
            ax.add_artist(
                ScaledText(
                    word.x,
                    word.y,
                    word.text,
                    word.size,
                    color=word.colour,
                    fontfamily=family,
                    fontweight="bold" if word.bold else "normal",
                    ha="center" if word.centred else "left",
                    va="center_baseline",
                    zorder=3,
                )
            )


def font_family() -> tuple[str, ...]:
    """Return the user's fonts and, for signs they lack, the one that matplotlib brings."""
    import matplotlib

    return (*matplotlib.rcParams["font.family"], "DejaVu Sans")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return how wide a text is, in points."""
    return _unit_width(text, bold, font_family()) * size


@lru_cache(maxsize=4096)
def _unit_width(text: str, bold: bool, family: Sequence[str]) -> float:
    renderer, figure = _ruler()
    from matplotlib.text import Text

    measured = Text(
        0,
        0,
        text,
        fontsize=10,
        fontfamily=family,
        fontweight="bold" if bold else "normal",
        parse_math=False,
        usetex=False,
        figure=figure,
    )
    return float(measured.get_window_extent(renderer).width) * 72 / _DPI / 10


@lru_cache(maxsize=1)
def _ruler() -> tuple[Any, Any]:
    """Return a renderer that only measures; its figure is unknown to pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1), dpi=_DPI)
    canvas: Any = FigureCanvasAgg(figure)
    return canvas.get_renderer(), figure
