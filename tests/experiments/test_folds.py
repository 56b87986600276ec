"""Splits: every graph is tested once, classes are even, and everybody gets the same."""

from __future__ import annotations

import numpy as np
import pytest

from gnn2logic.datasets import load
from gnn2logic.exceptions import ParameterError
from gnn2logic.experiments.folds import fold_of, inner_splits, stream
from gnn2logic.experiments.plans import RunSettings, plan_for
from gnn2logic.graphs import GraphBatch

RUN = RunSettings(folds=5, seed=3)


def graph_keys(graphs: GraphBatch) -> list[bytes]:
    """Return something that tells graphs of 13 nodes apart."""
    return [
        graphs.take([number]).adjacency.toarray().tobytes()
        + graphs.take([number]).predicates.tobytes()
        for number in range(graphs.n_graphs)
    ]


def test_the_test_parts_are_all_graphs_once_with_their_labels() -> None:
    data = load("psi_1")
    label_of = dict(zip(graph_keys(data.graphs), data.y.tolist(), strict=True))
    tested: list[bytes] = []
    for number in range(RUN.folds):
        fold = fold_of("psi_1", number, RUN)
        keys = graph_keys(fold.test.graphs)
        assert [label_of[key] for key in keys] == fold.test.y.tolist()
        assert not set(keys) & set(graph_keys(fold.train.graphs))
        assert abs(fold.test.y.mean() - data.y.mean()) < 0.01
        tested += keys
    assert len(tested) == len(set(tested)) == len(data)


def test_folds_follow_the_seed_and_nothing_else() -> None:
    first, again = (fold_of("psi_1", 1, RUN) for _ in range(2))
    other = fold_of("psi_1", 1, RunSettings(folds=5, seed=4))
    assert graph_keys(first.test.graphs) == graph_keys(again.test.graphs)
    assert graph_keys(first.test.graphs) != graph_keys(other.test.graphs)


def test_too_many_folds_are_refused() -> None:
    with pytest.raises(ParameterError, match="folds must be a whole number from 2 to"):
        fold_of("psi_1", 0, RunSettings(folds=999))


def test_a_quick_run_takes_few_graphs_of_both_classes() -> None:
    fold = fold_of("psi_2", 0, RunSettings(folds=2, smoke=True))
    assert fold.train.graphs.n_graphs + fold.test.graphs.n_graphs == 60
    assert 0 < fold.test.y.mean() < 1


def test_inner_splits_stay_within_the_training_part() -> None:
    fold = fold_of("psi_1", 0, RUN)
    splits = inner_splits(fold.train.y, plan_for("psi_1", RUN), seed=1)
    assert len(splits) == 3
    for learned, held_out in splits:
        both = np.concatenate([learned, held_out])
        assert np.array_equal(np.sort(both), np.arange(len(fold.train.y)))
        assert len(held_out) == len(fold.train.y) // 4


def test_streams_differ_by_data_set_fold_and_purpose() -> None:
    seeds = {
        stream(run, dataset, fold, purpose)
        for run in (RUN, RunSettings(seed=5))
        for dataset in ("AIDS", "BZR")
        for fold in (0, 1)
        for purpose in ("GCN", "GIN")
    }
    assert len(seeds) == 16
