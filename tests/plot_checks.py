"""What tests of pictures ask matplotlib: where things are, and what files they make."""

from __future__ import annotations

import io
from itertools import combinations
from typing import Any

from matplotlib import pyplot
from matplotlib.patches import FancyBboxPatch


def texts(ax: Any) -> list[str]:
    """Return all texts in the axes that can be seen."""
    return [text.get_text() for text in ax.texts if text.get_text()]


def boxes(ax: Any) -> dict[str, Any]:
    """Return where the nodes of trees are, in pixels, by id."""
    ax.figure.canvas.draw()
    return {
        str(patch.get_gid()): patch.get_window_extent()
        for patch in ax.patches
        if isinstance(patch, FancyBboxPatch) and patch.get_gid()
    }


def assert_apart(extents: list[Any], slack: float = 0.5) -> None:
    """Assert that no two rectangles share more than `slack` pixels in both directions."""
    for a, b in combinations(extents, 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert wide <= slack or high <= slack, (a, b)


def saved(ax: Any, kind: str) -> bytes:
    """Return the picture as a file; SVG files have no date and always the same ids."""
    with pyplot.rc_context({"svg.hashsalt": "test"}):
        file = io.BytesIO()
        date = {"Date": None} if kind == "svg" else None
        ax.figure.savefig(file, format=kind, metadata=date)
    return file.getvalue()
