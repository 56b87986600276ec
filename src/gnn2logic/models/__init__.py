"""Graph neural networks: train them, and prepare graphs for them. Needs torch."""

from gnn2logic._optional import naming_extra

with naming_extra(
    "torch", "torch_geometric", "safetensors", extra="torch", purpose="gnn2logic.models"
):
    from gnn2logic.models.estimators import GNNClassifier, GNNNodeClassifier
    from gnn2logic.models.formula_network import FormulaNetwork, to_gnn
    from gnn2logic.models.network import GraphNetwork
    from gnn2logic.models.pyg_data import mini_batches, pyg_graphs
    from gnn2logic.models.saving import load_gnn

__all__ = [
    "FormulaNetwork",
    "GNNClassifier",
    "GNNNodeClassifier",
    "GraphNetwork",
    "load_gnn",
    "mini_batches",
    "pyg_graphs",
    "to_gnn",
]
