"""Pictures, with matplotlib (extra ``plot``)."""

from gnn2logic.plotting.explanations import plot_explanation
from gnn2logic.plotting.graphs import plot_graph, plot_graphs
from gnn2logic.plotting.rules import plot_rules
from gnn2logic.plotting.scorecards import plot_card_path, plot_scorecard
from gnn2logic.plotting.tables import plot_confusion, plot_fidelity
from gnn2logic.plotting.trees import plot_idt, plot_tree

__all__ = [
    "plot_card_path",
    "plot_confusion",
    "plot_explanation",
    "plot_fidelity",
    "plot_graph",
    "plot_graphs",
    "plot_idt",
    "plot_rules",
    "plot_scorecard",
    "plot_tree",
]
