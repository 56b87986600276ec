"""Iterated Decision Trees: learn, run, read, prune, save."""

from typing import TYPE_CHECKING, Any

from gnn2logic.idt.model import IDT

if TYPE_CHECKING:
    from gnn2logic.idt.estimators import IDTClassifier, IDTNodeClassifier, load

__all__ = ["IDT", "IDTClassifier", "IDTNodeClassifier", "load"]


def __getattr__(name: str) -> Any:
    if name in ("IDTClassifier", "IDTNodeClassifier", "load"):
        from gnn2logic.idt import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
