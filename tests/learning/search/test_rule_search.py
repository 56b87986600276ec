"""Rules that a search finds: planted truths, the front, the choice, and what must not matter."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gnn2logic import Formula, GraphBatch, Modality, parse, random_graphs
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.levels import GraphLevel, NodeLevel
from gnn2logic.learning.search.neighbours import neighbours
from gnn2logic.learning.search.outcome import Choice, search_rules
from gnn2logic.learning.search.rounds import RoundSettings
from gnn2logic.learning.search.rule_search import RuleSearch, SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import SearchedRule, best_within
from gnn2logic.learning.search.selection import HeldOut, choose, stratified_folds

LOCAL = [Modality.from_set(name) for name in ("I", "A", "I+A")]
NARROW = SearchSettings(
    rounds=RoundSettings(depth=2, beam=8, pair_work=3_000_000, kept_pairs=60), most_conditions=600
)


def graphs(n: int, seed: int) -> GraphBatch:
    rng = np.random.default_rng(seed)
    return random_graphs(
        n,
        sizes=rng.integers(8, 16, n),
        density=rng.uniform(0.1, 0.9, n),
        random_state=rng,
    )


def labels_as_targets(labels: np.ndarray, weights: np.ndarray | None = None) -> SearchTargets:
    classes = labels.astype(np.int64)
    n_classes = int(classes.max()) + 1
    values = classes[:, None].astype(float) if n_classes == 2 else np.eye(n_classes)[classes]
    if weights is None:
        weights = np.ones(len(classes), dtype=np.int64)
    return SearchTargets(values, classes, weights, n_classes)


def searched(truth: Formula, batch: GraphBatch) -> list[SearchedRule]:
    level = GraphLevel(ColumnSpace(batch, LOCAL))
    targets = labels_as_targets(truth.evaluate(batch))
    return RuleSearch(level, targets, np.arange(len(batch)), NARROW).run()


@pytest.mark.parametrize(
    "text",
    [
        "1 U1 > 1/2",
        "1(U0 & U1) > 3",
        "1(U0 & A U1 > 1) > 2",
        "1(A U0 = 3) > 1",
        "4 <= 1(A U0 > 2) <= 9",
        "(1 U0 > 6 & 1 U1 <= 6) | (1 U0 <= 6 & 1 U1 > 6)",
        "1(A(U0 & U1) > 0) > 1/2",
        # What is counted second says much in one half of the graphs only, and nothing in all.
        "(1(A U0 > 3) > 4 & 1(U1 & A U1 > 2) > 3) | (1(A U0 > 3) <= 4 & 1(U1 & A U1 > 2) <= 3)",
    ],
)
def test_planted_rules_are_found_symbol_by_symbol(text: str) -> None:
    truth = parse(text)
    front = searched(truth, graphs(600, 0))
    fresh = graphs(3000, 1)
    rule = front[-1].formulas[1]
    np.testing.assert_array_equal(rule.evaluate(fresh), truth.evaluate(fresh), err_msg=str(rule))
    assert rule.size <= truth.size + 1


def test_the_front_goes_from_one_symbol_to_the_best_fit() -> None:
    front = searched(parse("1(A U0 > 2) > 3 & 1 U1 > 1/3"), graphs(300, 2))
    assert front[0].size == 1
    sizes, fits = [rule.size for rule in front], [rule.fit for rule in front]
    assert sizes == sorted(set(sizes))
    assert fits == sorted(set(fits))


def test_rules_predict_what_their_formulas_say() -> None:
    batch = graphs(300, 3)
    classes = (parse("1 U0 > 6").evaluate(batch).astype(int)) + parse("1 U1 > 5").evaluate(batch)
    level = GraphLevel(ColumnSpace(batch, LOCAL))
    front = RuleSearch(level, labels_as_targets(classes), np.arange(300), NARROW).run()
    assert front[-1].n_classes == 3
    for rule in front:
        truths = np.array([formula.evaluate(batch) for formula in rule.formulas])
        np.testing.assert_array_equal(truths.sum(axis=0), 1)
        np.testing.assert_array_equal(rule.predict(300), truths.argmax(axis=0))


def test_nodes_are_told_apart_too() -> None:
    batch = graphs(150, 4)
    truth = parse("U0 & A U1 > 2")
    level = NodeLevel(ColumnSpace(batch, LOCAL))
    targets = labels_as_targets(truth.evaluate(batch, level="node"))
    front = RuleSearch(level, targets, np.arange(batch.n_nodes), NARROW).run()
    assert front[-1].formulas[1] is truth


def test_one_rule_for_any_number_of_threads() -> None:
    batch = graphs(200, 5)
    truth = parse("1(U0 & A U1 > 2) > 2 & 1 U1 > 4")
    before = numba.get_num_threads()
    try:
        fronts = []
        for n_threads in (1, before):
            numba.set_num_threads(n_threads)
            fronts.append([(r.formulas, r.fit) for r in searched(truth, batch)])
    finally:
        numba.set_num_threads(before)
    assert fronts[0] == fronts[1]


def test_folds_share_the_space_and_nothing_else() -> None:
    """What other rows of the space are like, or were searched for, changes nothing."""
    batch = graphs(200, 6)
    truth = parse("1(A U0 > 2) > 3")
    rows = np.arange(0, 200, 2)
    alone = GraphLevel(ColumnSpace(batch, LOCAL))
    targets = labels_as_targets(truth.evaluate(batch))
    expected = RuleSearch(alone, targets, rows, NARROW).run()
    shared = GraphLevel(ColumnSpace(batch, LOCAL))
    other = labels_as_targets(parse("1(U0 & A U1 > 3) > 1").evaluate(batch))
    RuleSearch(shared, other, np.arange(200), NARROW).run()
    again = RuleSearch(shared, targets, rows, NARROW).run()
    assert [rule.fit for rule in again] == [rule.fit for rule in expected]
    assert [rule.size for rule in again] == [rule.size for rule in expected]


def test_neighbours_differ_in_one_place() -> None:
    texts = {str(other) for other in neighbours(parse("U0 & A U1 > 2"))}
    assert {"U0", "A U1 > 2", "U0 & A U1 > 3", "U0 & I+A U1 > 2", "U0 & A U1 > 1/2"} <= texts
    assert {"U0 | A U1 > 2", "!U0 & A U1 > 2", "U0 & U1"} <= texts
    assert "U0 & A U1 > 2" not in texts


def test_two_limits_of_one_count_are_read_once() -> None:
    batch = graphs(300, 8)
    front = searched(parse("4 <= 1(A U0 > 2) <= 9"), batch)
    counted = parse("A U0 > 2")
    assert str(front[-1].formulas[1]) == "4 <= 1(A U0 > 2) <= 9"
    assert front[-1].repeated == counted.size
    assert front[0].repeated == 0


# The choice -------------------------------------------------------------------------------------


def held_out(accuracies: list[float], n: int = 200) -> HeldOut:
    right = np.array([np.arange(n) < accuracy * n for accuracy in accuracies])
    return HeldOut(right.astype(float), np.ones(n))


def test_among_rules_of_one_accuracy_the_quickest_to_read_is_chosen() -> None:
    alike = held_out([0.5, 0.80, 0.80, 0.80])
    assert choose(alike, [1, 11, 12, 18], 40, 0.02) == 1
    assert choose(alike, [1, 11, 12, 18], 40, 0.02, lengths=[1, 11, 8, 14]) == 2
    # Those that are longer than they may be are not looked at.
    assert choose(alike, [1, 11, 42, 50], 40, 0.02, lengths=[1, 11, 8, 9]) == 1


def test_the_shortest_that_is_nearly_the_best_is_chosen() -> None:
    # One graph more decides nothing, three do.
    assert choose(held_out([0.5, 0.80, 0.805]), [1, 5, 9], 40, 0.01) == 1
    assert choose(held_out([0.5, 0.80, 0.815]), [1, 5, 9], 40, 0.01) == 2


def test_long_rules_are_taken_only_if_they_are_better_by_the_margin() -> None:
    figures = held_out([0.5, 0.80, 0.84])
    assert choose(figures, [1, 30, 60], 40, 0.01) == 2
    assert choose(figures, [1, 30, 60], 40, 0.05) == 1


def test_folds_are_even_in_every_class() -> None:
    classes = np.repeat([0, 1], [10, 25])
    folds = stratified_folds(classes, 5, [0])
    for number in (0, 1):
        assert set(np.bincount(folds[classes == number])) == {10 // 5 if number == 0 else 25 // 5}


def test_noise_is_not_learned() -> None:
    batch = graphs(300, 7)
    labels = np.random.default_rng(0).random(300) < 0.3
    level = GraphLevel(ColumnSpace(batch, LOCAL))
    outcome = search_rules(level, labels_as_targets(labels), np.arange(300), NARROW, Choice())
    assert outcome.rules[outcome.chosen].size == 1
    assert "held-out" in outcome.reason


def test_a_deadline_gives_the_best_so_far() -> None:
    batch = graphs(300, 8)
    labels = parse("1(A U0 > 2) > 3").evaluate(batch)
    level = GraphLevel(ColumnSpace(batch, LOCAL))
    outcome = search_rules(
        level, labels_as_targets(labels), np.arange(300), NARROW, Choice(max_seconds=0.0)
    )
    assert outcome.rules[-1].size > 1
    assert np.isnan(outcome.held_out).all()


def test_one_graph_of_each_class_leaves_nothing_to_hold_out() -> None:
    batch = graphs(3, 9)
    level = GraphLevel(ColumnSpace(batch, LOCAL))
    outcome = search_rules(level, labels_as_targets(np.arange(3)), np.arange(3), NARROW, Choice())
    assert np.isnan(outcome.held_out).all()
    assert "too few rows to hold any out" in outcome.reason
    assert outcome.finished


def test_the_longest_rule_within_a_size() -> None:
    front = searched(parse("1(U0 & A U1 > 1) > 2"), graphs(300, 8))
    sizes = [rule.size for rule in front]
    for most in (1, 3, 5, 1000):
        assert sizes[best_within(front, most)] == max(size for size in sizes if size <= most)
    # The constant rule is always allowed.
    assert best_within(front, 0) == 0
