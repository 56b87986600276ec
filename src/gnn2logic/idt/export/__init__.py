"""Iterated Decision Trees as text and pictures: one module per format, each a plain function."""

from gnn2logic.idt.export.dot import to_dot
from gnn2logic.idt.export.text import to_text, tree_to_text
from gnn2logic.idt.export.tikz import to_tikz

__all__ = ["to_dot", "to_text", "to_tikz", "tree_to_text"]
