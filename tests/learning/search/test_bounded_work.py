"""Work is bounded by rows, columns and classes, whatever data look like; truths are found."""

from __future__ import annotations

import numpy as np
import pytest

from gnn2logic import IDTNodeClassifier, ScorecardNodeClassifier, parse, random_graphs
from gnn2logic.learning.scoring.lines import LineSearch, LineSettings
from gnn2logic.learning.scoring.losses import TARGET_STEPS, loss_for
from gnn2logic.learning.scoring.refits import ScoreTargets
from gnn2logic.learning.search import rounds, sampling
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.levels import GraphLevel, NodeLevel
from gnn2logic.learning.search.rounds import RoundSettings, Search
from gnn2logic.learning.settings import local_modalities
from gnn2logic.logic.simplification.boxes import Box, Theory
from gnn2logic.logic.simplification.cover import _pieces
from gnn2logic.logic.syntax import Modal, Predicate


def test_of_many_nodes_some_are_judged_and_every_class_among_them() -> None:
    classes = np.repeat([0, 1, 2], [40_000, 9_990, 10])
    weights = np.ones(len(classes), dtype=np.int64)
    weights[:1000] = 0
    rows = sampling.judged_rows(classes, weights, seed=(0,))
    assert rows.min() >= 1000
    assert sampling.MOST_ROWS <= len(rows) <= sampling.MOST_ROWS + 3
    assert (np.diff(rows) > 0).all()
    shares = np.bincount(classes[rows]) / len(rows)
    assert shares == pytest.approx(np.bincount(classes[1000:]) / 49_000, abs=0.001)
    assert shares[2] > 0


@pytest.mark.parametrize("learner", [IDTNodeClassifier, ScorecardNodeClassifier])
def test_rules_of_some_nodes_are_rules_of_all(
    learner: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MOST_ROWS", 300)
    graphs = random_graphs(40, sizes=40, density=0.1, random_state=0)
    truth = parse("U0 & A U1 > 1").evaluate(graphs, level="node")
    models = [
        learner(n_layers=1, random_state=0, n_shards=n_shards).fit(graphs, truth)
        for n_shards in (1, 3)
    ]
    assert models[0].score(graphs, truth) == 1.0
    assert str(models[0]) == str(models[1])


def test_of_many_predicates_the_best_are_looked_at_through_neighbours() -> None:
    names = [f"word{number}" for number in range(400)]
    graph = random_graphs(1, sizes=500, density=0.01, names=names, probability=0.05, random_state=0)
    truth = parse("A word217 > 0").evaluate(graph, level="node")
    space = ColumnSpace(graph, local_modalities(graph))
    judge = NodeLevel(space).judge(
        np.arange(500), truth.astype(float), np.ones(500, dtype=int), price=0.002, least_weight=5
    )
    search = Search(judge, RoundSettings(depth=2, most_inputs=50))
    for _ in search.rounds():
        pass
    assert str(space.formulas[search.best(1)[0]]) == "A word217 > 0"
    counted = {
        formula.child
        for formula in space.formulas
        if isinstance(formula, Modal) and isinstance(formula.child, Predicate)
    }
    assert len(counted) < 150


def test_many_classes_share_the_work_of_few() -> None:
    few, many = RoundSettings().shared_by(2), RoundSettings().shared_by(20)
    assert few.least_literals == RoundSettings().least_literals
    for name in ("most_inputs", "least_literals", "beam", "kept_pairs", "pair_work"):
        assert getattr(many, name) < getattr(few, name), name
    assert many.least_literals >= rounds._LEAST_LITERALS


def test_lines_of_many_classes_are_chosen_among_few_columns() -> None:
    n_classes = 12
    classes = np.arange(240) % n_classes
    labels = classes.repeat(10)
    graphs = random_graphs(240, sizes=10, density=0.2, names=(), probability=(), random_state=0)
    seen = np.where(np.random.default_rng(0).random(2400) < 0.4, labels, (7 * labels + 3) % 12)
    graphs = graphs.with_predicates(
        seen[:, None] == np.arange(n_classes), [f"label={number}" for number in range(n_classes)]
    )
    one_hot = np.eye(n_classes, dtype=np.int64)[classes]
    targets = ScoreTargets(
        one_hot * TARGET_STEPS, one_hot, np.ones(240, dtype=np.int64), loss_for("class", n_classes)
    )
    level = GraphLevel(ColumnSpace(graphs, local_modalities(graphs)))
    settings = LineSettings(max_lines=4, column_work=240 * 4 * 120).of_depth(1)
    search = LineSearch(level, targets, np.arange(240), settings)
    lines = list(search.run())[-1]
    assert len(lines) == 4
    # Half of them are small ones; those that searches share are there once.
    assert 40 <= len(search._first) <= 120
    assert len(level.space) > 500


def test_boxes_that_one_bound_keeps_apart_are_not_cut() -> None:
    boxes = [
        Box({})
        .bound(parse(f"1 U0 > {3 * number % 23}"), True)
        .bound(parse(f"1 U1 > {number}"), True)
        .bound(parse(f"1 U1 > {number + 1}"), False)
        for number in range(23)
    ]
    pieces = _pieces(boxes, boxes, Theory(simple=False))
    assert pieces is not None
    assert sorted(pieces, key=min) == [frozenset({number}) for number in range(23)]
