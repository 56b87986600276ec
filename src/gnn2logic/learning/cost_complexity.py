"""Minimal cost-complexity pruning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.coded_trees import GrownTree

__all__ = ["PruningPath", "gini_costs", "pruning_path"]


@dataclass(frozen=True)
class PruningPath:
    """The trees that are best for some price alpha of a leaf, from the full tree to the root.

    Tree number i is the full tree cut at the nodes in ``cut[i]`` (all cuts up to i together); it is
    the smallest best tree for alphas from ``alphas[i]`` up to the next one.
    """

    alphas: tuple[float, ...]
    impurities: tuple[float, ...]
    cut: tuple[frozenset[int], ...]

    def index(self, alpha: float) -> int:
        """Return which tree is best for `alpha`."""
        return max(number for number, least in enumerate(self.alphas) if least <= alpha)


def gini_costs(grown: GrownTree) -> npt.NDArray[np.float64]:
    """Return the Gini impurity of every node times its share of the weight."""
    sums = np.array(grown.sums, dtype=float)
    classes, weights = sums[:, :-2], sums[:, -2]
    impurity = 1.0 - ((classes / weights[:, None]) ** 2).sum(axis=1)
    return np.asarray(impurity * weights / weights[0])


def pruning_path(grown: GrownTree, costs: npt.NDArray[np.float64]) -> PruningPath:
    """Return the nested sequence of pruned trees (weakest link first).

    Parameters
    ----------
    costs : array of shape (n_nodes,)
        What each node costs as a leaf.
    """
    n_nodes = len(grown.feature)
    parent = np.full(n_nodes, -1)
    for node, children in enumerate(grown.children):
        for child in children:
            if child >= 0:
                parent[child] = node
    leaf_cost = np.zeros(n_nodes)
    leaf_count = np.zeros(n_nodes, dtype=np.int64)
    inner = np.array(grown.feature) >= 0
    for node in reversed(range(n_nodes)):
        children = grown.children[node]
        if inner[node]:
            leaf_cost[node] = leaf_cost[list(children)].sum()
            leaf_count[node] = leaf_count[list(children)].sum()
        else:
            leaf_cost[node], leaf_count[node] = costs[node], 1
    alphas, impurities = [0.0], [float(leaf_cost[0])]
    cuts: list[frozenset[int]] = [frozenset()]
    alive = inner.copy()
    while alive[0]:
        nodes = np.flatnonzero(alive)
        link = (costs[nodes] - leaf_cost[nodes]) / (leaf_count[nodes] - 1)
        weakest = int(nodes[np.argmin(link)])
        alpha = max(float(link.min()), alphas[-1])
        _bury(weakest, grown, alive)
        saved_cost = costs[weakest] - leaf_cost[weakest]
        saved_leaves = leaf_count[weakest] - 1
        above = weakest
        while above >= 0:
            leaf_cost[above] += saved_cost
            leaf_count[above] -= saved_leaves
            above = int(parent[above])
        if alpha == alphas[-1]:
            # Several links of one strength fall together.
            cuts[-1] = cuts[-1] | {weakest}
            impurities[-1] = float(leaf_cost[0])
        else:
            alphas.append(alpha)
            impurities.append(float(leaf_cost[0]))
            cuts.append(cuts[-1] | {weakest})
    return PruningPath(tuple(alphas), tuple(impurities), tuple(cuts))


def _bury(node: int, grown: GrownTree, alive: npt.NDArray[np.bool_]) -> None:
    stack = [node]
    while stack:
        below = stack.pop()
        if alive[below]:
            alive[below] = False
            stack.extend(grown.children[below])
