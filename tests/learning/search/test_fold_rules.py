"""What folds have found joins the rules of all rows where it is right about more of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gnn2logic import IDTClassifier, parse, random_graphs
from gnn2logic.learning.search.conditions import SearchCondition
from gnn2logic.learning.search.fold_rules import rules_of_folds
from gnn2logic.learning.search.rule_search import RuleSearch, SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import Branch, Leaf, SearchedRule

N = 40
CLASSES = np.arange(N) % 2
TARGETS = SearchTargets(
    CLASSES[:, None].astype(float), CLASSES.astype(np.int64), np.ones(N, dtype=np.int64), 2
)
SETTINGS = SearchSettings(least_rows=3, least_weight=3)


def rule(text: str, truth: np.ndarray, labels: tuple[int, int] = (1, 0)) -> SearchedRule:
    """Return a rule of one condition, with what it says where that is true and where it is not."""
    condition = SearchCondition(parse(text), truth, 0)
    return TARGETS.rule(Branch(condition, Leaf(labels[0]), Leaf(labels[1])), 0.5)


def right_about(n_right: int) -> np.ndarray:
    """Return a condition that tells the class of the first rows."""
    return np.asarray((CLASSES == 1) == (np.arange(N) < n_right))


def joined(fronts: list[list[SearchedRule]], front: list[SearchedRule]) -> list[SearchedRule]:
    return rules_of_folds(fronts, front, TARGETS, np.arange(N), SETTINGS, longest=20)


def test_rules_join_that_are_right_more_often_than_all_that_are_not_longer() -> None:
    front = [rule("1 U0 > 1", right_about(30)), rule("1(U0 & U1) > 1", right_about(34))]
    same, better = rule("1 U1 > 1", right_about(30)), rule("1 U1 > 2", right_about(32))
    long = rule("1(U0 & A U1 > 1) > 2", right_about(34))
    assert joined([[same], [long]], front) == []
    (new,) = joined([[same], [better, long]], front)
    assert new.formulas == better.formulas
    # What is right about 32 of 40 correlates with the classes by 0.6.
    assert new.fit == pytest.approx(0.36)


def test_what_is_right_about_all_rows_is_not_made_shorter() -> None:
    whole, short = rule("1(U0 & U1) > 1", right_about(N)), rule("1 U1 > 1", right_about(N))
    assert joined([[short]], [whole]) == []
    longer = rule(" & ".join(f"1(U0 & U1) > {most}" for most in range(9)), right_about(N))
    assert len(joined([[short]], [longer])) == 1
    assert joined([[longer]], [TARGETS.rule(Leaf(0), 0.0)]) == []


def test_leaves_say_what_is_best_for_all_rows() -> None:
    front = [TARGETS.rule(Leaf(0), 0.0)]
    (new,) = joined([[rule("1 U0 > 1", right_about(36), labels=(0, 1))]], front)
    assert [leaf.label for leaf in new.leaves] == [1, 0]
    # Where both sides say the same there is no condition.
    assert joined([[rule("1 U0 > 1", np.arange(N) < 20)]], front) == []


def test_what_tells_too_few_rows_apart_stays_outside() -> None:
    front = [TARGETS.rule(Leaf(0), 0.0)]
    two = rule("1 U0 > 1", (np.arange(N) < 4) & (CLASSES == 1))
    assert joined([[two]], front) == []
    three = rule("1 U0 > 1", (np.arange(N) < 6) & (CLASSES == 1))
    assert len(joined([[three]], front)) == 1


def test_what_all_rows_have_missed_is_found_by_a_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = random_graphs(200, sizes=10, density=0.4, random_state=0)
    labels = parse("1(U0 & A U1 > 1) > 2").evaluate(graphs)
    whole = RuleSearch.run

    def blind(self: RuleSearch, **given: object) -> list[SearchedRule]:
        front = whole(self, **given)  # type: ignore[arg-type]
        return front[:1] if len(self.rows) == len(graphs) else front

    monkeypatch.setattr(RuleSearch, "run", blind)
    model = IDTClassifier(n_layers=1, random_state=0).fit(graphs, labels)
    assert str(model.formula(True)) == "1(U0 & A U1 > 1) > 2"
    assert model.score(graphs, labels) == 1.0
    short = IDTClassifier(n_layers=1, max_size=3, random_state=0).fit(graphs, labels)
    assert max(row.size for row in short.rules_) <= 3


def test_weights_count() -> None:
    front = [rule("1 U0 > 1", right_about(36))]
    late = rule("1 U1 > 1", np.where(np.arange(N) >= 10, CLASSES == 1, CLASSES == 0))
    assert joined([[late]], front) == []
    heavy = replace(TARGETS, weights=np.where(np.arange(N) >= 36, 20, 1))
    assert len(rules_of_folds([[late]], front, heavy, np.arange(N), SETTINGS, longest=20)) == 1
