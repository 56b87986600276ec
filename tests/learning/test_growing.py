"""Trees, values and pruning against scikit-learn, which works on floats and sees every row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gnn2logic.engines import added
from gnn2logic.learning.coded_trees import Candidates, GrownTree
from gnn2logic.learning.coding import Codebook, ValueSpace
from gnn2logic.learning.final import gini_costs, pruning_path
from gnn2logic.learning.growing import Division, NodeRequest, TreeJob, grow
from gnn2logic.learning.shard.rows import RowTable
from gnn2logic.learning.shard.shelves import MemoryShelf
from gnn2logic.learning.small_nodes import NodeRows
from gnn2logic.learning.splitting import GrowthLimits

IntArray = npt.NDArray[np.int64]


def coded(X: IntArray) -> tuple[npt.NDArray[np.uint16], list[Codebook]]:
    space = ValueSpace.of_counts(int(X.max()))
    codes, books = [], []
    for column in X.T:
        values, code = np.unique(column, return_inverse=True)
        codes.append(code)
        books.append(Codebook(space, values, values))
    return np.array(codes, dtype=np.uint16), books


class Rows:
    """Coded rows in shards, at the root of one tree."""

    def __init__(self, codes: npt.NDArray[np.uint16], sums: IntArray, n_shards: int = 1) -> None:
        self.total = sums.sum(axis=0)
        self.shards = []
        for cut in np.array_split(np.arange(len(sums)), n_shards):
            rows = (int(cut[0]), len(cut))
            shard = RowTable(MemoryShelf(), "x", rows, code_type=np.uint16, node_type=np.int32)
            shard.propose(np.ascontiguousarray(codes[:, cut]))
            n_codes = codes.max(axis=1, initial=0) + 1
            shard.keep([range(len(codes))], n_codes.tolist())
            shard.refine()
            shard.start(1, [shard.group_sums(sums[cut])])
            self.shards.append(shard)

    def advance(
        self,
        divisions: Sequence[Division],
        summed: Sequence[NodeRequest],
        listed: Sequence[NodeRequest],
    ) -> tuple[list[IntArray], list[NodeRows]]:
        total = None
        for shard in self.shards:
            shard.divide(divisions)
            answer = [shard.histogram(r) for r in summed], [shard.rows_of(r) for r in listed]
            total = added(total, answer)
        assert total is not None
        found: tuple[list[IntArray], list[NodeRows]] = total
        return found

    def grow(
        self,
        candidates: Candidates,
        limits: GrowthLimits,
        *,
        seed: list[int] | None = None,
        cells: int = 2**20,
        small: int = 0,
    ) -> GrownTree:
        job = TreeJob(0, candidates, self.total, seed=seed)
        (grown,) = grow(self.advance, [job], limits, cells=cells, small=small)
        return grown


def with_counts(targets: IntArray, weights: IntArray) -> IntArray:
    ones = np.ones((len(targets), 1), np.int64)
    return np.concatenate([targets * weights[:, None], weights[:, None], ones], axis=1)


def grow_on(
    X: IntArray,
    targets: IntArray,
    weights: IntArray,
    limits: GrowthLimits,
    n_shards: int = 1,
    small: int = 0,
) -> GrownTree:
    codes, books = coded(X)
    features = np.arange(X.shape[1])
    table = Rows(codes, with_counts(targets, weights), n_shards)
    return table.grow(Candidates(features, books, features), limits, small=small)


def leaves_of(grown: GrownTree, X: IntArray) -> IntArray:
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


def count_leaves(grown: GrownTree, cut: frozenset[int]) -> int:
    stack, leaves = [0], 0
    while stack:
        node = stack.pop()
        if grown.feature[node] < 0 or node in cut:
            leaves += 1
        else:
            stack.extend(grown.children[node])
    return leaves


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_shards=st.integers(1, 7),
    cells=st.sampled_from([1, 50, 10**6]),
    small=st.sampled_from([0, 60, 10**6]),
    depth=st.sampled_from([2, 4, None]),
    random_thresholds=st.booleans(),
    labels=st.booleans(),
)
def test_how_rows_are_asked_for_does_not_matter(
    seed: int,
    n_shards: int,
    cells: int,
    small: int,
    depth: int | None,
    random_thresholds: bool,
    labels: bool,
) -> None:
    X, rng = data(seed, n=40)
    targets = rng.integers(-5, 5, size=(len(X), 2))
    if labels:
        targets = np.eye(3, dtype=np.int64)[rng.integers(0, 3, len(X))]
    codes, books = coded(X)
    sums = with_counts(targets, rng.integers(1, 3, size=len(X)))
    candidates = Candidates(np.arange(6), books, rng.permutation(6))
    limits = GrowthLimits(depth, 2, random_thresholds, splits_without_gain=labels)
    one = Rows(codes, sums).grow(candidates, limits, seed=[seed])
    many = Rows(codes, sums, n_shards).grow(
        candidates, limits, seed=[seed], cells=cells, small=small
    )
    assert (one.feature, one.code, one.next_code) == (many.feature, many.code, many.next_code)
    assert one.children == many.children
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
    sums = with_counts(targets, np.ones(4, np.int64))
    for preference, winner in (([0, 1], 0), ([1, 0], 1)):
        candidates = Candidates(np.arange(2), books, np.array(preference))
        for small in (0, 100):
            grown = Rows(codes, sums).grow(candidates, GrowthLimits(), small=small)
            assert grown.feature[0] == winner


def test_constant_targets_and_no_features_give_a_leaf() -> None:
    X = np.array([[0], [1], [2]])
    constant = np.full((3, 2), 7)
    ones = np.ones(3, np.int64)
    assert grow_on(X, constant, ones, GrowthLimits()).feature == [-1]
    table = Rows(np.empty((0, 3), np.uint16), np.ones((3, 3), np.int64))
    candidates = Candidates(np.empty(0, np.int64), [], np.empty(0, np.int64))
    assert table.grow(candidates, GrowthLimits()).feature == [-1]


def test_random_thresholds_are_seeded() -> None:
    X, rng = data(3)
    targets = rng.integers(-50, 50, size=(len(X), 2))
    codes, books = coded(X)
    candidates = Candidates(np.arange(6), books, np.arange(6))
    limits = GrowthLimits(max_depth=2, random_thresholds=True)
    sums = with_counts(targets, np.ones(len(X), np.int64))

    def run(seed: int) -> GrownTree:
        return Rows(codes, sums).grow(candidates, limits, seed=[seed])

    assert run(1).code == run(1).code
    assert any(run(1).code != run(seed).code for seed in range(2, 8))
