"""Iterated Decision Trees in use: predict, read, prune, print, save. How they are learned is above.

Nothing here imports numba or scikit-learn, so a saved model is there at once.
"""

from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.tree import Split, Tree

__all__ = ["IDT", "IDTPredictor", "Split", "Tree"]
