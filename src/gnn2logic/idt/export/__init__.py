"""Iterated Decision Trees as text and pictures: one module per format, each a plain function."""

from gnn2logic.idt.export.dot import export_dot
from gnn2logic.idt.export.text import export_text, tree_to_text
from gnn2logic.idt.export.tikz import export_tikz

__all__ = ["export_dot", "export_text", "export_tikz", "tree_to_text"]
