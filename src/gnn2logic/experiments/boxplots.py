"""Box plots: the accuracy of every model over the folds of a data set."""

from __future__ import annotations

import io
from collections.abc import Collection
from typing import Any

from gnn2logic._optional import import_optional
from gnn2logic.experiments.catalogue import PAPER_MODELS
from gnn2logic.experiments.paper import paper_figures
from gnn2logic.experiments.rows import Row

__all__ = ["box_plot"]

_SIZE = (7.0, 3.2)
_DPI = 120


def box_plot(dataset: str, rows: Collection[Row]) -> dict[str, bytes]:
    """Return a picture of a data set as PNG and SVG, by the ending of the file name.

    Diamonds are the means of the paper.
    """
    figure = _draw(dataset, rows)
    matplotlib = import_optional("matplotlib", extra="plot", purpose="A box plot")
    files = {}
    # Fixed ids and no date: the same rows give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "gnn2logic", "svg.fonttype": "none"}):
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            file = io.BytesIO()
            figure.savefig(file, format=ending, dpi=_DPI, metadata=metadata)
            files[ending] = file.getvalue()
    return files


def _draw(dataset: str, rows: Collection[Row]) -> Any:
    figures = import_optional("matplotlib.figure", extra="plot", purpose="A box plot")
    values = {
        model.name: [row.accuracy for row in rows if (row.dataset, row.model) == (dataset, name)]
        for model in PAPER_MODELS
        for name in (model.name,)
    }
    shown = {name: found for name, found in values.items() if found}
    figure = figures.Figure(figsize=_SIZE, layout="constrained")
    ax = figure.add_subplot()
    places = range(1, len(shown) + 1)
    ax.boxplot(list(shown.values()), positions=list(places), widths=0.6)
    paper = paper_figures("accuracy")
    means = [paper[dataset, name][0] for name in shown]
    ax.plot(list(places), means, "D", color="tab:orange", label="mean in the paper")
    ax.set_xticks(list(places), list(shown), rotation=20, ha="right")
    ax.set_ylabel("test accuracy")
    ax.set_title(f"{dataset}, {len(next(iter(shown.values())))} folds")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(axis="y", alpha=0.3)
    return figure
