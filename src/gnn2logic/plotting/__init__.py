"""Pictures, with matplotlib (extra ``plot``)."""

from gnn2logic.plotting.graphs import plot_graph

__all__ = ["plot_graph"]
