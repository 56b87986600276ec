"""Learning the final tree: one search on labels, grown out, then pruned by cost and complexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.model import Prunings
from gnn2logic.idt.tree import Tree
from gnn2logic.learning.coded_trees import Candidates, CodedTree, GrownTree
from gnn2logic.learning.features import FeatureTable
from gnn2logic.learning.growing import TreeJob, grow
from gnn2logic.learning.layers import tree_from_grown
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.state import ShardState
from gnn2logic.learning.splitting import GrowthLimits

__all__ = ["PruningPath", "gini_costs", "learn_final", "pruning_path"]


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


IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
_FOLDS = 5
# Nodes with so few codes, rows times features, are finished where the tree is put together.
_SMALL = 2**22


def learn_final(
    shards: Shards,
    table: FeatureTable,
    candidates: Candidates,
    classes: IntArray,
    *,
    limits: GrowthLimits,
    alpha: float | None,
    seed: Sequence[int],
) -> tuple[Prunings, float]:
    """Grow the final tree; return it with all its prunings, and the alpha to prune it with.

    Parameters
    ----------
    classes : array of int
        The class number of every row, -1 where there is nothing to learn from.
    alpha : float or None
        The price of a leaf. None: the largest price whose cross-validated accuracy is within one
        standard error of the best.
    """
    fold_of = None if alpha is not None else _stratified_folds(classes, seed)
    n_folds = 0 if fold_of is None else int(fold_of.max()) + 1
    totals = shards.ask(ShardState.start_final, table.rows, fold_of, n_folds)
    jobs = [TreeJob(tree, candidates, total) for tree, total in enumerate(totals)]
    grown, *others = grow(
        lambda *asked: shards.ask(ShardState.advance, table.rows, *asked),
        jobs,
        limits,
        cells=shards.cells,
        small=_SMALL,
    )
    path = pruning_path(grown, gini_costs(grown))
    if alpha is None:
        alpha = 0.0
        if n_folds >= 2 and len(path.alphas) > 1:
            assert fold_of is not None
            coded = [_coded(other) for other in others]
            weights = shards.ask(ShardState.held_out, table.rows, fold_of, coded)
            alpha = _best_alpha(path, others, weights)
    bare = tree_from_grown(grown, table.features, table.books)
    values = np.array(grown.sums, dtype=float)[:, :-2]
    tree = Tree(bare.splits, bare.false_child, bare.true_child, values, bare.weights)
    return Prunings(tree, path.alphas, path.cut), alpha


# Choosing alpha -------------------------------------------------------------------------------


def _best_alpha(
    path: PruningPath, others: Sequence[GrownTree], weights: Sequence[IntArray]
) -> float:
    """Return the largest alpha within one standard error of the best.

    Parameters
    ----------
    others : sequence of GrownTree
        One tree for each fold, grown on the other folds.
    weights : sequence of arrays of shape (n_nodes, n_classes)
        The weight of each class of the fold at the leaves of its tree.
    """
    # Between two alphas of the path the tree is the same; their geometric mean stands for it.
    # From the last one on it is constant, in every fold, though their last alphas differ.
    alphas = np.append(np.sqrt(np.multiply(path.alphas[:-1], path.alphas[1:])), np.inf)
    scores = np.array(
        [_scores(grown, held_out, alphas) for grown, held_out in zip(others, weights, strict=True)]
    )
    mean = scores.mean(axis=0)
    best = int(np.argmax(mean))
    error = scores[:, best].std(ddof=1) / np.sqrt(len(scores))
    good = np.flatnonzero(mean >= mean[best] - error)
    return float(path.alphas[good[-1]])


def _scores(grown: GrownTree, weights: IntArray, alphas: FloatArray) -> FloatArray:
    """Return the accuracy on one fold of a tree grown on the others, for every alpha."""
    path = pruning_path(grown, gini_costs(grown))
    majority = np.argmax(np.array(grown.sums)[:, :-2], axis=1)
    total = int(weights.sum())
    leaves = np.arange(len(weights))
    scores = [
        int(weights[leaves, majority[_stopped(grown, cut)]].sum()) / total for cut in path.cut
    ]
    return np.array([scores[path.index(alpha)] for alpha in alphas])


def _coded(grown: GrownTree) -> CodedTree:
    """Return the tree for rows that it was not grown on.

    It decides in the middle of the gap in codes, about where the threshold will be.
    """
    limits = ((a + b) // 2 for a, b in zip(grown.code, grown.next_code, strict=True))
    return CodedTree(tuple(grown.feature), tuple(limits), tuple(grown.children))


def _stopped(grown: GrownTree, cut: frozenset[int]) -> IntArray:
    """Return, for every node, the node where its rows stop in the pruned tree."""
    stop = np.arange(len(grown.feature))
    closed = np.zeros(len(stop), dtype=bool)
    for node, children in enumerate(grown.children):
        closed[node] |= node in cut
        if children[0] >= 0 and closed[node]:
            for child in children:
                stop[child] = stop[node]
                closed[child] = True
    return stop


def _stratified_folds(classes: IntArray, seed: Sequence[int]) -> npt.NDArray[np.int8]:
    """Return the fold of every row, -1 for rows without a class; equal shares of each class."""
    known = classes[classes >= 0]
    counts = np.bincount(known) if known.size else np.zeros(1, dtype=np.int64)
    n_folds = int(min(_FOLDS, counts[counts > 0].min(initial=_FOLDS)))
    fold_of = np.full(len(classes), -1, dtype=np.int8)
    rng = np.random.default_rng([*seed, 2**31])
    start = 0
    for number in range(len(counts)):
        members = rng.permutation(np.flatnonzero(classes == number))
        fold_of[members] = (np.arange(len(members)) + start) % n_folds
        start += len(members)
    return fold_of
