"""Searches with little time, rare classes, samples, and long perfect rules."""

from __future__ import annotations

import numpy as np
import pytest

from gnn2logic import IDTClassifier, parse, random_graphs
from gnn2logic.learning.search import outcome as outcomes
from gnn2logic.learning.search.clock import Clock
from gnn2logic.learning.search.selection import held_out_folds


def test_a_fold_without_time_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that is up in the first fold leaves the rule of all data, not a constant."""
    graphs = random_graphs(120, sizes=9, density=0.4, random_state=0)
    labels = parse("1(U0 & A U1 > 1) > 1").evaluate(graphs)
    calls = 0

    class Ended(Clock):
        def goes_on(self) -> bool:
            nonlocal calls
            calls += 1
            return calls <= limit

    monkeypatch.setattr(outcomes, "Clock", Ended)
    for limit in (1, 4, 6, 8):
        calls = 0
        model = IDTClassifier(n_layers=1, random_state=0).fit(graphs, labels)
        assert model.score(graphs, labels) > 0.95, limit
        said = " ".join(str(model).split())
        assert "the time was up" in said or "folds were searched before the end" in said


def test_a_rare_class_is_found() -> None:
    graphs = random_graphs(300, sizes=8, density=0.3, random_state=0)
    gold = np.zeros((graphs.n_nodes, 1), dtype=bool)
    rare = [10, 90, 170, 250]
    for graph in rare:
        gold[graphs.ptr[graph]] = True
    named = graphs.with_predicates(np.hstack([graphs.predicates, gold]), [*graphs.names, "gold"])
    labels = np.isin(np.arange(300), rare)
    model = IDTClassifier(n_layers=0, random_state=0).fit(named, labels)
    assert str(model.formula(True)) == "1 gold > 0"


def test_rules_of_a_sample_are_a_front_on_all_data() -> None:
    graphs = random_graphs(300, sizes=9, density=0.4, random_state=1)
    truth = parse("1(U0 & A U1 > 1) > 2").evaluate(graphs)
    labels = truth ^ (np.random.default_rng(0).random(300) < 0.15)
    model = IDTClassifier(n_layers=1, max_samples=0.2, random_state=0).fit(graphs, labels)
    sizes, accuracies = ([getattr(r, name) for r in model.rules_] for name in ("size", "accuracy"))
    assert sizes == sorted(sizes)
    assert accuracies == sorted(set(accuracies))
    assert model.score(graphs, labels) == pytest.approx(model.rules_.chosen.accuracy)


def test_one_row_of_a_class_is_learned_from_and_others_are_held_out() -> None:
    graphs = random_graphs(100, sizes=9, density=0.4, random_state=2)
    labels = parse("1 U0 > 4").evaluate(graphs).astype(int)
    labels[0] = 2
    model = IDTClassifier(n_layers=0, random_state=0).fit(graphs, labels)
    assert all(rule.held_out is not None for rule in model.rules_)


def test_a_rare_class_does_not_make_fewer_folds() -> None:
    classes = np.repeat([0, 1, 2, 3], [100, 50, 2, 1])
    folds = held_out_folds(classes, 4, None, (0,))
    assert folds is not None
    assert np.bincount(folds[:-1]).tolist() == [31, 31, 30, 30, 30]
    assert folds[-1] == -1
    assert len(set(folds[150:152].tolist())) == 2
    few = held_out_folds(np.array([0, 0, 1, 1, 1]), 2, None, (0,))
    assert few is not None
    assert few.max() == 2
    assert held_out_folds(np.array([0, 1, 2]), 3, None, (0,)) is None
