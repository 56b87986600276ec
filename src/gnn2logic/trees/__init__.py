"""One decision tree as logic: coded columns, split search, trees, leaf sets, pruning.

`kernels` (and what imports it) is for learning; `tree` alone is enough to use a learned model.
"""

from gnn2logic.trees.tree import Split, Tree

__all__ = ["Split", "Tree"]
