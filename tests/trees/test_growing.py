"""Trees, values and pruning against scikit-learn, which works on floats and sees every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gnn2logic.trees.coding import Codebook, ValueSpace
from gnn2logic.trees.growing import Candidates, Grown, GrowthLimits, grow
from gnn2logic.trees.pruning import gini_costs, pruning_path
from gnn2logic.trees.table import RowShard, ShardedTable

IntArray = npt.NDArray[np.int64]


def coded(X: IntArray) -> tuple[npt.NDArray[np.uint16], list[Codebook]]:
    space = ValueSpace.of_counts(int(X.max()))
    codes, books = [], []
    for column in X.T:
        values, code = np.unique(column, return_inverse=True)
        codes.append(code)
        books.append(Codebook(space, values, values))
    return np.array(codes, dtype=np.uint16), books


def grow_on(
    X: IntArray, targets: IntArray, weights: IntArray, limits: GrowthLimits, n_shards: int = 1
) -> Grown:
    codes, books = coded(X)
    ones = np.ones((len(X), 1), np.int64)
    sums = np.concatenate([targets * weights[:, None], weights[:, None], ones], axis=1)
    cuts = np.array_split(np.arange(len(X)), n_shards)
    shards = [RowShard(np.ascontiguousarray(codes[:, cut])) for cut in cuts]
    for shard, cut in zip(shards, cuts, strict=True):
        shard.start(0, sums[cut])
    table = ShardedTable(shards, np.array([book.n_codes for book in books]))
    features = np.arange(X.shape[1])
    candidates = Candidates(features, books, features)
    return grow(table, 0, candidates, limits, total=table.total(0))


def leaves_of(grown: Grown, X: IntArray) -> IntArray:
    codes, _ = coded(X)
    at = np.zeros(len(X), dtype=np.int64)
    for node, feature in enumerate(grown.feature):
        if feature >= 0:
            here = at == node
            above = codes[feature] > grown.code[node]
            at[here] = np.where(above[here], grown.children[node][1], grown.children[node][0])
    return at


def same_partition(first: IntArray, second: IntArray) -> bool:
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))


def data(seed: int, n: int = 120) -> tuple[IntArray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 12, size=(n, 6)), rng


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_trees_equal_scikit_learns(seed: int, weighted: bool) -> None:
    X, rng = data(seed)
    targets = rng.integers(-10_000, 10_000, size=(len(X), 3)) + 3000 * (X[:, :1] > 5)
    weights = rng.integers(1, 9, size=len(X)) if weighted else np.ones(len(X), np.int64)
    grown = grow_on(X, targets, weights, GrowthLimits(max_depth=3, min_rows_leaf=2))
    theirs = DecisionTreeRegressor(max_depth=3, min_samples_leaf=2, random_state=0)
    theirs.fit(X, targets, sample_weight=weights)
    leaves = leaves_of(grown, X)
    assert same_partition(leaves, theirs.apply(X))
    predicted = np.array(grown.sums)[:, :-2] / np.array(grown.sums)[:, -2:-1]
    assert np.allclose(predicted[leaves], theirs.predict(X))


@pytest.mark.parametrize("seed", range(6))
def test_classification_trees_and_pruning_paths_equal_scikit_learns(seed: int) -> None:
    X, rng = data(seed)
    y = (X[:, 0] + X[:, 1] * (rng.random(len(X)) < 0.7) > 10).astype(int) + (X[:, 2] > 9)
    weights = rng.integers(1, 1000, size=len(X))
    one_hot = np.eye(3, dtype=np.int64)[y]
    grown = grow_on(X, one_hot, weights, GrowthLimits(splits_without_gain=True))
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y, sample_weight=weights)
    assert same_partition(leaves_of(grown, X), theirs.apply(X))
    path = pruning_path(grown, gini_costs(grown))
    expected = theirs.cost_complexity_pruning_path(X, y, sample_weight=weights)
    assert np.allclose(path.alphas, expected.ccp_alphas)
    assert np.allclose(path.impurities, expected.impurities)
    for index in range(0, len(path.alphas), 3):
        pruned = DecisionTreeClassifier(random_state=0, ccp_alpha=path.alphas[index] + 1e-12)
        pruned.fit(X, y, sample_weight=weights)
        assert pruned.get_n_leaves() == count_leaves(grown, path.cut[index])


def count_leaves(grown: Grown, cut: frozenset[int]) -> int:
    stack, leaves = [0], 0
    while stack:
        node = stack.pop()
        if grown.feature[node] < 0 or node in cut:
            leaves += 1
        else:
            stack.extend(grown.children[node])
    return leaves


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_shards=st.integers(2, 7))
def test_shards_do_not_matter(seed: int, n_shards: int) -> None:
    X, rng = data(seed, n=40)
    targets = rng.integers(-5, 5, size=(len(X), 2))
    weights = rng.integers(1, 3, size=len(X))
    limits = GrowthLimits(max_depth=4)
    one = grow_on(X, targets, weights, limits)
    many = grow_on(X, targets, weights, limits, n_shards)
    assert (one.feature, one.code, one.next_code) == (many.feature, many.code, many.next_code)
    assert np.array_equal(one.sums, many.sums)


def test_the_variance_example_of_the_paper() -> None:
    """U1 is preferable to U0 for the targets 0.2, 0.8, 0.9, 0.1."""
    U = np.array([[0, 1], [1, 0], [0, 0], [1, 1]])
    targets = np.array([[2], [8], [9], [1]])
    grown = grow_on(U, targets, np.ones(4, np.int64), GrowthLimits(max_depth=1))
    assert grown.feature[0] == 1


def test_ties_go_to_the_preferred_feature() -> None:
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    targets = np.array([[0], [0], [1], [1]])
    codes, books = coded(X)
    sums = np.concatenate([targets, np.ones((4, 2), np.int64)], axis=1)
    for preference, winner in (([0, 1], 0), ([1, 0], 1)):
        shard = RowShard(codes)
        shard.start(0, sums)
        table = ShardedTable([shard], np.array([2, 2]))
        candidates = Candidates(np.arange(2), books, np.array(preference))
        grown = grow(table, 0, candidates, GrowthLimits(), total=table.total(0))
        assert grown.feature[0] == winner


def test_constant_targets_and_no_features_give_a_leaf() -> None:
    X = np.array([[0], [1], [2]])
    constant = np.full((3, 2), 7)
    ones = np.ones(3, np.int64)
    assert grow_on(X, constant, ones, GrowthLimits()).feature == [-1]
    table: Any = ShardedTable([RowShard(np.empty((0, 3), np.uint8))], np.empty(0, np.int64))
    table.shards[0].start(0, np.ones((3, 3), np.int64))
    candidates = Candidates(np.empty(0, np.int64), [], np.empty(0, np.int64))
    assert grow(table, 0, candidates, GrowthLimits(), total=table.total(0)).feature == [-1]


def test_random_thresholds_are_seeded() -> None:
    X, rng = data(3)
    targets = rng.integers(-50, 50, size=(len(X), 2))
    codes, books = coded(X)
    sums = np.concatenate([targets, np.ones((len(X), 2), np.int64)], axis=1)

    def run(seed: int) -> Grown:
        shard = RowShard(codes)
        shard.start(0, sums)
        table = ShardedTable([shard], np.array([book.n_codes for book in books]))
        limits = GrowthLimits(max_depth=2, random_thresholds=True)
        return grow(
            table,
            0,
            Candidates(np.arange(6), books, np.arange(6)),
            limits,
            total=table.total(0),
            seed=[seed],
        )

    assert run(1).code == run(1).code
    assert any(run(1).code != run(seed).code for seed in range(2, 8))
