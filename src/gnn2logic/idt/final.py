"""Learning the final tree: one search on labels, grown out, then pruned by cost and complexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.features import FeatureTable
from gnn2logic.idt.groups import RowGroups
from gnn2logic.idt.learning import tree_from_grown
from gnn2logic.idt.model import Prunings
from gnn2logic.trees.growing import Candidates, Grown, GrowthLimits, grow
from gnn2logic.trees.pruning import PruningPath, gini_costs, pruning_path
from gnn2logic.trees.table import RowShard, ShardedTable
from gnn2logic.trees.tree import Tree

__all__ = ["Labels", "learn_final"]

IntArray = npt.NDArray[np.int64]
_FOLDS = 5


@dataclass(frozen=True)
class Labels:
    """Class numbers and weights of the rows, one array per shard; weight 0 leaves a row out."""

    classes: Sequence[IntArray]
    weights: Sequence[IntArray]
    n_classes: int

    def sums(self) -> list[IntArray]:
        """Return the weighted one-hot labels, the weight and 1 for every row."""
        found = []
        for classes, weights in zip(self.classes, self.weights, strict=True):
            one_hot = np.zeros((len(classes), self.n_classes + 2), dtype=np.int64)
            one_hot[np.arange(len(classes)), classes] = weights
            one_hot[:, -2], one_hot[:, -1] = weights, weights > 0
            found.append(one_hot)
        return found


def learn_final(
    table: FeatureTable,
    labels: Labels,
    ranks: IntArray,
    *,
    limits: GrowthLimits,
    alpha: float | None,
    seed: Sequence[int],
    features: IntArray | None = None,
) -> tuple[Prunings, float]:
    """Grow the final tree; return it with all its prunings, and the alpha to prune it with.

    Parameters
    ----------
    alpha : float or None
        The price of a leaf. None: the largest price whose cross-validated accuracy is within one
        standard error of the best.
    """
    if features is None:
        features = np.arange(len(table.features))
    groups = [shard.groups for shard in table.shards]
    rows = ShardedTable([RowShard(own.codes) for own in groups], table.n_codes)
    candidates = Candidates(features, table.books, ranks)
    sums = labels.sums()
    _start(rows, 0, groups, sums)
    grown = grow(rows, 0, candidates, limits, total=rows.total(0))
    path = pruning_path(grown, gini_costs(grown))
    if alpha is None:
        search = _AlphaSearch(rows, groups, candidates, limits, labels, sums)
        alpha = search.choose(path, seed)
    bare = tree_from_grown(grown, table.features, table.books)
    values = np.array(grown.sums, dtype=float)[:, :-2]
    tree = Tree(bare.splits, bare.false_child, bare.true_child, values, bare.weights)
    return Prunings(tree, path.alphas, path.cut), alpha


def _start(
    rows: ShardedTable, tree: int, groups: Sequence[RowGroups], sums: Sequence[IntArray]
) -> None:
    for shard, own, per_row in zip(rows.shards, groups, sums, strict=True):
        shard.start(tree, own.sums(per_row))


# Choosing alpha -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _AlphaSearch:
    """Cross-validation of the final tree alone."""

    rows: ShardedTable
    groups: Sequence[RowGroups]
    candidates: Candidates
    limits: GrowthLimits
    labels: Labels
    sums: Sequence[IntArray]

    def choose(self, path: PruningPath, seed: Sequence[int]) -> float:
        """Return the largest alpha within one standard error of the best."""
        classes = np.concatenate(self.labels.classes)
        weights = np.concatenate(self.labels.weights)
        fold_of = _stratified_folds(np.where(weights > 0, classes, -1), seed)
        n_folds = int(fold_of.max()) + 1
        if n_folds < 2 or len(path.alphas) == 1:
            return 0.0
        # Between two alphas of the path the tree is the same; their geometric mean stands for it.
        # From the last one on it is constant, in every fold, though their last alphas differ.
        alphas = np.append(np.sqrt(np.multiply(path.alphas[:-1], path.alphas[1:])), np.inf)
        scores = np.array([self._scores(fold, fold_of, alphas) for fold in range(n_folds)])
        mean = scores.mean(axis=0)
        best = int(np.argmax(mean))
        error = scores[:, best].std(ddof=1) / np.sqrt(n_folds)
        good = np.flatnonzero(mean >= mean[best] - error)
        return float(path.alphas[good[-1]])

    def _scores(
        self, fold: int, fold_of: IntArray, alphas: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the accuracy on one fold of trees grown on the others, for every alpha."""
        tree = fold + 1
        sizes = [len(classes) for classes in self.labels.classes]
        folds = np.split(fold_of, np.cumsum(sizes)[:-1])
        learn = [
            sums * ((own >= 0) & (own != fold))[:, None]
            for sums, own in zip(self.sums, folds, strict=True)
        ]
        _start(self.rows, tree, self.groups, learn)
        grown = grow(self.rows, tree, self.candidates, self.limits, total=self.rows.total(tree))
        path = pruning_path(grown, gini_costs(grown))
        majority = np.argmax(np.array(grown.sums)[:, :-2], axis=1)
        leaves, truth, weight = [], [], []
        for number, own in enumerate(folds):
            test = own == fold
            of_row = self.groups[number].of_row
            leaves.append(_leaf_of_group(grown, self.rows.shards[number])[of_row[test]])
            truth.append(self.labels.classes[number][test])
            weight.append(self.labels.weights[number][test])
        reached, wanted = np.concatenate(leaves), np.concatenate(truth)
        scores = [
            np.average(
                majority[_stopped(grown, cut)[reached]] == wanted, weights=np.concatenate(weight)
            )
            for cut in path.cut
        ]
        return np.array([scores[path.index(alpha)] for alpha in alphas])


def _leaf_of_group(grown: Grown, shard: RowShard) -> IntArray:
    """Return the leaf that every group of rows reaches, grown on or not."""
    at = np.zeros(shard.codes.shape[1], dtype=np.int64)
    for node, feature in enumerate(grown.feature):
        if feature >= 0:
            here = np.flatnonzero(at == node)
            # The middle of the gap in codes, about where the threshold will be.
            limit = (grown.code[node] + grown.next_code[node]) // 2
            above = shard.codes[feature, here] > limit
            at[here] = np.where(above, grown.children[node][1], grown.children[node][0])
    return at


def _stopped(grown: Grown, cut: frozenset[int]) -> IntArray:
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


def _stratified_folds(classes: IntArray, seed: Sequence[int]) -> IntArray:
    """Return the fold of every row, -1 for rows without a class; equal shares of each class."""
    known = classes[classes >= 0]
    counts = np.bincount(known) if known.size else np.zeros(1, dtype=np.int64)
    n_folds = int(min(_FOLDS, counts[counts > 0].min(initial=_FOLDS)))
    fold_of = np.full(len(classes), -1, dtype=np.int64)
    rng = np.random.default_rng([*seed, 2**31])
    start = 0
    for number in range(len(counts)):
        members = rng.permutation(np.flatnonzero(classes == number))
        fold_of[members] = (np.arange(len(members)) + start) % n_folds
        start += len(members)
    return fold_of
