"""One graph: the rule that fires, and the nodes and edges that it is about."""

from typing import TYPE_CHECKING, Any

from gnn2logic.explanation.witnesses import Condition, Witnesses, witnesses

if TYPE_CHECKING:
    from gnn2logic.explanation.pyg import IDTExplainer

__all__ = ["Condition", "IDTExplainer", "Witnesses", "witnesses"]


def __getattr__(name: str) -> Any:
    # The adapter needs torch; witnesses do not.
    if name == "IDTExplainer":
        from gnn2logic.explanation.pyg import IDTExplainer

        return IDTExplainer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
