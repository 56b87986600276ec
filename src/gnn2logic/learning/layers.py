"""Learning the inner layers, from sums over shards of whole graphs.

The paper's algorithm: the table of a layer has one feature for every column and modal parameter;
trees are fitted to the next representations; leaves with close predictions are merged into leaf
sets; each leaf set is a new column for all later layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.model import Column, InputPredicate, Layer, LeafSet, TrueColumn
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.learning.coded_trees import (
    Candidates,
    CodedTree,
    GrownTree,
    all_subsets,
    merge_leaves,
)
from gnn2logic.learning.coding import Codebook, Measure
from gnn2logic.learning.features import Feature, FeatureTable, first_of_equals
from gnn2logic.learning.growing import NodeRequest, TreeJob, grow
from gnn2logic.learning.layer_targets import quantiser_of
from gnn2logic.learning.settings import LayerSettings
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.state import ShardState
from gnn2logic.learning.splitting import GrowthLimits
from gnn2logic.learning.targets import Quantiser
from gnn2logic.logic.syntax import TRUE, Formula, predicate

__all__ = ["GraphWeights", "InnerLearner", "preference", "tree_from_grown"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Inner trees see small codes: one byte per node and feature.
_INNER_BINS = 256


@dataclass(frozen=True)
class GraphWeights:
    """The total weight of all nodes, and which graphs have any."""

    total: int
    heavy: BoolArray


class UnknownFeatureError(LookupError):
    """A tree that was learned elsewhere looks at something that this data or fit does not have."""


class InnerLearner:
    """Grows one layer after the other.

    Parameters
    ----------
    shards : Shards
        The shards.
    names : sequence of str
        The input predicates.
    weights : GraphWeights
    two_classes : bool
        Whether layers are fitted to two classes of graphs.
    """

    def __init__(
        self, shards: Shards, names: Sequence[str], weights: GraphWeights, *, two_classes: bool
    ) -> None:
        self.shards = shards
        self.table = FeatureTable(shards, "nodes", max_bins=_INNER_BINS)
        self.columns: list[Column] = []
        self.formulas: list[Formula] = []
        self.layers: list[Layer] = []
        self._weights = weights
        self._two_classes = two_classes
        self._known: dict[int, list[int]] = {}
        self._done: dict[Modality, int] = {}
        self._number_of: dict[Feature, int] = {}
        inputs: list[tuple[Column, Formula]] = [(TrueColumn(), TRUE)]
        inputs += [(InputPredicate(name), predicate(name)) for name in names]
        self._add_columns(inputs, shards.ask(ShardState.propose_inputs, tuple(names)))

    # Columns ---------------------------------------------------------------------------------

    def _add_columns(
        self,
        proposed: Sequence[tuple[Column, Formula]],
        prints: npt.NDArray[np.uint64],
    ) -> None:
        """Append the proposed columns that equal no earlier one on all the data."""
        start = len(self.columns)
        keys = dict(enumerate(prints.tolist(), start=start))

        def differ(pairs: Sequence[tuple[int, int]]) -> IntArray:
            return self.shards.ask(ShardState.column_differences, pairs)

        kept = first_of_equals(keys, self._known, differ)
        for number, old_number in enumerate(kept, start=start):
            alike = self._known[keys[old_number]]
            alike[alike.index(old_number)] = number
            column, formula = proposed[old_number - start]
            self.columns.append(column)
            self.formulas.append(formula)
        self.shards.tell(ShardState.keep_columns, [number - start for number in kept])

    def prepare(self, modalities: Sequence[Modality], measures: Sequence[Measure]) -> None:
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
                self.table.add(numbers, group, measures)
        new = enumerate(self.table.features[known:], start=known)
        self._number_of.update((feature, number) for number, feature in new)

    def usable(self, modalities: Sequence[Modality]) -> IntArray:
        """Return the numbers of the features along some modal parameters."""
        allowed = set(modalities)
        numbers = [n for n, f in enumerate(self.table.features) if f.modality in allowed]
        return np.array(numbers, dtype=np.int64)

    # Layers ----------------------------------------------------------------------------------

    def learn_layer(self, settings: LayerSettings, seed: Sequence[int]) -> None:
        """Grow the trees of the next layer and append their leaf sets as columns.

        Parameters
        ----------
        seed : sequence of int
            With the numbers of layer and tree it gives each tree a random stream of its own.
        """
        self.prepare(settings.modalities, settings.measures)
        layer = len(self.layers)
        quantiser = quantiser_of(
            self.shards,
            layer,
            self._known,
            total_weight=self._weights.total,
            n_directions=settings.n_directions,
            two_classes=self._two_classes,
        )
        grown = self._grow(quantiser, settings, [*seed, layer])
        trees = [tree_from_grown(each, self.table.features, self.table.books) for each in grown]
        coded = [self._coded(tree) for tree in trees]
        sets = self._leaf_sets(trees, coded, quantiser, settings)
        self.shards.tell(ShardState.finish_layer)
        self._append_layer(trees, coded, sets)

    def repeat_layer(
        self,
        trees: Sequence[Tree],
        sets: Sequence[Sequence[tuple[int, ...]]],
        settings: LayerSettings,
    ) -> None:
        """Append a layer that was learned before: its trees, and the sets of leaves it kept."""
        self.prepare(settings.modalities, settings.measures)
        self._append_layer(trees, [self._coded(tree) for tree in trees], sets)

    def _append_layer(
        self,
        trees: Sequence[Tree],
        coded: Sequence[CodedTree],
        sets: Sequence[Sequence[tuple[int, ...]]],
    ) -> None:
        """Append a layer and sets of leaves of its trees as columns."""
        layer = len(self.layers)
        self.layers.append(Layer(tuple(trees)))
        proposed: list[tuple[Column, Formula]] = [
            # Reading sizes only matters for ties, so the formula is not simplified here.
            (LeafSet(layer, number, leaves), tree.leaf_formula(leaves, self.formulas))
            for number, (tree, members) in enumerate(zip(trees, sets, strict=True))
            for leaves in members
        ]
        self._add_columns(proposed, self.shards.ask(ShardState.propose_leaf_sets, coded, sets))

    def _grow(
        self, quantiser: Quantiser, settings: LayerSettings, seed: Sequence[int]
    ) -> list[GrownTree]:
        features = self.usable(settings.modalities)
        layer, width, share = len(self.layers), settings.width, settings.graph_share
        draw = np.random.default_rng(seed)
        subsets = _feature_subsets(features, settings.feature_share, width, draw)
        chosen = None
        if share is not None:
            chosen = [self._some_graphs(share, [*seed, number]) for number in range(width)]
        totals = self.shards.ask(ShardState.start_layer, layer, quantiser, width, chosen)
        ranks = preference(self.table.features, self.formulas)
        root = None
        if chosen is None:
            # All trees have the same rows at the root.
            request = NodeRequest(0, 0, features)
            (root,), _ = self.shards.ask(ShardState.advance, self.table.rows, [], [request], [])
        n_codes = self.table.n_codes
        jobs = [
            TreeJob(
                number,
                Candidates(subset, self.table.books, ranks),
                totals[number],
                root=None if root is None else _restricted(root, features, subset, n_codes),
                seed=[*seed, number] if settings.random_thresholds else None,
            )
            for number, subset in enumerate(subsets)
        ]
        limits = GrowthLimits(
            max_depth=settings.depth,
            min_rows_leaf=settings.min_rows_leaf,
            random_thresholds=settings.random_thresholds,
        )
        return grow(
            lambda *asked: self.shards.ask(ShardState.advance, self.table.rows, *asked),
            jobs,
            limits,
            cells=self.shards.cells,
        )

    def _leaf_sets(
        self,
        trees: Sequence[Tree],
        coded: Sequence[CodedTree],
        quantiser: Quantiser,
        settings: LayerSettings,
    ) -> list[list[tuple[int, ...]]]:
        """Return the sets of leaves of each tree that become columns."""
        if settings.leaf_sets == "all":
            return [all_subsets(tree.n_leaves) for tree in trees]
        sums, weights = self.shards.ask(ShardState.leaf_sums, coded)
        sets = []
        for tree, full, weight in zip(trees, sums, weights, strict=True):
            means = [
                quantiser.scale.mean(leaf_sums, total)
                for leaf_sums, total in zip(full, weight.tolist(), strict=True)
            ]
            merged = merge_leaves(np.array(means), weight.astype(float))
            subtrees = tree.subtrees if settings.leaf_sets == "nested" else []
            sets.append(list(dict.fromkeys([*merged, *subtrees])))
        return sets

    def _some_graphs(self, share: float, seed: Sequence[int]) -> BoolArray:
        """Return a random choice of graphs, a share of those that have weight at all."""
        candidates = np.flatnonzero(self._weights.heavy)
        count = max(1, round(share * len(candidates)))
        allowed = np.zeros(len(self._weights.heavy), dtype=bool)
        allowed[np.random.default_rng(seed).choice(candidates, count, replace=False)] = True
        return allowed

    def _coded(self, tree: Tree) -> CodedTree:
        """Return the tree in terms of features and codes."""
        feature = [-1 if split is None else self._feature_number(split) for split in tree.splits]
        limit = [
            -1 if split is None else self.table.books[number].last_code_below(split.threshold)
            for split, number in zip(tree.splits, feature, strict=True)
        ]
        children = zip(tree.false_child, tree.true_child, strict=True)
        return CodedTree(tuple(feature), tuple(limit), tuple(children))

    def _feature_number(self, split: Split) -> int:
        # A share of more than 0 is written as a count; the feature of either measure tells it.
        written = Measure.SHARE if isinstance(split.threshold, Fraction) else Measure.COUNT
        for measure in (written, Measure.SHARE):
            number = self._number_of.get(Feature(split.column, split.modality, measure))
            if number is not None:
                return number
        raise UnknownFeatureError(f"{split} splits on no feature of the data")


def preference(features: Sequence[Feature], formulas: Sequence[Formula]) -> IntArray:
    """Return the rank of every feature: smaller formulas first, then the order of columns."""
    keys = [
        (formulas[f.column].size, f.column, f.modality.sort_key(), f.measure.value)
        for f in features
    ]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return ranks


def tree_from_grown(
    grown: GrownTree, features: Sequence[Feature], books: Sequence[Codebook]
) -> Tree:
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


def _restricted(
    histogram: IntArray, features: IntArray, chosen: IntArray, n_codes: IntArray
) -> Callable[[], IntArray]:
    """Return what gives the lines of a histogram that belong to the chosen features."""

    def lines() -> Any:
        return histogram[np.repeat(np.isin(features, chosen), n_codes[features])]

    return lines
