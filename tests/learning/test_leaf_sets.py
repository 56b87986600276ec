from __future__ import annotations

import numpy as np

from gnn2logic.learning.coded_trees import all_subsets, merge_leaves


def test_merging_leaves() -> None:
    values = np.array([[0.0], [10.0], [1.0], [10.5]])
    sets = merge_leaves(values, np.array([1.0, 1.0, 3.0, 1.0]))
    assert sets == [(0,), (1,), (2,), (3,), (1, 3), (0, 2), (0, 1, 2, 3)]
    assert len(merge_leaves(np.zeros((5, 2)), np.ones(5))) == 9
    assert merge_leaves(np.zeros((1, 2)), np.ones(1)) == [(0,)]


def test_merging_uses_weighted_means() -> None:
    # (0, 1) merge to 0.9 or to 0.1 depending on the weights, which decides what 2 is closer to.
    values = np.array([[0.0], [1.0], [2.05], [-1.0]])
    heavy_right = merge_leaves(values, np.array([1.0, 9.0, 1.0, 1.0]))
    heavy_left = merge_leaves(values, np.array([9.0, 1.0, 1.0, 1.0]))
    assert (0, 1, 2) in heavy_right
    assert (0, 1, 3) in heavy_left


def test_all_subsets() -> None:
    assert all_subsets(2) == [(0,), (1,), (0, 1)]
    assert len(all_subsets(4)) == 15
