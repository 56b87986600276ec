"""Columns judged by what neighbours satisfy, and the names of what is nested."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gnn2logic import GraphBatch, IDTClassifier, IDTNodeClassifier, Modality, parse, random_graphs
from gnn2logic.graphs.modality import Direction, Edges
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins
from gnn2logic.learning.search.graph_judging import GraphJudge
from gnn2logic.learning.search.node_judging import NodeJudge
from gnn2logic.learning.search.opposites import opposite, opposite_size, shortened
from gnn2logic.logic.syntax import Formula, modal, negation

EITHER_WAY = [
    Modality.from_set("A"),
    Modality.from_set("I+A"),
    Modality.from_set("A", Edges(Direction.IN)),
]


def graphs(n: int, *, largest: int = 14, directed: bool = False, seed: int = 0) -> GraphBatch:
    sizes = np.random.default_rng(seed).integers(4, largest + 1, n)
    return random_graphs(n, sizes=sizes, density=0.3, directed=directed, random_state=seed)


def explained(truth: np.ndarray, targets: np.ndarray, least: int) -> float:
    if not least <= truth.sum() <= len(truth) - least:
        return -1.0
    means = np.where(truth, targets[truth].mean(), targets[~truth].mean())
    return float(1 - ((targets - means) ** 2).sum() / ((targets - targets.mean()) ** 2).sum())


def conjunctions(one: Formula, other: Formula) -> list[Formula]:
    signed = [(phi, negation(phi)) for phi in (one, other)]
    return [a & b for a, b in itertools.product(*signed)]


@pytest.mark.parametrize("directed", [False, True])
def test_gains_through_neighbours_of_graphs_against_formulas(directed: bool) -> None:
    batch = graphs(30, directed=directed)
    space = ColumnSpace(batch, EITHER_WAY if directed else EITHER_WAY[:2])
    rng = np.random.default_rng(1)
    rows = np.flatnonzero(rng.random(30) < 0.8)
    targets, weights = rng.random(30), np.ones(30, dtype=np.int64)
    judge = GraphJudge(
        space, CountBins(batch.sizes), rows, targets, weights, price=0.0, least_weight=3
    ).through_neighbours()
    assert judge is not None
    numbers = space.add_formulas([parse("A U1 > 1"), parse("U0")])
    gains = judge._pair_gains(numbers, np.array([0]), np.array([1]))
    names = [space.formulas[number] for number in numbers]
    along = EITHER_WAY[:: 2 if directed else 3]
    for signs, both in enumerate(conjunctions(names[0], names[1])):
        for gain, phi in zip(gains, (both, negation(both)), strict=True):
            best = max(
                explained(
                    modal(Modality.from_set("1"), modal(which, phi, near), count).evaluate(batch)[
                        rows
                    ],
                    targets[rows],
                    3,
                )
                for which in along
                for near in range(8)
                for count in range(14)
            )
            assert gain[0, signs] / judge.variance == pytest.approx(best, abs=2e-3)


def test_gains_through_neighbours_of_nodes_against_formulas() -> None:
    batch = graphs(25)
    space = ColumnSpace(batch, EITHER_WAY[:2])
    rng = np.random.default_rng(2)
    rows = np.flatnonzero(rng.random(batch.n_nodes) < 0.7)
    targets, weights = rng.random(batch.n_nodes), np.ones(batch.n_nodes, dtype=np.int64)
    judge = NodeJudge(space, rows, targets, weights, price=0.0, least_weight=3).through_neighbours()
    assert judge is not None
    numbers = space.literals(space.inputs)[:5]
    for number, verdict in zip(numbers, judge.singles(numbers), strict=True):
        phi = space.formulas[number]
        best = max(
            explained(
                modal(EITHER_WAY[0], column, near).evaluate(batch, level="node")[rows],
                targets[rows],
                3,
            )
            for column in (phi, negation(phi))
            for near in range(14)
        )
        assert verdict.gain == pytest.approx(best, abs=2e-3)


def test_a_step_further_targets_are_means_of_those_who_look() -> None:
    """On a directed path 0 -> 1 -> 2 the label of 0 is about what 1 sees, not what 0 is."""
    batch = GraphBatch([[1], [0], [1]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    space = ColumnSpace(batch, EITHER_WAY[:1])
    targets = np.array([1.0, 0.0, 0.0])
    judge = NodeJudge(
        space, np.arange(3), targets, np.ones(3, dtype=np.int64), price=0.0, least_weight=1
    )
    near = judge.through_neighbours()
    assert near is not None
    further = near.through_neighbours()
    assert further is not None
    # Nobody looks at 0; 1 is looked at by 0, whose target is 1, and 2 by 1, whose target is 0.
    assert further.rows.tolist() == [1, 2]
    assert [v.gain for v in further.singles([space.inputs[1]])] == [pytest.approx(1.0)]


@pytest.mark.parametrize("truth", ["A(U0 & A U1 > 1) > 0", "A(A(U0 & U1) > 0 & A U0 < 2) > 0"])
def test_what_neighbours_satisfy_is_found_for_nodes(truth: str) -> None:
    batch = random_graphs(100, sizes=14, density=0.15, random_state=0)
    labels = parse(truth).evaluate(batch, level="node")
    model = IDTNodeClassifier(random_state=0).fit(batch, labels)
    other = random_graphs(200, sizes=14, density=0.15, random_state=1)
    assert (model.predict(other) == parse(truth).evaluate(other, level="node")).all()


def test_what_neighbours_satisfy_is_found_for_graphs() -> None:
    """Counting the pair itself says hardly more than counting U3."""
    truth = parse("1(A(U3 & A U0 > 0) > 2) > 1")
    batch = random_graphs(
        600,
        sizes=np.random.default_rng(0).integers(8, 21, 600),
        density=np.random.default_rng(1).uniform(0.1, 0.9, 600),
        names=[f"U{number}" for number in range(5)],
        random_state=0,
    )
    model = IDTClassifier(random_state=0).fit(batch, truth.evaluate(batch))
    assert model.formula(True) is truth


@pytest.mark.parametrize(
    "text", ["U0", "!U0", "!U0 | !U1", "U0 & !(U1 | !U2)", "!(U0 & !U1)", "!U0 & (U1 | !U2) & !U3"]
)
def test_opposites_are_short_and_right(text: str) -> None:
    formula = parse(text)
    batch = random_graphs(20, sizes=9, names=["U0", "U1", "U2", "U3"], random_state=3)
    truth = formula.evaluate(batch, level="node")
    assert (opposite(formula).evaluate(batch, level="node") == ~truth).all()
    assert (shortened(formula).evaluate(batch, level="node") == truth).all()
    assert opposite_size(formula) == opposite(formula).size <= negation(formula).size
    assert shortened(formula).size <= formula.size
    assert shortened(shortened(formula)) is shortened(formula)


def test_a_fold_whose_names_are_longer_does_not_hide_a_perfect_rule() -> None:
    truth = parse("1(A(U0 & U1) < 3) > 11")
    batch = random_graphs(
        600,
        sizes=np.random.default_rng(0).integers(8, 21, 600),
        density=np.random.default_rng(1).uniform(0.1, 0.9, 600),
        random_state=0,
    )
    model = IDTClassifier(random_state=0).fit(batch, truth.evaluate(batch))
    assert model.formula(True) is truth
