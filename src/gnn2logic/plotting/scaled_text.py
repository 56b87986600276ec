"""Text that grows and shrinks with its axes. Imported only once matplotlib is known to be there."""

from __future__ import annotations

from typing import Any

from matplotlib.text import Text

__all__ = ["ScaledText"]


class ScaledText(Text):
    """Text whose size is in units of the data, so that it keeps fitting into its box.

    Whatever changes the size of the axes later (a layout engine, a window, another resolution),
    the picture is scaled as a whole and nothing begins to overlap.
    """

    def __init__(self, x: float, y: float, text: str, size: float, **properties: Any) -> None:
        # Names are the user's: a dollar sign must not start mathematics, nor LaTeX read anything.
        super().__init__(x, y, text, parse_math=False, usetex=False, **properties)
        self._data_size = size

    def _fit(self) -> None:
        if self.axes is None or self.figure is None:
            return
        corners = self.axes.transData.transform([(0.0, 0.0), (0.0, 1.0)])
        pixels = abs(corners[1, 1] - corners[0, 1])
        size = self._data_size * pixels * 72 / self.figure.dpi
        if size > 0 and size != self.get_fontsize():
            self.set_fontsize(size)

    def draw(self, renderer: Any) -> None:
        """Draw it in the size that fits."""
        self._fit()
        super().draw(renderer)

    def get_window_extent(self, renderer: Any = None, dpi: Any = None) -> Any:
        """Return the place it takes, in pixels."""
        self._fit()
        return super().get_window_extent(renderer, dpi)
