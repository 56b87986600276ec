"""A score is the sum of its evaluated lines, and a card is the formula that it says it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic import parse, random_graphs
from gnn2logic.exceptions import FormulaError, ParameterError
from gnn2logic.graphs import Modality
from gnn2logic.logic.documents import formula_to_document
from gnn2logic.logic.syntax import conjunction, modal, negation
from gnn2logic.scorecards import Line, Scorecard
from gnn2logic.scorecards.formulas import card_formula
from gnn2logic.scorecards.tables import card_table, table_to_html, table_to_text
from oracle import PlainGraph, truth
from strategies import any_graphs, formulas, plain_graphs, to_batch

GRAPH = Modality.from_set("1")


@st.composite
def lines(draw: st.DrawFn, n_columns: int) -> Line:
    """Draw a line with one condition, or with rising thresholds of one count."""
    counted = draw(formulas(max_steps=3, directed=False))
    limits = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True))
    numbers = st.tuples(*[st.integers(-4, 4)] * n_columns)
    points = tuple(draw(numbers) for _ in limits)
    return Line(tuple(modal(GRAPH, counted, limit) for limit in sorted(limits)), points)


@st.composite
def cards(draw: st.DrawFn, n_classes: int) -> Scorecard:
    n_columns = 1 if n_classes == 2 else n_classes
    drawn = draw(st.lists(lines(n_columns), max_size=4))
    base = tuple(draw(st.integers(-2, 2)) for _ in range(n_columns))
    intercept = draw(st.floats(-4, 4)) if n_classes == 2 else 0.0
    return Scorecard(tuple(drawn), base, 0.7, intercept, "class", n_classes, "graph")


def slow_score(card: Scorecard, graph: PlainGraph) -> list[int]:
    """Add up points condition by condition, as the oracle sees them."""
    total = list(card.base)
    for line in card.lines:
        held = 0
        for formula in line.conditions:
            held += all(truth(formula_to_document(formula), graph))
        if held:
            total = [a + b for a, b in zip(total, line.points[held - 1], strict=True)]
    return total


@given(cards(2), st.lists(plain_graphs(), min_size=1, max_size=3))
@settings(max_examples=80)
def test_a_score_is_the_sum_of_its_lines(card: Scorecard, graphs: list[PlainGraph]) -> None:
    batch = to_batch(*graphs)
    scores = card.scores(card.held(batch))
    assert scores.tolist() == [slow_score(card, graph) for graph in graphs]
    raw = card.intercept + card.slope * scores[:, 0]
    assert card.classes(scores).tolist() == (raw > 0).astype(int).tolist()
    chance = card.probabilities(scores)
    assert ((chance[:, 1] >= 0.5) | (raw <= 0)).all()
    assert ((chance[:, 1] <= 0.5) | (raw > 0)).all()
    assert np.allclose(chance.sum(axis=1), 1)


@given(cards(2), st.lists(any_graphs, min_size=1, max_size=3))
@settings(max_examples=80)
def test_two_classes_are_formulas(card: Scorecard, graphs: list[PlainGraph]) -> None:
    for graph in graphs:
        batch = to_batch(graph)
        predicted = card.classes(card.scores(card.held(batch)))[0]
        assert card_formula(card, 1).evaluate(batch).tolist() == [predicted == 1]
        assert card_formula(card, 0).evaluate(batch).tolist() == [predicted == 0]


@given(cards(3), plain_graphs())
@settings(max_examples=60)
def test_three_classes_are_formulas(card: Scorecard, graph: PlainGraph) -> None:
    batch = to_batch(graph)
    predicted = card.classes(card.scores(card.held(batch)))[0]
    truths = [card_formula(card, number).evaluate(batch)[0] for number in range(3)]
    assert truths == [number == predicted for number in range(3)]


def test_a_card_of_one_line_is_its_condition() -> None:
    condition = parse("1(U0 & A U1 > 1) > 2")
    for points, intercept in ((3, -1.0), (1, -0.5)):
        card = Scorecard((Line((condition,), ((points,),)),), (0,), 1.0, intercept, *_TWO)
        assert card_formula(card, 1) is condition
    minus = Scorecard((Line((condition,), ((-2,),)),), (0,), 1.0, 1.0, *_TWO)
    assert card_formula(minus, 1) is negation(condition)


_TWO: tuple[Any, ...] = ("class", 2, "graph")


def test_a_long_card_is_a_formula_with_shared_parts() -> None:
    conditions = [parse(f"1 U0 > {n}") for n in range(40)]
    points = [(-1) ** n * (n % 5 + 1) for n in range(40)]
    made = tuple(Line((c,), ((p,),)) for c, p in zip(conditions, points, strict=True))
    card = Scorecard(made, (0,), 1.0, 0.5, *_TWO)
    batch = random_graphs(50, sizes=range(1, 51), random_state=0)
    predicted = card.classes(card.scores(card.held(batch)))
    assert card_formula(card, 1).evaluate(batch).tolist() == (predicted == 1).tolist()


def test_too_many_classes_and_lines_are_refused_as_a_formula() -> None:
    rng = np.random.default_rng(0)
    made = tuple(
        Line((parse(f"1 U0 > {n}"),), (tuple(rng.integers(-50, 50, 6).tolist()),))
        for n in range(30)
    )
    card = Scorecard(made, (0,) * 6, 1.0, 0.0, "class", 6, "graph")
    with pytest.raises(FormulaError, match="more than 50000 parts"):
        card_formula(card, 0)


def test_conditions_of_a_line_must_be_about_one_count() -> None:
    weak, strong = parse("1 U0 > 2"), parse("1 U0 > 5")
    Line((weak, strong), ((1,), (2,)))
    for pair in ((strong, weak), (weak, parse("1 U1 > 5")), (weak, parse("1 U0 > 1/2"))):
        with pytest.raises(FormulaError, match="about one count"):
            Line(pair, ((1,), (2,)))
    with pytest.raises(ParameterError, match="A line needs a condition"):
        Line((weak,), ())


def test_a_card_for_graphs_needs_conditions_on_graphs() -> None:
    with pytest.raises(FormulaError, match="about whole graphs"):
        Scorecard((Line((parse("U0"),), ((1,),)),), (0,), 1.0, 0.0, *_TWO)
    Scorecard((Line((parse("U0"),), ((1,),)),), (0,), 1.0, 0.0, "class", 2, "node")


@pytest.mark.parametrize(
    ("slope", "intercept"), [(0.0, 0.0), (-1.0, 0.0), (np.inf, 0), (1, np.nan)]
)
def test_slope_and_intercept_must_be_numbers(slope: float, intercept: float) -> None:
    with pytest.raises(ParameterError, match="slope must be a number above 0"):
        Scorecard((), (0,), slope, intercept, *_TWO)


def test_without_lines_the_answer_is_always_the_same() -> None:
    names = ["a", "b", "c"]
    assert card_table(Scorecard((), (0,), 1.0, -9.5, *_TWO), names[:2]).verdict == "always a"
    assert card_table(Scorecard((), (0,), 1.0, 0.5, *_TWO), names[:2]).verdict == "always b"
    three = Scorecard((), (1, 2, 0), 1.0, 0.0, "class", 3, "graph")
    assert card_table(three, names).verdict == "always b"


def test_the_table_says_each_case_once() -> None:
    line = Line((parse("1 U0 > 10"), parse("1 U0 > 19")), ((3,), (0,)))
    other = Line((parse("1(U1 & A U0 > 1) > 1/2"),), ((-2,),))
    card = Scorecard((line, other), (0,), 0.5, -0.2, *_TWO)
    table = card_table(card, ["inactive", "active"])
    assert [(row.line, row.points) for row in table.rows] == [(1, (3,)), (2, (-2,))]
    assert table.rows[0].formula is conjunction((parse("1 U0 > 10"), parse("!(1 U0 > 19)")))
    assert table.verdict == "active from a score of 1 on, else inactive"
    assert [(m.low, m.high) for m in table.meanings] == [(n, n) for n in range(-2, 4)]
    text = table_to_text(table)
    assert "between 11 and 19 nodes are U0" in text
    assert "points for active" in text
    chances = [m.value for m in table.meanings]
    assert chances == sorted(chances)
    assert chances[2] < 0.5 < chances[3]
    html = table_to_html(table)
    assert html.count("<tr>") == 5


def test_long_score_ranges_are_joined_without_mixing_classes() -> None:
    made = tuple(Line((parse(f"1 U0 > {n}"),), ((7,),)) for n in range(15))
    card = Scorecard(made, (0,), 0.4, -20.0, *_TWO)
    meanings = card_table(card, [0, 1]).meanings
    assert 3 <= len(meanings) <= 15
    covered: list[int] = []
    for meaning in meanings:
        low = 0 if meaning.low is None else meaning.low
        high = 105 if meaning.high is None else meaning.high
        assert not low < card.threshold <= high
        covered += range(low, high + 1)
    assert covered == list(range(106))


def test_names_are_escaped() -> None:
    card = Scorecard((Line((parse('1 "<b>" > 1'),), ((1,),)),), (0,), 1.0, 0.0, *_TWO)
    html = table_to_html(card_table(card, ["<i>", "<script>"]))
    assert "<script>" not in html
    assert "<b>" not in html.replace("<b></b>", "")


def test_points_of_several_classes_are_below_their_names_and_say_what_they_are_worth() -> None:
    lines = (
        Line((parse("1 U0 > 6"),), ((3, 0, -1),)),
        Line((parse("1 U1 > 2"),), ((-2, 4, 0),)),
    )
    card = Scorecard(lines, (0, 0, 0), 0.7, 0.0, "class", 3, "graph")
    text = table_to_text(card_table(card, ["a", "medium", "c"]))
    head, *rows = text.splitlines()[2:5]
    ends = [head.index(name) + len(name) for name in ("a ", "medium", "c")]
    ends[0] -= 1
    assert [row[end - 2 : end] for row, end in zip(rows * 2, ends, strict=False)] == [
        "+3",
        "+4",
        "-1",
    ]
    # The odds of two classes are those of their scores.
    chance = card.probabilities(np.array([[1, 0, 0]]))[0]
    said = f"1 point more than another class: {chance[0] / chance[1]:.2g} times as likely"
    assert said in " ".join(text.split())
