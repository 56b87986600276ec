"""Iterated Decision Trees: learn, run, read, prune, save."""

import importlib
from typing import TYPE_CHECKING, Any

from gnn2logic.idt.loading import load
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor

if TYPE_CHECKING:
    from gnn2logic.idt.estimators import IDTClassifier, IDTNodeClassifier

__all__ = ["IDT", "IDTClassifier", "IDTNodeClassifier", "IDTPredictor", "load"]


def __getattr__(name: str) -> Any:
    # The estimators need scikit-learn, which is slow to import; a saved model does not.
    if name in ("IDTClassifier", "IDTNodeClassifier"):
        return getattr(importlib.import_module("gnn2logic.idt.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
