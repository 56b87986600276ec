"""Baselines: the kernel against colours refined in plain Python, the counts by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnn2logic as gl
from gnn2logic.experiments.baselines import (
    count_features,
    learn_baseline,
    optimal_assignment_kernel,
    wl_counts,
    wl_kernel,
)
from gnn2logic.experiments.folds import fold_of, inner_splits
from gnn2logic.experiments.plans import RunSettings, plan_for


def slow_colours(graphs: gl.GraphBatch, n_rounds: int) -> list[Counter[object]]:
    """Return the colours of each graph as nested tuples."""
    near = graphs.adjacency.toarray()
    colours: list[object] = [tuple(line) for line in graphs.predicates.tolist()]
    for _ in range(n_rounds):
        colours = [
            (
                own,
                tuple(sorted(Counter(colours[w] for w in np.flatnonzero(line)).items(), key=repr)),
            )
            for own, line in zip(colours, near, strict=True)
        ]
    return [Counter(colours[a:b]) for a, b in zip(graphs.ptr[:-1], graphs.ptr[1:], strict=True)]


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), n_rounds=st.integers(0, 3))
def test_colours_are_those_of_the_definition(seed: int, n_rounds: int) -> None:
    graphs = gl.random_graphs(6, sizes=5, density=0.4, random_state=seed)
    slow = slow_colours(graphs, n_rounds)
    counts = wl_counts(graphs, n_rounds)[n_rounds].toarray()
    products = [[sum(a[key] * b[key] for key in a) for b in slow] for a in slow]
    assert (counts @ counts.T).tolist() == products


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), n_rounds=st.integers(0, 3))
def test_the_assignment_kernel_adds_up_what_colours_have_in_common(
    seed: int, n_rounds: int
) -> None:
    graphs = gl.random_graphs(6, sizes=5, density=0.4, random_state=seed)
    rounds = [slow_colours(graphs, number) for number in range(n_rounds + 1)]
    common = np.array(
        [
            [sum((colours[a] & colours[b]).total() for colours in rounds) for b in range(6)]
            for a in range(6)
        ]
    )
    own = np.sqrt(np.diag(common))
    kernel = optimal_assignment_kernel(wl_counts(graphs, n_rounds))
    assert np.allclose(kernel, common / np.outer(own, own))


def test_the_kernel_is_a_cosine_and_blind_where_colours_are() -> None:
    hexagon = [(v, (v + 1) % 6) for v in range(6)]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    path = [(v, v + 1) for v in range(5)]
    graphs = [gl.from_edges(each, 6).symmetrize() for each in (hexagon, triangles, path)]
    kernel = wl_kernel(wl_counts(gl.GraphBatch.concat(graphs), 3))
    assert np.allclose(np.diag(kernel), 1)
    assert kernel[0, 1] == pytest.approx(1)
    assert kernel[0, 2] < 0.9


def test_counts_of_a_star() -> None:
    star = gl.from_edges([(0, leaf) for leaf in range(1, 15)], 15).symmetrize()
    # 15 nodes; 14 of degree 1; the hub is among the degrees above 12.
    assert count_features(star).tolist() == [[15, 0, 14, *[0] * 11, 1]]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("Majority", 0.4),
        ("Counts tree", 0.8),
        ("Forest", 0.8),
        ("WL kernel", 0.7),
        ("WL-OA", 0.7),
    ],
)
def test_baselines_learn_what_they_can(name: str, least: float) -> None:
    run = RunSettings(folds=2, smoke=True)
    fold = fold_of("psi_0", 0, run)
    splits = inner_splits(fold.train.y, plan_for("psi_0", run), seed=1)
    learned = learn_baseline(name, fold.train, fold.test.graphs, splits, seed=1)
    assert np.mean(learned.predictions == fold.test.y) >= least
    assert learned.scores.shape == (len(fold.test.y), 2)
    if name == "Majority":
        assert len(set(learned.predictions.tolist())) == 1
