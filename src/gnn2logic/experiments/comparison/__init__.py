"""Our models, networks and baselines on data of anybody's choice, cross-validated."""

from gnn2logic.experiments.comparison.experiment import compare

__all__ = ["compare"]
