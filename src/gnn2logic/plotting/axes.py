"""Axes: those that were given, checked, or new ones. The only place that asks for pyplot."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import UnsupportedInputError

__all__ = ["check_axes", "needs_matplotlib", "new_axes", "new_grid"]

# Inches for one of several graphs.
_CELL = 3.2


def needs_matplotlib(purpose: str, ax: Any = None) -> None:
    """Raise unless matplotlib can be imported and `ax` is None or axes, before any work."""
    import_optional("matplotlib", extra="plot", purpose=purpose)
    if ax is not None:
        check_axes(ax)


def check_axes(ax: Any) -> None:
    """Raise unless `ax` is a matplotlib Axes that is still part of a figure."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise UnsupportedInputError(
            f"ax must be a matplotlib Axes or None. Got {type(ax).__name__} instead."
        )
    if ax.figure is None:
        raise UnsupportedInputError("ax must be part of a figure. Got axes that were removed.")


def new_axes(
    size: tuple[float, float], area: tuple[float, float, float, float] | None = None
) -> Any:
    """Return axes in a new figure of the given size in inches; without an area they fill it."""
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A picture")
    if area is not None:
        return pyplot.figure(figsize=size, layout="none").add_axes(area)
    return pyplot.figure(figsize=size, layout="constrained").add_subplot()


def new_grid(count: int, columns: int, title: str | None) -> npt.NDArray[Any]:
    """Return `count` axes in the rows of a new figure."""
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A picture")
    rows = -(-count // columns)
    figure, grid = pyplot.subplots(
        rows,
        columns,
        figsize=(_CELL * columns, _CELL * rows + (0.4 if title else 0.0)),
        layout="constrained",
        squeeze=False,
    )
    for ax in grid.flat[count:]:
        ax.remove()
    if title is not None:
        figure.suptitle(title, wrap=True, parse_math=False, usetex=False)
    return np.asarray(grid.flat[:count])
