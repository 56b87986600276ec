"""How Iterated Decision Trees are learned, from sums over shards of whole graphs."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnn2logic.learning.estimators import IDTClassifier, IDTNodeClassifier

__all__ = ["IDTClassifier", "IDTNodeClassifier"]


def __getattr__(name: str) -> Any:
    # Workers of a cluster import the state of a shard from here. They need no scikit-learn, which
    # is slow to import.
    if name in __all__:
        return getattr(importlib.import_module("gnn2logic.learning.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
