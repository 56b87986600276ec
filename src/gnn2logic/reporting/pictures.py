"""The Iterated Decision Tree as SVG that can stand inside of a page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from gnn2logic._optional import import_optional
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.plotting.idts import plot_idt

__all__ = ["idt_svg", "inline_svg"]


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
