"""Rows reach the leaves that following the tree by hand leads to."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.learning.coded_trees import CodedTree
from gnn2logic.learning.kernels import sum_leaves

N_FEATURES = 4


@st.composite
def coded_trees(draw: st.DrawFn) -> CodedTree:
    """Draw a tree by splitting leaves of smaller ones."""
    feature, limit, children = [-1], [0], [(-1, -1)]
    for _ in range(draw(st.integers(0, 6))):
        leaf = draw(st.sampled_from([n for n, own in enumerate(feature) if own < 0]))
        feature[leaf], limit[leaf] = draw(st.integers(0, N_FEATURES - 1)), draw(st.integers(0, 5))
        children[leaf] = (len(feature), len(feature) + 1)
        feature += [-1, -1]
        limit += [0, 0]
        children += [(-1, -1), (-1, -1)]
    return CodedTree(tuple(feature), tuple(limit), tuple(children))


def leaves_from_left(tree: CodedTree, node: int = 0) -> list[int]:
    if tree.feature[node] < 0:
        return [node]
    low, high = tree.children[node]
    return leaves_from_left(tree, low) + leaves_from_left(tree, high)


def leaf_by_hand(tree: CodedTree, row: list[int]) -> int:
    node = 0
    while tree.feature[node] >= 0:
        node = tree.children[node][row[tree.feature[node]] > tree.limit[node]]
    return node


@settings(deadline=None)
@given(
    coded_trees(),
    st.lists(st.lists(st.integers(0, 6), min_size=N_FEATURES, max_size=N_FEATURES), max_size=8),
)
def test_leaves(tree: CodedTree, rows: list[list[int]]) -> None:
    codes = np.array(rows, dtype=np.uint8).reshape(-1, N_FEATURES).T
    expected = [leaf_by_hand(tree, row) for row in rows]
    order = leaves_from_left(tree)
    for layout in (np.ascontiguousarray(codes), np.asfortranarray(codes)):
        assert tree.leaf_nodes(layout).tolist() == expected
        found = tree.leaf_positions(layout)
        assert found.tolist() == [order.index(leaf) for leaf in expected]
    values = np.arange(2 * len(rows)).reshape(-1, 2) * 7 + 1
    by_hand = [
        [sum(int(values[n, k]) for n, leaf in enumerate(expected) if leaf == own) for k in (0, 1)]
        for own in order
    ]
    assert tree.n_leaves == len(order)
    assert sum_leaves(found, values, tree.n_leaves).tolist() == by_hand
    assert sum_leaves(found, values.astype(float), tree.n_leaves).tolist() == by_hand
