"""Learning the final tree: one search on labels, grown out, then pruned by cost and complexity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.model import Prunings
from gnn2logic.idt.tree import Tree
from gnn2logic.learning.coded_trees import Candidates, CodedTree, GrownTree
from gnn2logic.learning.cost_complexity import PruningPath, gini_costs, pruning_path
from gnn2logic.learning.features import FeatureTable
from gnn2logic.learning.growing import TreeJob, grow
from gnn2logic.learning.layers import tree_from_grown
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.state import ShardState
from gnn2logic.learning.splitting import GrowthLimits

__all__ = ["learn_final"]

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
