"""Checks that we ship for users and for ourselves."""

from gnn2logic.testing.estimator_checks import check_graph_estimator, graph_estimator_checks

__all__ = ["check_graph_estimator", "graph_estimator_checks"]
