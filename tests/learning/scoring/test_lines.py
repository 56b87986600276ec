"""The search for lines: planted ones are found, and a first guess that others make useless goes."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from gnn2logic import GraphBatch, parse, random_graphs
from gnn2logic.learning.scoring.lines import LineSearch, LineSettings
from gnn2logic.learning.scoring.losses import TARGET_STEPS, loss_for
from gnn2logic.learning.scoring.reading import ReadingSpace, reading_cost
from gnn2logic.learning.scoring.refits import Pace, ScoreTargets
from gnn2logic.learning.search.levels import GraphLevel
from gnn2logic.learning.settings import local_modalities

PLANTED = {"1(U0 & U1) > 3": 2, "1(U0 & A U1 > 1) > 2": 3, "1(A U0 > 3) > 1/2": -2}
TRUSTING, CAREFUL, SIMPLE = LineSettings().paces


def search_of(n_graphs: int) -> LineSearch:
    """Return a search for the lines of a planted card, from labels drawn by its score."""
    rng = np.random.default_rng([100, 1])
    graphs = random_graphs(
        n_graphs,
        sizes=rng.integers(8, 21, n_graphs),
        density=rng.uniform(0.1, 0.9, n_graphs),
        names=("U0", "U1"),
        probability=(0.5, 0.5),
        random_state=rng,
    )
    score = sum(points * parse(text).evaluate(graphs) for text, points in PLANTED.items())
    chance = 1 / (1 + np.exp(-(score - np.median(score) - 0.5)))
    classes = np.random.default_rng([100, 3]).random(n_graphs) < chance
    return search_for(graphs, classes, LineSettings(max_lines=4).of_depth(2))


def search_for(
    graphs: GraphBatch, classes: npt.NDArray[np.bool_], settings: LineSettings
) -> LineSearch:
    one_hot = np.eye(2, dtype=np.int64)[classes.astype(np.int64)]
    targets = ScoreTargets(
        one_hot[:, 1:] * TARGET_STEPS,
        one_hot,
        np.ones(graphs.n_graphs, dtype=np.int64),
        loss_for("class", 2),
    )
    level = GraphLevel(ReadingSpace(graphs, local_modalities(graphs)))
    return LineSearch(level, targets, np.arange(graphs.n_graphs), settings)


def texts(search: LineSearch, pace: Pace) -> list[list[str]]:
    return [
        [str(condition.formula) for line in lines for condition in line.conditions]
        for lines in search.run(pace=pace)
    ]


def test_planted_lines_are_found_and_runs_do_not_depend_on_each_other() -> None:
    search = search_of(2000)
    found = texts(search, TRUSTING)
    assert sorted(PLANTED) in [sorted(lines) for lines in found]
    careful = texts(search, CAREFUL)
    assert texts(search, TRUSTING) == found
    assert texts(search_of(2000), CAREFUL) == careful
    # Lengths rise by one, but where a line was left out.
    lengths = [len(lines) for lines in found]
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(lengths))
    assert [len(lines) for lines in careful] == sorted({len(lines) for lines in careful})


def test_networks_are_followed_more_closely_than_labels() -> None:
    labels = LineSettings()
    scores = labels.for_scores()
    assert scores.nearly_best < labels.nearly_best
    assert scores.ridge < labels.ridge
    for of_scores, of_labels in zip(scores.paces, labels.paces, strict=True):
        assert of_scores.ridge < of_labels.ridge
        assert of_scores.ridge_share <= of_labels.ridge_share


def test_simple_lines_are_simple_and_take_the_columns_of_the_pace_before() -> None:
    search = search_of(300)
    list(search.run(pace=CAREFUL))
    n_columns = len(search.level.space)
    simple = list(search.run(pace=SIMPLE))
    assert len(search.level.space) == n_columns
    conditions = [each for line in simple[-1] for each in line.conditions]
    assert conditions
    assert all(reading_cost(each.formula) <= SIMPLE.dearest for each in conditions)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("reason", ["1(A true > 4) > 2", "1 U1 > 6"])
def test_one_condition_and_not_another_are_two_lines(seed: int, reason: str) -> None:
    graphs = random_graphs(500, sizes=12, density=0.3, random_state=seed)
    few = parse("1 U0 > 6").evaluate(graphs) & ~parse(reason).evaluate(graphs)
    search = search_for(graphs, few, LineSettings(max_lines=2).of_depth(1))
    assert sorted(texts(search, TRUSTING)[-1]) == sorted(["1 U0 > 6", reason])
