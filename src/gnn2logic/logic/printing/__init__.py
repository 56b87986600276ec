"""Printers: one module per notation, each a plain function of a formula."""

from gnn2logic.logic.printing.english import to_english
from gnn2logic.logic.printing.html import to_html
from gnn2logic.logic.printing.latex import to_latex
from gnn2logic.logic.printing.text import to_text, to_unicode

__all__ = ["to_english", "to_html", "to_latex", "to_text", "to_unicode"]
