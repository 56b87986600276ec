"""Learning the inner layers, from sums over shards of whole graphs.

The paper's algorithm: the table of a layer has one feature for every column and modal parameter;
trees are fitted to the next representations; leaves with close predictions are merged into leaf
sets; each leaf set is a new column for all later layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.features import Feature, FeatureShard, FeatureTable
from gnn2logic.idt.layer_targets import TargetRows
from gnn2logic.idt.model import Column, InputPredicate, Layer, LeafSet, TrueColumn
from gnn2logic.logic.syntax import TRUE, Formula, predicate
from gnn2logic.trees.coding import Codebook
from gnn2logic.trees.growing import Candidates, Grown, GrowthLimits, grow
from gnn2logic.trees.kernels import fingerprint
from gnn2logic.trees.leaf_sets import all_subsets, merge_leaves
from gnn2logic.trees.table import RowShard, ShardedTable
from gnn2logic.trees.tree import Split, Tree

__all__ = ["InnerLearner", "LayerSettings", "preference", "tree_from_grown"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Targets = npt.NDArray[np.floating[Any]]

# Inner trees see small codes: one byte per node and feature.
_INNER_BINS = 256


@dataclass(frozen=True)
class LayerSettings:
    """How the trees of one inner layer are grown."""

    modalities: tuple[Modality, ...]
    kinds: tuple[bool, ...]
    width: int
    depth: int
    feature_share: float
    graph_share: float | None
    random_thresholds: bool
    min_rows_leaf: int
    leaf_sets: Literal["merge", "nested", "all"]
    n_directions: int | None


class InnerLearner:
    """Holds the shards and grows one layer after the other.

    Parameters
    ----------
    shards : sequence of GraphBatch
        Whole graphs, in order.
    weights : sequence of arrays of int
        The weight of every node, one array per shard; nodes of weight 0 are not learned from.
    """

    def __init__(self, shards: Sequence[GraphBatch], weights: Sequence[IntArray]) -> None:
        self.shards = shards
        self.weights = weights
        first = np.cumsum([0, *(shard.n_nodes for shard in shards)])
        feature_shards = [
            FeatureShard(shard, int(start), np.uint8, per_graph=False)
            for shard, start in zip(shards, first, strict=False)
        ]
        self.table = FeatureTable(feature_shards, max_bins=_INNER_BINS)
        self.columns: list[Column] = []
        self.formulas: list[Formula] = []
        self.layers: list[Layer] = []
        self.values: list[list[BoolArray]] = [[] for _ in shards]
        self._known: dict[int, list[int]] = {}
        self._done: dict[Modality, int] = {}
        self._number_of: dict[Feature, int] = {}
        self._add_column(TrueColumn(), TRUE, [np.ones(s.n_nodes, dtype=bool) for s in shards])
        for name in shards[0].names:
            values = [shard.column(name) for shard in shards]
            self._add_column(InputPredicate(name), predicate(name), values)

    # Columns ---------------------------------------------------------------------------------

    def _add_column(self, column: Column, formula: Formula, values: list[BoolArray]) -> None:
        """Append a column unless it equals an earlier one on all the data."""
        if self._is_known(values):
            return
        self._known.setdefault(self._key(values), []).append(len(self.columns))
        self.columns.append(column)
        self.formulas.append(formula)
        for own, new in zip(self.values, values, strict=True):
            own.append(new)

    def _key(self, values: Sequence[BoolArray]) -> int:
        """Return a hash of a column that adds up over shards."""
        pairs = zip(values, self.table.shards, strict=True)
        return sum(int(_fingerprint(new, shard.salt)) for new, shard in pairs) % (2**64)

    def _is_known(self, values: Sequence[BoolArray]) -> bool:
        """Return whether there is a column that is true at exactly these nodes."""
        return any(
            all(
                np.array_equal(own[other], new)
                for own, new in zip(self.values, values, strict=True)
            )
            for other in self._known.get(self._key(values), [])
        )

    def _news(self, targets: Sequence[Targets]) -> Sequence[Targets]:
        """Return the targets without channels that only repeat a column, or its negation.

        Networks that pass features on have such channels. A tree that predicts them makes no new
        column, and they would be the easiest to predict.
        """
        lowest = np.min([part.min(axis=0) for part in targets], axis=0)
        highest = np.max([part.max(axis=0) for part in targets], axis=0)
        two_valued = np.all(
            [((part == lowest) | (part == highest)).all(axis=0) for part in targets], axis=0
        )
        repeated = np.zeros(len(lowest), dtype=bool)
        for channel in np.flatnonzero(two_valued & (lowest < highest)):
            high = [part[:, channel] == highest[channel] for part in targets]
            repeated[channel] = self._is_known(high) or self._is_known([~own for own in high])
        if repeated.all() or not repeated.any():
            return targets
        return [part[:, ~repeated] for part in targets]

    def block(self, columns: Sequence[int]) -> list[BoolArray]:
        """Return the truth of some columns as one array per shard."""
        return [np.stack([own[number] for number in columns], axis=1) for own in self.values]

    def prepare(self, modalities: Sequence[Modality], kinds: Sequence[bool]) -> None:
        """Bring the table up to date: features of all columns along these parameters."""
        # Parameters that lack the same columns share one pass over the edges.
        groups: dict[int, list[Modality]] = {}
        for modality in modalities:
            groups.setdefault(self._done.get(modality, 0), []).append(modality)
            self._done[modality] = len(self.columns)
        known = len(self.table.features)
        for done, group in sorted(groups.items()):
            numbers = range(done, len(self.columns))
            if numbers:
                self.table.add(numbers, self.block(numbers), group, kinds)
        new = enumerate(self.table.features[known:], start=known)
        self._number_of.update((feature, number) for number, feature in new)

    # Layers ----------------------------------------------------------------------------------

    def learn_layer(
        self, targets: Sequence[Targets], settings: LayerSettings, seed: Sequence[int]
    ) -> None:
        """Grow the trees of the next layer and append their leaf sets as columns.

        Parameters
        ----------
        targets : sequence of arrays of shape (n_nodes, n_targets)
            What the layer should predict, one array per shard.
        seed : sequence of int
            With the numbers of layer and tree it gives each tree a random stream of its own.
        """
        self.prepare(settings.modalities, settings.kinds)
        features = self.usable(settings.modalities)
        rows = TargetRows(self._news(targets), self.weights, settings.n_directions)
        groups = [shard.groups for shard in self.table.shards]
        table = ShardedTable([RowShard(own.codes) for own in groups], self.table.n_codes)
        ranks = preference(self.table.features, self.formulas)
        limits = GrowthLimits(
            max_depth=settings.depth,
            min_rows_leaf=settings.min_rows_leaf,
            random_thresholds=settings.random_thresholds,
        )
        layer = len(self.layers)
        draw = np.random.default_rng([*seed, layer])
        subsets = _feature_subsets(features, settings.feature_share, settings.width, draw)
        trees: list[Tree] = []
        sets: list[list[tuple[int, ...]]] = []
        root: IntArray | None = None
        sums = rows.grouped(groups)
        for number, chosen in enumerate(subsets):
            if settings.graph_share is not None:
                rng = np.random.default_rng([*seed, layer, number])
                sums = rows.grouped(groups, self._some_graphs(settings.graph_share, rng))
            for shard, own in zip(table.shards, sums.searched, strict=True):
                shard.start(number, own)
            if root is None or settings.graph_share is not None:
                root = table.histogram(number, 0, features)
            candidates = Candidates(chosen, self.table.books, ranks)
            at_root = _restrict(root, features, chosen, self.table.n_codes)
            grown = grow(
                table,
                number,
                candidates,
                limits,
                root=at_root,
                total=table.total(number),
                seed=[*seed, layer, number] if settings.random_thresholds else None,
            )
            tree = tree_from_grown(grown, self.table.features, self.table.books)
            trees.append(tree)
            values, weights = rows.leaf_means(tree, table, number, sums)
            if settings.leaf_sets == "all":
                sets.append(all_subsets(tree.n_leaves))
            else:
                merged = merge_leaves(values, weights)
                subtrees = tree.subtrees if settings.leaf_sets == "nested" else []
                sets.append(list(dict.fromkeys([*merged, *subtrees])))
        self.layers.append(Layer(tuple(trees)))
        for number, (tree, members) in enumerate(zip(trees, sets, strict=True)):
            self._add_leaf_sets(layer, number, tree, members)

    def usable(self, modalities: Sequence[Modality]) -> IntArray:
        """Return the numbers of the features along some modal parameters."""
        allowed = set(modalities)
        numbers = [n for n, f in enumerate(self.table.features) if f.modality in allowed]
        return np.array(numbers, dtype=np.int64)

    def release(self) -> None:
        """Forget the rows, which take most of the memory; columns, formulas and layers stay."""
        self.values = []
        self.table = FeatureTable([], max_bins=_INNER_BINS)

    def _some_graphs(self, share: float, rng: np.random.Generator) -> list[BoolArray]:
        """Return a random choice of graphs as truth values of their nodes, one array per shard.

        It is a share of the graphs that have weight at all.
        """
        heavy = np.concatenate(
            [
                np.bincount(shard.graph_index, weights=weight > 0, minlength=shard.n_graphs) > 0
                for shard, weight in zip(self.shards, self.weights, strict=True)
            ]
        )
        candidates = np.flatnonzero(heavy)
        count = max(1, round(share * len(candidates)))
        allowed = np.zeros(len(heavy), dtype=bool)
        allowed[rng.choice(candidates, count, replace=False)] = True
        first = np.cumsum([0, *(shard.n_graphs for shard in self.shards)])
        return [
            allowed[start + shard.graph_index]
            for start, shard in zip(first, self.shards, strict=False)
        ]

    def _add_leaf_sets(
        self, layer: int, number: int, tree: Tree, sets: Sequence[tuple[int, ...]]
    ) -> None:
        reached = [self._route(tree, shard) for shard in self.table.shards]
        for leaves in sets:
            # Reading sizes only matters for ties, so the formula is not simplified here.
            formula = tree.leaf_formula(leaves, self.formulas)
            self._add_column(
                LeafSet(layer, number, leaves),
                formula,
                [Tree.among(leaf, leaves) for leaf in reached],
            )

    def _route(self, tree: Tree, shard: FeatureShard) -> npt.NDArray[np.integer[Any]]:
        """Return the leaf of every row, also of those that the tree was not grown on."""
        groups = shard.groups

        def decide(split: Split, rows: IntArray | None) -> BoolArray:
            number = self._feature_number(split)
            cut = self.table.books[number].last_code_below(split.threshold)
            codes = groups.codes[number] if rows is None else groups.codes[number, rows]
            return np.asarray(codes.astype(np.int64) > cut)

        leaf_of_group = tree.route(groups.codes.shape[1], decide)
        return np.asarray(leaf_of_group[groups.of_row])

    def _feature_number(self, split: Split) -> int:
        # A share of more than 0 is written as a count; the feature of either kind tells it.
        for is_share in (isinstance(split.threshold, Fraction), True):
            number = self._number_of.get(Feature(split.column, split.modality, is_share))
            if number is not None:
                return number
        raise AssertionError(f"{split} splits on no feature of the table")


def preference(features: Sequence[Feature], formulas: Sequence[Formula]) -> IntArray:
    """Return the rank of every feature: smaller formulas first, then the order of columns."""
    keys = [
        (formulas[f.column].size, f.column, f.modality.sort_key(), f.is_share) for f in features
    ]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return ranks


def tree_from_grown(grown: Grown, features: Sequence[Feature], books: Sequence[Codebook]) -> Tree:
    """Return a grown tree with real thresholds in place of codes."""
    splits: list[Split | None] = []
    for number, code, next_code in zip(grown.feature, grown.code, grown.next_code, strict=True):
        if number < 0:
            splits.append(None)
        else:
            feature, book = features[number], books[number]
            threshold = book.threshold(code, next_code)
            splits.append(Split(feature.column, feature.modality, threshold))
    sums = np.array(grown.sums, dtype=float)
    return Tree(
        tuple(splits),
        tuple(low for low, _ in grown.children),
        tuple(high for _, high in grown.children),
        np.empty((len(splits), 0)),
        sums[:, -2],
    )


def _fingerprint(column: BoolArray, salt: npt.NDArray[np.uint64]) -> np.uint64:
    out = np.zeros(1, dtype=np.uint64)
    fingerprint(np.ascontiguousarray(column)[None, :].view(np.uint8), salt, out)
    return np.uint64(out[0])


def _feature_subsets(
    features: IntArray, share: float, width: int, rng: np.random.Generator
) -> list[IntArray]:
    """Return a random subset of the features for every tree of a layer.

    The subsets are dealt from shuffled decks, so that all features are seen about equally often:
    with few trees, independent draws would leave some out.
    """
    count = min(len(features), max(1, int(np.ceil(share * len(features)))))
    deck = features[:0]
    subsets = []
    for _ in range(width):
        hand, deck = deck[:count], deck[count:]
        if len(hand) < count:
            fresh = rng.permutation(features)
            # No card twice in one hand; those that were held back go under the new deck.
            repeated = np.isin(fresh, hand)
            fresh = np.concatenate([fresh[~repeated], fresh[repeated]])
            missing = count - len(hand)
            hand, deck = np.concatenate([hand, fresh[:missing]]), fresh[missing:]
        subsets.append(np.sort(hand))
    return subsets


def _restrict(
    histogram: IntArray, features: IntArray, chosen: IntArray, n_codes: IntArray
) -> IntArray:
    """Return the lines of a histogram that belong to the chosen features."""
    keep = np.isin(features, chosen)
    result: IntArray = histogram[np.repeat(keep, n_codes[features])]
    return result
