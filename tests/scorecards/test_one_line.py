"""A scorecard of one line and a model with one condition are the same rule, and say so."""

from __future__ import annotations

import numpy as np
import pytest

from gnn2logic import IDTClassifier, ScorecardClassifier, from_formulas, parse, random_graphs
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.scorecards import CardPath, Line, PathRow, Scorecard, ScorecardPredictor
from gnn2logic.scorecards.formulas import card_formula

NAMES = ["U0", "U1"]


def one_line(condition: str, points: int, threshold: float) -> ScorecardPredictor:
    """Return a card of one line; "yes" is the second class, from a score above the threshold."""
    card = Scorecard(
        (Line((parse(condition),), ((points,),)),), (0,), 1.0, -threshold, "class", 2, "graph"
    )
    model = ScorecardPredictor()
    model.path_ = CardPath((PathRow(card, 1.0),), 0, "made")
    model.classes_ = np.array(["no", "yes"])
    model.encoder_ = from_formulas({"yes": condition}, otherwise="no", names=NAMES).encoder_
    assert isinstance(model.encoder_, FittedEncoder)
    model._level = "graph"
    model._parameters = {}
    return model


@pytest.mark.parametrize("condition", ["1 U0 > 3", "1(A U1 > 1/2) > 2", "1(U0 & !U1) > 1/3"])
@pytest.mark.parametrize(("points", "threshold"), [(2, 0.5), (1, 0.5), (-3, -0.5)])
def test_the_same_formula_and_the_same_answers(
    condition: str, points: int, threshold: float
) -> None:
    card = one_line(condition, points, threshold)
    rule = condition if points > 0 else f"!({condition})"
    idt = from_formulas({"yes": rule}, otherwise="no", names=NAMES)
    graphs = random_graphs(100, sizes=8, density=0.4, random_state=1)
    assert (card.predict(graphs) == idt.predict(graphs)).all()
    # Equal formulas are one object.
    assert card.formula("yes") is idt.formula("yes")
    assert card.formula("no") is idt.formula("no")
    assert str(card).endswith(f"One line is one rule: yes where {idt.formula('yes')}")
    assert str(idt).endswith("One condition is a scorecard of one line.")


def test_both_learners_find_the_same_rule() -> None:
    graphs = random_graphs(300, sizes=9, density=0.3, random_state=0)
    truth = np.where(parse("1(U0 & A U1 > 0) > 2").evaluate(graphs), "yes", "no")
    idt = IDTClassifier(n_layers=1, random_state=0).fit(graphs, truth)
    card = ScorecardClassifier(max_lines=1, n_layers=1, random_state=0).fit(graphs, truth)
    assert card.formula("yes") is idt.formula("yes")
    assert "One line is one rule" in str(card)
    assert "One condition is a scorecard of one line" in str(idt)


def test_more_than_one_condition_says_nothing_of_the_kind() -> None:
    idt = from_formulas({"yes": "1 U0 > 3 & 1 U1 > 2"}, otherwise="no", names=NAMES)
    assert "One condition" not in str(idt)
    rules = {"a": "1 U0 > 3", "b": "1 U0 > 1 & !(1 U0 > 3)"}
    three = from_formulas(rules, otherwise="c", names=NAMES)
    assert "One condition" not in str(three)


def test_steps_that_give_the_same_class_are_one_condition() -> None:
    conditions = tuple(parse(f"1 U0 > {n}") for n in (5, 6, 7))
    line = Line(conditions, ((1,), (3,), (4,)))
    for threshold, rule in ((0.5, "1 U0 > 5"), (2.5, "1 U0 > 6"), (3.5, "1 U0 > 7")):
        card = Scorecard((line,), (0,), 1.0, -threshold, "class", 2, "graph")
        assert card_formula(card, 1) is parse(rule)
    bump = Scorecard((Line(conditions, ((1,), (3,), (0,))),), (0,), 1.0, -2.5, "class", 2, "graph")
    assert str(card_formula(bump, 1)) == "1 U0 = 7"
