"""Formulas in notebooks: mathematical notation, and below it the same in words."""

from __future__ import annotations

from html import escape

from gnn2logic.logic.printing.steps import in_steps
from gnn2logic.logic.printing.text import to_unicode
from gnn2logic.logic.syntax import Formula

__all__ = ["to_html"]


def to_html(formula: Formula) -> str:
    """Return the formula as a piece of HTML; all names are escaped.

    >>> from gnn2logic.logic import parse
    >>> html = to_html(parse("A U0 > 6"))
    >>> "A U0 &gt; 6" in html, "the node has more than 6 neighbours that are U0" in html
    (True, True)
    """
    # Colours are left to the page, so that dark pages stay dark.
    return (
        '<div style="max-height:30em;overflow:auto">'
        '<pre style="margin:0;white-space:pre-wrap;background:none">'
        f"{escape(to_unicode(formula))}</pre>"
        '<div style="opacity:.75;white-space:pre-line">'
        f"{escape(in_steps(formula))}</div></div>"
    )
