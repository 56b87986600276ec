"""Explanations of scorecards: lines and sums against the oracle, flips against all counts."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oracle
from gnn2logic import (
    ScorecardClassifier,
    ScorecardNodeClassifier,
    ScorecardRegressor,
    explain,
    from_edges,
    from_formulas,
    parse,
    random_graphs,
    witnesses,
)
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.explanation import ScoreExplanation
from gnn2logic.explanation.card_reasons import line_reasons
from gnn2logic.explanation.score_flips import score_flips
from gnn2logic.graphs import GraphBatch
from gnn2logic.logic import ALL, TRUE, Formula, predicate
from gnn2logic.scorecards import Line, Scorecard

COUNTED = (TRUE, predicate("U0"), predicate("U1"))
THRESHOLDS = st.one_of(
    st.integers(0, 4), st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(3, 4)])
)
# Counts and thresholds are small, so the nearest counts are below this.
MOST = 12


@st.composite
def cards(draw: st.DrawFn, n_classes: int | None = None) -> Scorecard:
    """Draw a card for graphs about the number of nodes, of U0 and of U1."""
    classes = draw(st.sampled_from([2, 2, 3])) if n_classes is None else n_classes
    width = 1 if classes == 2 else classes
    rows = st.tuples(*[st.integers(-3, 3)] * width)
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        inner = draw(st.sampled_from(COUNTED))
        first = draw(THRESHOLDS)
        thresholds = [first]
        if isinstance(first, int) and draw(st.booleans()):
            thresholds.append(first + draw(st.integers(1, 3)))
        lines.append(
            Line(
                tuple(ALL(inner) > threshold for threshold in thresholds),
                tuple(draw(rows) for _ in thresholds),
            )
        )
    base = draw(rows)
    return Scorecard(
        tuple(lines), base, 1.0, draw(st.integers(-2, 2)) + 0.5, "class", classes, "graph"
    )


def coloured(n_nodes: int, n_first: int, n_second: int) -> GraphBatch:
    """Return a graph of so many nodes, of which some are in U0 and some in U1."""
    predicates = np.zeros((n_nodes, 2), dtype=bool)
    predicates[:n_first, 0] = True
    predicates[n_nodes - n_second :, 1] = True
    return GraphBatch(predicates, np.zeros((n_nodes, n_nodes), dtype=int), names=["U0", "U1"])


def class_of(card: Scorecard, graph: GraphBatch) -> int:
    return int(card.classes(card.scores(card.held(graph)))[0])


counts = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))
)


# More than half of two nodes are two, and more than one: only a smaller graph is of class 2.
SMALLER = Scorecard(
    (
        Line((ALL(predicate("U1")) > Fraction(1, 2),), ((0, 0, 1),)),
        Line((ALL(predicate("U1")) > 1,), ((0, 0, -1),)),
    ),
    (0, 0, 0),
    1.0,
    0.5,
    "class",
    3,
    "graph",
)


@settings(max_examples=40, deadline=None)
@example(SMALLER, (2, 0, 0))
@given(cards(), counts)
def test_flips_against_all_counts(card: Scorecard, now: tuple[int, int, int]) -> None:
    graph = coloured(*now)
    here = class_of(card, graph)
    flips = score_flips(card, line_reasons(card, graph, 0), range(card.n_classes))
    used = {line.conditions[0].child for line in card.lines}  # type: ignore[attr-defined]
    free = [inner in used for inner in COUNTED]
    best: dict[int, int] = {}
    fallback: dict[int, int] = {}
    for other in product(range(1, MOST), range(MOST), range(MOST)):
        n_nodes = other[0]
        # Counts that no line asks for do not matter, so they are left as they are.
        left = [b for is_free, b in zip(free[1:], other[1:], strict=True) if not is_free]
        if max(other[1:]) > n_nodes or any(left):
            continue
        distance = sum(
            abs(a - b)
            for position, (a, b) in enumerate(zip(other, now, strict=True))
            if free[position] or position == 0
        )
        label = class_of(card, coloured(*other))
        if label == here:
            continue
        fallback[label] = min(fallback.get(label, distance), distance)
        if free[0] or n_nodes == now[0]:
            best[label] = min(best.get(label, distance), distance)
    for flip in flips:
        after = list(now)
        for change in flip.changes:
            position = COUNTED.index(change.inner)
            assert change.before == now[position]
            after[position] = change.after
        after[1:] = [n if is_free else 0 for is_free, n in zip(free[1:], after[1:], strict=True)]
        assert class_of(card, coloured(*after)) == flip.label
        assert flip.total == best.get(flip.label, fallback.get(flip.label))
    assert {flip.label for flip in flips} >= set(best)
    assert [flip.total for flip in flips] == sorted(flip.total for flip in flips)


LINES = (
    Line((parse("1(U0 & A U1 > 0) > 0"), parse("1(U0 & A U1 > 0) > 2")), ((2,), (5,))),
    Line((parse("1(A true > 2) > 1/4"),), ((-3,),)),
    Line((parse("1(!U0 & A(A U1 > 1) > 0) > 1"),), ((1,),)),
    Line((parse("1 true > 6"),), ((1,),)),
)
CARD = Scorecard(LINES, (-1,), 0.5, -0.75, "class", 2, "graph")


def truths(formula: Formula, graph: GraphBatch) -> list[bool]:
    """Return where a formula is true, by the oracle."""
    sources, targets = graph.adjacency.nonzero()
    plain = oracle.PlainGraph(
        graph.n_nodes,
        {name: graph.column(name).tolist() for name in graph.names},
        [(s, t, None) for s, t in zip(sources.tolist(), targets.tolist(), strict=True)],
    )
    return oracle.truth(json.loads(formula.to_json()), plain)


@pytest.mark.parametrize("seed", range(25))
def test_lines_points_and_witnesses_against_the_oracle(seed: int) -> None:
    graph = random_graphs(1, sizes=4 + seed % 6, density=0.4, random_state=seed)
    told = explain(CARD, graph, class_names=["no", "yes"])
    assert isinstance(told, ScoreExplanation)
    total = -1
    for reason, line in zip(told.lines, LINES, strict=True):
        held = [truths(condition, graph)[0] for condition in line.conditions]
        assert reason.held == sum(held)
        assert reason.points == ((0,) if not any(held) else line.points[sum(held) - 1])
        assert all(truths(reason.formula, graph))
        total += reason.points[0]
        for condition in reason.conditions:
            inside = truths(condition.inner, graph)
            assert condition.count == sum(inside)
            assert condition.counted.tolist() == inside
    assert told.scores == (total,)
    assert told.label == ("yes" if total >= CARD.threshold else "no")
    assert told.shares[told.label] >= 0.5
    assert [line.number for line in told.reasons] == [
        n for n, line in enumerate(told.lines, 1) if any(line.points)
    ]
    for reason in told.reasons:
        assert told.witnesses.nodes[reason.conditions[0].counted].all()
    record = told.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert sum(line["points"][0] for line in record["lines"]) - 1 == total
    assert str(total) in str(told)
    assert "<script" not in told._repr_html_()


def test_the_text_of_a_card() -> None:
    edges = from_edges([(0, 1), (0, 2), (0, 3)], 4).adjacency
    star = GraphBatch([[1], [0], [0], [1]], edges, names=["red"])
    card = Scorecard(
        (
            Line((parse("1 red > 0"), parse("1 red > 8")), ((2,), (-1,))),
            Line((parse("1(A true > 5) > 0"),), ((4,),)),
        ),
        (1,),
        1.0,
        -2.5,
        "class",
        2,
        "graph",
    )
    assert str(explain(card, star.symmetrize(), class_names=["calm", "busy"])) == (
        "Predicted class: busy\n"
        "Score: 3 (1 of 2 lines gives points; +1 point for every graph).\n"
        "It is busy from a score of 3 on, else calm. Probability of busy: 62%.\n"
        "\n"
        "Because\n"
        "  1. Between 1 and 8 nodes are red: +2 points.\n"
        "     1 <= 1 red <= 8\n"
        "     2 of 4 counted; 2 fewer or 7 more would give other points.\n"
        "\n"
        "Nodes\n"
        "  - Nodes that are red: 0, 3\n"
        "\n"
        "The smallest change of counts for another class\n"
        "  - For class calm, by 2: No nodes are red (now 2).\n"
        "  A change of the graph may change several counts at once, and not every\n"
        "  combination of counts belongs to a graph."
    )


def test_witnesses_of_a_card_go_down_to_the_inputs() -> None:
    edges = from_edges([(0, 1), (1, 2), (2, 3)], 5).adjacency
    path = GraphBatch(np.eye(5, 1), edges, names=["end"])
    graph = path.symmetrize()
    lines = (
        Line((parse("1(A(A end > 0) > 0) > 0"),), ((3,),)),
        Line((parse("1 end > 0"),), ((1,),)),
    )
    card = Scorecard(lines, (0,), 1.0, -0.5, "class", 2, "graph")
    found = witnesses(card, graph)
    # Nodes 0 and 2 are counted: they look at 1, which looks at 0.
    assert np.flatnonzero(found.nodes).tolist() == [0, 1, 2]
    # Three quarters of the points are for the first line, one quarter for the second.
    assert found.node_scores.tolist() == [1.0, 0.375, 0.75, 0.0, 0.0]
    assert found.edges.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert str(found.rule) == "1 end > 0 & 1(A(A end > 0) > 0) > 0"


def test_nodes_and_many_classes() -> None:
    graphs = random_graphs(60, sizes=8, density=0.4, random_state=0)
    degree = np.asarray(graphs.adjacency.sum(axis=1)).ravel()
    labels = np.where(degree > 3, "hub", np.where(graphs.column("U0"), "red", "other"))
    model = ScorecardNodeClassifier(max_lines=4, n_layers=0, random_state=0).fit(graphs, labels)
    one = graphs[3]
    for node in range(one.n_nodes):
        told: Any = explain(model, one, node=node)
        assert isinstance(told, ScoreExplanation)
        assert told.label == model.predict(one)[node]
        assert told.scores == tuple(model.decision_function(one)[node].tolist())
        assert told.witnesses.node_scores[node] == 1.0
        for flip in told.flips:
            assert flip.label != told.label
    text = str(explain(model, one, model, node=0))
    assert "It is the class with the most points" in text
    assert "The teacher agrees" in text
    with pytest.raises(ParameterError, match="node must be a number"):
        explain(model, one)


def test_numbers() -> None:
    graphs = random_graphs(200, sizes=8, random_state=0)
    model = ScorecardRegressor(max_lines=2, n_layers=0, random_state=0).fit(
        graphs, 2.5 * parse("1 U0 > 4").evaluate(graphs)
    )
    told = explain(model, graphs[0])
    assert told.label == pytest.approx(model.predict(graphs[0])[0])
    assert told.flips == ()
    assert str(told).startswith(f"Predicted number: {told.label:.4g}")
    named = model.set_params(target_name="gap", unit="eV")
    beside = str(explain(named, graphs[0], [1.25]))
    assert beside.startswith(f"Predicted gap: {told.label:.4g} eV")
    assert "The teacher says 1.25 eV." in beside


def test_one_line_is_explained_as_one_condition_is() -> None:
    graphs = random_graphs(200, sizes=8, random_state=0)
    truth = np.where(parse("1 U0 > 4").evaluate(graphs), "many", "few")
    card = ScorecardClassifier(max_lines=1, n_layers=0, random_state=0).fit(graphs, truth)
    idt = from_formulas({"many": str(card.formula("many"))}, otherwise="few", names=["U0", "U1"])
    for one in (graphs[0], graphs[1], graphs[2]):
        by_card, by_rule = explain(card, one), explain(idt, one)
        assert by_card.label == by_rule.label
        assert [flip.changes for flip in by_card.flips] == [flip.changes for flip in by_rule.flips]


def test_names_are_checked() -> None:
    with pytest.raises(LabelError, match="one name of its own for each of the 2 classes"):
        explain(CARD, coloured(3, 1, 1), class_names=["one"])
